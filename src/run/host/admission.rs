//! Who may begin a run, and within which bounds (contract §5.1).

use std::path::Path;

use super::{Host, HostError};
use crate::canon::Object;
use crate::config::{Tier, TierName, usd_value};
use crate::engine::{Caller, Way};
use crate::identity::random_bytes;
use crate::model::Price;
use crate::object;
use crate::record::{Act, ActorId, Draft, Namespace, ThreadId};
use crate::run::{Limits, RunSpec, Transport};
use crate::secret::mask;
use crate::store::Worked;
use crate::time::Timestamp;
use crate::tool::{OutsideError, Workspace};

/// The kind of the record that a server admits a run.
pub(super) const ADMISSION_KIND: &str = "core.work.admission.v1";

/// The tools that work in the folder of the server: for the operator's own runs, and for those that
/// are confined to it.
const OF_HOST: [&str; 5] = ["bash", "write_file", "read_file", "list_dir", "search"];

const DAY_MILLIS: i64 = 24 * 60 * 60 * 1000;

/// What somebody asks a server to run.
#[derive(Debug, Clone)]
pub struct Ask {
    /// Who runs.
    pub actor: ActorId,
    /// What is to be reached.
    pub goal: String,
    /// Where it runs.
    pub namespace: Namespace,
    /// What the work is trusted under.
    pub domain: String,
    /// The model, if one is asked for.
    pub model: Option<String>,
    /// How far it may go; its tier may allow less.
    pub limits: Limits,
    /// The folder that it is meant to work in.
    pub workspace: Option<String>,
}

/// A run that has begun.
#[derive(Debug, Clone)]
pub struct Started {
    /// Its thread.
    pub thread: ThreadId,
    /// The tier whose ceilings hold.
    pub tier: String,
    /// How far it may go.
    pub limits: Limits,
    /// The tools that the tier withholds.
    pub forbidden: Vec<String>,
}

/// How much room there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admission {
    /// How many runs may go on at once.
    pub capacity: usize,
    /// How many do.
    pub live: usize,
}

/// What would come of asking for a run.
pub struct Preview {
    tier: Tier,
    worked: Worked,
    estimated: Option<u64>,
    tools: Vec<String>,
    transport: Transport,
    denied: Option<HostError>,
}

impl Started {
    pub(super) fn of(spec: &RunSpec) -> Self {
        Self {
            thread: spec.thread.clone(),
            tier: spec.tier.clone(),
            limits: spec.limits,
            forbidden: spec.forbidden.clone(),
        }
    }
}

impl Admission {
    /// Returns how many more may begin.
    pub const fn available(self) -> usize {
        self.capacity.saturating_sub(self.live)
    }
}

impl Host {
    /// Returns how much room there is.
    pub fn admission(&self) -> Admission {
        Admission { capacity: self.0.capacity, live: self.live().runs.len() }
    }

    /// Returns what would come of asking for a run, without beginning it.
    pub fn preview(&self, caller: &Caller, ask: &Ask) -> Result<Preview, HostError> {
        check_place(caller, ask)?;
        let tier = self.tier_of(caller, ask)?;
        let worked = self.worked(&ask.actor)?;
        let admitted = self.admit(caller, ask).and_then(|(spec, concurrency)| {
            // The place is free again at once.
            self.place(&spec.thread, &spec.actor, concurrency)?;
            Ok(spec)
        });
        let spec = match &admitted {
            Ok(spec) => spec.clone(),
            Err(_) => RunSpec::new(mint(ask)?, ask.actor.clone(), ask.goal.clone(), ""),
        };
        let tools = self.outfit().tools(self.engine(), &spec)?;
        let estimated = spec.price.and_then(|price| estimate(price, &spec.limits));
        let tools = tools.specs().map(|tool| tool.name.clone());
        let withheld =
            |tool: &String| tier.forbids(tool) || spec.forbidden.iter().any(|other| other == tool);
        let tools = tools.filter(|tool| !withheld(tool)).collect();
        let transport = self.transport(caller, spec.workspace.as_deref())?;
        Ok(Preview { tier, worked, estimated, tools, transport, denied: admitted.err() })
    }

    /// Returns the run that is asked for, as its tier allows it, and how many runs of its actor may
    /// go on at once; or why it may not begin.
    pub(super) fn admit(
        &self,
        caller: &Caller,
        ask: &Ask,
    ) -> Result<(RunSpec, Option<u32>), HostError> {
        check_place(caller, ask)?;
        let workspace = self.workspace(caller, ask)?;
        let chosen = self.outfit().choose(ask.model.as_deref())?;
        let tier = self.tier_of(caller, ask)?;
        if chosen.price.is_none() && ask.limits.usd_budget.is_some() {
            return Err(HostError::Unpriced { model: chosen.name });
        }
        self.check_day(&tier, &ask.actor)?;
        let ceilings = Limits {
            max_turns: tier.max_turns,
            token_budget: tier.token_budget,
            wall_clock_secs: tier.wall_clock_secs,
            usd_budget: tier.daily_cost_cap,
        };
        let asked = Limits {
            max_turns: ask.limits.max_turns.or(Some(Limits::DEFAULT_MAX_TURNS)),
            usd_budget: ask.limits.usd_budget.or(tier.default_budget),
            ..ask.limits
        };
        let mut limits = asked.within(ceilings);
        if chosen.price.is_none() {
            limits.usd_budget = None;
        }
        let mut forbidden: Vec<String> =
            tier.forbidden_tools.iter().map(|&tool| tool.to_owned()).collect();
        let transport = self.transport(caller, workspace.as_deref())?;
        if !caller.is_operator() && transport == Transport::InProcess {
            let of_host = OF_HOST.iter().filter(|tool| !tier.forbids(tool));
            forbidden.extend(of_host.map(|&tool| tool.to_owned()));
        }
        let spec = RunSpec {
            namespace: ask.namespace.clone(),
            domain: ask.domain.clone(),
            tier: tier.name.as_str().to_owned(),
            limits,
            price: chosen.price,
            forbidden,
            transport,
            workspace,
            ..RunSpec::new(mint(ask)?, ask.actor.clone(), ask.goal.clone(), &chosen.name)
        };
        Ok((spec, tier.concurrency))
    }

    /// Returns where the tools of a caller's runs work: where the configuration says, if there is
    /// such a place.
    fn transport(&self, caller: &Caller, workspace: Option<&str>) -> Result<Transport, HostError> {
        let live = self.engine().live()?;
        let wanted = if caller.is_operator() {
            live.config.transport()
        } else {
            live.config.members_transport()
        };
        let has_place =
            wanted == Transport::Sandboxed && self.outfit().confined(workspace).is_some();
        Ok(if has_place { Transport::Sandboxed } else { Transport::InProcess })
    }

    /// Writes down that this server has begun the run, so that whoever is the server later knows
    /// that it is one of its own.
    pub(super) fn note_admission(&self, caller: &Caller, spec: &RunSpec) -> Result<(), HostError> {
        let body = object! {
            "by": caller.name(),
            "goal": &*mask(&spec.goal),
            "kind": ADMISSION_KIND,
            "namespace": &spec.namespace,
            "tier": spec.tier.as_str(),
        };
        let draft = Draft::new(spec.thread.clone(), ActorId::engine(), Act::Know, body);
        self.engine().author(move |author| Ok(author.begin(draft)?.id()))?;
        Ok(())
    }

    fn tier_of(&self, caller: &Caller, ask: &Ask) -> Result<Tier, HostError> {
        let live = self.engine().live()?;
        Ok(if caller.is_operator() {
            live.config.tier(TierName::Operator).clone()
        } else {
            live.config.tier_of(&ask.actor).clone()
        })
    }

    /// Returns the folder that somebody asks for, without links: it must be one in which the operator
    /// lets runs work. Nothing in it is read here.
    fn workspace(&self, caller: &Caller, ask: &Ask) -> Result<Option<String>, HostError> {
        let Some(asked) = &ask.workspace else { return Ok(None) };
        if !caller.is_operator() {
            return Err(HostError::WorkspaceForbidden);
        }
        let path = Path::new(asked);
        let opened = Workspace::open_below(path, &self.outfit().workspace_roots())?;
        let path = opened.path().to_str().map(str::to_owned);
        // A run is found again by its records, which are text.
        Ok(Some(path.ok_or_else(|| OutsideError { path: asked.into() })?))
    }

    fn worked(&self, actor: &ActorId) -> Result<Worked, HostError> {
        let now = self.engine().store().now().as_millis();
        let midnight = Timestamp::from_millis(now - now.rem_euclid(DAY_MILLIS));
        let worked = self.engine().store().read(|reader| reader.worked(actor, midnight));
        Ok(worked.map_err(crate::engine::EngineError::from)?)
    }

    /// Says whether a run of this caller may still begin today.
    pub(super) fn check_today(&self, caller: &Caller, ask: &Ask) -> Result<(), HostError> {
        self.check_day(&self.tier_of(caller, ask)?, &ask.actor)
    }

    fn check_day(&self, tier: &Tier, actor: &ActorId) -> Result<(), HostError> {
        if tier.daily_loop_cap.is_none() && tier.daily_cost_cap.is_none() {
            return Ok(());
        }
        let worked = self.worked(actor)?;
        if let Some(most) = tier.daily_loop_cap.filter(|most| worked.loops >= *most) {
            return Err(HostError::DailyCount { actor: actor.clone(), count: worked.loops, most });
        }
        if let Some(most) = tier.daily_cost_cap.filter(|most| worked.usd_micros >= *most) {
            let (actor, spent) = (actor.clone(), worked.usd_micros);
            return Err(HostError::DailyCost { actor, spent, most });
        }
        Ok(())
    }
}

impl Preview {
    /// Returns the preview as answers show it.
    pub fn to_object(&self) -> Object {
        use crate::canon::Value;
        use crate::code::Coded as _;
        let usd = |micros: Option<u64>| micros.map_or(Value::Null, usd_value);
        let tier = &self.tier;
        object! {
            "object": "work_loop_preview",
            "tier": tier.name.as_str(),
            "caps": object! {
                "max_turns": tier.max_turns,
                "wall_clock_secs": tier.wall_clock_secs,
                "token_budget": tier.token_budget,
                "daily_cost_cap_usd": usd(tier.daily_cost_cap),
                "daily_loop_cap": tier.daily_loop_cap,
            },
            "today": object! {
                "loop_count": self.worked.loops,
                "cost_usd": usd_value(self.worked.usd_micros),
            },
            "estimated_cost_usd": usd(self.estimated),
            "tool_grant": object! {
                "default": self.tools.clone(),
                "requestable": Vec::<String>::new(),
            },
            "transport": self.transport.as_str(),
            "would_be_denied": self.denied.is_some(),
            "denial_reason": self.denied.as_ref().map(|denied| denied.code().as_str()),
            "denial_message": self.denied.as_ref().map(ToString::to_string),
        }
    }
}

/// A run reads in its namespace and writes there, so whoever begins it must be bound to no less.
fn check_place(caller: &Caller, ask: &Ask) -> Result<(), HostError> {
    let here = |way| caller.bounds(way).shows_namespace(&ask.namespace);
    if here(Way::Read) && here(Way::Write) { Ok(()) } else { Err(HostError::OutOfBounds) }
}

/// Returns what a run costs at most, as far as it is bounded.
fn estimate(price: Price, limits: &Limits) -> Option<u64> {
    let usage = |tokens| crate::model::Usage { output_tokens: tokens, ..Default::default() };
    let tokens = limits.token_budget.map(|tokens| price.cost(&usage(tokens)));
    match (tokens, limits.usd_budget) {
        (Some(tokens), Some(budget)) => Some(tokens.min(budget)),
        (tokens, budget) => tokens.or(budget),
    }
}

fn mint(ask: &Ask) -> Result<ThreadId, HostError> {
    let nonce = random_bytes::<32>().map_err(|_| HostError::Nameless)?;
    RunSpec::mint_thread(&ask.actor, &ask.goal, &nonce).map_err(|_| HostError::Nameless)
}
