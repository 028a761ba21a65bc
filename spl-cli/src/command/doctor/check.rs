//! One thing that was looked at, and how it is.

use std::io::Write;

use spl::canon::Object;
use spl::code::Coded;
use spl::object;

use super::super::WELL;
use crate::output::{DIM, ERROR, GOOD, WARN, printable};

/// How one look has turned out; the worst of them is the exit status.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    /// All is well.
    Pass,
    /// Something may not be.
    Warn,
    /// Something is wrong.
    Fail,
}

impl Outcome {
    /// Returns the word for it.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Fail => "fail",
        }
    }

    /// Returns the exit status that it is.
    pub(crate) const fn status(self) -> u8 {
        match self {
            Self::Pass => WELL,
            Self::Warn => 1,
            Self::Fail => 2,
        }
    }
}

/// One thing that was looked at.
pub(crate) struct Check {
    name: &'static str,
    outcome: Outcome,
    message: String,
    hint: Option<String>,
}

impl Check {
    fn new(name: &'static str, outcome: Outcome, message: impl Into<String>) -> Self {
        Self { name, outcome, message: message.into(), hint: None }
    }

    /// Says that all is well.
    pub(crate) fn pass(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Outcome::Pass, message)
    }

    /// Says that something may not be.
    pub(crate) fn warn(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Outcome::Warn, message)
    }

    /// Says that something is wrong.
    pub(crate) fn fail(name: &'static str, message: impl Into<String>) -> Self {
        Self::new(name, Outcome::Fail, message)
    }

    /// Says why something could not be looked at.
    pub(crate) fn failed(name: &'static str, error: &impl Coded) -> Self {
        let mut message = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            message.push_str(&format!(": {error}"));
            cause = error.source();
        }
        Self { hint: error.hint(), ..Self::fail(name, message) }
    }

    /// Returns the same with one sentence on what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns how it is.
    pub(crate) const fn outcome(&self) -> Outcome {
        self.outcome
    }

    /// Returns it as a program reads it.
    pub(crate) fn to_object(&self) -> Object {
        object! {
            "hint": self.hint.as_deref(),
            "message": self.message.as_str(),
            "name": self.name,
            "outcome": self.outcome.as_str(),
        }
    }

    /// Prints it.
    pub(crate) fn show(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let (style, mark) = match self.outcome {
            Outcome::Pass => (GOOD, "✓"),
            Outcome::Warn => (WARN, "!"),
            Outcome::Fail => (ERROR, "✗"),
        };
        writeln!(out, "{style}{mark}{style:#} {:<9} {}", self.name, printable(&self.message))?;
        let mut hints = self.hint.iter();
        hints.try_for_each(|hint| writeln!(out, "  {DIM}hint:{DIM:#} {}", printable(hint)))
    }
}

/// Returns the worst of all.
pub(crate) fn worst<'c>(checks: impl IntoIterator<Item = &'c Check>) -> Outcome {
    checks.into_iter().map(Check::outcome).max().unwrap_or(Outcome::Pass)
}
