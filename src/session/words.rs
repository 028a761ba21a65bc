//! Which words go with an event, and which wait for the next.

use super::Cap;
/// The most bytes that go with one event, what stands between two texts included.
pub const MAX_BYTES: usize = 8 * 1024;

/// The words of one hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
}

/// What goes with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Packed {
    /// The text for the harness; `None` if there is nothing to say.
    pub text: Option<String>,
    /// How many of the words are in the text: the first ones. The others wait.
    pub said: usize,
}

/// Fills an event with `words`: those carried up to now, then those that are new.
pub fn pack(words: &[Words], delivers: bool, _cap: Cap) -> Packed {
    if !delivers || words.is_empty() {
        return Packed { text: None, said: 0 };
    }
    let shown: Vec<String> = words.iter().map(|it| format!("{}: {}", it.rule, it.text)).collect();
    Packed { text: Some(shown.join("\n\n")), said: words.len() }
}
