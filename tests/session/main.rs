//! Captured sessions: what is recorded of them, and what is said about them.

mod coming_back;
mod reports;
mod schemas;
mod support;
mod transcripts;
