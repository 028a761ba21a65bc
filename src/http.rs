//! The HTTP face: routes, what stands in front of them, and the stream of a thread (contract §2).
//!
//! Comes in: requests, over TCP on a loopback address, over the Unix socket of the home, or from
//! the same process, which calls the [`router()`] itself. Goes out: what the engine says, as
//! canonical JSON, in which every integer keeps its digits.
//!
//! A request passes, in this order: the guard against web pages, its route, who makes it and how often,
//! what that caller may, the media type, the size. Only then is a byte of its body read as anything, and
//! the permission rules are asked. What a record itself must pass is the engine's business.
//!
//! **Invariant:** every route stands in one table, with what it needs and what it answers. The
//! router, the refusal of unknown parameters and the OpenAPI document are read off it.
//!
//! **Invariant:** a route is handed the instance as its caller may see it. What they may not read is
//! not there, in whatever way a route asks.
//!
//! **Invariant:** every refusal is the one envelope of [`wire::error`], whoever refused. A web page is
//! let in by its origin, which the operator has listed, and by nothing else.

mod access;
mod account_routes;
mod accounts;
mod answer;
mod blueprint_routes;
mod blueprints;
mod bootstrap;
mod call;
mod config;
mod cors;
mod decisions;
mod endpoint;
mod expression;
mod front;
mod guard;
mod health;
mod identity;
mod limit;
mod metrics;
mod namespace_routes;
mod namespaces;
mod news;
mod observe;
mod openapi;
mod pack_routes;
mod packs;
mod permit;
mod portability;
mod portability_routes;
mod problem;
mod proof_routes;
mod records;
mod rooms;
mod router;
mod run_routes;
mod runs;
mod serve;
mod session_doors;
mod session_list;
mod session_routes;
mod sessions;
mod state;
mod threads;
mod tokens;
mod trust;
mod watch;
pub mod wire;

pub use access::{AGENT_HEADER, Access};
pub use bootstrap::BootstrapToken;
pub use front::Front;
pub use openapi::document;
pub use router::router;
pub use serve::{Listener, serve};
pub use state::{ApiState, ServerLimits};
