//! What installing a blueprint would do. Nothing is written.

use super::installed::Ledger;
use super::{BlueprintError, BlueprintSet, Placed, Sort, Vouched, content, useless};
use crate::canon::{Canonical, Digest, Object};
use crate::code::{Code, Coded as _};
use crate::engine::{Caller, Engine, EngineError, IngestError, Live};
use crate::hook::Hook;
use crate::permission::PermissionRule;
use crate::record::{
    ActorId, CONFIG_THREAD, Draft, Namespace, Reason, RecordId, Sequence, ShapeError,
};

/// What is there already of a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing: it would be written.
    New,
    /// The same: nothing would be written.
    There(RecordId),
    /// Another version of a hook or a rule, which it would replace.
    Replaces(RecordId),
}

impl State {
    /// Returns the word in answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::There(_) => "there",
            Self::Replaces(_) => "replaces",
        }
    }

    /// Returns the record that is there.
    pub const fn record(self) -> Option<RecordId> {
        match self {
            Self::New => None,
            Self::There(id) | Self::Replaces(id) => Some(id),
        }
    }
}

/// A seed, and what is there of it.
#[derive(Debug, Clone)]
pub struct Planned {
    /// Where it stands, and what it says.
    pub placed: Placed,
    /// What is there of it; `None` if whoever asks may not know.
    pub state: Option<State>,
    /// The record that it would become, without its clock.
    pub(super) draft: Draft,
    /// What tells that record from others but its clock.
    pub(super) digest: Digest,
}

/// What installing a blueprint would do.
#[derive(Debug)]
pub struct Plan {
    /// What whoever installs it accepts ([`BlueprintSet::plan_hash`]).
    pub hash: Digest,
    /// Who vouches for it.
    pub vouched: Vouched,
    /// All that it brings, in the order in which it would be stored.
    pub seeds: Vec<Planned>,
    /// Why it may not be installed, if it may not.
    pub refused: Option<BlueprintError>,
    /// The record of the latest installation of this very plan.
    pub installed: Option<RecordId>,
    /// How far was read what this rests on: installations, and the configuration.
    pub(super) read_to: (Sequence, Sequence),
}

/// Works out what it would do if `caller` installed a blueprint in the name of `by`.
///
/// An error is one of this instance; that the blueprint may not be installed is part of the plan.
pub fn plan(
    engine: &Engine,
    caller: &Caller,
    by: &ActorId,
    set: &BlueprintSet,
) -> Result<Plan, EngineError> {
    // Read before what it is about: if more is known by then, whoever stores finds that out.
    let (ledger, configured) = engine
        .whole()
        .read(|reader| Ok((Ledger::read(reader)?, reader.last_of_thread(CONFIG_THREAD)?)))?;
    let live = engine.live()?;
    let vouched = Vouched::of(engine, set.blueprint())?;
    let mut seeds: Vec<Planned> = set.seeds().iter().map(|it| planned(it, by)).collect();
    let refused = match check(engine, caller, &vouched, &seeds) {
        Ok(()) => None,
        // A failure of this instance is none of the blueprint.
        Err(BlueprintError::Engine(error)) => return Err(error),
        Err(refused) => Some(refused),
    };
    for planned in &mut seeds {
        let knows = caller.is_operator() || !planned.placed.seed.configures();
        if knows && caller.may_speak_as(&planned.draft.actor) {
            planned.state = Some(state_of(engine, &live, &ledger, planned)?);
        }
    }
    Ok(Plan {
        hash: set.plan_hash(),
        vouched,
        seeds,
        refused,
        installed: ledger.plan(&set.plan_hash()),
        read_to: (ledger.read_to, configured),
    })
}

fn planned(placed: &Placed, by: &ActorId) -> Planned {
    let draft = placed.seed.draft(by);
    let digest = placed.seed.digest_by(&draft.actor);
    Planned { placed: placed.clone(), state: None, draft, digest }
}

/// All that must hold of a blueprint before its first seed is stored, in the order in which it is
/// told.
fn check(
    engine: &Engine,
    caller: &Caller,
    vouched: &Vouched,
    seeds: &[Planned],
) -> Result<(), BlueprintError> {
    // As at the records door: whoever may not write a hook learns nothing by bringing a bad one.
    if !caller.is_operator() && seeds.iter().any(|it| it.placed.seed.configures()) {
        let needed = "the operator or the scope `admin`";
        return Err(BlueprintError::Denied(IngestError::ConfigWriteDenied { needed }.into()));
    }
    for planned in seeds {
        useless::check(&planned.placed)?;
    }
    if let Vouched::Nobody(because) = vouched {
        for planned in seeds {
            content::check(&planned.placed, because)?;
        }
    }
    for planned in seeds {
        check_seed(engine, caller, planned)?;
    }
    Ok(())
}

/// The records door; and a rule must be one that loads, since a door stores what does not compile.
fn check_seed(engine: &Engine, caller: &Caller, planned: &Planned) -> Result<(), BlueprintError> {
    let Planned { placed, draft, .. } = planned;
    let compiles = || match placed.seed.sort() {
        Sort::Rule => PermissionRule::check(draft, engine.expressions()).map(drop),
        Sort::Content | Sort::Hook => Ok(()),
    };
    let passed = engine.admit(caller, draft).and_then(|()| Ok(compiles()?));
    passed.map_err(|error| match error {
        // That a namespace takes no records is about the seed, and no failure of this instance.
        IngestError::Engine(error) if error.code() != Code::NamespaceRejected => {
            BlueprintError::Engine(error)
        }
        error => {
            let field = field_of(&error, placed);
            let what = format!("the {}", placed.seed.in_words());
            BlueprintError::Seed { field, what, error: error.into() }
        }
    })
}

/// Returns the path of the field that the door refuses. Validators name fields of the body barely;
/// one that is not known stands there, since the envelope was read before.
fn field_of(error: &IngestError, placed: &Placed) -> String {
    let is_known = error.reason() != Some(Reason::UnknownField.as_str());
    match error.field() {
        None => placed.place.to_string(),
        Some(field) if is_known && matches!(field, "act" | "actor" | "thread" | "data_type") => {
            placed.place.field(field)
        }
        Some(field) => {
            placed.place.field(&format!("body.{}", field.strip_prefix("body.").unwrap_or(field)))
        }
    }
}

fn state_of(
    engine: &Engine,
    live: &Live,
    ledger: &Ledger,
    planned: &Planned,
) -> Result<State, EngineError> {
    let Planned { placed, draft, digest, .. } = planned;
    let current = match placed.seed.sort() {
        Sort::Content => return Ok(ledger.seed(digest).map_or(State::New, State::There)),
        Sort::Hook => Hook::check_with(draft, engine.expressions()).ok().and_then(|hook| {
            let key = hook.key();
            live.config.hook(&key.namespace, &key.name)?.record_id
        }),
        Sort::Rule => rule_of(draft).and_then(|(namespace, name)| {
            live.config.permission_rule(&namespace, name).map(|(_, id)| id)
        }),
    };
    let Some(id) = current else { return Ok(State::New) };
    let stored = engine.whole().read(|reader| reader.record(id))?;
    // Who stated it does not matter to what it does.
    let same = stored.is_some_and(|stored| same_body(&stored.record.body, &draft.body));
    Ok(if same { State::There(id) } else { State::Replaces(id) })
}

fn rule_of(draft: &Draft) -> Option<(Namespace, &str)> {
    Some((draft.namespace().ok()?, draft.body.get("name")?.as_str()?))
}

/// Compared as they are stored: `1.0` is 1.
fn same_body(one: &Object, other: &Object) -> bool {
    Canonical::of_object(one) == Canonical::of_object(other)
}

impl Plan {
    /// Returns whether it may be installed.
    pub const fn may_install(&self) -> bool {
        self.refused.is_none()
    }

    /// Returns how many records would be written.
    pub fn to_write(&self) -> usize {
        self.seeds.iter().filter(|it| !matches!(it.state, Some(State::There(_)))).count()
    }

    /// Refuses a plan that is not the one that was accepted.
    pub(super) fn check_accepted(&self, accepted: &str) -> Result<(), BlueprintError> {
        let plan = crate::canon::hex(&self.hash);
        if accepted == plan {
            return Ok(());
        }
        if accepted.len() != plan.len() {
            let message = "`accept_plan` must be the hash of a plan: 64 lower-case hex characters";
            return Err(ShapeError::new("accept_plan", Reason::BadValue, message).into());
        }
        Err(BlueprintError::PlanMismatch { accepted: accepted.chars().take(64).collect(), plan })
    }
}
