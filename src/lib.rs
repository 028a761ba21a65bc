//! Teach a running agent a lesson with one write.
//!
//! A lesson is a *hook*: an immutable, signed `core.hook.v1` record. The engine folds those records
//! into a live set; after each tool call of a run the set is asked about the call that returned, and
//! what holds puts one sentence before the actor on its next turn. A hook can only add words.
//!
//! # In your own loop
//!
//! Open an engine, write a hook, and ask the live set about each call that returns:
//!
//! ```
//! use spl::engine::{Caller, Engine};
//! use spl::hook::{Fires, History, ReturnedCall, RunFacts, Trace};
//! use spl::object;
//! use spl::predicate::SystemFacts;
//! use spl::record::{ActorId, Clock, Namespace, ThreadId};
//! use spl::trust::Standing;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // `Engine::open` takes the home of an instance; this one ends with the value.
//! let engine = Engine::in_memory()?;
//!
//! // One write. It is durable, and in force, when this returns.
//! engine.ingest(
//!     &Caller::operator(),
//!     br#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
//!          "body":{"kind":"core.hook.v1","topic":"hook","name":"shell-failed",
//!                  "when":"record.body.tool == \"bash\" && record.body.status != \"ok\"",
//!                  "text":"${tool} ended with ${status}; read stderr first."}}"#,
//! )?;
//!
//! // A tool call of your loop has returned.
//! let args = object! { "command": "make" };
//! let call = ReturnedCall {
//!     tool: "bash",
//!     args: &args,
//!     status: "error",
//!     content: "make: *** No targets.  Stop.",
//!     resource: "tool:bash",
//!     call: None,
//!     clock: Clock::default(),
//! };
//! let run = RunFacts {
//!     thread: &ThreadId::parse("th_my_run")?,
//!     actor: &ActorId::parse("did:sync:agent:mine")?,
//!     namespace: &Namespace::root(),
//!     domain: "general",
//!     trust: &Standing::default(),
//!     now: engine.store().now(),
//!     system: &SystemFacts::NONE,
//! };
//!
//! // `live` sees what any process on this home has written up to now.
//! let (mut history, mut fires) = (History::default(), Fires::default());
//! history.note(&Trace::of(call.tool, call.args, call.status, call.content));
//! let observed = engine.live()?.hooks.observe(&call, &run, &history, &mut fires);
//!
//! let words: Vec<String> = observed.observations.iter().map(|heard| heard.shown()).collect();
//! assert_eq!(words, ["shell-failed: bash ended with error; read stderr first."]);
//! # Ok(())
//! # }
//! ```
//!
//! A loop that keeps its records in the store calls [`engine::Engine::tool_returned`] instead: the
//! result, the observations and the caps then share one commit, exact across processes. [`run`] is
//! such a loop.
//!
//! # Reading order
//!
//! The modules are declared bottom up. A module uses what stands above its own line here, and
//! `ARCHITECTURE.md` has the map.

#![cfg_attr(
    not(test),
    deny(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::indexing_slicing,
        clippy::print_stdout,
        clippy::print_stderr
    )
)]

// Layer 0: ground
pub mod cancel;
pub mod canon;
pub mod code;
pub mod time;

// Layer 1: words
pub mod identity;
pub mod predicate;
pub mod record;
pub mod secret;

// Layer 2: meaning
pub mod fold;
pub mod hook;
pub mod permission;
pub mod trust;

// Layer 3: settings
pub mod config;

// Layer 4: holding
pub mod store;

// Layer 5: doing
pub mod engine;

// Layer 6: hands
pub mod blueprint;
pub mod model;
pub mod sandbox;
pub mod tool;

// Layer 7: deciding
pub mod policy;

// Layer 8: working
pub mod run;
pub mod session;

// Layer 9: face
#[cfg(feature = "http")]
pub mod http;
