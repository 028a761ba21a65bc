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

/// Returns a text of at most `chars` characters, with a mark at its end if it was longer.
pub(crate) fn head(text: &str, chars: usize) -> String {
    let text = text.trim();
    if text.chars().nth(chars).is_none() {
        return text.to_owned();
    }
    let mut head: String = text.chars().take(chars.saturating_sub(1)).collect();
    head.push('…');
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_counts_its_mark() {
        assert_eq!(head(" äöü ", 3), "äöü");
        assert_eq!(head("äöüß", 3), "äö…");
    }

    #[test]
    fn the_newest_are_kept() {
        let mut kept = Newest::default();
        (0..25).for_each(|number| kept.push(number));
        assert_eq!(kept.iter().copied().collect::<Vec<_>>(), (5..25).collect::<Vec<_>>());
    }
}
