//! Sessions of agents that run elsewhere, heard through the hook systems of their harnesses.
//!
//! Comes in: the bytes that a harness hands to a hook command, a [`Payload`]. Goes out: an
//! [`Event`], which is the same for every harness, and for the words that the hooks have for it the
//! one JSON object that the harness takes ([`answer()`]).
//!
//! Reading is lenient and total: a harness must not stop over what its hook could not read, and a
//! field that no one has documented yet is data. What is [`Malformed`] is told in one line and
//! leaves nothing behind.
//!
//! **Invariant:** a payload is data. No path in it is opened, nothing in it is looked up.

mod answer;
mod derive;
mod event;
mod harness;
mod payload;
mod rest;
mod words;

#[cfg(test)]
mod tests;

pub use answer::answer;
pub use derive::canonical_tool;
pub use event::{Agent, Event, Moment, Status, ToolCall};
pub use harness::{Cap, Harness};
pub use payload::{Envelope, Malformed, Payload};
pub use words::{MAX_BYTES, Packed, Spoken, pack};
