//! Where a run stands.

use std::collections::VecDeque;

use super::RunSpec;
use super::guardrail::Guardrail;
use super::outcome::Outcome;
use crate::model::{CallRequest, Message, ToolDescription};
use crate::record::RecordId;

/// Where a run stands. It changes only through [`step`](super::step()).
#[derive(Debug)]
pub struct RunState {
    pub(super) spec: RunSpec,
    pub(super) tools: Vec<ToolDescription>,
    pub(super) phase: Phase,
    /// Turns that the model has taken.
    pub(super) turns: u32,
    /// What the model reads on its next turn.
    pub(super) messages: Vec<Message>,
    pub(super) opening: Option<RecordId>,
    pub(super) calls_ok: u32,
    pub(super) calls_failed: u32,
    pub(super) guardrail: Guardrail,
    /// The last words of the model.
    pub(super) words: String,
}

/// What the run waits for.
#[derive(Debug)]
pub(super) enum Phase {
    /// To be started.
    New,
    /// The record that opens the loop.
    Opening,
    /// The model.
    Thinking,
    /// The record of a turn that makes these calls.
    RecordingTurn(Calls),
    /// The record of a call.
    RecordingCall(Calling),
    /// A tool, for the call with this record.
    Executing(Calling, RecordId),
    /// The record of a result.
    Observing(Calling),
    /// The record of the outcome.
    Closing(Outcome),
    /// Nothing: the run is over.
    Closed(Outcome),
}

/// The calls of a turn that are still to be made.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) waiting: VecDeque<CallRequest>,
    /// Whether the reply was cut, so that their arguments may be anything.
    pub(super) cut: bool,
}

/// One call of a turn, and those after it.
#[derive(Debug)]
pub(super) struct Calling {
    pub(super) request: CallRequest,
    /// The record of the turn.
    pub(super) turn: RecordId,
    /// What to answer instead of executing it.
    pub(super) refused: Option<String>,
    /// Whether it is the guardrail that answers.
    pub(super) blocked: bool,
    /// How the run ends after this call, if it does.
    pub(super) halt: Option<Outcome>,
    pub(super) rest: Calls,
}

impl RunState {
    /// Returns the state of a run that has not begun.
    pub fn new(spec: RunSpec, tools: Vec<ToolDescription>) -> Self {
        Self {
            spec,
            tools,
            phase: Phase::New,
            turns: 0,
            messages: Vec::new(),
            opening: None,
            calls_ok: 0,
            calls_failed: 0,
            guardrail: Guardrail::default(),
            words: String::new(),
        }
    }

    /// Returns what the run was asked to do.
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns how the run ended, once it has.
    pub const fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Closed(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns how many turns the model has taken.
    pub const fn turns(&self) -> u32 {
        self.turns
    }

    /// Returns how many calls went well and how many failed.
    pub const fn calls(&self) -> (u32, u32) {
        (self.calls_ok, self.calls_failed)
    }

    /// Returns the last words of the model.
    pub fn words(&self) -> &str {
        &self.words
    }
}
