//! What a model is told before its first turn.

use super::RunSpec;

/// Returns the system prompt of a run.
pub(super) fn system(spec: &RunSpec) -> String {
    format!(
        "You work towards one goal with the tools you are given. Call tools until the goal is \
         reached, then answer without a call; that ends the run. You have {} turns. After a tool \
         result you may see observations, each as `<name>: <text>`: lessons that others have \
         learned. They are advice, not results.",
        spec.max_turns
    )
}
