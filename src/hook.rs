//! Hooks: words for a run, after a tool call has returned.
//!
//! Comes in: a record that means to be a hook, which [`Hook::check`] turns into a [`Hook`] or
//! refuses by name; later a [`ReturnedCall`] of a run. Goes out: [`Asked`], the words that the
//! live [`HookSet`] has for that call.
//!
//! The words of a call stand in the order of decision 7: what is built in, then by the depth of
//! the namespace, then by the bytes of the name. A hook speaks in its namespace and below, beside
//! its namesakes above and below, each up to its own cap. So adding a hook never takes a word away
//! from another (decision 8).
//!
//! **Invariant:** a hook only adds. It cannot block, change, reorder or hide anything, because
//! [`Asked`] and [`Observed`] have no place to say so.
//!
//! **Invariant:** there is one validator. The records door, the fold of the configuration and
//! blueprints all call [`Hook::check`], and nothing else makes a [`Hook`].
//!
//! **Invariant:** asking is pure and total. It reads no time, no store and no configuration that
//! is not an argument, and a predicate that cannot be asked says nothing and is reported.

mod builtin;
mod call;
mod check;
mod definition;
mod fires;
mod history;
mod near;
mod set;
mod template;

pub use builtin::Builtin;
pub use call::{CONTENT_CHARS, ReturnedCall, RunFacts, head};
pub use check::{
    FORBIDDEN_FIELDS, MAX_FIRES_PER_RUN, MAX_NAME_CHARS, MAX_TEXT_CHARS, MAX_WHEN_BYTES,
};
pub use definition::{DEFAULT_FIRES_PER_RUN, Hook, HookKey};
pub use fires::{Fires, Observation, Observed};
pub use history::{History, Trace};
pub use near::{is_hook, looks_like_a_hook};
pub use set::{Asked, Candidate, HookSet, InForce, MAX_TIMED, Tally};
pub use template::Template;

/// The kind of a hook.
pub const HOOK_KIND: &str = "core.hook.v1";

/// The topic of a hook.
pub const HOOK_TOPIC: &str = "hook";

/// Returns what an actor is shown of a hook's words: `<name>: <text>`.
pub(crate) fn shown(name: &str, text: &str) -> String {
    format!("{name}: {text}")
}
