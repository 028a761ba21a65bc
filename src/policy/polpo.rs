//! The second dialect: packs of Polpo runtime hooks (contract-polpo).
//!
//! Comes in: the bytes of `.polpo/hooks/*.json` and of each agent's `agent.json`. Goes out: a
//! [`Pack`], or [`Finding`]s that name a code and a place; and, for an [`Invocation`] and an event,
//! a [`Selection`] of the hooks that are asked, in their order.
//!
//! How it fits: `read` takes a pack apart with a `Place` for each value, `handler` and `credential` know
//! what a handler may hold, `matcher` and `pattern` what a hook is about. [`validate`] does a whole
//! folder and is pure over bytes; [`files`] alone reads some. [`Runtime`] has the switches of a host.
//!
//! **Invariant:** a pack is strict. What is not known, at any level, is an error, and a pack with an error
//! is no pack.
//!
//! **Invariant:** no finding holds a value of a pack, nor a key that looks like a secret.

mod address;
mod assignment;
mod credential;
mod deploy;
mod event;
pub mod files;
mod finding;
mod handler;
mod http;
mod invocation;
mod matcher;
mod name;
mod pack;
mod pattern;
mod place;
mod read;
mod runtime;
mod select;
mod validate;

pub use address::is_public;
pub use assignment::{PACKS_PER_AGENT, read_assignment};
pub use deploy::{DeployError, Deployed, Deployment, PACK_KIND, PACKS_THREAD, deploy, deployed};
pub use event::Event;
pub use finding::{Finding, PackCode, Severity};
pub use handler::{AgentSpec, CommandSpec, HandlerKind, HandlerSpec, HttpSpec, ToolSpec};
pub use handler::{McpToolSpec, PromptSpec};
pub use invocation::{Invocation, Scope, Surface};
pub use matcher::Matcher;
pub use name::{NameFault, PackName};
pub use pack::{GateLimits, Mode, OnFailure, Pack, PackHook};
pub use pattern::{Pattern, PatternFault};
pub use read::{PACK_BYTES, Reading, read_pack, read_pack_value};
pub use runtime::{KILL_SWITCH, Runtime};
pub use select::{Assigned, Selected, Selection, select};
pub use validate::{AgentReport, PackReport, Report, validate};
