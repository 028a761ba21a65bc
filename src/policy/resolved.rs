//! The policy of one run: resolved once, from files that are not read again.

use std::borrow::Cow;

use super::{Handle, PolicyHook, Question, Verdict, decide};
use crate::cancel::Cancel;
use crate::canon::Object;

/// The policy of one run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    hooks: Vec<PolicyHook>,
}

impl Policy {
    /// Returns the policy of whoever has set up none.
    pub fn none() -> Self {
        Self::default()
    }

    /// Returns the hooks in the order in which they are asked.
    pub fn hooks(&self) -> &[PolicyHook] {
        &self.hooks
    }

    /// Asks the hooks that a question concerns. Without one, nothing is started.
    pub fn ask(&self, question: &Question<'_>, _cancel: &Cancel) -> Verdict {
        struct Nobody;
        impl Handle for Nobody {
            fn ask(&mut self, _: &PolicyHook, _: &Question<'_>) -> super::Ran {
                unreachable!("nothing is set up")
            }
        }
        decide(&self.hooks, question, &mut Nobody)
    }

    /// Returns the settings of the audit file.
    pub fn audit(&self) -> Option<&super::audit::AuditSettings> {
        None
    }

    /// Returns why the settings refuse a call, if they do.
    pub fn denies(&self, _tool: &str, _input: &Object) -> Option<String> {
        None
    }

    /// Returns a result as whoever reads it sees it: with secrets replaced, where the settings say so.
    pub fn shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        Cow::Borrowed(text)
    }
}
