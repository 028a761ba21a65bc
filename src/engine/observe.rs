//! Observing for a loop of somebody else, written in any language: a call of its run has returned,
//! and the hooks are asked about it.
//!
//! The loop says what it has seen. The call and its result are recorded as its statements (origin
//! `door`), what the hooks have to say as the engine's own. A thread that has no run yet becomes one
//! of transport `external`.
//!
//! A call is known by its life and its id. Told of it a second time, the engine gives the same words
//! and counts nothing: the thread is read up to its end before the hooks are asked, and whether it
//! has grown meanwhile is looked up inside the transaction, where nobody else can write. If it has,
//! what is new is read and everything is asked again. So this is exact however many processes are
//! told of one call at once.

mod call;
mod error;
mod external;
mod facts;

use std::sync::PoisonError;

pub use call::ObservedCall;
pub use error::ObserveError;
pub(super) use external::ExternalRuns;

use super::door::{check_actor, check_depth, check_place};
use super::known::Known;
use super::seam::{OBSERVATION_KIND, say};
use super::{Caller, Engine, EngineError, Hooks, IngestError, RunSeat, Scope, ToolReturn};
use crate::canon::{Object, Value};
use crate::hook::head;
use crate::record::{Draft, Origin, Reason, RecordId, Sequence, ShapeError, ThreadId};
use crate::secret::mask;
use crate::store::{Stored, ThreadRange};
use external::{ExternalRun, Opening};
use facts::Facts;

/// How often the thread may turn out to have grown before asking is given up. Each time somebody
/// else was told of a call, so of many who begin together every one comes to its turn.
const MAX_ATTEMPTS: usize = 256;

/// How many records are read at once.
const PAGE: usize = 256;

/// What a hook has to say about a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
    /// The record of the hook; `None` for one that is built in.
    pub hook: Option<RecordId>,
    /// The how-manieth time in this life of the run.
    pub fire: u32,
    /// How often it may speak in one life at most.
    pub max: u32,
}

impl Engine {
    /// Records a call of somebody else's run that has returned, asks the hooks about it, and returns
    /// their words, in their order.
    ///
    /// Takes the scope `records:write`, and the right to speak as the run's actor, as the records
    /// door does. The same call again gives the same words and no new fire. A higher life than the
    /// highest seen starts every count again; a lower one is refused.
    pub fn observe(
        &self,
        caller: &Caller,
        thread: &ThreadId,
        call: &ObservedCall,
    ) -> Result<Vec<Spoken>, ObserveError> {
        if !caller.may(Scope::RecordsWrite) {
            return Err(IngestError::Scope { needed: Scope::RecordsWrite }.into());
        }
        call.check()?;
        if thread.is_config() {
            let message = "the `thread` of a run is not the one of the configuration";
            return Err(ShapeError::new("thread", Reason::BadValue, message).into());
        }
        let run = {
            let mut runs = self.0.observed.lock().unwrap_or_else(PoisonError::into_inner);
            runs.of(thread)
        };
        // One after another in this process; the transaction tells them apart among processes.
        let mut run = run.lock().unwrap_or_else(PoisonError::into_inner);
        for _ in 0..MAX_ATTEMPTS {
            self.whole().read(|reader| run.catch_up(reader, thread))?;
            // Before anything is said about what is there.
            let opening = run.opening().cloned().unwrap_or_else(|| Opening::of(call));
            check_place(caller, thread, &opening.namespace)?;
            check_actor(caller, &opening.actor)?;
            if let Some(opening) = run.opening().filter(|opening| !opening.external) {
                let transport = opening.transport.clone();
                return Err(ObserveError::NotExternal { thread: thread.clone(), transport });
            }
            if let Some(result) = run.answered(call.life, &call.call_id) {
                return Ok(self.words_after(thread, result)?);
            }
            if let Some(spoken) = self.observe_new(caller, thread, call, &run)? {
                return Ok(spoken);
            }
        }
        Err(EngineError::ContendedClock { thread: thread.to_string() }.into())
    }

    /// Asks about a call that nobody has told of; `None` if somebody wrote on the thread meanwhile.
    fn observe_new(
        &self,
        caller: &Caller,
        thread: &ThreadId,
        call: &ObservedCall,
        run: &ExternalRun,
    ) -> Result<Option<Vec<Spoken>>, ObserveError> {
        run.check_life(call.life)?;
        let opening = match run.opening() {
            Some(opening) => opening.agreeing_with(call)?,
            None => Opening::of(call),
        };
        let Opening { actor, namespace, domain, id, .. } = opening;
        let seat = RunSeat {
            thread: thread.clone(),
            life: call.life,
            actor,
            domain,
            namespace,
            hooks: Hooks::Live,
        };
        let facts = Facts { seat: &seat, call };
        let clock = self.whole().read(|reader| reader.next_clock(thread, &seat.actor))?;
        let prepare = |draft: Draft| {
            check_actor(caller, &draft.actor)?;
            check_depth(&draft)?;
            // The keys of actors are the operator's to use, as at the records door.
            let prepared = if caller.is_operator() {
                self.whole().prepare(draft)
            } else {
                self.whole().prepare_in_custody(draft)
            };
            Ok::<_, ObserveError>(prepared.map_err(IngestError::from)?)
        };
        // All that stands before the result has a clock before it.
        let mut clocks = facts::clocks_from(clock);
        let opened = match id {
            Some(_) => None,
            None => Some(prepare(facts.opening(clocks.next()))?),
        };
        let parent = id.or_else(|| opened.as_ref().map(|opened| opened.record().id()));
        let stated = prepare(facts.call(clocks.next(), parent))?;
        let resulted = prepare(facts.result(clocks.next(), stated.record().id()))?;
        let history = run.history_with(call.life, stated.record(), resulted.record());
        let returned = ToolReturn {
            tool: call.tool.clone(),
            args: call.args.clone(),
            status: call.status.clone(),
            head: head(&call.content).to_owned(),
            answer: String::new(),
            resource: format!("tool:{}", call.tool),
            empty: false,
            call: stated.record().id(),
            result: Object::new(),
        };
        let live = self.live()?;
        let mut known = Known::new(self, &seat);
        let result_clock = resulted.record().clock;
        let asked = self.ask(&seat, &history, &returned, &live, &known, result_clock);
        let asked = known.vouch(asked)?;
        let read_to = run.read_to();
        Ok(self.author(move |author| {
            if author.last_of_thread(&seat.thread)? != read_to {
                return Ok(None);
            }
            if let Some(opened) = &opened {
                author.enter(&seat.namespace)?;
                author.append(opened, Origin::Engine)?;
            }
            author.append(&stated, Origin::Door)?;
            let sequence = author.append(&resulted, Origin::Door)?;
            let said = say(author, &seat, (resulted.record(), sequence), &asked)?;
            Ok(Some(
                said.into_iter()
                    .map(|said| Spoken {
                        rule: said.heard.rule,
                        // As it is recorded, so that whoever asks again is told the same.
                        text: mask(&said.heard.text).into_owned(),
                        hook: said.hook,
                        fire: said.fire,
                        max: said.cap,
                    })
                    .collect(),
            ))
        })?)
    }

    /// Returns the words that stand behind a result.
    fn words_after(
        &self,
        thread: &ThreadId,
        result: (Sequence, RecordId),
    ) -> Result<Vec<Spoken>, EngineError> {
        let (mut after, result) = result;
        let mut spoken = Vec::new();
        loop {
            let range = ThreadRange { since_clock: None, after };
            let (page, more) =
                self.whole().read(|reader| reader.thread_page(thread, range, PAGE))?;
            for stored in &page {
                // They were stored in one commit with the result.
                match words(stored, result) {
                    Some(words) => spoken.push(words),
                    None => return Ok(spoken),
                }
                after = stored.sequence;
            }
            if !more {
                return Ok(spoken);
            }
        }
    }
}

/// Reads the words of a hook about a result back from their record.
fn words(stored: &Stored, result: RecordId) -> Option<Spoken> {
    let record = &stored.record;
    if stored.origin != Origin::Engine
        || record.kind() != Some(OBSERVATION_KIND)
        || record.parents.first() != Some(&result)
    {
        return None;
    }
    let text = |field: &str| record.body.get(field).and_then(Value::as_str);
    let number = |field: &str| u32::try_from(record.body.get(field)?.as_u64()?).ok();
    Some(Spoken {
        rule: text("rule")?.to_owned(),
        text: text("text")?.to_owned(),
        hook: text("hook").and_then(RecordId::parse),
        fire: number("fire")?,
        max: number("max_fires_per_run")?,
    })
}
