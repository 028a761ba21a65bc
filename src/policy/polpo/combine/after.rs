//! After a call.

use std::ops::ControlFlow;

use super::Refusal;
use super::walk::{Changed, Seat};
use crate::policy::polpo::normal_result;
use crate::policy::polpo::{Answer, Cause, Change, Decision, Failure, HookName, Site};

/// A call that has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    result: String,
    changed: bool,
}

/// What comes of it. Whether the call failed is as it was, unless its result is withheld.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AfterEffect {
    /// The model reads this, and nothing else of it.
    Show {
        /// The text.
        result: String,
        /// Whether it is another than the tool's.
        changed: bool,
    },
    /// The model reads why it does not read the result, as that of a call that failed.
    Withhold(Refusal),
    /// The model's work is over. This is what there is of the result.
    Stop {
        /// The text.
        result: String,
        /// Whether it is another than the tool's.
        changed: bool,
        /// Which hook wants that.
        hook: HookName,
        /// Why.
        reason: Option<String>,
    },
}

impl After {
    /// Returns the call with the result of its tool, in the form in which everybody reads it.
    pub fn new(result: &str) -> Self {
        Self { result: normal_result(result).into_owned(), changed: false }
    }

    /// Returns the result as it is now.
    pub fn result(&self) -> &str {
        &self.result
    }
}

impl Seat for After {
    type Effect = AfterEffect;

    const PLACE: Site = Site::After;

    fn take(
        &mut self,
        hook: &HookName,
        answer: Answer,
    ) -> Result<ControlFlow<AfterEffect, Changed>, Failure> {
        let Answer { decision, reason, .. } = answer;
        match decision {
            Decision::Deny => {
                Ok(ControlFlow::Break(self.refuse(Refusal::denied(hook.clone(), reason))))
            }
            Decision::Stop(_) => {
                let result = std::mem::take(&mut self.result);
                let (changed, hook) = (self.changed, hook.clone());
                Ok(ControlFlow::Break(AfterEffect::Stop { result, changed, hook, reason }))
            }
            Decision::Modify(Change::Result(result)) => {
                let changed = result != self.result;
                self.result = result;
                self.changed |= changed;
                Ok(ControlFlow::Continue(changed))
            }
            Decision::Modify(Change::Input(_)) => {
                Err(Failure::new(Cause::InvalidDecision, "the call has been made with its input"))
            }
            Decision::Allow | Decision::Defer | Decision::Ask | Decision::Continue(_) => {
                Ok(ControlFlow::Continue(false))
            }
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> AfterEffect {
        AfterEffect::Withhold(refusal)
    }

    fn end(&mut self) -> AfterEffect {
        AfterEffect::Show { result: std::mem::take(&mut self.result), changed: self.changed }
    }
}
