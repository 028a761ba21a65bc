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
pub mod canon;
pub mod code;
pub mod time;

// Layer 1: words
pub mod identity;
pub mod record;

// Layer 4: holding
pub mod store;

// Layer 5: doing
pub mod engine;

// Layer 9: face
#[cfg(feature = "http")]
pub mod http;
