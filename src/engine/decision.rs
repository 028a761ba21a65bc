//! Decisions: what a run asks of the operator, and what the operator answers (contract §2.9).
//!
//! A run writes its question on its own thread and waits. The answer is a record on the same thread,
//! written once: whether there is one is looked up inside the transaction that stores it, so it is
//! exact however many answer at once, in whichever process. Only what the engine wrote is read; the
//! same kinds from a door are plain data (decision 14).
//!
//! A question may propose a lesson. An actor cannot write a hook; the operator who approves the
//! proposal with [`DecisionAnswer::becomes_policy`] does, through the checks of the records door,
//! and the hook names the proposal. Hook and answer share one commit, so that there is never one
//! without the other. Where the answer says when the lesson expires, [`Engine::sweep`] supersedes
//! the hook from then on, unless somebody has written a newer one.

mod answer;
mod decide;
mod ledger;
mod lesson;
mod list;
mod request;
mod sweep;

pub use answer::{Decided, DecisionAnswer, DecisionVerb, Expiry};
pub use decide::DecideError;
pub use lesson::Lesson;
pub use list::{AskedFor, DecisionState};
pub use request::DecisionRequest;
pub use sweep::Swept;

pub(super) use ledger::Ledger;

#[expect(unused_imports, reason = "for the documentation above")]
use super::Engine;

/// The kind of the record of a question.
pub const DECISION_REQUEST_KIND: &str = "core.work.decision_request.v1";

/// The kind of the record of an answer.
pub const DECISION_KIND: &str = "core.work.decision.v1";
