//! All of a gate that outlives its process: one value, written whole (contract-polpo §12.1).

mod read;
mod write;

use std::collections::BTreeMap;

use super::{GateFailure, Limits, Subject, Used, Verdict};
use crate::policy::polpo::bounds::CHECKPOINT_BYTES;
use crate::policy::polpo::envelope::Candidate;
use crate::policy::polpo::{HookName, IdempotencyKey, Word};
use crate::record::RecordId;
use crate::time::Timestamp;

/// Where a gate stands, as it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// Whose it is.
    pub subject: Subject,
    /// The packs, and the SHA-256 of each.
    pub packs: BTreeMap<String, String>,
    /// The gates, in their order.
    pub gates: Vec<HookName>,
    /// When the invocation began.
    pub started_at: Timestamp,
    /// The most time that it was ever seen to have taken.
    pub elapsed_ms: u64,
    /// What holds.
    pub limits: Limits,
    /// What has been used.
    pub used: Used,
    /// The messages, as records of the thread.
    pub history: Vec<RecordId>,
    /// How many bytes those have.
    pub history_bytes: u64,
    /// What the invocation is at.
    pub phase: Phase,
    /// What is being done and has not come back.
    pub in_flight: Option<Flight>,
    /// What validators have said of the answer at hand.
    pub validation: Option<Validation>,
    /// The answer, once it is accepted.
    pub result: Option<Candidate>,
    /// Why there is none.
    pub failure: Option<GateFailure>,
}

/// What an invocation is at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Phase {
    /// Work.
    Operational,
    /// Putting an answer into the form that was asked for.
    Formatting,
    /// Asking validators.
    Validating,
    /// About to go on with the work.
    Continuing,
    /// An answer is accepted.
    Accepted,
    /// There will be no answer.
    Failed,
}

impl Phase {
    const ALL: [Self; 6] = [
        Self::Operational,
        Self::Formatting,
        Self::Validating,
        Self::Continuing,
        Self::Accepted,
        Self::Failed,
    ];

    /// Returns the word in checkpoints.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Operational => "operational",
            Self::Formatting => "formatting",
            Self::Validating => "validating",
            Self::Continuing => "continuing",
            Self::Accepted => "accepted",
            Self::Failed => "failed",
        }
    }

    fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.as_str() == word)
    }
}

/// Something that is being done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Flight {
    /// What.
    pub kind: FlightKind,
    /// What names it.
    pub id: String,
    /// The tool.
    pub name: Option<String>,
    /// Since when.
    pub started_at: Timestamp,
}

/// Who is at work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FlightKind {
    /// A model.
    Model,
    /// A tool.
    Tool,
}

impl FlightKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Tool => "tool",
        }
    }
}

/// What validators have said of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validation {
    /// Which answer, from 1.
    pub attempt: u64,
    /// How many repairs had begun.
    pub cycle: u64,
    /// The answer.
    pub candidate: Candidate,
    /// What was said.
    pub results: Vec<Judged>,
}

impl Validation {
    /// Returns what was said in this execution, if it was.
    pub fn result(&self, key: &IdempotencyKey) -> Option<&Judged> {
        self.results.iter().find(|judged| judged.key == *key)
    }
}

/// What one validator has said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// The key of the execution.
    pub key: IdempotencyKey,
    /// The decision, if there was one.
    pub word: Option<Word>,
    /// What it came to.
    pub verdict: Verdict,
}

/// A checkpoint that is larger than one may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{bytes} bytes with those of its records, and at most {CHECKPOINT_BYTES} are stored")]
pub struct TooLarge {
    /// How many it has, with those of its records.
    pub bytes: u64,
}

#[cfg(test)]
mod tests;
