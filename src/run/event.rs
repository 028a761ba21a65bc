//! What happens to a run, and what it wants done.

use std::time::Duration;

use super::Spent;
use crate::canon::{Object, Value};
use crate::engine::Heard;
use crate::model::{CallRequest, Reply, TurnRequest};
use crate::object;
use crate::policy::Block;
use crate::record::{Draft, RecordId};
use crate::tool::Answer;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The run is to begin.
    Start,
    /// The record that opens the loop is durable.
    Opened(RecordId),
    /// Somebody has said something to the run.
    Said(Vec<String>),
    /// The model has answered.
    Replied {
        /// What it said.
        reply: Reply,
        /// How long it took.
        took_ms: u64,
    },
    /// The time ran out before the model had answered.
    OutOfTime,
    /// The reply is durable.
    TurnRecorded(RecordId),
    /// The permission rules have been asked about a call.
    Ruled {
        /// The rule that decided, if one did.
        rule: Option<String>,
        /// Why the call may not be made, if it may not.
        refused: Option<String>,
    },
    /// Whoever approves calls has been asked about one.
    Approved {
        /// Why the call is not made, if it is not.
        refused: Option<String>,
    },
    /// The policy hooks have been asked about a call.
    Guarded {
        /// Which of them blocked it, if one did.
        blocked: Option<Blocked>,
    },
    /// The call and its ruling are durable.
    CallRecorded(RecordId),
    /// The question to somebody else is durable.
    Requested(RecordId),
    /// The tool has returned, or somebody has answered the question.
    Answered {
        /// What it said.
        answer: Answer,
        /// How long it took.
        took_ms: u64,
    },
    /// A task has come to its end.
    Worked {
        /// What it came to.
        answer: Answer,
        /// How far it has come.
        spent: Spent,
    },
    /// The question stays open for now.
    Parked,
    /// The policy hooks have been asked about a result.
    Sifted {
        /// Which of them withheld it, if one did.
        blocked: Option<Blocked>,
    },
    /// The result and the observations are durable.
    Observed {
        /// The record of the result.
        result: RecordId,
        /// What the hooks said.
        heard: Vec<Heard>,
    },
    /// The run cannot go on: the model could not be asked, or a step is too large for a record.
    Failed {
        /// Why.
        why: String,
        /// Whether it may be taken up again where it was.
        resumable: bool,
    },
    /// Somebody wants the run to stop.
    Cancelled,
    /// The outcome is durable.
    Closed(RecordId),
    /// A run that was over is taken up again.
    Resumed,
}

/// Something that a run wants done. Each is answered by one event.
#[derive(Debug)]
pub enum Effect {
    /// Store the record that opens the loop. Answered by [`Event::Opened`].
    Open(Draft),
    /// Ask the model for a turn. Answered by [`Event::Replied`], by [`Event::OutOfTime`], by
    /// [`Event::Failed`], or before it is asked by [`Event::Said`].
    AskModel(Box<Asking>),
    /// Store a reply. Answered by [`Event::TurnRecorded`].
    RecordTurn(Box<Turn>),
    /// Ask the permission rules about a call. Answered by [`Event::Ruled`].
    Rule(CallRequest),
    /// Ask whoever approves calls about the one with this id. Answered by [`Event::Approved`].
    Approve(String),
    /// Ask the policy hooks about the call with this id, once its arguments fit. Answered by
    /// [`Event::Guarded`].
    Guard(String),
    /// Store a call and its ruling, in one commit. Answered by [`Event::CallRecorded`].
    RecordCall(Box<Ruled>),
    /// Execute a call. Answered by [`Event::Answered`].
    Execute(Execution),
    /// Do the task that a call asks for, to its end, or what is left of it. Answered by
    /// [`Event::Worked`].
    Spawn(Execution),
    /// Put the question that a call asks to somebody else. Answered by [`Event::Requested`], or by
    /// [`Event::Answered`] if it is no question.
    Request(Execution),
    /// Wait for what somebody else decides. Answered by [`Event::Answered`] or [`Event::Parked`].
    AwaitDecision(RecordId),
    /// Ask the policy hooks about the result of the call with this record. Answered by
    /// [`Event::Sifted`].
    Sift(RecordId),
    /// Store a result and ask the hooks, in one commit. Answered by [`Event::Observed`].
    Observe(Box<Returned>),
    /// Store the outcome. Answered by [`Event::Closed`].
    Close(Box<Ended>),
}

impl Effect {
    /// Returns whether this ends the run.
    pub const fn closes(&self) -> bool {
        matches!(self, Self::Close(_))
    }

    /// Returns whether this begins something: a run that is cancelled does without it. What has
    /// begun is always recorded to its end.
    pub const fn begins(&self) -> bool {
        match self {
            Self::AskModel(_)
            | Self::Rule(_)
            | Self::Approve(_)
            | Self::Guard(_)
            | Self::RecordCall(_)
            | Self::Execute(_)
            | Self::Spawn(_)
            | Self::Request(_)
            | Self::AwaitDecision(_) => true,
            Self::Open(_)
            | Self::RecordTurn(_)
            | Self::Sift(_)
            | Self::Observe(_)
            | Self::Close(_) => false,
        }
    }
}

/// A call or a result that a policy hook stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blocked {
    /// The word of the hook's dialect for where it was asked: `preToolUse`.
    pub event: String,
    /// Why.
    pub reason: String,
}

impl Blocked {
    /// Returns it as records have it, and the socket of a worker.
    pub(super) fn to_object(&self) -> Object {
        object! { "event": self.event.as_str(), "reason": self.reason.as_str() }
    }

    /// Reads it back.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
        Some(Self { event: text("event")?, reason: text("reason")? })
    }
}

impl From<&Block> for Blocked {
    fn from(block: &Block) -> Self {
        Self { event: block.event.to_owned(), reason: block.reason.clone() }
    }
}

/// A turn to be asked for.
#[derive(Debug)]
pub struct Asking {
    /// What the model is told.
    pub request: TurnRequest,
    /// How long it may take, if that is limited.
    pub within: Option<Duration>,
}

/// A reply, as it is to be stored.
#[derive(Debug)]
pub struct Turn {
    /// The reply.
    pub turn: Draft,
    /// What the run had to make good in it; their parent is the turn, which has no id before it is
    /// stored.
    pub compensations: Vec<Draft>,
}

/// A call and the ruling on it, as they are to be stored.
#[derive(Debug)]
pub struct Ruled {
    /// The call.
    pub call: Draft,
    /// The ruling; its parent is the call, which has no id before it is stored.
    pub verdict: Draft,
    /// What the guardrail has to say, if it has.
    pub guardrail: Option<Draft>,
    /// Why the call may not be made, if it may not; that a policy hook blocked it is no such reason.
    pub denied: Option<String>,
}

/// A call to be executed.
#[derive(Debug)]
pub struct Execution {
    /// The call.
    pub request: CallRequest,
    /// The record of the call.
    pub call: RecordId,
    /// How long it may take, if that is limited.
    pub within: Option<Duration>,
}

/// A call that returned, as the hooks and the records are to see it.
#[derive(Debug)]
pub struct Returned {
    /// The call.
    pub request: CallRequest,
    /// The record of the call.
    pub call: RecordId,
    /// What the tool said.
    pub answer: Answer,
    /// How long it took.
    pub took_ms: u64,
    /// What the task has spent, if it was one.
    pub spent: Option<Spent>,
    /// Which policy hook withheld what the tool really said, if one did.
    pub withheld: Option<Blocked>,
}

/// How a run ended, as it is to be stored.
#[derive(Debug)]
pub struct Ended {
    /// The outcome.
    pub outcome: Draft,
    /// The word for it.
    pub verb: &'static str,
    /// Why it could not go on, if it was the actor who said so.
    pub coercion: Option<Draft>,
}
