//! Why a run could not begin, go on or be taken up.

use super::{ReplayError, Transport, Verb};
use crate::code::{Code, Coded};
use crate::engine::{Driven, EngineError};
use crate::policy::Block;
use crate::record::{RecordId, ThreadId};

/// Why a run could not begin, go on or be taken up.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Its records could not be written or read.
    #[error("the run could not be recorded")]
    Engine(#[from] EngineError),
    /// Somebody else drives it.
    #[error(transparent)]
    Driven(#[from] Driven),
    /// Its records are not those of a run.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// It is over.
    #[error("the run {thread} is over: {verb}")]
    Finished {
        /// The run.
        thread: ThreadId,
        /// How it ended.
        verb: Verb,
    },
    /// Whoever drove it went away; it can be taken up.
    #[error("the run {thread} was interrupted")]
    Interrupted {
        /// The run.
        thread: ThreadId,
    },
    /// Its tools work in a place of their own, and there is none.
    #[error(transparent)]
    Sandbox(#[from] crate::sandbox::SandboxError),
    /// It is taken up with its tools elsewhere than where they worked before.
    #[error("the tools of the run {thread} work {}", .transport.in_words())]
    Elsewhere {
        /// The run.
        thread: ThreadId,
        /// Where its tools work.
        transport: Transport,
    },
    /// A policy hook does not let its goal open a turn. No run was begun.
    #[error("a {} hook blocked the goal: {}", .block.event, .block.reason)]
    PromptBlocked {
        /// Where, and why.
        block: Block,
    },
    /// It waits for a decision that nobody has made.
    #[error("the run {thread} waits for the decision {request}")]
    Undecided {
        /// The run.
        thread: ThreadId,
        /// The question.
        request: RecordId,
    },
}

impl Coded for RunError {
    fn code(&self) -> Code {
        match self {
            Self::Engine(error) => error.code(),
            Self::Driven(error) => error.code(),
            Self::Replay(ReplayError::NoRun) => Code::NotFound,
            Self::Replay(ReplayError::Erased { .. }) => Code::RunNotLive,
            Self::Replay(ReplayError::Diverged { .. }) => Code::Internal,
            Self::Sandbox(error) => error.code(),
            Self::Elsewhere { .. } => Code::InvalidRequest,
            Self::PromptBlocked { .. } => Code::PromptBlocked,
            Self::Finished { .. } => Code::RunFinished,
            Self::Interrupted { .. } => Code::ShuttingDown,
            Self::Undecided { .. } => Code::DecisionPending,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => error.hint(),
            Self::Driven(error) => error.hint(),
            Self::Replay(ReplayError::NoRun) => Some("See `spl runs list`.".into()),
            Self::Replay(ReplayError::Diverged { .. }) => {
                Some("See whether `spl verify` finds more.".into())
            }
            Self::Interrupted { .. } => Some("Take it up with `spl runs resume`.".into()),
            Self::Sandbox(error) => error.hint(),
            Self::Elsewhere { .. } => Some("Take it up where it began.".into()),
            Self::PromptBlocked { .. } => {
                Some("Change the goal, or see `spl policy list` for the hook.".into())
            }
            Self::Finished { .. } | Self::Replay(ReplayError::Erased { .. }) => {
                Some("Begin a new one.".into())
            }
            Self::Undecided { request, .. } => {
                Some(format!("Answer it with `spl decisions approve {request}`."))
            }
        }
    }
}
