//! From a payload to an event, which is the same for every harness.

use super::{Harness, Malformed, Payload};
use crate::canon::{Digest, Object};

/// What happened in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// Where.
    pub harness: Harness,
    /// The session, as the harness calls it.
    pub session_id: String,
    /// The subagent that it happened in; `None` in the session itself.
    pub agent: Option<Agent>,
    /// The event, as the harness calls it.
    pub name: String,
    /// What it is.
    pub moment: Moment,
    /// The turn, as the harness calls it.
    pub turn: Option<String>,
    /// The working directory.
    pub cwd: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Where the harness keeps its own log. Never opened here.
    pub transcript_path: Option<String>,
    /// The SHA-256 of the payload, which tells events without a call apart.
    pub digest: Digest,
    /// What an event without a kind of its own says besides: bounded, and nothing of the person.
    pub rest: Object,
}

/// A subagent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agent {
    /// Its id.
    pub id: String,
    /// What kind of agent it is.
    pub kind: Option<String>,
}

/// What kind of thing happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Moment {
    /// A session began or was taken up.
    Started {
        /// `startup`, `resume`, `clear`, `compact`, `fork`, …
        source: Option<String>,
    },
    /// The person said something.
    Prompted {
        /// What.
        text: String,
    },
    /// A tool call returned.
    Returned(ToolCall),
    /// A turn ended.
    TurnEnded {
        /// The agent's closing words.
        text: Option<String>,
        /// Why it failed, if it did.
        failed: Option<String>,
    },
    /// A subagent began.
    AgentStarted,
    /// A subagent ended.
    AgentStopped {
        /// Its closing words.
        text: Option<String>,
    },
    /// The session ended.
    Ended {
        /// Why.
        reason: Option<String>,
    },
    /// Anything else. It is recorded as well.
    Other,
}

/// A tool call that returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// What tells it from others of the session.
    pub call_id: String,
    /// The tool, as the harness calls it.
    pub tool: String,
    /// The tool, as every harness's is called here ([`canonical_tool`](super::canonical_tool)).
    pub canonical: String,
    /// The arguments, whole.
    pub args: Object,
    /// How it ended.
    pub status: Status,
    /// The first characters of the answer.
    pub content: String,
    /// Whether the harness drops what is answered to this event.
    pub deaf: bool,
}

/// How a tool call ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It returned, or it is not known to have failed.
    Ok,
    /// It failed.
    Error,
}

impl Status {
    /// Returns the status as in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Error => "error",
        }
    }
}

impl Event {
    /// Reads a payload. A harness that is named beats what the payload looks like.
    pub fn read(_payload: &Payload, _harness: Option<Harness>) -> Result<Self, Malformed> {
        Err(Malformed { reason: "no event".into() })
    }

    /// Returns whether the model hears what is answered to this event.
    pub fn delivers(&self) -> bool {
        self.harness.delivers(&self.name)
    }
}
