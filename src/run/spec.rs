//! What a run is asked to do.

use super::Limits;
use crate::canon::{Object, Value, hash_of, hex};
use crate::config::Transport;
use crate::model::Price;
use crate::object;
use crate::record::{ActorId, NameError, Namespace, ThreadId};
use crate::store::Stored;
use crate::trust::{GENERAL, Standing};

/// The kind of the record that opens a loop.
pub const LOOP_KIND: &str = "core.work.loop.v1";

/// What a run is asked to do, and within which bounds. It does not change while the run lives; the
/// record that opens the loop holds all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunSpec {
    /// The loop thread: the name of the run.
    pub thread: ThreadId,
    /// Who runs.
    pub actor: ActorId,
    /// What is to be reached, in words.
    pub goal: String,
    /// The goal as the model reads it, with what was added to it, once the policy hooks were asked
    /// about it; until then nothing.
    pub prompt: Option<String>,
    /// Where it runs; hooks of this namespace and those above it speak.
    pub namespace: Namespace,
    /// What the work is trusted under.
    pub domain: String,
    /// The model's name.
    pub model: String,
    /// The tier whose ceilings hold (contract §5.1).
    pub tier: String,
    /// How far it may go.
    pub limits: Limits,
    /// What the model costs, where that is known.
    pub price: Option<Price>,
    /// Tools that the tier withholds, whatever was granted.
    pub forbidden: Vec<String>,
    /// Where the tools work.
    pub transport: Transport,
    /// The folder that whoever asked a server for the run has named, without links.
    pub workspace: Option<String>,
    /// The run that this is a task of, if it is one.
    pub task_of: Option<ThreadId>,
    /// How deep it is inside of other runs: 0 if it is no task.
    pub depth: u32,
    /// What others have said of the actor's work in this domain, as of the start.
    pub track_record: TrackRecord,
}

/// Verdicts on an actor's work in one domain, added up (contract §8).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TrackRecord {
    /// The score, in hundredths.
    pub percent: u8,
    /// How many verdicts there are.
    pub samples: u64,
}

impl TrackRecord {
    /// Returns a standing as a run is told of it.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a score lies between 0 and 1"
    )]
    pub fn of(standing: Standing) -> Self {
        Self { percent: (standing.score * 100.0).round() as u8, samples: standing.count }
    }
}

impl RunSpec {
    /// Returns what a run is asked to do when nothing but the goal is said: the operator's tier,
    /// twenty turns, the root namespace, the domain `general`.
    pub fn new(thread: ThreadId, actor: ActorId, goal: impl Into<String>, model: &str) -> Self {
        Self {
            thread,
            actor,
            goal: goal.into(),
            prompt: None,
            namespace: Namespace::root(),
            domain: GENERAL.to_owned(),
            model: model.to_owned(),
            tier: "operator".to_owned(),
            limits: Limits { max_turns: Some(Limits::DEFAULT_MAX_TURNS), ..Limits::NONE },
            price: None,
            forbidden: Vec::new(),
            transport: Transport::InProcess,
            workspace: None,
            task_of: None,
            depth: 0,
            track_record: TrackRecord::default(),
        }
    }

    /// Returns the goal as the model reads it.
    pub fn prompt(&self) -> &str {
        self.prompt.as_deref().unwrap_or(&self.goal)
    }

    /// Returns the loop thread of a run of `actor` for `goal`, made unique by `nonce`.
    pub fn mint_thread(actor: &ActorId, goal: &str, nonce: &[u8]) -> Result<ThreadId, NameError> {
        let digest = hash_of(&[
            b"work-loop\0",
            actor.as_str().as_bytes(),
            b"\0",
            goal.as_bytes(),
            b"\0",
            nonce,
        ]);
        ThreadId::parse(&format!("th_{}", hex(&digest)))
    }

    /// Returns the body of the record that opens the loop, for a run with these tools.
    pub(super) fn to_body(&self, tools: &[&str]) -> Object {
        let mut body = object! {
            "domain": self.domain.as_str(),
            "forbidden_tools": self.forbidden.clone(),
            "goal": self.goal.as_str(),
            "kind": LOOP_KIND,
            "model": self.model.as_str(),
            "tier": self.tier.as_str(),
            "tools": tools.to_vec(),
            "track_record": object! {
                "samples": self.track_record.samples,
                "score_percent": u64::from(self.track_record.percent),
            },
            "transport": self.transport.as_str(),
        };
        if let Some(workspace) = &self.workspace {
            body.insert("workspace".into(), workspace.as_str().into());
        }
        if self.prompt() != self.goal {
            body.insert("prompt".into(), self.prompt().into());
        }
        if let Some(task_of) = &self.task_of {
            body.insert("task_of".into(), task_of.into());
            body.insert("depth".into(), self.depth.into());
        }
        let Limits { max_turns, token_budget, wall_clock_secs, usd_budget } = self.limits;
        let limits = [
            ("max_turns", max_turns.map(u64::from)),
            ("token_budget", token_budget),
            ("usd_budget_micros", usd_budget),
            ("wall_clock_secs", wall_clock_secs),
        ];
        for (name, limit) in limits {
            if let Some(limit) = limit {
                body.insert(name.into(), limit.into());
            }
        }
        if let Some(price) = self.price {
            let price = object! { "input": price.input, "output": price.output };
            body.insert("price_micros_per_million".into(), price.into());
        }
        body
    }

    /// Reads what a run was asked to do from the record that opened it, and the names of its tools;
    /// `None` if the record does not open a loop.
    pub(super) fn of_opening(opening: &Stored) -> Option<(Self, Vec<String>)> {
        let record = &opening.record;
        if record.kind() != Some(LOOP_KIND) {
            return None;
        }
        let (body, namespace) = (&record.body, record.namespace());
        let namespace = namespace.unwrap_or_else(|_| Namespace::root());
        let spec = Self::of_body(body, record.thread.clone(), record.actor.clone(), namespace)?;
        let tools = body.get("tools").and_then(Value::as_array).unwrap_or_default();
        let tools = tools.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect();
        Some((spec, tools))
    }

    /// Reads the same from the body alone.
    pub(super) fn of_body(
        body: &Object,
        thread: ThreadId,
        actor: ActorId,
        namespace: Namespace,
    ) -> Option<Self> {
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        let number = |name: &str| body.get(name).and_then(Value::as_u64);
        let texts = |name: &str| -> Vec<String> {
            let list = body.get(name).and_then(Value::as_array).unwrap_or_default();
            list.iter().filter_map(|word| Some(word.as_str()?.to_owned())).collect()
        };
        let price = body.get("price_micros_per_million").and_then(|price| {
            let part = |name: &str| price.get(name).and_then(Value::as_u64);
            Some(Price { input: part("input")?, output: part("output")? })
        });
        let track = body.get("track_record");
        let track = |name: &str| track.and_then(|track| track.get(name)?.as_u64()).unwrap_or(0);
        Some(Self {
            thread,
            actor,
            goal: text("goal")?,
            prompt: text("prompt").or_else(|| text("goal")),
            namespace,
            domain: text("domain")?,
            model: text("model")?,
            tier: text("tier").unwrap_or_default(),
            limits: Limits {
                max_turns: number("max_turns").and_then(|turns| u32::try_from(turns).ok()),
                token_budget: number("token_budget"),
                wall_clock_secs: number("wall_clock_secs"),
                usd_budget: number("usd_budget_micros"),
            },
            price,
            forbidden: texts("forbidden_tools"),
            transport: Transport::parse(&text("transport")?)?,
            workspace: text("workspace"),
            task_of: text("task_of").and_then(|thread| ThreadId::parse(&thread).ok()),
            depth: number("depth").and_then(|depth| u32::try_from(depth).ok()).unwrap_or(0),
            track_record: TrackRecord {
                percent: u8::try_from(track("score_percent")).unwrap_or(0),
                samples: track("samples"),
            },
        })
    }
}
