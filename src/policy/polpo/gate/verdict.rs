//! What the answer of a validator comes to (contract-polpo §11.6).

use super::{GateCause, GateCode, GateFailure};
use crate::canon::Value;
use crate::policy::polpo::{Cause, Decision, Outcome, is_feedback};

/// What a validator says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It has nothing against the answer.
    Accept,
    /// The answer is to be mended, with this in mind.
    Repair(Value),
    /// There will be no answer.
    Refuse(GateFailure),
}

/// Reads what came of asking a validator. Whatever is neither acceptance nor a repair that says what
/// to mend fails closed. `cut_short` says that the time of the gate, not its own, was the shorter.
pub fn verdict(outcome: &Outcome, cut_short: bool) -> Verdict {
    let answer = match outcome {
        Outcome::Answered(answer) => answer,
        Outcome::Failed(failure) if failure.cause == Cause::Timeout && cut_short => {
            return Verdict::Refuse(GateFailure::of(GateCode::TimeExhausted));
        }
        Outcome::Failed(failure) => return rejected(cause(failure.cause)),
    };
    match &answer.decision {
        Decision::Allow => Verdict::Accept,
        Decision::Continue(feedback) if is_feedback(feedback) => Verdict::Repair(feedback.clone()),
        Decision::Stop(Some(feedback)) => repair(feedback),
        Decision::Continue(_) | Decision::Stop(None) => rejected(GateCause::InvalidFeedback),
        Decision::Deny => rejected(GateCause::Denied),
        Decision::Ask | Decision::Defer | Decision::Modify(_) => {
            rejected(GateCause::InvalidDecision)
        }
    }
}

fn repair(feedback: &str) -> Verdict {
    let feedback = Value::from(feedback);
    if is_feedback(&feedback) {
        Verdict::Repair(feedback)
    } else {
        rejected(GateCause::InvalidFeedback)
    }
}

const fn rejected(cause: GateCause) -> Verdict {
    Verdict::Refuse(GateFailure::because(GateCode::Rejected, cause))
}

const fn cause(cause: Cause) -> GateCause {
    match cause {
        Cause::Timeout => GateCause::Timeout,
        Cause::EmptyOutput => GateCause::EmptyOutput,
        Cause::MissingDecision => GateCause::MissingDecision,
        Cause::InvalidDecision => GateCause::InvalidDecision,
        Cause::InvalidFeedback => GateCause::InvalidFeedback,
        Cause::FeedbackTooLarge => GateCause::FeedbackTooLarge,
        Cause::PayloadTooLarge => GateCause::PayloadTooLarge,
        Cause::InvalidOutput | Cause::OutputTooLarge => GateCause::InvalidOutput,
        _ => GateCause::HandlerFailed,
    }
}
