//! Why the engine did not observe a call.

use crate::canon::ParseError;
use crate::code::{Code, Coded};
use crate::engine::{EngineError, IngestError};
use crate::record::{ShapeError, ThreadId};
use crate::store::StoreError;

/// Why the engine did not observe a call. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ObserveError {
    /// The run is driven by a loop of this project, which asks the hooks itself.
    #[error(
        "`{thread}` is a run of this instance's own loop ({transport}), which asks the hooks itself"
    )]
    NotExternal {
        /// The run.
        thread: ThreadId,
        /// Where its tools work.
        transport: String,
    },
    /// What is told of the call is not of its shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The caller may not, or the call is too large to be recorded.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The store could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for ObserveError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<ParseError> for ObserveError {
    fn from(error: ParseError) -> Self {
        Self::Ingest(error.into())
    }
}

impl Coded for ObserveError {
    fn code(&self) -> Code {
        match self {
            Self::NotExternal { .. } => Code::RunNotExternal,
            Self::Shape(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Shape(error) => error.field(),
            Self::Ingest(error) => error.field(),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Shape(error) => error.reason(),
            Self::Ingest(error) => error.reason(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotExternal { .. } => Some("Give each run a thread of its own.".into()),
            Self::Shape(error) => error.hint(),
            Self::Ingest(error) => error.hint(),
            Self::Engine(error) => error.hint(),
        }
    }
}
