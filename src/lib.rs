//! Teach a running agent a lesson with one write.

#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::print_stderr
)]
#![cfg_attr(
    test,
    expect(
        clippy::expect_used,
        clippy::unwrap_used,
        clippy::panic,
        clippy::indexing_slicing,
        reason = "a test says what it expects"
    )
)]

// Layer 0: ground
pub mod canon;
pub mod code;
pub mod time;

// Layer 1: words
pub mod record;
