//! Teach a running agent a lesson with one write.

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
pub mod trust;

// Layer 3: settings
pub mod config;

// Layer 4: holding
pub mod store;

// Layer 5: doing
pub mod engine;

// Layer 6: hands
pub mod model;
pub mod tool;

// Layer 8: working
pub mod run;

// Layer 9: face
#[cfg(feature = "http")]
pub mod http;
