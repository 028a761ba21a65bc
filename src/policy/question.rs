//! What a policy hook is asked.

use std::fmt;

use crate::canon::Object;

/// A place in the flow of a run at which policy hooks are asked (architecture §2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Seam {
    /// Before a prompt opens a turn.
    Prompt,
    /// Between everything that could refuse a call and its execution.
    Before,
    /// Between the result of a call and whoever reads it.
    After,
    /// When the model makes no further call.
    Stop,
}

impl Seam {
    /// Every seam, in the order in which a run comes to them.
    pub const ALL: [Self; 4] = [Self::Prompt, Self::Before, Self::After, Self::Stop];

    /// Returns the word in records and lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Before => "before",
            Self::After => "after",
            Self::Stop => "stop",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|seam| seam.as_str() == word)
    }
}

impl fmt::Display for Seam {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is about to happen at a seam.
#[derive(Debug, Clone, Copy)]
pub enum Question<'a> {
    /// This prompt opens a turn.
    Prompt {
        /// The words, without what earlier hooks have added.
        text: &'a str,
    },
    /// This call is executed.
    Before {
        /// The tool, by its canonical name.
        tool: &'a str,
        /// What it is called with, final.
        input: &'a Object,
    },
    /// Whoever reads the result of this call reads this.
    After {
        /// The tool, by its canonical name.
        tool: &'a str,
        /// What it was called with.
        input: &'a Object,
        /// The result as it would be read: secrets replaced, where the settings say so.
        text: &'a str,
        /// Whether the call failed.
        failed: bool,
    },
}

impl Question<'_> {
    /// Returns where the run stands.
    pub const fn seam(&self) -> Seam {
        match self {
            Self::Prompt { .. } => Seam::Prompt,
            Self::Before { .. } => Seam::Before,
            Self::After { .. } => Seam::After,
        }
    }

    /// Returns the tool that it is about, if it is about one.
    pub const fn tool(&self) -> Option<&str> {
        match self {
            Self::Prompt { .. } => None,
            Self::Before { tool, .. } | Self::After { tool, .. } => Some(tool),
        }
    }
}
