//! The events of the dialect.

use crate::policy::Seam;

/// Where a hook of this dialect is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Before a call is executed.
    PreToolUse,
    /// Before its result is read.
    PostToolUse,
    /// Before a prompt opens a turn.
    UserPromptSubmit,
}

impl Event {
    /// Every event, in the order of lists.
    pub const ALL: [Self; 3] = [Self::PreToolUse, Self::PostToolUse, Self::UserPromptSubmit];

    /// Returns the word in settings and payloads.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::PreToolUse => "preToolUse",
            Self::PostToolUse => "postToolUse",
            Self::UserPromptSubmit => "userPromptSubmit",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }

    /// Returns the seam that it is.
    pub const fn seam(self) -> Seam {
        match self {
            Self::PreToolUse => Seam::Before,
            Self::PostToolUse => Seam::After,
            Self::UserPromptSubmit => Seam::Prompt,
        }
    }

    /// Returns the event at a seam, if there is one.
    pub fn at(seam: Seam) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.seam() == seam)
    }
}
