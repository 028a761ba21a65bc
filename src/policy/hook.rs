//! The one form that every dialect is read into.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use super::glob::Glob;
use super::{Question, Seam};

/// A policy hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyHook {
    /// Where it is asked.
    pub seam: Seam,
    /// Where it comes from.
    pub source: Source,
    /// Which calls it is about.
    pub matcher: Matcher,
    /// What answers.
    pub handler: Handler,
    /// How long that may take. What takes longer counts as an error, never as an answer.
    pub timeout: Duration,
}

impl PolicyHook {
    /// Returns whether a question is for this hook. Nothing but a seam and a tool's name can say so.
    pub fn concerns(&self, question: &Question<'_>) -> bool {
        self.seam == question.seam() && self.matcher.matches(question.tool())
    }
}

/// Where a policy hook comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// The file.
    pub path: PathBuf,
    /// Whose file it is.
    pub scope: Scope,
    /// The word of its dialect for the seam: `preToolUse`.
    pub event: &'static str,
    /// Where it stands in the file's list for that, from 0.
    pub position: usize,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}[{}]", self.path.display(), self.event, self.position)
    }
}

/// Whose file a policy hook stands in. Those of the user are asked first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The user's own.
    Global,
    /// The workspace's, which may be somebody else's work.
    Project,
}

impl Scope {
    /// Returns the word in lists.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::Project => "project",
        }
    }
}

/// Which calls a hook is about.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Matcher {
    /// Patterns of tool names, of which one has to match; without any, every call is meant.
    pub tools: Vec<Glob>,
}

impl Matcher {
    /// Returns whether a call of `tool` is meant; what is about no tool always is.
    pub fn matches(&self, tool: Option<&str>) -> bool {
        match tool {
            Some(tool) if !self.tools.is_empty() => {
                self.tools.iter().any(|glob| glob.matches(tool))
            }
            _ => true,
        }
    }
}

/// What answers for a hook.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Handler {
    /// A command line for the shell. It reads the payload, and answers by how it ends and by what it
    /// writes.
    Command(String),
}
