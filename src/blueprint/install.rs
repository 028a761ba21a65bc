//! Installing a blueprint: all of it in one commit.

use super::installed::{INSTALL_KIND, entry, thread};
use super::{Blueprint, BlueprintError, BlueprintSet, Plan, Planned, Sort, State, plan};
use crate::canon::{Digest, hex};
use crate::engine::{Caller, Engine, EngineError, IngestError, Together};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId, ThreadId};

/// How often somebody else may have configured or installed something between the plan and the
/// commit. Each time somebody did, so of many that begin together every one comes to its turn.
const MAX_ATTEMPTS: usize = 256;

/// What came of an installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    /// The plan that was carried out.
    pub plan: Digest,
    /// The records that were written, in their order.
    pub written: Vec<RecordId>,
    /// Those that were there already.
    pub there: Vec<RecordId>,
    /// The record of the installation; the earlier one if there was nothing to do.
    pub record: RecordId,
    /// Whether anything was written.
    pub fresh: bool,
}

/// Installs a blueprint in the name of `by`: what of it is not there yet, and the engine's record of
/// it, in one commit.
///
/// `accepted` is the hash of the plan that `by` has seen. Installed a second time, nothing is
/// written: content that was installed is known by what it says and who states it, and hooks and
/// rules by what is in force.
pub fn install(
    engine: &Engine,
    caller: &Caller,
    by: &ActorId,
    set: &BlueprintSet,
    accepted: &str,
) -> Result<Installed, BlueprintError> {
    for _ in 0..MAX_ATTEMPTS {
        let mut planned = plan(engine, caller, by, set)?;
        if let Some(denied) = planned.refused.take_if(is_denied) {
            return Err(denied);
        }
        planned.check_accepted(accepted)?;
        if let Some(refused) = planned.refused.take() {
            return Err(refused);
        }
        if let Some(installed) = carry_out(engine, caller, by, (set.blueprint(), &planned))? {
            return Ok(installed);
        }
    }
    let thread = ThreadId::config().to_string();
    Err(EngineError::ContendedClock { thread }.into())
}

fn is_denied(refused: &mut BlueprintError) -> bool {
    matches!(refused, BlueprintError::Denied(_))
}

/// Stores what a plan says; `None` if what it rests on has changed.
fn carry_out(
    engine: &Engine,
    caller: &Caller,
    by: &ActorId,
    (blueprint, plan): (&Blueprint, &Plan),
) -> Result<Option<Installed>, BlueprintError> {
    let is_there = |it: &&Planned| matches!(it.state, Some(State::There(_)));
    let there: Vec<RecordId> =
        plan.seeds.iter().filter(is_there).filter_map(|it| it.state?.record()).collect();
    let drafts: Vec<Draft> =
        plan.seeds.iter().filter(|it| !is_there(it)).map(|it| it.draft.clone()).collect();
    if let Some(record) = plan.installed.filter(|_| drafts.is_empty()) {
        let written = Vec::new();
        return Ok(Some(Installed { plan: plan.hash, written, there, record, fresh: false }));
    }
    let Some(thread) = thread() else { return Ok(None) };
    let (installs, configured) = plan.read_to;
    let as_of = vec![(thread.clone(), installs), (ThreadId::config(), configured)];
    let closing = Closing::of(by, blueprint, plan);
    let together = Together { drafts, as_of };
    let stored = engine
        .ingest_together(caller, together, move |ids| closing.draft(thread, ids))
        .map_err(|error| match error {
            IngestError::Engine(error) => BlueprintError::Engine(error),
            IngestError::Append(error) => BlueprintError::Engine(error.into()),
            // The plan has passed these checks a moment ago.
            error => BlueprintError::Denied(error.into()),
        })?;
    Ok(stored.map(|(written, record)| Installed {
        plan: plan.hash,
        written,
        there,
        record,
        fresh: true,
    }))
}

/// What the engine says of an installation, but for the ids of its records.
struct Closing {
    body: crate::canon::Object,
    seeds: Vec<(Sort, Digest, Option<RecordId>)>,
}

impl Closing {
    fn of(by: &ActorId, blueprint: &Blueprint, plan: &Plan) -> Self {
        let body = object! {
            "author": &blueprint.author,
            "blueprint": hex(&blueprint.hash()),
            "by": by,
            "kind": INSTALL_KIND,
            "name": blueprint.name.as_str(),
            "plan": hex(&plan.hash),
            "version": blueprint.version.as_str(),
            "vouched_by": plan.vouched.as_str(),
        };
        let there = |it: &Planned| match it.state {
            Some(State::There(id)) => Some(id),
            _ => None,
        };
        let seeds = plan.seeds.iter();
        let seeds = seeds.map(|it| (it.placed.seed.sort(), it.digest, there(it))).collect();
        Self { body, seeds }
    }

    /// Returns the record, for the records that were written for the seeds that were not there.
    fn draft(self, thread: ThreadId, written: &[RecordId]) -> Draft {
        let Self { mut body, seeds } = self;
        let mut written = written.iter().copied();
        let seeds: Vec<_> = seeds
            .into_iter()
            .filter_map(|(sort, digest, there)| {
                let record = there.or_else(|| written.next())?;
                Some(entry(sort, &digest, record, there.is_none()))
            })
            .collect();
        body.insert("seeds".into(), seeds.into());
        Draft::new(thread, ActorId::engine(), Act::Know, body)
    }
}
