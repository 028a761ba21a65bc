//! How a run ended (contract §5.1).

use std::fmt;

use super::state::RunState;

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The word for it.
    pub verb: Verb,
    /// One sentence.
    pub summary: String,
    /// The call that halted it, if one did.
    pub halted_by: Option<HaltedBy>,
}

/// The call that a guardrail halted a run for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HaltedBy {
    /// The tool.
    pub tool: String,
    /// The hash of its arguments, hex.
    pub args_hash: String,
    /// How often it failed the same way.
    pub count: u32,
}

/// The word for how a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// The model was done, and not everything it tried had failed.
    Completed,
    /// The model could not go on, or everything it tried had failed.
    Failed,
    /// There were no turns left.
    MaxTurns,
    /// Somebody stopped it.
    Cancelled,
    /// It kept failing the same way.
    GuardrailHalt,
}

impl Verb {
    /// Returns the word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::MaxTurns => "max_turns",
            Self::Cancelled => "cancelled",
            Self::GuardrailHalt => "guardrail_halt",
        }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Outcome {
    pub(super) fn new(verb: Verb, summary: impl Into<String>) -> Self {
        Self { verb, summary: summary.into(), halted_by: None }
    }

    pub(super) fn cancelled() -> Self {
        Self::new(Verb::Cancelled, "cancelled")
    }

    /// Returns the outcome of a run whose model asked for nothing more.
    ///
    /// Closing words do not make a success of a run in which every call failed.
    pub(super) fn of_last_words(state: &RunState) -> Self {
        if state.calls_ok == 0 && state.calls_failed > 0 {
            let failed = state.calls_failed;
            return Self::new(Verb::Failed, format!("every call of this run failed ({failed})"));
        }
        Self::new(Verb::Completed, state.words.clone())
    }

    /// Returns whether the run did what it was asked to.
    pub fn success(&self) -> bool {
        self.verb == Verb::Completed
    }
}
