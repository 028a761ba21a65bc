//! What the model reads when its answer is to be mended (contract-polpo §11.5).

use crate::canon::{Object, Value};
use crate::object;
use crate::policy::polpo::HookName;
use crate::policy::polpo::envelope::Candidate;

/// What is added to the history when work goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reopening {
    /// The answer that was not accepted, which the model has given.
    pub answer: Candidate,
    /// What it is told to that: one message with this object.
    pub message: Object,
}

/// Returns the message. `cycle` counts the repair that it begins.
pub fn diagnostics(
    hook: &HookName,
    attempt: u64,
    cycle: u64,
    remaining_cycles: u64,
    feedback: &Value,
) -> Object {
    object! {
        "type": "termination_gate_feedback",
        "attempt": attempt,
        "correctionCycle": cycle,
        "remainingCycles": remaining_cycles,
        "gate": object! { "pack": hook.pack.as_str(), "hook": hook.hook.as_str() },
        "feedback": feedback.clone(),
    }
}
