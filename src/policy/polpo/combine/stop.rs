//! At a final answer, without a gate or beside it.

use std::ops::ControlFlow;

use super::Refusal;
use super::walk::{Changed, Seat};
use crate::policy::polpo::{Answer, Decision, Failure, HookName, Site};

/// A final answer that is about to be given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stop {
    may_recover: bool,
}

/// What comes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StopEffect {
    /// The answer is given; where there is a gate, that is asked next.
    Deliver,
    /// The model is called once more, with this in mind and without tools, and its answer is looked at
    /// again.
    Recover {
        /// Which hook wants that.
        hook: HookName,
        /// What the model reads.
        feedback: String,
    },
    /// The answer is not given.
    Withhold(Refusal),
}

impl Stop {
    /// Returns the answer. It can be mended if it is not one that has been mended, if nothing has
    /// been in this invocation before, and if there is a turn left.
    pub const fn new(may_recover: bool) -> Self {
        Self { may_recover }
    }
}

impl Seat for Stop {
    type Effect = StopEffect;

    const PLACE: Site = Site::Stop;

    fn take(
        &mut self,
        hook: &HookName,
        answer: Answer,
    ) -> Result<ControlFlow<StopEffect, Changed>, Failure> {
        let Answer { decision, reason, .. } = answer;
        let hook = hook.clone();
        Ok(match decision {
            Decision::Deny => ControlFlow::Break(self.refuse(Refusal::denied(hook, reason))),
            Decision::Stop(Some(feedback)) if self.may_recover => {
                ControlFlow::Break(StopEffect::Recover { hook, feedback })
            }
            Decision::Stop(_) => ControlFlow::Break(StopEffect::Deliver),
            Decision::Allow
            | Decision::Defer
            | Decision::Ask
            | Decision::Modify(_)
            | Decision::Continue(_) => ControlFlow::Continue(false),
        })
    }

    fn refuse(&mut self, refusal: Refusal) -> StopEffect {
        StopEffect::Withhold(refusal)
    }

    fn end(&mut self) -> StopEffect {
        StopEffect::Deliver
    }
}
