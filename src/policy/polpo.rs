//! The second dialect: packs of Polpo runtime hooks (contract-polpo).
//!
//! Comes in: the bytes of `.polpo/hooks/*.json` and of each agent's `agent.json`, and what handlers of
//! hooks wrote. Goes out: a [`Pack`], or [`Finding`]s that name a code and a place; for an
//! [`Invocation`] and an event, a [`Selection`] of the hooks that are asked, in their order; and what
//! happens there, as data. Nothing here starts or waits for anything: whoever does is told what to do
//! next, and tells what came of it.
//!
//! How it fits: `read` takes a pack apart with a `Place` for each value, `handler` and `credential` know
//! what a handler may hold, `matcher` and `pattern` what a hook is about. [`validate()`] does a whole
//! folder and is pure over bytes; [`files`] alone reads some. [`Runtime`] has the switches of a host.
//! [`envelope`] is what handlers read, with secrets replaced; [`read_decision`] makes one answer of what
//! one wrote, [`combine`] one effect of the answers of all, [`gate`] decides about final answers that
//! have to be validated. [`IdempotencyKey`] names each execution, and [`trace`] says what there is to
//! tell of it.
//!
//! **Invariant:** a pack is strict. What is not known, at any level, is an error, and a pack with an error
//! is no pack.
//!
//! **Invariant:** no finding holds a value of a pack, nor a key that looks like a secret.
//!
//! **Invariant:** no effect executes a call. The most that can be said of one is that nothing stands
//! against it here; whatever stands behind the seam is asked about the input as it then is.

mod address;
mod assignment;
mod binding;
pub mod bounds;
pub mod combine;
mod credential;
mod decision;
mod deploy;
pub mod envelope;
mod event;
mod failure;
pub mod files;
mod finding;
pub mod gate;
mod handler;
mod hook_name;
mod http;
mod invocation;
mod key;
mod matcher;
mod matrix;
mod name;
mod normal;
mod pack;
mod pattern;
mod place;
mod read;
mod redact;
mod runtime;
mod select;
pub mod trace;
mod unasked;
mod validate;

pub use address::is_public;
pub use assignment::{PACKS_PER_AGENT, read_assignment};
pub use binding::bind;
pub use bounds::*;
use decision::is_feedback;
pub use decision::{Answer, Change, Decision, Outcome, read_decision};
pub use deploy::{DeployError, Deployed, Deployment, PACK_KIND, PACKS_THREAD, deploy, deployed};
pub use event::Event;
pub use failure::{Cause, Failure, RunCode};
pub use finding::{Finding, PackCode, Severity};
pub use handler::{AgentSpec, CommandSpec, HandlerKind, HandlerSpec, HttpSpec, ToolSpec};
pub use handler::{McpToolSpec, PromptSpec};
pub use hook_name::HookName;
pub use invocation::{Invocation, Scope, Surface};
pub use key::{ExecutionId, IdempotencyKey, Identity, Occurrence};
pub use matcher::Matcher;
pub use matrix::{Cell, Site, Word};
pub use name::{NameFault, PackName};
pub use normal::{TRUNCATED, cut_result, normal_result};
pub use pack::{GateLimits, Mode, OnFailure, Pack, PackHook};
pub use pattern::{Pattern, PatternFault};
pub use read::{PACK_BYTES, Reading, read_pack, read_pack_value};
pub use redact::{REDACTED, redact, redact_value, replaces_a_secret};
pub use runtime::{KILL_SWITCH, Runtime};
pub use select::{Assigned, Selected, Selection, select};
pub use unasked::refuse_unasked;
pub use validate::{AgentReport, PackReport, Report, validate};
