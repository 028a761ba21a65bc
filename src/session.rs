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

mod account;
mod answer;
mod body;
mod checkpoint;
mod decision;
mod derive;
mod entry;
mod event;
mod harness;
mod identity;
mod list;
mod payload;
mod read;
mod receive;
mod report;
mod rest;
mod rooms;
mod transcript;
mod words;

#[cfg(test)]
mod tests;

pub use crate::tool::Status;
pub use account::{Account, AgentSeen, Charter, Failure, Kept, Lesson, Reported, Tally};
pub use answer::{answer, refusal};
pub use body::{
    AGENT_KIND, CHARTER_KIND, END_KIND, EVENT_KIND, PROMPT_KIND, START_KIND, TOOL_KIND, TURN_KIND,
};
pub use checkpoint::{ATTENTION_THREAD, CHECKPOINT_KIND, Checkpoint, CheckpointError};
pub use decision::{Decided, Pending, PendingCall, Refusal};
pub use derive::canonical_tool;
pub use entry::context;
pub use event::{Agent, Event, Moment, ToolCall};
pub use harness::{Cap, Harness};
pub use identity::{agent_of, session_thread};
pub use list::{SessionRange, SessionState, session, sessions};
pub use payload::{Envelope, Malformed, Payload};
pub use read::account_of;
pub use receive::{Received, receive};
pub use report::{
    IDLE_MILLIS, REPORT_KIND, body as report_body, report, report_idle, report_silent,
};
pub use rooms::{Item, Learned, Overview, brief, find_room, overview, reentry};
pub use transcript::{
    FORGOTTEN_KIND, Forgotten, MAX_TRANSCRIPT_BYTES, Retained, TRANSCRIPT_KIND, TranscriptError,
    forget, retain,
};
pub use words::{MAX_BYTES, Packed, Spoken, pack};
