//! The post-tool seam: a call of a run has returned, and the hooks are asked about it.
//!
//! Hooks sit at this seam alone. What comes out is words, and a record of each; there is no way
//! from here to the call, its arguments or its result.

use std::sync::Arc;

use super::known::Known;
use super::{Author, Engine, EngineError, Live};
use crate::canon::Object;
use crate::hook::{
    Asked, Candidate, History, HookKey, HookSet, ReturnedCall, RunFacts, Tally, Trace,
};
use crate::object;
use crate::record::{Act, ActorId, Clock, Draft, Namespace, Record, RecordId, Sequence, ThreadId};
use crate::secret::mask;
use crate::store::Counted;
use crate::time::Stopwatch;

/// The kind of the record of an observation.
pub(super) const OBSERVATION_KIND: &str = "core.work.observation.v1";

/// How often the clock of a result may turn out to be taken before asking is given up. Only the
/// engine writes as itself on a loop thread, so twice is already unheard of.
const MAX_ATTEMPTS: usize = 8;

/// Which hooks a run asks.
#[derive(Debug, Clone, Default)]
pub enum Hooks {
    /// Those in force when a call returns: a hook speaks from the moment it is written.
    #[default]
    Live,
    /// Those that were in force once.
    Frozen(Arc<Live>),
}

/// Where hooks are asked: one life of one run.
#[derive(Debug, Clone)]
pub struct RunSeat {
    /// The loop thread.
    pub thread: ThreadId,
    /// How often the run has been resumed. Caps count within one life.
    pub life: u32,
    /// Who runs.
    pub actor: ActorId,
    /// What the run's work is trusted under.
    pub domain: String,
    /// Where it runs.
    pub namespace: Namespace,
    /// Which hooks are asked.
    pub hooks: Hooks,
}

/// A call of the run that has returned.
#[derive(Debug, Clone)]
pub struct ToolReturn {
    /// The tool, as the run calls it.
    pub tool: String,
    /// The arguments, whole.
    pub args: Object,
    /// `ok` or `error`.
    pub status: String,
    /// The first characters of the uncut answer: what a predicate reads.
    pub head: String,
    /// The answer as the run is shown it.
    pub answer: String,
    /// What the permission rules know the tool by: `tool:bash`.
    pub resource: String,
    /// Whether it was a look-up that came back with nothing.
    pub empty: bool,
    /// The record of the call.
    pub call: RecordId,
    /// The body of the result's record.
    pub result: Object,
}

/// Words that the run is shown on its next turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
    /// The record of them.
    pub record: RecordId,
}

impl Engine {
    /// Records the result of a call and asks the hooks about it, in one commit.
    ///
    /// `history` is what the run's earlier calls looked like; this call is added to it. A hook that
    /// cannot be asked says nothing and is counted.
    pub fn tool_returned(
        &self,
        seat: &RunSeat,
        history: &mut History,
        returned: &ToolReturn,
    ) -> Result<(Record, Vec<Heard>), EngineError> {
        let live = match &seat.hooks {
            Hooks::Live => self.live()?,
            Hooks::Frozen(live) => Arc::clone(live),
        };
        history.note(&Trace {
            empty: returned.empty,
            ..Trace::of(&returned.tool, &returned.args, &returned.status, &returned.answer)
        });
        let result =
            Draft::new(seat.thread.clone(), ActorId::engine(), Act::Know, returned.result.clone())
                .with_parents(vec![returned.call]);
        // A predicate may read the clock of the result, which is decided when it is stored. So it
        // is foreseen, and in the rare case that it was taken meanwhile, everything is asked again.
        let mut known = Known::new(self, seat);
        for _ in 0..MAX_ATTEMPTS {
            let clock =
                self.whole().read(|reader| reader.next_clock(&result.thread, &result.actor))?;
            let asked = self.ask(seat, history, returned, &live, &known, clock);
            let asked = known.vouch(asked)?;
            if let Some(heard) = self.store_result(seat, &result, clock, asked)? {
                return Ok(heard);
            }
        }
        Err(EngineError::ContendedClock { thread: seat.thread.to_string() })
    }

    pub(super) fn ask(
        &self,
        seat: &RunSeat,
        history: &History,
        returned: &ToolReturn,
        live: &Live,
        known: &Known<'_>,
        clock: Clock,
    ) -> Asked {
        let call = ReturnedCall {
            tool: &returned.tool,
            args: &returned.args,
            status: &returned.status,
            content: &returned.head,
            resource: &returned.resource,
            call: Some(returned.call),
            clock,
        };
        let run = self.facts_of(seat, known);
        if is_timed(&returned.call) {
            live.hooks.ask_timed(&call, &run, history, &Stopwatch::start())
        } else {
            live.hooks.ask(&call, &run, history)
        }
    }

    /// Asks `hooks` about a call of a run whose earlier calls are not known here: those that are
    /// built in say nothing.
    pub(crate) fn ask_about(
        &self,
        seat: &RunSeat,
        hooks: &HookSet,
        call: &ReturnedCall<'_>,
    ) -> Result<Asked, EngineError> {
        let mut known = Known::new(self, seat);
        let asked = hooks.ask(call, &self.facts_of(seat, &known), &History::default());
        known.vouch(asked)
    }

    fn facts_of<'a>(&self, seat: &'a RunSeat, known: &'a Known<'_>) -> RunFacts<'a> {
        RunFacts {
            thread: &seat.thread,
            actor: &seat.actor,
            namespace: &seat.namespace,
            domain: &seat.domain,
            trust: known,
            now: self.whole().now(),
            system: known,
        }
    }

    /// Stores the result, the observations of the hooks that have fires left, and the counters;
    /// `None` if the foreseen clock was taken.
    fn store_result(
        &self,
        seat: &RunSeat,
        result: &Draft,
        clock: Clock,
        asked: Asked,
    ) -> Result<Option<(Record, Vec<Heard>)>, EngineError> {
        let (seat, result) = (seat.clone(), result.clone());
        self.author(move |author| {
            if author.next_clock(&result)? != clock {
                return Ok(None);
            }
            let (result, sequence) = author.write_at(result)?;
            let said = say(author, &seat, (&result, sequence), &asked)?;
            let heard = said.into_iter().map(|said| said.heard).collect();
            Ok(Some((result, heard)))
        })
    }
}

/// Tells whether the evaluations about this call are timed: one call in 64 is, whichever process
/// asks. Its id is as good as a die, and says the same when the call is asked about again.
fn is_timed(call: &RecordId) -> bool {
    call.as_bytes().first().is_some_and(|byte| byte % 64 == 0)
}

/// The words of one hook, with what was counted.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) heard: Heard,
    pub(super) hook: Option<RecordId>,
    pub(super) fire: u32,
    pub(super) cap: u32,
}

/// Records the observations of the hooks that have fires left about a result that was stored, and
/// the counters.
pub(super) fn say(
    author: &mut Author<'_, '_>,
    seat: &RunSeat,
    (result, sequence): (&Record, Sequence),
    asked: &Asked,
) -> Result<Vec<Said>, EngineError> {
    let mut said = Vec::new();
    let mut fired = Vec::new();
    for candidate in &asked.spoken {
        if let Some(words) = speak(author, seat, result, candidate)? {
            fired.push(&candidate.key);
            said.push(words);
        }
    }
    count_asked(author, &seat.namespace, sequence, asked, &fired)?;
    Ok(said)
}

/// Adds what came of asking the hooks of a namespace about a call to the counters. `sequence` is
/// where its result stands, and `fired` are those that spoke.
pub(crate) fn count_asked(
    author: &mut Author<'_, '_>,
    namespace: &Namespace,
    sequence: Sequence,
    asked: &Asked,
    fired: &[&HookKey],
) -> Result<(), EngineError> {
    author.count_call(namespace, sequence)?;
    for (key, tally) in asked.tally() {
        let Tally { held, failed, nanos } = tally;
        let counted = Counted { held, spoke: fired.contains(&key), failed, nanos };
        author.count((&key.namespace, &key.name), counted)?;
    }
    Ok(())
}

/// Records the words of one hook, unless it has reached its cap.
fn speak(
    author: &mut Author<'_, '_>,
    seat: &RunSeat,
    result: &Record,
    candidate: &Candidate,
) -> Result<Option<Said>, EngineError> {
    let key = (&candidate.key.namespace, &*candidate.key.name);
    let Some(fire) = author.claim_fire(&seat.thread, seat.life, key, candidate.cap)? else {
        return Ok(None);
    };
    let body = observation(seat, candidate, fire, result.parents.first().copied());
    let draft = Draft::new(seat.thread.clone(), ActorId::engine(), Act::Know, body)
        .with_parents(vec![result.id()]);
    let record = author.write(draft)?;
    let heard = Heard {
        rule: candidate.key.name.to_string(),
        text: candidate.text.clone(),
        record: record.id(),
    };
    Ok(Some(Said { heard, hook: candidate.record_id, fire, cap: candidate.cap }))
}

/// Returns the body of the record of a hook's words about a call, masked as all that the engine
/// writes is.
pub(crate) fn observation(
    seat: &RunSeat,
    candidate: &Candidate,
    fire: u32,
    call: Option<RecordId>,
) -> Object {
    let mut body = object! {
        "fire": fire,
        "hook_namespace": &candidate.key.namespace,
        "kind": OBSERVATION_KIND,
        "life": seat.life,
        "loop_thread": &seat.thread,
        "max_fires_per_run": candidate.cap,
        "namespace": &seat.namespace,
        "rule": &*candidate.key.name,
        "text": &*mask(&candidate.text),
    };
    if let Some(hook) = candidate.record_id {
        body.insert("hook".into(), hook.into());
    }
    if let Some(call) = call {
        body.insert("tool_call".into(), call.into());
    }
    body
}
