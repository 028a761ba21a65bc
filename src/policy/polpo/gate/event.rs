//! What happens in an invocation with a gate, and what is to be done.

use super::{GateFailure, Reopening};
use crate::policy::polpo::envelope::{Attempt, Candidate};
use crate::policy::polpo::{HookName, IdempotencyKey, Outcome};
use crate::record::RecordId;

/// Something that has happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The model is wanted.
    Model {
        /// What names the call.
        id: String,
        /// What for.
        purpose: Purpose,
        /// The most tokens that it may write, by the agent's own settings.
        cap: u64,
    },
    /// The model is done, whether it answered or not. Of a call that reported nothing, the tokens are
    /// not known.
    ModelEnded {
        /// What it read and wrote.
        tokens: Option<u64>,
    },
    /// A tool is about to be called: whatever judges a call has let it pass.
    Tool {
        /// The id of the call.
        id: String,
        /// The tool.
        name: String,
    },
    /// The tool is done, whether it failed or not.
    ToolEnded,
    /// There is a final answer; or a hook wants no further work, and this is what there is. Hooks at
    /// `turn:stop` without a gate have been asked.
    Answered(Candidate),
    /// What was to be written is durable, and these records with it.
    Written(Vec<Appended>),
    /// It is not.
    NotWritten(WriteFault),
    /// The validator has been asked.
    Validated(Outcome),
    /// The invocation waits for somebody and lets its process go.
    Suspended,
    /// Somebody wants it to end.
    Cancelled,
}

/// What the model is wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Work, with tools.
    Work,
    /// To put its answer into the form that was asked for.
    Formatting,
    /// To mend an answer without a gate, once an invocation.
    Recovery,
    /// To shorten the history. Costs tokens, and is no turn.
    Compaction,
}

/// A record that is part of the history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Appended {
    /// Which.
    pub id: RecordId,
    /// How many bytes it has.
    pub bytes: u64,
}

/// Why something could not be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteFault {
    /// There is too much of it.
    TooLarge,
    /// The store did not take it.
    Failed,
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Effect {
    /// Make the checkpoint durable, in one commit with whatever records belong to it. Where nothing
    /// outlives the process, that is done already.
    Write {
        /// Why.
        point: WritePoint,
        /// What to append to the history in the same commit.
        append: Option<Box<Reopening>>,
    },
    /// Call the model.
    CallModel {
        /// The most tokens that it may write.
        cap: u64,
    },
    /// Call the tool.
    CallTool,
    /// Go on with the work: whatever comes next is wanted from outside.
    GoOn,
    /// Have the model put its answer into the form that was asked for, without tools.
    Format,
    /// Ask a validator.
    Validate(Box<Asking>),
    /// Give this answer.
    Deliver {
        /// The answer, accepted.
        answer: Candidate,
        /// Whether it had been accepted before.
        replayed: bool,
    },
    /// There will be no answer.
    Fail(GateFailure),
    /// Let the process go.
    Suspend,
    /// End as anything that is cancelled. Nothing was accepted.
    Cancel,
}

/// When a checkpoint is written (contract-polpo §12.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WritePoint {
    /// Before a model or a tool is called.
    InFlight,
    /// After that.
    Landed,
    /// Before the first validator of an answer.
    Validating,
    /// After each validator.
    Judged,
    /// Before work goes on.
    Continuing,
    /// With what the model reads to that.
    Reopened,
    /// Before an answer is given.
    Accepted,
    /// At the end without one.
    Failed,
    /// Before the process is let go.
    Suspended,
}

/// A validator that is to be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asking {
    /// Which hook it is.
    pub hook: HookName,
    /// The key of the execution.
    pub key: IdempotencyKey,
    /// The answer.
    pub candidate: Candidate,
    /// Which one it is.
    pub attempt: Attempt,
    /// How long it may take: its own time, or that of the gate.
    pub timeout_ms: u64,
}
