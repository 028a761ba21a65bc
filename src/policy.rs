//! Policy hooks: what the operator set up to *decide* about a run, at named places of it.
//!
//! Comes in: a [`Question`], which says at which [`Seam`] a run stands and what is about to happen
//! there. Goes out: a [`Verdict`], which says whether that happens, why, and what ran to find out.
//!
//! How it fits: a dialect ([`polyglot`]: settings files) is read into [`PolicyHook`]s, one internal
//! form. [`decide()`] walks those that a question concerns, in order, and is pure: what a handler
//! answers is handed to it by a [`Handle`]. Only [`Policy::ask`] starts anything. The second dialect,
//! [`polpo`] (packs), has forms of its own: its hooks change, ask and repair as well.
//!
//! **Invariant:** a policy hook can make less happen, never more: a verdict that proceeds grants
//! nothing, and whatever stands behind its seam is asked as if there were no hook.
//!
//! **Invariant:** policy hooks never see the post-tool seam, and hooks (lessons) never see these.
//!
//! **Invariant:** a question that concerns no hook starts nothing, and where patterns are of one
//! short part, as names of tools are, it allocates nothing.

pub mod audit;
mod decide;
mod deny;
mod error;
mod glob;
mod hook;
mod listed;
pub mod polpo;
pub mod polyglot;
mod question;
mod redaction;
mod resolved;
mod verdict;

pub use audit::AuditSettings;
pub use decide::{Handle, decide};
pub use deny::DenyRule;
pub use error::SettingsError;
pub use glob::{Glob, GlobError};
pub use hook::{Handler, Matcher, PolicyHook, Scope, Source};
pub use listed::{NotApplied, Skipped};
pub use question::{Question, Seam};
pub use redaction::{ExtraPattern, Mode, Redaction};
pub use resolved::Policy;
pub use verdict::{Block, Decision, Ran, Reply, Verdict, Warning};
