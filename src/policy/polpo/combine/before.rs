//! Before a call.

use std::ops::ControlFlow;

use super::Refusal;
use super::walk::{Changed, Seat};
use crate::canon::Object;
use crate::policy::polpo::replaces_a_secret;
use crate::policy::polpo::{Answer, Cause, Change, Decision, Failure, HookName, Site};

/// A call that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    input: Object,
    changed: bool,
    wanted: Vec<Want>,
}

/// A hook that wants approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Want {
    /// Which.
    pub hook: HookName,
    /// Why.
    pub reason: Option<String>,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BeforeEffect {
    /// On to whatever else judges a call, in its order, with this input: tool policy, approval,
    /// schema. Nothing of that is granted.
    Proceed {
        /// The input.
        input: Object,
        /// Whether it is another than the model gave.
        changed: bool,
        /// Who wants approval. It is asked for once, also for whatever else wants it.
        wanted: Vec<Want>,
    },
    /// The call is not made, and the model reads why.
    Refuse(Refusal),
    /// The call is not made, the model reads why, and there is no further work.
    Stop {
        /// Which hook wants that.
        hook: HookName,
        /// Why.
        reason: Option<String>,
    },
}

impl Before {
    /// Returns the call with the input that the model gave.
    pub const fn new(input: Object) -> Self {
        Self { input, changed: false, wanted: Vec::new() }
    }

    /// Returns the input as it is now.
    pub const fn input(&self) -> &Object {
        &self.input
    }
}

impl Seat for Before {
    type Effect = BeforeEffect;

    const PLACE: Site = Site::Before;

    fn take(
        &mut self,
        hook: &HookName,
        answer: Answer,
    ) -> Result<ControlFlow<BeforeEffect, Changed>, Failure> {
        let Answer { decision, reason, .. } = answer;
        let hook = hook.clone();
        match decision {
            Decision::Deny => Ok(ControlFlow::Break(self.refuse(Refusal::denied(hook, reason)))),
            Decision::Stop(_) => Ok(ControlFlow::Break(BeforeEffect::Stop { hook, reason })),
            Decision::Ask => {
                self.wanted.push(Want { hook, reason });
                Ok(ControlFlow::Continue(false))
            }
            Decision::Modify(Change::Input(input)) => {
                if replaces_a_secret(&self.input, &input) {
                    let detail = "`data.input` has a placeholder where there was a secret";
                    return Err(Failure::new(Cause::InvalidDecision, detail));
                }
                let changed = input != self.input;
                self.input = input;
                self.changed |= changed;
                Ok(ControlFlow::Continue(changed))
            }
            Decision::Modify(Change::Result(_)) => {
                Err(Failure::new(Cause::InvalidDecision, "there is no result to change yet"))
            }
            Decision::Allow | Decision::Defer | Decision::Continue(_) => {
                Ok(ControlFlow::Continue(false))
            }
        }
    }

    fn refuse(&mut self, refusal: Refusal) -> BeforeEffect {
        BeforeEffect::Refuse(refusal)
    }

    fn end(&mut self) -> BeforeEffect {
        BeforeEffect::Proceed {
            input: std::mem::take(&mut self.input),
            changed: self.changed,
            wanted: std::mem::take(&mut self.wanted),
        }
    }
}
