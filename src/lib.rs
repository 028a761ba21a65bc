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
pub mod predicate;
pub mod record;

// Layer 2: meaning
pub mod fold;
pub mod hook;
pub mod trust;

// Layer 3: settings
pub mod config;
