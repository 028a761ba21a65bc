//! What the records of a captured session add up to.
//!
//! Comes in: the records of a session's thread, oldest first. Goes out: an [`Account`] of it, from
//! which its report, its row in a list and the text for whoever takes it up are made. Only what the
//! engine wrote is read; the same kinds from a door are plain data.
//!
//! What followed a lesson is the next call to return after it was heard: words that were carried are
//! heard with the event that delivered them.

mod bounded;
mod lessons;

use std::collections::BTreeMap;

use super::body::{
    AGENT_KIND, CHARTER_KIND, END_KIND, EVENT_KIND, PROMPT_KIND, START_KIND, TOOL_KIND, TURN_KIND,
};
use super::{FORGOTTEN_KIND, REPORT_KIND, TRANSCRIPT_KIND};
use crate::canon::{Object, Value};
use crate::fold::Fold;
use crate::record::{Origin, Received, Record, RecordId, Sequence};
use crate::time::Timestamp;
use bounded::Newest;
pub(super) use bounded::head;
pub use lessons::Lesson;
use lessons::Lessons;

/// The kind of the record of the words of a hook.
const OBSERVATION_KIND: &str = "core.work.observation.v1";

/// The most characters of a text of which an account keeps the beginning.
pub(super) const HEAD_CHARS: usize = 200;

/// The most characters of the last closing words.
const CLOSING_CHARS: usize = 2_000;

/// What the records of a captured session add up to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Account {
    /// What opened the session; `None` if nothing has.
    pub charter: Option<Charter>,
    /// How often it was taken up, the first time included.
    pub lives: u64,
    /// How many prompts there were.
    pub prompts: u64,
    /// How many turns ended.
    pub turns: u64,
    /// How many calls returned.
    pub calls: u64,
    /// How many of them with an error.
    pub failed: u64,
    /// What is still unanswered of what was asked last.
    pub unanswered: Option<String>,
    /// The closing words of the last turn that had any.
    pub closing: Option<String>,
    /// When the last event arrived.
    pub last_at: Timestamp,
    /// The last record that says what happened.
    pub through: Sequence,
    /// The report that covers most of it.
    pub report: Option<Reported>,
    /// The transcript that is kept of it.
    pub transcript: Option<Kept>,
    asked: Newest<String>,
    done: BTreeMap<String, Tally>,
    failures: Newest<Failure>,
    lessons: Lessons,
    agents: BTreeMap<String, AgentSeen>,
    end: Option<Ending>,
}

/// What the record says that opened a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Charter {
    /// The record.
    pub id: RecordId,
    /// Where it stands.
    pub sequence: Sequence,
    /// When it arrived.
    pub began_at: Timestamp,
    /// All that it says.
    pub body: Object,
}

/// A report that there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// The record.
    pub id: RecordId,
    /// The last record that it covers.
    pub through: Sequence,
}

/// A transcript that is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// The SHA-256 of the file, in hex.
    pub sha256: String,
    /// How long it is.
    pub bytes: u64,
}

/// A call that returned with an error.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The tool, as the harness calls it.
    pub tool: String,
    /// The record of the call.
    pub record: RecordId,
    /// How the answer begins.
    pub content: String,
}

/// How often a tool was called.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// How often.
    pub calls: u64,
    /// How often it returned with an error.
    pub failed: u64,
}

/// A subagent of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentSeen {
    /// Its thread.
    pub thread: String,
    /// What kind of agent it is.
    pub kind: Option<String>,
    /// Whether it is known to have ended.
    pub stopped: bool,
}

/// What a harness has said at the end of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ending {
    reason: Option<String>,
}

impl Account {
    /// Returns the beginnings of the latest prompts, the oldest first.
    pub fn asked(&self) -> impl ExactSizeIterator<Item = &str> {
        self.asked.iter().map(String::as_str)
    }

    /// Returns how often each tool was called, by its canonical name.
    pub const fn done(&self) -> &BTreeMap<String, Tally> {
        &self.done
    }

    /// Returns the latest failures, the oldest first.
    pub fn failures(&self) -> impl ExactSizeIterator<Item = &Failure> {
        self.failures.iter()
    }

    /// Returns the lessons that spoke, by name.
    pub fn lessons(&self) -> impl Iterator<Item = &Lesson> {
        self.lessons.iter()
    }

    /// Returns the observations that wait for an event that can deliver them.
    pub fn undelivered(&self) -> impl Iterator<Item = RecordId> {
        self.lessons.undelivered()
    }

    /// Returns the subagents by their ids.
    pub const fn agents(&self) -> &BTreeMap<String, AgentSeen> {
        &self.agents
    }

    /// Returns whether the harness has said that the session is over, and nobody has taken it up
    /// since.
    pub const fn has_ended(&self) -> bool {
        self.end.is_some()
    }

    /// Returns why it is over, if that was said.
    pub fn end_reason(&self) -> Option<&str> {
        self.end.as_ref()?.reason.as_deref()
    }

    /// Returns the thread of the session whose subagent this is.
    pub fn parent(&self) -> Option<&str> {
        text(&self.charter.as_ref()?.body, "parent_thread")
    }

    /// Returns the id of the subagent that this is.
    pub fn agent_id(&self) -> Option<&str> {
        text(&self.charter.as_ref()?.body, "agent_id")
    }

    /// Returns whether this is a session, and no subagent of one.
    pub fn is_main(&self) -> bool {
        self.charter.is_some() && self.parent().is_none()
    }

    /// Returns whether a report covers all that has happened.
    pub fn is_reported(&self) -> bool {
        self.report.is_some_and(|report| report.through >= self.through)
    }

    /// Returns whether there is anything that a report could tell of.
    pub const fn has_content(&self) -> bool {
        self.prompts > 0 || self.turns > 0 || self.calls > 0
    }

    fn opened(&mut self, received: &Received<'_>) {
        if self.charter.is_none() {
            self.charter = Some(Charter {
                id: received.record.id(),
                sequence: received.sequence,
                began_at: received.received_at,
                body: received.record.body.clone(),
            });
            self.lives = self.lives.max(1);
            self.last_at = received.received_at;
        }
    }

    fn returned(&mut self, record: &Record) {
        let body = &record.body;
        let ok = text(body, "status") == Some("ok");
        let tool = text(body, "tool").unwrap_or_default();
        self.calls += 1;
        let done = text(body, "canonical").unwrap_or(tool);
        let tally = self.done.entry(done.to_owned()).or_default();
        tally.calls += 1;
        self.lessons.returned(ok);
        if !ok {
            self.failed += 1;
            tally.failed += 1;
            self.failures.push(Failure {
                tool: tool.to_owned(),
                record: record.id(),
                content: head(text(body, "content").unwrap_or_default(), HEAD_CHARS),
            });
        }
    }

    fn seen(&mut self, body: &Object) {
        let Some(id) = text(body, "agent_id") else { return };
        let agent = self.agents.entry(id.to_owned()).or_default();
        if let Some(thread) = text(body, "thread") {
            thread.clone_into(&mut agent.thread);
        }
        if let Some(kind) = text(body, "agent_type").filter(|kind| !kind.is_empty()) {
            agent.kind = Some(kind.to_owned());
        }
        agent.stopped = text(body, "event") == Some("stopped");
    }

    /// Adds an event, and returns whether it was one.
    fn happened(&mut self, kind: &str, record: &Record) -> bool {
        let body = &record.body;
        match kind {
            CHARTER_KIND | EVENT_KIND => {}
            START_KIND => self.end = None,
            PROMPT_KIND => {
                let asked = head(text(body, "text").unwrap_or_default(), HEAD_CHARS);
                self.prompts += 1;
                self.end = None;
                self.unanswered = Some(asked.clone());
                self.asked.push(asked);
            }
            TOOL_KIND => self.returned(record),
            TURN_KIND => {
                self.turns += 1;
                self.unanswered = None;
                if let Some(words) = text(body, "text").filter(|words| !words.is_empty()) {
                    self.closing = Some(head(words, CLOSING_CHARS));
                }
            }
            AGENT_KIND => self.seen(body),
            END_KIND => {
                self.end = Some(Ending { reason: text(body, "reason").map(str::to_owned) });
            }
            _ => return false,
        }
        if let Some(life) = body.get("life").and_then(Value::as_u64) {
            self.lives = self.lives.max(life);
        }
        record.names("delivers").for_each(|id| self.lessons.delivered(id));
        true
    }
}

impl Fold for Account {
    fn evolve(&mut self, received: &Received<'_>) {
        if received.origin != Origin::Engine {
            return;
        }
        let record = received.record;
        let Some(kind) = record.kind() else { return };
        if kind == CHARTER_KIND {
            self.opened(received);
        }
        if self.happened(kind, record) {
            self.last_at = received.received_at;
            self.through = received.sequence;
            return;
        }
        match kind {
            OBSERVATION_KIND => {
                self.lessons.spoken(record);
                self.through = received.sequence;
            }
            REPORT_KIND => {
                let through = record.body.get("through").and_then(Value::as_i64);
                let through = Sequence::new(through.unwrap_or_default());
                self.report = Some(Reported { id: record.id(), through });
            }
            TRANSCRIPT_KIND => {
                let sha256 = text(&record.body, "sha256").unwrap_or_default().to_owned();
                let bytes = record.body.get("bytes").and_then(Value::as_u64).unwrap_or_default();
                self.transcript = Some(Kept { sha256, bytes });
            }
            FORGOTTEN_KIND => self.transcript = None,
            _ => {}
        }
    }
}

/// Returns a text of a body.
pub(super) fn text<'a>(body: &'a Object, name: &str) -> Option<&'a str> {
    body.get(name).and_then(Value::as_str)
}
