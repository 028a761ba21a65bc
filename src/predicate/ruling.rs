//! What a predicate says about some facts, and what saying it took.

/// What a predicate says about some facts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It is true of them.
    Holds,
    /// It is false of them.
    DoesNotHold,
    /// It is neither; whoever asked treats it as "does not hold" and counts it.
    Failed(Failure),
}

impl Ruling {
    /// Tells whether the predicate is true of the facts.
    pub const fn holds(&self) -> bool {
        matches!(self, Self::Holds)
    }
}

/// Why an evaluation gave no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// CEL defines no result: a key that is missing, a division by zero, types that clash.
    #[error("{message}")]
    Error {
        /// One sentence for people. It names keys and types, never values.
        message: String,
    },
    /// It wanted more work than one evaluation may do.
    #[error("stopped after {units} units of work; one evaluation may take {limit}")]
    OverBudget {
        /// What it had asked for when it was stopped.
        units: u64,
        /// What it may ask for.
        limit: u64,
    },
    /// It wanted to build more than one evaluation may.
    #[error("stopped: it would have built {bytes} bytes; one evaluation may build {limit}")]
    TooLarge {
        /// What it would have built.
        bytes: u64,
        /// What it may build.
        limit: u64,
    },
    /// Its result is neither true nor false.
    #[error("the result is {got}, not bool")]
    NotBoolean {
        /// The type of the result.
        got: String,
    },
    /// The evaluator failed; this is a fault of ours.
    #[error("the evaluator failed")]
    Panicked,
}

/// The kinds of [`Failure`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FailureKind {
    /// CEL defines no result.
    Error,
    /// Too much work.
    OverBudget,
    /// Too much memory.
    TooLarge,
    /// Neither true nor false.
    NotBoolean,
    /// A fault of ours.
    Panicked,
}

impl Failure {
    /// Returns what kind of failure it is.
    pub const fn kind(&self) -> FailureKind {
        match self {
            Self::Error { .. } => FailureKind::Error,
            Self::OverBudget { .. } => FailureKind::OverBudget,
            Self::TooLarge { .. } => FailureKind::TooLarge,
            Self::NotBoolean { .. } => FailureKind::NotBoolean,
            Self::Panicked => FailureKind::Panicked,
        }
    }
}

/// A ruling and what it took.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// What the predicate says.
    pub ruling: Ruling,
    /// The units of work that it took.
    pub units: u64,
    /// The bytes that it built.
    pub built: u64,
}
