//! The second dialect: packs of Polpo (contract-polpo).
//!
//! Comes in: what handlers of hooks wrote. Goes out: what happens at a seam, as data. Nothing here
//! starts, waits for or stores anything: who does is told what to do next, and tells what came of it.
//!
//! How it fits: [`read_decision`] makes one answer of what one handler wrote, [`combine`] one effect of
//! the answers of all, [`gate`] decides about final answers that have to be validated. [`envelope`] is
//! what handlers read, with secrets replaced; [`key`] names each execution, and [`trace`] says what
//! there is to tell of it.
//!
//! **Invariant:** no effect executes a call. The most that can be said of one is that nothing stands
//! against it here; whatever stands behind the seam is asked about the input as it then is.

mod bounds;
pub mod combine;
mod decision;
pub mod envelope;
mod failure;
pub mod gate;
mod key;
mod matrix;
mod normal;
mod redact;
pub mod trace;
mod vocabulary;

pub use bounds::*;
use decision::is_feedback;
pub use decision::{Answer, Change, Decision, Outcome, read_decision};
pub use failure::{Cause, Failure, RunCode};
pub use key::{ExecutionId, IdempotencyKey, Identity, Occurrence};
pub use matrix::{Cell, Place, Word};
pub use normal::{TRUNCATED, cut_result, normal_result};
pub use redact::{REDACTED, redact, redact_value, replaces_a_secret};
pub use vocabulary::{Event, GateLimits, HookName, Mode, OnFailure, Scope};
