//! Captured sessions: what is recorded of them, and what is said about them.

mod coming_back;
mod reports;
mod support;
mod transcripts;
