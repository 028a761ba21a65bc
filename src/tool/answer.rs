//! What a tool says.

use std::fmt;

use super::Clip;
use crate::canon::Value;

/// Whether a call did what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It did.
    Ok,
    /// It did not, and the answer says why.
    Error,
}

impl Status {
    /// Returns the word that records and predicates have: `ok` or `error`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Ok, Self::Error].into_iter().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a tool says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Whether it did what it was asked for.
    pub status: Status,
    /// What the model sees: at most [`SHOWN_BYTES`](super::SHOWN_BYTES), the middle left out.
    pub shown: String,
    /// What predicates read of the uncut answer: its first
    /// [`CONTENT_CHARS`](crate::hook::CONTENT_CHARS) characters.
    pub head: String,
    /// The same for programs, where there is such a form.
    pub data: Option<Value>,
    /// Whether a look-up came back with nothing.
    pub empty: bool,
}

impl Answer {
    /// Returns the answer `text`.
    pub fn ok(text: impl AsRef<str>) -> Self {
        Self::of(Status::Ok, text.as_ref())
    }

    /// Returns the answer that it did not work, and why.
    pub fn error(text: impl AsRef<str>) -> Self {
        Self::of(Status::Error, text.as_ref())
    }

    fn of(status: Status, text: &str) -> Self {
        let mut clip = Clip::new();
        clip.push(text);
        clip.into_answer(status)
    }

    /// Adds the form for programs.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Value>) -> Self {
        self.data = Some(data.into());
        self
    }

    /// Says whether the look-up came back with nothing.
    #[must_use]
    pub const fn with_empty(mut self, empty: bool) -> Self {
        self.empty = empty;
        self
    }
}
