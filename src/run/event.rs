//! What happens to a run, and what it wants done.

use crate::engine::Heard;
use crate::model::{CallRequest, ModelError, Reply, TurnRequest};
use crate::record::{Draft, RecordId};
use crate::tool::Answer;

/// Something that happened.
#[derive(Debug)]
pub enum Event {
    /// The run is to begin.
    Start,
    /// The record that opens the loop is durable.
    Opened(RecordId),
    /// The model has answered, or could not.
    Replied(Result<Reply, ModelError>),
    /// The reply is durable.
    TurnRecorded(RecordId),
    /// The call and its ruling are durable.
    CallRecorded(RecordId),
    /// The tool has returned.
    Answered {
        /// What it said.
        answer: Answer,
        /// How long it took.
        took_ms: u64,
    },
    /// The result and the observations are durable.
    Observed {
        /// The record of the result.
        result: RecordId,
        /// What the hooks said.
        heard: Vec<Heard>,
    },
    /// A turn, a call or a result is too large for a record.
    Unrecorded(String),
    /// Somebody wants the run to stop.
    Cancelled,
    /// The outcome is durable.
    Closed(RecordId),
}

/// Something that a run wants done. Each is answered by one event.
#[derive(Debug)]
pub enum Effect {
    /// Store the record that opens the loop. Answered by [`Event::Opened`].
    Open(Draft),
    /// Ask the model for a turn. Answered by [`Event::Replied`].
    AskModel(TurnRequest),
    /// Store a reply. Answered by [`Event::TurnRecorded`].
    RecordTurn(Draft),
    /// Store a call and its ruling, in one commit. Answered by [`Event::CallRecorded`].
    RecordCall(Box<Ruled>),
    /// Execute a call. Answered by [`Event::Answered`].
    Execute(CallRequest),
    /// Store a result and ask the hooks, in one commit. Answered by [`Event::Observed`].
    Observe(Box<Returned>),
    /// Store the outcome. Answered by [`Event::Closed`].
    Close(Draft),
}

impl Effect {
    /// Returns whether this begins something: a run that is cancelled does without it. What has
    /// begun is always recorded to its end.
    pub const fn begins(&self) -> bool {
        matches!(self, Self::AskModel(_) | Self::RecordCall(_) | Self::Execute(_))
    }
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
}
