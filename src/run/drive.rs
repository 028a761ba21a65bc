//! The driver: performs effects, feeds back what came of them, decides nothing.

use super::{Effect, Event, Outcome, Returned, Ruled, RunSpec, RunState, body, step};
use crate::cancel::Cancel;
use crate::code::{Code, Coded};
use crate::engine::{Engine, EngineError, Heard, RunSeat, ToolReturn};
use crate::hook::History;
use crate::model::{CallRequest, Model, Reply, ToolDescription};
use crate::record::ThreadId;
use crate::store::AppendError;
use crate::time::Stopwatch;
use crate::tool::{Answer, Toolbox};

/// Something worth showing while a run goes on.
#[derive(Debug)]
pub enum Moment<'a> {
    /// The loop is open.
    Opened(&'a ThreadId),
    /// The model has answered.
    Replied {
        /// Which turn this is, from 1.
        turn: u32,
        /// The reply.
        reply: &'a Reply,
    },
    /// A call is about to be executed.
    Calling(&'a CallRequest),
    /// A call has returned.
    Returned {
        /// The call.
        request: &'a CallRequest,
        /// What the tool said.
        answer: &'a Answer,
    },
    /// A hook has spoken.
    Heard(&'a Heard),
    /// The run is over.
    Closed(&'a Outcome),
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The loop thread.
    pub thread: ThreadId,
    /// How it ended.
    pub outcome: Outcome,
    /// How many turns the model took.
    pub turns: u32,
    /// How many calls went well.
    pub calls_ok: u32,
    /// How many calls failed.
    pub calls_failed: u32,
    /// How often hooks spoke.
    pub observations: u32,
}

/// Why a run could not go on: its records could not be written.
#[derive(Debug, thiserror::Error)]
#[error("the run could not be recorded")]
pub struct RunError(#[from] EngineError);

impl Coded for RunError {
    fn code(&self) -> Code {
        self.0.code()
    }

    fn hint(&self) -> Option<String> {
        self.0.hint()
    }
}

/// Runs a goal to its end. `watch` is told each moment as it comes.
///
/// A model that fails ends the run with an outcome; only a store that fails ends it without one.
pub fn drive(
    engine: &Engine,
    spec: RunSpec,
    model: &mut dyn Model,
    tools: &Toolbox,
    cancel: &Cancel,
    watch: &mut dyn FnMut(Moment<'_>),
) -> Result<Report, RunError> {
    let seat = RunSeat {
        thread: spec.thread.clone(),
        life: 0,
        actor: spec.actor.clone(),
        domain: spec.domain.clone(),
        namespace: spec.namespace.clone(),
    };
    let mut state = RunState::new(spec, describe(tools));
    let mut driver =
        Driver { engine, model, tools, cancel, watch, seat, history: History::default(), heard: 0 };
    let mut event = Event::Start;
    loop {
        let (next, effect) = step(state, event);
        state = next;
        let Some(effect) = effect else { break };
        event = if cancel.is_cancelled() && effect.begins() {
            Event::Cancelled
        } else {
            driver.perform(&state, effect)?
        };
    }
    let (calls_ok, calls_failed) = state.calls();
    let outcome = match state.outcome() {
        Some(outcome) => outcome.clone(),
        None => Outcome::new(super::Verb::Failed, "the run stopped without an outcome"),
    };
    (driver.watch)(Moment::Closed(&outcome));
    Ok(Report {
        thread: state.spec().thread.clone(),
        turns: state.turns(),
        outcome,
        calls_ok,
        calls_failed,
        observations: driver.heard,
    })
}

fn describe(tools: &Toolbox) -> Vec<ToolDescription> {
    let describe = |spec: &crate::tool::ToolSpec| ToolDescription {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    };
    tools.specs().map(describe).collect()
}

struct Driver<'a> {
    engine: &'a Engine,
    model: &'a mut dyn Model,
    tools: &'a Toolbox,
    cancel: &'a Cancel,
    watch: &'a mut dyn FnMut(Moment<'_>),
    seat: RunSeat,
    history: History,
    heard: u32,
}

impl Driver<'_> {
    fn perform(&mut self, state: &RunState, effect: Effect) -> Result<Event, RunError> {
        Ok(match effect {
            Effect::Open(draft) => {
                let record = self.engine.author(move |author| author.write(draft))?;
                (self.watch)(Moment::Opened(&self.seat.thread));
                Event::Opened(record.id())
            }
            Effect::AskModel(request) => {
                let reply = self.model.turn(&request, self.cancel, &mut |_| {});
                if let Ok(reply) = &reply {
                    (self.watch)(Moment::Replied { turn: state.turns() + 1, reply });
                }
                Event::Replied(reply)
            }
            Effect::RecordTurn(draft) => {
                let written = self.engine.author(move |author| author.write(draft));
                recorded(written, |record| Event::TurnRecorded(record.id()))?
            }
            Effect::RecordCall(ruled) => {
                let Ruled { call, verdict, guardrail } = *ruled;
                let written = self.engine.author(move |author| {
                    let call = author.write(call)?.id();
                    author.write(verdict.with_parents(vec![call]))?;
                    if let Some(guardrail) = guardrail {
                        author.write(guardrail.with_parents(vec![call]))?;
                    }
                    Ok(call)
                });
                recorded(written, Event::CallRecorded)?
            }
            Effect::Execute(request) => {
                (self.watch)(Moment::Calling(&request));
                let watch = Stopwatch::start();
                let answer = self.tools.call(&request.name, &request.args, self.cancel);
                let took_ms = u64::try_from(watch.elapsed().as_millis()).unwrap_or(u64::MAX);
                Event::Answered { answer, took_ms }
            }
            Effect::Observe(returned) => self.observe(state, &returned)?,
            Effect::Close(draft) => {
                let record = self.engine.author(move |author| author.write(draft))?;
                Event::Closed(record.id())
            }
        })
    }

    /// The post-tool seam: the one place where hooks are asked.
    fn observe(&mut self, state: &RunState, returned: &Returned) -> Result<Event, RunError> {
        let Returned { request, answer, call, .. } = returned;
        (self.watch)(Moment::Returned { request, answer });
        let tool_return = ToolReturn {
            tool: request.name.clone(),
            args: request.args.clone(),
            status: answer.status.as_str().to_owned(),
            head: answer.head.clone(),
            answer: answer.shown.clone(),
            resource: format!("tool:{}", request.name),
            empty: answer.empty,
            call: *call,
            result: body::result(state, returned),
        };
        let written = self.engine.tool_returned(&self.seat, &mut self.history, &tool_return);
        recorded(written, |(result, heard)| {
            for words in &heard {
                self.heard += 1;
                (self.watch)(Moment::Heard(words));
            }
            Event::Observed { result: result.id(), heard }
        })
    }
}

/// Returns the event of a step that was stored. One that is too large to be is the run's own doing,
/// and ends it like any other failure; only a store that fails leaves it without an outcome.
fn recorded<T>(
    written: Result<T, EngineError>,
    event: impl FnOnce(T) -> Event,
) -> Result<Event, RunError> {
    match written {
        Ok(written) => Ok(event(written)),
        Err(EngineError::Append(
            error @ (AppendError::TooLarge(_) | AppendError::TooDeep { .. }),
        )) => Ok(Event::Unrecorded(error.to_string())),
        Err(error) => Err(error.into()),
    }
}
