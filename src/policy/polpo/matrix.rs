//! Which decision is valid where: one table (contract-polpo §4.1).

use super::Event;

/// A word of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Word {
    /// Nothing against it.
    Allow,
    /// It must not happen.
    Deny,
    /// Somebody has to approve.
    Ask,
    /// No opinion.
    Defer,
    /// Go on with this instead.
    Modify,
    /// No further work.
    Stop,
    /// Do it over, with this in mind.
    Continue,
}

/// Where a handler is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Site {
    /// Before a call.
    Before,
    /// After a call.
    After,
    /// At a final answer that no gate is about, or beside the gate.
    Stop,
    /// At a final answer, as a validator of a gate.
    Gate,
}

/// Whether a word is valid at a site.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    /// It is.
    Valid,
    /// With a text that is not blank as feedback.
    WithText,
    /// With a text that is not blank, or an object or array that is not empty, as feedback.
    WithFeedback,
    /// It is not: the handler has failed.
    Invalid,
}

use Cell::{Invalid, Valid, WithFeedback, WithText};

/// One row a word; the columns are [`Site::ALL`].
const MATRIX: [(Word, [Cell; 4]); 7] = [
    (Word::Allow, [Valid, Valid, Valid, Valid]),
    (Word::Deny, [Valid, Valid, Valid, Valid]),
    (Word::Ask, [Valid, Invalid, Invalid, Invalid]),
    (Word::Defer, [Valid, Valid, Valid, Invalid]),
    (Word::Modify, [Valid, Valid, Invalid, Invalid]),
    (Word::Stop, [Valid, Valid, Valid, WithText]),
    (Word::Continue, [Invalid, Invalid, Invalid, WithFeedback]),
];

impl Word {
    /// Every word.
    pub const ALL: [Self; 7] =
        [Self::Allow, Self::Deny, Self::Ask, Self::Defer, Self::Modify, Self::Stop, Self::Continue];

    /// Returns the word as handlers write it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::Ask => "ask",
            Self::Defer => "defer",
            Self::Modify => "modify",
            Self::Stop => "stop",
            Self::Continue => "continue",
        }
    }

    /// Reads the word; its case counts.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.as_str() == word)
    }

    /// Returns whether it is valid at `site`.
    pub fn at(self, site: Site) -> Cell {
        let row = MATRIX.iter().find(|(word, _)| *word == self);
        let column = Site::ALL.iter().position(|known| *known == site);
        row.zip(column).and_then(|((_, cells), at)| cells.get(at)).copied().unwrap_or(Invalid)
    }
}

impl Site {
    /// Every site, in the order of the table's columns.
    pub const ALL: [Self; 4] = [Self::Before, Self::After, Self::Stop, Self::Gate];

    /// Returns where a hook for `event` is asked.
    pub const fn of(event: Event, in_gate: bool) -> Self {
        match event {
            Event::ToolBefore => Self::Before,
            Event::ToolAfter => Self::After,
            Event::TurnStop if in_gate => Self::Gate,
            Event::TurnStop => Self::Stop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_has_its_row() {
        for (word, (row, _)) in Word::ALL.into_iter().zip(MATRIX) {
            assert_eq!(word, row);
            assert_eq!(Word::parse(word.as_str()), Some(word));
        }
    }
}
