//! Where a run stands.

use std::collections::{BTreeSet, VecDeque};

use super::guardrail::Guardrail;
use super::outcome::Outcome;
use super::{RunSpec, Spent, house};
use crate::model::{CallRequest, Message, ToolDescription, Usage};
use crate::record::RecordId;
use crate::tool::Answer;

/// Where a run stands. It changes only through [`step`](super::step()).
#[derive(Debug)]
pub struct RunState {
    pub(super) spec: RunSpec,
    pub(super) tools: Vec<ToolDescription>,
    pub(super) phase: Phase,
    pub(super) spent: Spent,
    /// What the model reads on its next turn.
    pub(super) messages: Vec<Message>,
    /// How many messages somebody has sent to the run while it went on.
    pub(super) heard_messages: u32,
    pub(super) opening: Option<RecordId>,
    pub(super) calls_ok: u32,
    pub(super) calls_failed: u32,
    /// How often hooks have spoken.
    pub(super) observations: u32,
    pub(super) guardrail: Guardrail,
    /// The ids that calls have had.
    pub(super) call_ids: BTreeSet<String>,
    /// The question that a run which is over waits for.
    pub(super) parked: Option<Box<Parked>>,
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
    RecordingTurn(Box<Replying>),
    /// The permission rules, for a call.
    Ruling(Box<Calling>),
    /// Whoever approves calls, for one.
    Approving(Box<Calling>),
    /// The policy hooks, for a call.
    Guarding(Box<Calling>),
    /// The record of a call.
    RecordingCall(Box<Calling>),
    /// A tool, for the call with this record.
    Executing(Box<Calling>, RecordId),
    /// The record of a question that the call with this record asks.
    Requesting(Box<Calling>, RecordId),
    /// Somebody's decision.
    Deciding(Box<Parked>),
    /// The policy hooks, for the result of the call with this record.
    Sifting(Box<Calling>, Box<Sifting>),
    /// The record of a result.
    Observing(Box<Calling>, Counted),
    /// The record of the outcome.
    Closing(Box<Outcome>),
    /// Nothing: the run is over.
    Closed(Box<Outcome>),
}

/// A reply that is being recorded.
#[derive(Debug)]
pub(super) struct Replying {
    pub(super) calls: Calls,
    pub(super) text: String,
    pub(super) usage: Usage,
    pub(super) took_ms: u64,
}

/// The calls of a turn that are still to be made.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) waiting: VecDeque<CallRequest>,
    /// How many tasks it has had done.
    pub(super) tasks: u32,
    /// Whether the reply was cut, so that their arguments may be anything.
    pub(super) cut: bool,
    /// Whether this turn made any call; one that made none ends the run.
    pub(super) any: bool,
}

/// One call of a turn, and those after it.
#[derive(Debug)]
pub(super) struct Calling {
    pub(super) request: CallRequest,
    /// The record of the turn.
    pub(super) turn: RecordId,
    /// The permission rule that let it pass, if one did.
    pub(super) rule: Option<String>,
    /// What to answer instead of executing it.
    pub(super) refused: Option<String>,
    /// Whether it is the guardrail that answers.
    pub(super) blocked: bool,
    /// How the run ends after this call, if it does.
    pub(super) halt: Option<Outcome>,
    pub(super) rest: Calls,
}

/// A call that asked somebody a question.
#[derive(Debug)]
pub(super) struct Parked {
    pub(super) calling: Calling,
    /// The record of the call.
    pub(super) call: RecordId,
    /// The record of the question.
    pub(super) request: RecordId,
}

/// A result that nobody has read yet.
#[derive(Debug)]
pub(super) struct Sifting {
    /// The record of the call.
    pub(super) call: RecordId,
    pub(super) answer: Answer,
    pub(super) took_ms: u64,
    /// What the task has spent, if it was one.
    pub(super) spent: Option<Spent>,
}

impl Sifting {
    pub(super) const fn of(call: RecordId, answer: Answer, took_ms: u64) -> Self {
        Self { call, answer, took_ms, spent: None }
    }
}

/// What a result that is being recorded counts for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Counted {
    pub(super) failed: bool,
    pub(super) took_ms: u64,
    pub(super) spent: Option<Spent>,
}

impl RunState {
    /// Returns the state of a run that has not begun. What the tier forbids is not offered; what
    /// the run itself answers is.
    pub fn new(spec: RunSpec, tools: Vec<ToolDescription>) -> Self {
        let mut tools: Vec<_> = tools
            .into_iter()
            .filter(|tool| !spec.forbidden.contains(&tool.name) && !house::is_name(&tool.name))
            .collect();
        tools.extend(house::descriptions(&spec));
        Self {
            spec,
            tools,
            phase: Phase::New,
            spent: Spent::default(),
            messages: Vec::new(),
            heard_messages: 0,
            opening: None,
            calls_ok: 0,
            calls_failed: 0,
            observations: 0,
            guardrail: Guardrail::default(),
            call_ids: BTreeSet::new(),
            parked: None,
            words: String::new(),
        }
    }

    /// Returns what the run was asked to do.
    pub const fn spec(&self) -> &RunSpec {
        &self.spec
    }

    /// Returns how the run ended, once it has.
    pub fn outcome(&self) -> Option<&Outcome> {
        match &self.phase {
            Phase::Closed(outcome) => Some(outcome),
            _ => None,
        }
    }

    /// Returns the question that the run waits for, if it does.
    pub fn awaits(&self) -> Option<RecordId> {
        match &self.phase {
            Phase::Deciding(parked) => Some(parked.request),
            Phase::Closed(_) => self.parked.as_ref().map(|parked| parked.request),
            _ => None,
        }
    }

    /// Returns the call that somebody is asked about before it is made, or that is being recorded.
    pub(super) fn proposed(&self) -> Option<&CallRequest> {
        match &self.phase {
            Phase::Approving(calling)
            | Phase::Guarding(calling)
            | Phase::RecordingCall(calling) => Some(&calling.request),
            _ => None,
        }
    }

    /// Returns the result that nobody has read yet, and the call that it is of.
    pub(super) fn unread(&self) -> Option<(&CallRequest, &Answer)> {
        match &self.phase {
            Phase::Sifting(calling, sifting) => Some((&calling.request, &sifting.answer)),
            _ => None,
        }
    }

    /// Returns how far the run has come.
    pub const fn spent(&self) -> &Spent {
        &self.spent
    }

    /// Returns how many calls went well and how many failed.
    pub const fn calls(&self) -> (u32, u32) {
        (self.calls_ok, self.calls_failed)
    }

    /// Returns how often hooks have spoken.
    pub const fn observations(&self) -> u32 {
        self.observations
    }

    /// Returns how many messages somebody has sent to the run while it went on.
    pub const fn heard_messages(&self) -> u32 {
        self.heard_messages
    }

    /// Returns the last words of the model.
    pub fn words(&self) -> &str {
        &self.words
    }
}
