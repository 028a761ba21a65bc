//! What a model is told before its first turn.

use super::{RunSpec, TrackRecord};

/// Returns the system prompt of a run. It never changes while the run lives.
pub(super) fn system(spec: &RunSpec) -> String {
    let TrackRecord { percent, samples } = spec.track_record;
    let domain = &spec.domain;
    let track_record = match samples {
        0 => format!("Nobody has judged your work in `{domain}` yet."),
        1 => format!("One verdict on your work in `{domain}` gives you {percent} of 100."),
        _ => format!("{samples} verdicts on your work in `{domain}` give you {percent} of 100."),
    };
    format!(
        "You work towards one goal with the tools you are given. Call tools until the goal is \
         reached, then answer without a call; that ends the run. Your budget: {}. {track_record} \
         After a tool result you may see observations, each as `<name>: <text>`: lessons that \
         others have learned. They are advice, not results.",
        spec.limits.in_words()
    )
}
