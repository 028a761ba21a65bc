//! From a payload to an event, which is the same for every harness.
//!
//! An event has the session and a name of its own; everything else may be missing or be of a shape
//! that nobody foresaw. A name that is not known makes an event of no kind, and so does a name that
//! is, without what that kind is about: a tool's event without a tool.

use std::borrow::Cow;

use super::decision::Decided;
use super::derive;
use super::rest::{self, MAX_ID_CHARS, bounded_id, first_chars};
use super::{Harness, Malformed, Payload};
use crate::canon::{Digest, Object, hash_of};
use crate::tool::Status;

/// The names of the session.
const SESSION: &[&str] = &["session_id", "sessionId", "sessionID", "conversation_id"];
/// The names of the event.
pub(super) const EVENT: &[&str] = &["hook_event_name", "hookEventName", "event"];
/// The names of the harness's own log.
pub(super) const TRANSCRIPT: &[&str] = &["transcript_path", "transcriptPath"];
const AGENT: &[&str] = &["agent_id", "agentId"];
const AGENT_KIND: &[&str] = &["agent_type", "agentType", "agent_name", "agentName"];
const TURN: &[&str] =
    &["turn_id", "turnId", "prompt_id", "promptId", "message_id", "messageID", "generation_id"];
const CWD: &[&str] = &["cwd"];
const MODEL: &[&str] = &["model"];
const CLOSING: &[&str] = &["last_assistant_message", "lastAssistantMessage", "prompt_response"];

/// What stands in fields of their own.
const READ: &[&[&str]] = &[SESSION, EVENT, TRANSCRIPT, AGENT, TURN, CWD, MODEL];

/// The most characters of what a person or an agent said.
const MAX_SAID_CHARS: usize = 64 * 1024;
/// The most characters of a path.
const MAX_PATH_CHARS: usize = 4096;

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
    /// What tells it from other events of its name: of a call the hash of its id, of anything else
    /// that of the payload.
    pub digest: Digest,
    /// What an event without a kind of its own says besides: bounded, and nothing of the person.
    /// Secrets in it are not masked.
    pub rest: Object,
    /// Whether the harness drops what is answered to this event, though it takes an answer to
    /// others of its name.
    pub deaf: bool,
    /// What policy hooks have decided about it, where they were asked and had something to say.
    pub decided: Option<Decided>,
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
    /// How it ended: `Ok` also where it is not known to have failed.
    pub status: Status,
    /// The first characters of the answer.
    pub content: String,
}

impl Event {
    /// Reads a payload. A harness that is named beats what the payload looks like.
    pub fn read(payload: &Payload, harness: Option<Harness>) -> Result<Self, Malformed> {
        let harness = harness.unwrap_or_else(|| Harness::detect(payload));
        let Some(session_id) = payload.word(SESSION) else {
            return Err(Malformed::because("the payload names no session (`session_id`)"));
        };
        let Some(name) = payload.word(EVENT) else {
            return Err(Malformed::because("the payload names no event (`hook_event_name`)"));
        };
        let word = |names: &[&str]| payload.word(names).map(bounded_id);
        let path = |names: &[&str]| Some(first_chars(payload.word(names)?, MAX_PATH_CHARS).into());
        let agent = word(AGENT).map(|id| Agent { id, kind: word(AGENT_KIND) });
        let reading = Reading { payload, harness, session_id, name };
        let moment = reading.moment(agent.is_some());
        let digest = match &moment {
            Moment::Returned(call) => hash_of(&[call.call_id.as_bytes()]),
            _ => payload.digest(),
        };
        let rest = match moment {
            Moment::Other => rest::of(payload.members(), READ),
            _ => Object::new(),
        };
        Ok(Self {
            harness,
            session_id: bounded_id(session_id),
            agent,
            name: first_chars(name, MAX_ID_CHARS).into(),
            turn: word(TURN),
            cwd: path(CWD),
            model: word(MODEL),
            transcript_path: path(TRANSCRIPT),
            deaf: reading.deaf(),
            decided: None,
            moment,
            digest,
            rest,
        })
    }

    /// Returns whether the model hears what is answered to this event. What is refused is answered
    /// with that alone.
    pub fn delivers(&self) -> bool {
        let refused = matches!(self.decided, Some(Decided::Refused(_)));
        !refused && !self.deaf && self.harness.delivers(&self.name)
    }
}

/// A payload of which it is known that it is an event.
#[derive(Clone, Copy)]
pub(super) struct Reading<'p> {
    pub(super) payload: &'p Payload,
    pub(super) harness: Harness,
    pub(super) session_id: &'p str,
    pub(super) name: &'p str,
}

impl Reading<'_> {
    fn moment(&self, in_agent: bool) -> Moment {
        match self.name {
            // Whose it is would not be known without its id. A session that another one has begun is
            // how opencode runs a subagent.
            "SubagentStart" | "subagentStart" | "session.created" if in_agent => {
                Moment::AgentStarted
            }
            "SubagentStop" | "subagentStop" | "session.idle" | "session.deleted" if in_agent => {
                Moment::AgentStopped { text: self.closing() }
            }
            "SessionStart" | "sessionStart" | "session.created" => {
                Moment::Started { source: self.word(&["source"]) }
            }
            "UserPromptSubmit" | "BeforeAgent" | "userPromptSubmitted" | "chat.message" => {
                self.prompted()
            }
            "PostToolUse" | "AfterTool" | "postToolUse" | "tool.execute.after" => {
                self.returned(false)
            }
            "PostToolUseFailure" | "postToolUseFailure" => self.returned(true),
            "Stop" | "AfterAgent" | "agentStop" | "session.idle" => {
                Moment::TurnEnded { text: self.closing(), failed: None }
            }
            "StopFailure" => {
                Moment::TurnEnded { text: self.closing(), failed: Some(self.failure()) }
            }
            "SessionEnd" | "sessionEnd" | "session.deleted" => {
                Moment::Ended { reason: self.word(&["reason"]) }
            }
            _ => Moment::Other,
        }
    }

    fn word(&self, names: &[&str]) -> Option<String> {
        self.payload.word(names).map(bounded_id)
    }

    /// What the agent said at last.
    fn closing(&self) -> Option<String> {
        Some(first_chars(self.payload.word(CLOSING)?, MAX_SAID_CHARS).into())
    }

    fn failure(&self) -> String {
        let error = self.payload.get(&["error"]).map_or("unknown".into(), derive::shown);
        let details = self.payload.word(&["error_details", "errorDetails"]);
        let said = details.map_or_else(|| error.to_string(), |it| format!("{error}: {it}"));
        first_chars(&said, MAX_SAID_CHARS).into()
    }

    fn prompted(&self) -> Moment {
        let Some(said) = self.prompt() else { return Moment::Other };
        Moment::Prompted { text: first_chars(&said, MAX_SAID_CHARS).into() }
    }

    /// What the person said, whole. Qwen Code says an empty prompt again after each round of tools.
    pub(super) fn prompt(&self) -> Option<Cow<'_, str>> {
        let text = self.payload.get(&["prompt"]).map(derive::text).unwrap_or_default();
        match self.harness {
            Harness::Qwen if text.is_empty() => None,
            Harness::Gemini => Some(without_context(&text).to_owned().into()),
            _ => Some(text),
        }
    }

    fn returned(&self, failed: bool) -> Moment {
        derive::call(self, failed).map_or(Moment::Other, Moment::Returned)
    }

    fn deaf(&self) -> bool {
        match self.harness {
            Harness::Gemini => self.name == "AfterTool" && derive::has_error(self.payload),
            Harness::Qwen => {
                self.name == "UserPromptSubmit" && self.payload.word(&["prompt"]).is_none()
            }
            _ => false,
        }
    }
}

/// Returns a prompt without what hooks have put in front of it.
fn without_context(prompt: &str) -> &str {
    let mut rest = prompt;
    while let Some((_, after)) = rest
        .trim_start()
        .strip_prefix("<hook_context>")
        .and_then(|inside| inside.split_once("</hook_context>"))
    {
        rest = after.trim_start();
    }
    rest
}
