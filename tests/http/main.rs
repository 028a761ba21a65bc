//! The HTTP face, from outside: real listeners, a real store, bytes on a wire.

#![cfg(feature = "http")]

mod accounts;
mod blueprints;
mod bodies;
mod bootstrap;
mod captured;
mod client;
mod decisions;
mod described;
mod expressions;
mod grains;
mod hostile;
mod limits;
mod matrix;
mod namespaces;
mod observe;
mod packs;
mod pages;
mod peer;
mod permissions;
mod portability;
mod proofs;
mod query;
mod records;
mod runs;
mod schema;
mod scopes;
mod serving;
mod sessions;
mod soak;
mod threads;
mod trust;
mod watch;
