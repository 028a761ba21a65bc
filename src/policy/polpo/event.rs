//! The events at which hooks of packs are asked (contract §4).

use std::fmt;

/// A place in the flow of an invocation, in the words of the dialect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// Once for each proposed call of a tool, before tool policy, approval and schema.
    ToolBefore,
    /// After a call has ended, before the model reads its result.
    ToolAfter,
    /// When the model has given an answer that calls nothing.
    TurnStop,
}

impl Event {
    /// Every event, in the order in which an invocation comes to them.
    pub const ALL: [Self; 3] = [Self::ToolBefore, Self::ToolAfter, Self::TurnStop];

    /// Returns the word in packs, envelopes and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolBefore => "tool:before",
            Self::ToolAfter => "tool:after",
            Self::TurnStop => "turn:stop",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }

    /// Returns whether it is about a call of a tool.
    pub const fn is_of_a_tool(self) -> bool {
        matches!(self, Self::ToolBefore | Self::ToolAfter)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
