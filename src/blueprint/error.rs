//! Why a blueprint was not installed.

use crate::code::{Code, Coded};
use crate::engine::{EngineError, IngestError};
use crate::record::ShapeError;
use crate::store::StoreError;

/// Why a blueprint was not installed. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlueprintError {
    /// It is no blueprint, or holds what must not be installed.
    #[error(transparent)]
    Refused(ShapeError),
    /// The records door does not take one of its seeds.
    #[error("{what}: {error}")]
    Seed {
        /// The field, from the blueprint that holds it: `seeds[2].body.priority`.
        field: String,
        /// The seed, for people.
        what: String,
        /// Why.
        #[source]
        error: Box<IngestError>,
    },
    /// It brings configuration, which this caller may not write. Nothing else is said about it.
    #[error(transparent)]
    Denied(Box<IngestError>),
    /// What would be written is not what was agreed to.
    #[error(
        "the plan that was accepted is `{accepted}`, and the one of this blueprint is `{plan}`"
    )]
    PlanMismatch {
        /// The hash that was given.
        accepted: String,
        /// The hash of the plan.
        plan: String,
    },
    /// The store could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<ShapeError> for BlueprintError {
    fn from(error: ShapeError) -> Self {
        Self::Refused(error)
    }
}

impl From<StoreError> for BlueprintError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for BlueprintError {
    fn code(&self) -> Code {
        match self {
            Self::Refused(_) => Code::BlueprintRefused,
            // What is wrong with the body of a seed is wrong with the blueprint.
            Self::Seed { error, .. } => match **error {
                IngestError::Shape(_) => Code::BlueprintRefused,
                _ => error.code(),
            },
            Self::Denied(error) => error.code(),
            Self::PlanMismatch { .. } => Code::PlanMismatch,
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Refused(error) => error.field(),
            Self::Seed { field, .. } => Some(field),
            Self::PlanMismatch { .. } => Some("accept_plan"),
            Self::Denied(_) | Self::Engine(_) => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Refused(error) => error.reason(),
            Self::Seed { error, .. } => error.reason(),
            Self::Denied(_) | Self::PlanMismatch { .. } | Self::Engine(_) => None,
        }
    }

    fn column(&self) -> Option<usize> {
        match self {
            Self::Seed { error, .. } => error.column(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Refused(error) => error.hint(),
            Self::Seed { error, .. } | Self::Denied(error) => error.hint(),
            Self::PlanMismatch { .. } => {
                Some("Look at the plan again, and accept that one if it is what you want.".into())
            }
            Self::Engine(error) => error.hint(),
        }
    }
}
