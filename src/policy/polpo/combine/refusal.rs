//! Why something does not happen.

use crate::policy::polpo::{Failure, HookName, RunCode};

/// A hook does not let something happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The code.
    pub code: RunCode,
    /// Which hook.
    pub hook: HookName,
    /// The reason it gave. Secrets are replaced.
    pub reason: Option<String>,
    /// How it failed, if that is why.
    pub failure: Option<Failure>,
}

impl Refusal {
    /// Returns the refusal of a hook that denies.
    pub const fn denied(hook: HookName, reason: Option<String>) -> Self {
        Self { code: RunCode::Denied, hook, reason, failure: None }
    }

    /// Returns the refusal for a hook that failed.
    pub const fn failed(hook: HookName, failure: Failure) -> Self {
        Self { code: RunCode::Failed, hook, reason: None, failure: Some(failure) }
    }

    /// Returns the refusal of a call for which a hook wanted approval that nobody gave.
    pub const fn unapproved(hook: HookName, reason: Option<String>) -> Self {
        Self { code: RunCode::ApprovalRequired, hook, reason, failure: None }
    }

    /// Returns what the model reads instead of the result of a call.
    pub fn told(&self, tool: &str) -> String {
        let what = match self.code {
            RunCode::Denied => "was refused by the policy hook",
            RunCode::ApprovalRequired => "was not approved, as it has to be for the policy hook",
            _ => "was refused, since there is no answer of the policy hook",
        };
        let mut text = format!("Error: `{tool}` {what} {}", self.hook);
        match (&self.reason, &self.failure) {
            (Some(reason), _) => text.push_str(&format!(": {reason}")),
            (None, Some(failure)) => text.push_str(&format!(" ({})", failure.cause.as_str())),
            (None, None) => text.push('.'),
        }
        text
    }
}
