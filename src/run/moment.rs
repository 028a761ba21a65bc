//! What is worth showing while a run goes on, and how it went.

use super::{Outcome, Spent};
use crate::engine::Heard;
use crate::model::{CallRequest, Reply};
use crate::policy::{Block, Warning};
use crate::record::{RecordId, ThreadId};
use crate::tool::Answer;

/// Something worth showing while a run goes on.
#[derive(Debug)]
pub enum Moment<'a> {
    /// The loop is open.
    Opened(&'a ThreadId),
    /// A run is taken up again, for the life with this number.
    Resumed {
        /// The loop thread.
        thread: &'a ThreadId,
        /// How often it has been taken up.
        life: u32,
    },
    /// Somebody has said something to the run.
    Steered(&'a str),
    /// Words of a reply, as they come.
    Words(&'a str),
    /// The model has answered.
    Replied {
        /// Which turn this is, from 1.
        turn: u32,
        /// The reply.
        reply: &'a Reply,
    },
    /// A policy hook failed; what it was asked about happened.
    Warned(&'a Warning),
    /// A policy hook blocked a call, or withheld a result.
    Blocked {
        /// The call.
        request: &'a CallRequest,
        /// Where, and why.
        block: &'a Block,
    },
    /// A call is about to be executed.
    Calling(&'a CallRequest),
    /// A question has been put to somebody who decides.
    Asked {
        /// The record of the question.
        request: RecordId,
        /// The question.
        question: &'a str,
    },
    /// A call has returned.
    Returned {
        /// The call.
        request: &'a CallRequest,
        /// What the tool said.
        answer: &'a Answer,
    },
    /// A hook has spoken.
    Heard(&'a Heard),
    /// Something of a task, while its call is executed.
    Within {
        /// The thread of the task.
        task: &'a ThreadId,
        /// What.
        moment: &'a Moment<'a>,
    },
    /// The run is over.
    Closed(&'a Outcome),
}

/// How a run went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The loop thread.
    pub thread: ThreadId,
    /// How it ended.
    pub outcome: Outcome,
    /// How far it has come, over all its lives.
    pub spent: Spent,
    /// How many calls went well.
    pub calls_ok: u32,
    /// How many calls failed.
    pub calls_failed: u32,
    /// How often hooks spoke.
    pub observations: u32,
    /// The question that it waits for, if it does.
    pub awaits: Option<RecordId>,
}
