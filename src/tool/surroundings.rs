//! What a command of a run finds around it (decision 17).

use std::ffi::OsString;

use super::allowed_environment;
use crate::record::ThreadId;

/// The variable that says in which run a command is. Its value is the thread of the run.
pub const RUN_VARIABLE: &str = "SPL_RUN";

/// What a command finds around it: its variables, and the program that it is started by.
#[derive(Debug, Clone, Default)]
pub struct Surroundings {
    pub(super) variables: Vec<(String, String)>,
    pub(super) through: Vec<OsString>,
}

impl Surroundings {
    /// Returns those of commands that see the allowed part of `environment`.
    pub fn of(environment: Vec<(String, String)>) -> Self {
        Self { variables: allowed_environment(environment), through: Vec::new() }
    }

    /// Tells commands in which run they are.
    #[must_use]
    pub fn in_run(mut self, thread: &ThreadId) -> Self {
        self.variables.push(run_variable(thread));
        self
    }

    /// Has commands started by a program, which is given `words` and behind them the command, and
    /// becomes it.
    #[must_use]
    pub fn through(self, words: Vec<OsString>) -> Self {
        Self { through: words, ..self }
    }
}

impl From<Vec<(String, String)>> for Surroundings {
    fn from(environment: Vec<(String, String)>) -> Self {
        Self::of(environment)
    }
}

/// Returns the variable that names a run.
pub(super) fn run_variable(thread: &ThreadId) -> (String, String) {
    (RUN_VARIABLE.to_owned(), thread.as_str().to_owned())
}
