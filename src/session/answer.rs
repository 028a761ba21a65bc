//! From words to the one JSON object that a harness takes.

use super::Event;

/// Returns the JSON object that puts `text` before the model of the harness of `event`.
pub fn answer(_event: &Event, text: &str) -> String {
    text.to_owned()
}
