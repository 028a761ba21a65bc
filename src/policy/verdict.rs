//! What policy hooks answer, and what that comes to.

use std::fmt;

use super::{Seam, Source};

/// What a handler answered, read as its dialect reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// Nothing against it, and perhaps words to add to a prompt.
    Proceed {
        /// The words.
        context: Option<String>,
    },
    /// It must not happen.
    Block {
        /// Why, as whoever made the attempt is told.
        reason: String,
    },
    /// No answer: the hook failed. What it was asked about happens.
    Failed {
        /// What went wrong: `timed out after 5000 ms`, `exit status 1`.
        how: String,
        /// What it said to that, cut short.
        detail: String,
    },
    /// The run was cancelled while it was asked, so there is nothing to say.
    Cancelled,
}

/// One hook that was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// Which one.
    pub source: Source,
    /// The command, as it stands in the file.
    pub command: String,
    /// What it ended with, if it ended by itself.
    pub exit: Option<i32>,
    /// How long it took.
    pub took_ms: u64,
    /// What it answered.
    pub reply: Reply,
}

/// What happens at a seam.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// What was to happen, happens.
    Proceed {
        /// Words to add to the prompt.
        context: Option<String>,
    },
    /// It does not happen.
    Block(Block),
}

/// Why something does not happen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Where.
    pub seam: Seam,
    /// The word of the hook's dialect for that: `preToolUse`.
    pub event: &'static str,
    /// The reason that the hook gave, or a sentence that names the event.
    pub reason: String,
}

/// A hook that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Warning {
    /// The word of its dialect for where it was asked.
    pub event: &'static str,
    /// What went wrong.
    pub how: String,
    /// What it said to that, cut short.
    pub detail: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, how, detail } = self;
        write!(f, "{event}: {how}")?;
        if detail.is_empty() { Ok(()) } else { write!(f, ": {detail}") }
    }
}

/// What policy hooks say to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// What happens.
    pub decision: Decision,
    /// Which hooks were asked, in order.
    pub ran: Vec<Ran>,
}

impl Verdict {
    /// Returns what is said where no hook is asked.
    pub const fn silent() -> Self {
        Self { decision: Decision::Proceed { context: None }, ran: Vec::new() }
    }

    /// Returns why it does not happen, if it does not.
    pub const fn block(&self) -> Option<&Block> {
        match &self.decision {
            Decision::Block(block) => Some(block),
            Decision::Proceed { .. } => None,
        }
    }

    /// Returns the words to add to a prompt, if there are any.
    pub fn context(&self) -> Option<&str> {
        match &self.decision {
            Decision::Proceed { context } => context.as_deref(),
            Decision::Block(_) => None,
        }
    }

    /// Returns a warning for each hook that failed.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> + '_ {
        self.ran.iter().filter_map(|ran| match &ran.reply {
            Reply::Failed { how, detail } => {
                Some(Warning { event: ran.source.event, how: how.clone(), detail: detail.clone() })
            }
            _ => None,
        })
    }
}
