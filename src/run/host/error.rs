//! Why a server does not do with a run what it was asked to.

use super::Unfit;
use crate::code::{Code, Coded};
use crate::config::show_usd;
use crate::engine::EngineError;
use crate::model::ModelError;
use crate::policy::SettingsError;
use crate::record::{ActorId, ThreadId};
use crate::run::{RowState, RunError};
use crate::tool::OutsideError;

/// Why a server does not do with a run what it was asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// It takes no more runs.
    #[error("the server is going away and begins no run")]
    Leaving,
    /// As many runs go on as there is room for.
    #[error("{live} runs go on, and there is room for {capacity}")]
    Full {
        /// How many go on.
        live: usize,
        /// How many may.
        capacity: usize,
    },
    /// As many runs of the actor go on as its tier allows.
    #[error("{live} runs of `{actor}` go on, and its tier allows {most} at once")]
    ActorFull {
        /// Who runs.
        actor: ActorId,
        /// How many go on.
        live: usize,
        /// How many may.
        most: u32,
    },
    /// The actor has begun as many runs today as its tier allows.
    #[error("`{actor}` has begun {count} runs today, and its tier allows {most}")]
    DailyCount {
        /// Who runs.
        actor: ActorId,
        /// How many it has begun.
        count: u64,
        /// How many it may.
        most: u64,
    },
    /// The actor's runs have cost as much today as its tier allows.
    #[error(
        "the runs of `{actor}` have cost {spent} USD today, and its tier allows {most}",
        spent = show_usd(*.spent), most = show_usd(*.most)
    )]
    DailyCost {
        /// Who runs.
        actor: ActorId,
        /// What they have cost, in micro-dollars.
        spent: u64,
        /// What they may.
        most: u64,
    },
    /// A budget in money, and a model whose price is not known.
    #[error("the model `{model}` has no price, so a budget in money cannot be kept")]
    Unpriced {
        /// The model.
        model: String,
    },
    /// The folder is none in which this server lets a run work.
    #[error(transparent)]
    Outside(#[from] OutsideError),
    /// What is set up about a run does not read.
    #[error(transparent)]
    Policy(#[from] SettingsError),
    /// Only the operator says where a run works.
    #[error("only the operator names a `workspace`")]
    WorkspaceForbidden,
    /// The caller may not write, or not read, where the run would be.
    #[error("this caller may not begin a run here")]
    OutOfBounds,
    /// The model cannot be had.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The tools cannot be had.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// No run stands on this thread.
    #[error("there is no run `{thread}`")]
    Unknown {
        /// The thread.
        thread: ThreadId,
    },
    /// It goes on already.
    #[error("the run {thread} goes on already")]
    LiveAlready {
        /// The run.
        thread: ThreadId,
    },
    /// It does not go on, so that nobody would hear.
    #[error("the run {thread} does not go on: {}", .state.as_str())]
    NotLive {
        /// The run.
        thread: ThreadId,
        /// How it stands.
        state: RowState,
    },
    /// The run itself.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The store could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A run could not be named.
    #[error("the run could not be named")]
    Nameless,
    /// The system gives no more threads.
    #[error("the system gives no thread for a run")]
    NoThread(#[source] std::io::Error),
    /// A fault of ours.
    #[error("the run broke before it was open")]
    Broke,
}

impl Coded for HostError {
    fn code(&self) -> Code {
        match self {
            Self::Leaving => Code::ShuttingDown,
            Self::Full { .. } | Self::ActorFull { .. } | Self::NoThread(_) => {
                Code::AdmissionCeiling
            }
            Self::DailyCount { .. } => Code::WorkDailyCountExceeded,
            Self::DailyCost { .. } => Code::WorkDailyCapExceeded,
            Self::Unpriced { .. } => Code::ModelUnpriced,
            Self::Outside(error) => error.code(),
            Self::Policy(error) => error.code(),
            Self::WorkspaceForbidden | Self::OutOfBounds => Code::ScopeForbidden,
            Self::Model(error) => error.code(),
            Self::Unfit(error) => error.code(),
            Self::Unknown { .. } => Code::NotFound,
            Self::LiveAlready { .. } => Code::RunDriven,
            Self::NotLive { .. } => Code::RunNotLive,
            Self::Run(error) => error.code(),
            Self::Engine(error) => error.code(),
            Self::Nameless | Self::Broke => Code::Internal,
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Unpriced { .. } => Some("budget_usd"),
            Self::Outside(error) => error.field(),
            // The field of the settings is none of the request's.
            Self::WorkspaceForbidden => Some("workspace"),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Leaving => Some("Try again when it is back.".into()),
            Self::Full { .. } | Self::ActorFull { .. } | Self::NoThread(_) => {
                Some("Try again when a run has ended; see `spl runs list --state running`.".into())
            }
            Self::DailyCount { .. } | Self::DailyCost { .. } => {
                Some("Days begin at midnight UTC; `GET /v1/config/tiers` has the tiers.".into())
            }
            Self::Unpriced { .. } => {
                Some("Limit the turns or the tokens, or give the model a price.".into())
            }
            Self::Outside(error) => error.hint(),
            Self::Policy(error) => error.hint(),
            Self::WorkspaceForbidden => Some("Leave it out.".into()),
            Self::Model(error) => error.hint(),
            Self::Unknown { .. } => Some("See `spl runs list`.".into()),
            Self::NotLive { state, thread } => Some(match state {
                RowState::WaitingOnYou => "Answer its question with `spl decisions`.".into(),
                _ => format!("See `spl runs show {thread}`."),
            }),
            Self::Run(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            _ => None,
        }
    }
}
