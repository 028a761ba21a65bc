//! What an account keeps of what there may be any number of.

use std::collections::VecDeque;
use std::collections::vec_deque::Iter;

/// The most that is kept.
const MOST: usize = 20;

/// The newest of many.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Newest<T>(VecDeque<T>);

impl<T> Default for Newest<T> {
    fn default() -> Self {
        Self(VecDeque::new())
    }
}

impl<T> Newest<T> {
    /// Adds one, in the place of the oldest if there are too many.
    pub(super) fn push(&mut self, one: T) {
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        self.0.push_back(one);
    }

    /// Returns what is kept, the oldest first.
    pub(super) fn iter(&self) -> Iter<'_, T> {
        self.0.iter()
    }
}

/// Returns the first `chars` characters of a text, with a mark where it was cut.
pub(crate) fn head(text: &str, chars: usize) -> String {
    let text = text.trim();
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or(text)),
    }
}
