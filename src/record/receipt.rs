//! What this store knows of a record's arrival, beside what the record says.

use super::{Record, Sequence};
use crate::time::Timestamp;

/// Through what a record entered this store (decision 14).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The engine wrote it itself.
    Engine,
    /// A caller passed a door with it.
    Door,
    /// It was taken over from another store, past every door.
    Import,
}

impl Origin {
    /// Every origin there is.
    pub const ALL: &[Self] = &[Self::Engine, Self::Door, Self::Import];

    /// Returns the word of a receipt.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Engine => "engine",
            Self::Door => "door",
            Self::Import => "import",
        }
    }

    /// Reads the word of a receipt.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|origin| origin.as_str() == word)
    }
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A record with what its receipt says: all that a fold may look at.
#[derive(Debug, Clone, Copy)]
pub struct Received<'a> {
    /// The record.
    pub record: &'a Record,
    /// Its place in the order of arrival.
    pub sequence: Sequence,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Through what it arrived.
    pub origin: Origin,
}
