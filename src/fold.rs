//! Folds: what records add up to.
//!
//! Comes in: records in the order of their sequence, each with its receipt. Goes out: a state, and
//! the [`Watermark`] up to which it holds.
//!
//! **Invariant:** folding is pure. It reads no clock, no database and no configuration, so the same
//! records always add up to the same state, and a prefix followed by the rest adds up to the same
//! as all at once. That is what lets a state be thrown away and rebuilt, kept and fed only what is
//! new, or checked by replay.

mod thread;

pub use thread::{ThreadState, ThreadStatus};

use std::fmt;

use crate::record::{Received, Sequence};

/// A state that records add up to. Its default is the state before any record.
pub trait Fold: Default {
    /// Adds one record, the next in the order of arrival.
    fn evolve(&mut self, received: &Received<'_>);

    /// Folds `records`, oldest first, onto this state.
    #[must_use]
    fn fold<'a>(mut self, records: impl IntoIterator<Item = Received<'a>>) -> Self {
        for received in records {
            self.evolve(&received);
        }
        self
    }
}

/// The highest sequence that a fold has seen; 0 before any record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Watermark(Sequence);

impl Watermark {
    /// Returns the highest sequence seen.
    pub const fn sequence(self) -> Sequence {
        self.0
    }

    /// Rises to `sequence`. Returns whether it did: what is at or below the mark was seen before.
    pub fn rise(&mut self, sequence: Sequence) -> bool {
        let risen = sequence > self.0;
        if risen {
            self.0 = sequence;
        }
        risen
    }
}

impl fmt::Display for Watermark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A fold that is kept and fed what is new: a state, and how far it has come.
///
/// A record that is handed in twice counts once.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Kept<F> {
    state: F,
    watermark: Watermark,
}

impl<F: Fold> Kept<F> {
    /// Adds a record, unless it was seen before.
    pub fn take(&mut self, received: &Received<'_>) {
        if self.watermark.rise(received.sequence) {
            self.state.evolve(received);
        }
    }

    /// Returns the state at the watermark.
    pub const fn state(&self) -> &F {
        &self.state
    }

    /// Returns how far the state has come.
    pub const fn watermark(&self) -> Watermark {
        self.watermark
    }
}
