//! What can go wrong at the engine.

use super::{HomeError, Scope};
use crate::canon::ParseError;
use crate::code::{Code, Coded};
use crate::identity::RandomError;
use crate::record::{Namespace, ShapeError};
use crate::store::{AppendError, OpenError, StoreError};

/// Why the engine could not do something of its own.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// The home is not usable.
    #[error(transparent)]
    Home(#[from] HomeError),
    /// The store could not be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The store could not be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A record of the engine's own could not be appended.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// The operating system has no randomness to give.
    #[error(transparent)]
    Random(#[from] RandomError),
    /// Somebody else keeps writing as the engine on this thread.
    #[error("another process keeps writing as the engine on `{thread}`")]
    ContendedClock {
        /// The thread.
        thread: String,
    },
}

impl Coded for EngineError {
    fn code(&self) -> Code {
        match self {
            Self::Home(error) => error.code(),
            Self::Open(error) => error.code(),
            Self::Store(error) => error.code(),
            Self::Append(error) => error.code(),
            Self::Random(_) | Self::ContendedClock { .. } => Code::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Home(error) => error.hint(),
            Self::Open(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Append(error) => error.hint(),
            Self::Random(_) | Self::ContendedClock { .. } => None,
        }
    }
}

/// Why a record did not pass the door. Nothing of it was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IngestError {
    /// The caller lacks a scope.
    #[error("this needs the scope `{needed}`")]
    Scope {
        /// The scope.
        needed: Scope,
    },
    /// The bytes are not JSON that can be canonical.
    #[error(transparent)]
    Json(#[from] ParseError),
    /// What is written lies outside of what the caller's grains name.
    #[error("this caller may not write here")]
    OutOfBounds,
    /// The caller may not speak as this actor. Nothing is said about who may.
    #[error("this caller may not speak as this actor")]
    ActorClaim,
    /// The caller may not write this kind of configuration. Nothing else is said about the body.
    #[error("this configuration takes {needed}")]
    ConfigWriteDenied {
        /// Who may.
        needed: &'static str,
    },
    /// The permission rules do not allow it.
    #[error("{sentence}")]
    PermissionDenied {
        /// What is said: the same to everybody but the operator, who is told by which rule.
        sentence: String,
        /// Whether the caller is the operator, who can take the rules back.
        operator: bool,
    },
    /// The envelope or the body violates its shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// What is to be changed is not there.
    #[error("there is no namespace `{namespace}`")]
    UnknownNamespace {
        /// The namespace.
        namespace: Namespace,
    },
    /// The store refused it.
    #[error(transparent)]
    Append(#[from] AppendError),
    /// It was stored, and the live set could not be brought up to date.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for IngestError {
    fn from(error: StoreError) -> Self {
        Self::Append(error.into())
    }
}

impl Coded for IngestError {
    fn code(&self) -> Code {
        match self {
            Self::Scope { .. } | Self::OutOfBounds => Code::ScopeForbidden,
            Self::Json(ParseError::TooLarge { .. }) => Code::BodyTooLarge,
            Self::Json(_) => Code::IngestFailed,
            Self::ActorClaim => Code::DidClaimDenied,
            Self::ConfigWriteDenied { .. } => Code::ConfigWriteDenied,
            Self::PermissionDenied { .. } => Code::PermissionDenied,
            Self::Shape(error) => error.code(),
            Self::UnknownNamespace { .. } => Code::NotFound,
            Self::Append(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Shape(error) => error.field(),
            Self::Append(error) | Self::Engine(EngineError::Append(error)) => error.field(),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Shape(error) => Some(error.reason.as_str()),
            _ => None,
        }
    }

    fn column(&self) -> Option<usize> {
        match self {
            Self::Shape(error) => error.column,
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Shape(error) => error.hint.clone(),
            Self::Append(error) => error.hint(),
            Self::Engine(error) => error.hint(),
            Self::ConfigWriteDenied { .. } => {
                Some("Ask the operator, or use a token with that scope.".into())
            }
            Self::UnknownNamespace { .. } => Some("See `spl namespace list`.".into()),
            Self::PermissionDenied { operator: true, .. } => Some(
                "See `spl config list-permission-rules`; `spl config permissions-unlock` puts all \
                 rules out of force."
                    .into(),
            ),
            Self::Scope { .. }
            | Self::OutOfBounds
            | Self::Json(_)
            | Self::ActorClaim
            | Self::PermissionDenied { .. } => None,
        }
    }
}
