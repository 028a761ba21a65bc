//! Why a turn was not taken.

use std::time::Duration;

use crate::code::{Code, Coded};

/// A turn that was not taken. Holds no key, and of what a provider has said only a line.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The run was cancelled in the middle of it.
    #[error("the turn was cancelled")]
    Cancelled,
    /// Nobody can play the model: its provider is not known, or there is no key for it.
    #[error("no provider can play `{model}`: {reason}")]
    NoProvider {
        /// The name that was asked for.
        model: String,
        /// What is missing.
        reason: String,
        /// What to set, and where.
        hint: String,
    },
    /// The provider will not take the turn, now or later.
    #[error("the provider of `{model}` refused the turn{}: {message}", shown(*.status))]
    Refused {
        /// The name of the model.
        model: String,
        /// The HTTP status, if that is how it was said.
        status: Option<u16>,
        /// What the provider says.
        message: String,
    },
    /// The provider cannot be reached, is overloaded, or broke off.
    #[error("the provider of `{model}` is not available: {message}")]
    Unavailable {
        /// The name of the model.
        model: String,
        /// What happened.
        message: String,
    },
    /// What the provider sent is not a reply.
    #[error("the provider of `{model}` sent what is not a reply: {message}")]
    Malformed {
        /// The name of the model.
        model: String,
        /// What is wrong with it.
        message: String,
    },
    /// The provider was silent for too long.
    #[error("the provider of `{model}` was silent for {} s", .silent.as_secs())]
    TimedOut {
        /// The name of the model.
        model: String,
        /// How long it was waited for.
        silent: Duration,
    },
    /// The reply is larger than what is taken.
    #[error("the reply of `{model}` is larger than {limit} bytes")]
    TooLarge {
        /// The name of the model.
        model: String,
        /// How much is taken.
        limit: usize,
    },
}

/// Returns a status as a part of a sentence.
fn shown(status: Option<u16>) -> String {
    status.map(|status| format!(" (HTTP {status})")).unwrap_or_default()
}

impl Coded for ModelError {
    fn code(&self) -> Code {
        match self {
            // A run that is cancelled ends as such; this is for who has no run, and goes away.
            Self::Cancelled => Code::ShuttingDown,
            Self::NoProvider { .. } => Code::WorkNoProvider,
            Self::Refused { .. } => Code::ModelRefused,
            Self::TimedOut { .. } => Code::RequestTimeout,
            Self::Unavailable { .. } | Self::Malformed { .. } | Self::TooLarge { .. } => {
                Code::ModelUnavailable
            }
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoProvider { hint, .. } => Some(hint.clone()),
            Self::Refused { status: Some(401 | 403), .. } => {
                Some("Check the key; `spl model list` says where it comes from.".into())
            }
            Self::Refused { status: Some(404), .. } => {
                Some("Check the name of the model and the base URL: `spl model list`.".into())
            }
            _ => None,
        }
    }
}
