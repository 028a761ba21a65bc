//! How a run ended (contract §5.1).

use std::fmt;

use super::BudgetKind;
use super::state::RunState;
use crate::canon::{Object, Value};

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The word for it.
    pub verb: Verb,
    /// One sentence.
    pub summary: String,
    /// The call that halted it, if one did.
    pub halted_by: Option<HaltedBy>,
    /// What there was nothing left of, if that ended it.
    pub budget: Option<BudgetKind>,
    /// Whether the run may be taken up again where it was.
    pub resumable: bool,
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
    /// Somebody stopped it.
    Cancelled,
    /// The actor said that it could not go on, and why.
    Blocked,
    /// There were no turns left.
    MaxTurns,
    /// There were no tokens, no time or no money left.
    BudgetExhausted,
    /// It kept failing the same way.
    GuardrailHalt,
    /// It waits for somebody's decision.
    AwaitingActor,
}

impl Verb {
    /// Every verb there is.
    pub const ALL: [Self; 8] = [
        Self::Completed,
        Self::Failed,
        Self::Cancelled,
        Self::Blocked,
        Self::MaxTurns,
        Self::BudgetExhausted,
        Self::GuardrailHalt,
        Self::AwaitingActor,
    ];

    /// Returns the word in the record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Blocked => "blocked",
            Self::MaxTurns => "max_turns",
            Self::BudgetExhausted => "budget_exhausted",
            Self::GuardrailHalt => "guardrail_halt",
            Self::AwaitingActor => "awaiting_actor",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == word)
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Outcome {
    pub(super) fn new(verb: Verb, summary: impl Into<String>) -> Self {
        let resumable = verb == Verb::AwaitingActor;
        Self { verb, summary: summary.into(), halted_by: None, budget: None, resumable }
    }

    pub(super) fn cancelled() -> Self {
        Self::new(Verb::Cancelled, "cancelled")
    }

    pub(super) fn failed(why: String, resumable: bool) -> Self {
        Self { resumable, ..Self::new(Verb::Failed, why) }
    }

    /// Returns the outcome of a run that has nothing left of something.
    pub(super) fn out_of(budget: BudgetKind, state: &RunState) -> Self {
        let limits = state.spec.limits.in_words();
        let (verb, what) = match budget {
            BudgetKind::Turns => (Verb::MaxTurns, "no turn left"),
            BudgetKind::Tokens => (Verb::BudgetExhausted, "no tokens left"),
            BudgetKind::WallClock => (Verb::BudgetExhausted, "no time left"),
            BudgetKind::Usd => (Verb::BudgetExhausted, "no money left"),
        };
        Self { budget: Some(budget), ..Self::new(verb, format!("{what} of {limits}")) }
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

    /// Reads the outcome from the body of its record.
    pub(super) fn of_body(body: &Object) -> Option<Self> {
        let verb = Verb::parse(body.get("outcome")?.as_str()?)?;
        let summary = body.get("summary").and_then(Value::as_str).unwrap_or_default();
        let resumable = body.get("resumable").and_then(Value::as_bool).unwrap_or(false);
        Some(Self { resumable, ..Self::new(verb, summary) })
    }

    /// Returns whether the run did what it was asked to.
    pub fn success(&self) -> bool {
        self.verb == Verb::Completed
    }
}
