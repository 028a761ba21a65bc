//! Which words go with an event, and which wait for the next.

use super::Cap;
use crate::record::RecordId;

/// The most bytes that go with one event, what stands between two texts included.
pub const MAX_BYTES: usize = 8 * 1024;

/// The words of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spoken {
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
    /// The record of the observation.
    pub observation: RecordId,
}

/// What goes with an event, and what waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The text for the harness; `None` if there is nothing to say.
    pub text: Option<String>,
    /// What is in the text, in its order.
    pub said: Vec<Spoken>,
    /// What waits, in its order.
    pub carried: Vec<Spoken>,
}

/// Fills an event with `words`: those carried up to now, then those that are new.
pub fn pack(words: Vec<Spoken>, delivers: bool, _cap: Cap) -> Packed {
    if !delivers || words.is_empty() {
        return Packed { text: None, said: Vec::new(), carried: words };
    }
    Packed { text: None, said: words, carried: Vec::new() }
}
