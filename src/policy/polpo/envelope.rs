//! What a handler reads (contract-polpo §9.1).
//!
//! **Invariant:** what is written has no secret in it that is known as one, and is measured as it is
//! written. An answer that a gate validates, and the input of a call, are read whole or not at all:
//! whoever judges a part of something has not judged it.

use super::TRUNCATED;
use super::bounds::ENVELOPE_BYTES;
use super::{Cause, Event, Failure, HookName, IdempotencyKey, Invocation, Mode, Scope};
use crate::canon::{Object, Value};
use crate::object;
use crate::time::Timestamp;

/// What a handler is told.
#[derive(Debug, Clone)]
pub struct Envelope<'a> {
    /// The key of the execution.
    pub key: &'a IdempotencyKey,
    /// When it is asked.
    pub at: Timestamp,
    /// The hook.
    pub hook: &'a HookName,
    /// Where it comes from.
    pub scope: Scope,
    /// Whether it decides.
    pub mode: Mode,
    /// How deep in handlers that cause handlers.
    pub depth: u8,
    /// What it is asked about.
    pub data: Data<'a>,
    /// In which invocation.
    pub run: RunFacts<'a>,
}

/// Where in all that goes on a handler is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunFacts<'a> {
    /// The request.
    pub request_id: Option<&'a str>,
    /// The run, where it is durable.
    pub run_id: Option<&'a str>,
    /// The session.
    pub session_id: Option<&'a str>,
    /// The invocation of the agent.
    pub invocation: &'a Invocation,
    /// The call of the model, from 1.
    pub turn: u64,
}

/// What a handler is asked about.
#[derive(Debug, Clone, Copy)]
pub enum Data<'a> {
    /// A call that is about to be made.
    Before {
        /// The id of the call.
        call_id: &'a str,
        /// The tool.
        tool: &'a str,
        /// The input as it is now.
        input: &'a Object,
    },
    /// A call that has returned.
    After {
        /// The id of the call.
        call_id: &'a str,
        /// The tool.
        tool: &'a str,
        /// The input it was made with.
        input: &'a Object,
        /// The result as it is now.
        result: &'a str,
        /// Whether the call failed.
        is_error: bool,
        /// Whether it was not made.
        skipped: bool,
    },
    /// A final answer.
    Stop {
        /// The answer.
        candidate: &'a Candidate,
        /// Why the model ended.
        finish_reason: &'a str,
        /// Whether it has been mended.
        recovered: bool,
        /// Which attempt at getting through the gate, if this is a validator.
        gate: Option<Attempt>,
    },
}

/// Which candidate of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Attempt {
    /// From 1.
    pub attempt: u64,
    /// How many repairs have begun.
    pub cycle: u64,
}

/// A final answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Candidate {
    /// Words.
    Text(String),
    /// A value of a given form, and the text that it was read from.
    Json {
        /// The value.
        value: Value,
        /// The text.
        text: String,
    },
}

impl Candidate {
    /// Returns the words.
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Json { text, .. } => text,
        }
    }

    /// Returns the value that handlers read and checkpoints hold.
    pub fn to_value(&self) -> Value {
        Value::from(match self {
            Self::Text(text) => object! { "type": "text", "text": text.as_str() },
            Self::Json { value, text } => {
                object! { "type": "json", "value": value.clone(), "text": text.as_str() }
            }
        })
    }

    /// Reads such a value; anything beside it is an error.
    pub fn of_value(value: Value) -> Option<Self> {
        let mut members = value.into_object()?;
        let Value::String(kind) = members.remove("type")? else { return None };
        let Value::String(text) = members.remove("text")? else { return None };
        let value = members.remove("value");
        match (kind.as_str(), value, members.is_empty()) {
            ("text", None, true) => Some(Self::Text(text)),
            ("json", Some(value), true) => Some(Self::Json { value, text }),
            _ => None,
        }
    }
}

impl Data<'_> {
    /// Returns where the handler is asked.
    pub const fn event(&self) -> Event {
        match self {
            Self::Before { .. } => Event::ToolBefore,
            Self::After { .. } => Event::ToolAfter,
            Self::Stop { .. } => Event::TurnStop,
        }
    }

    fn to_object(self) -> Object {
        match self {
            Self::Before { call_id, tool, input } => {
                object! { "toolCallId": call_id, "toolName": tool, "input": input.clone() }
            }
            Self::After { call_id, tool, input, result, is_error, skipped } => object! {
                "toolCallId": call_id,
                "toolName": tool,
                "input": input.clone(),
                "result": result,
                "isError": is_error,
                "skipped": skipped,
            },
            Self::Stop { candidate, finish_reason, recovered, gate } => {
                let mut data = object! {
                    "candidate": candidate.to_value(),
                    "finishReason": finish_reason,
                    "recovered": recovered,
                };
                if let Some(Attempt { attempt, cycle }) = gate {
                    data.extend(object! {
                        "terminationAttempt": attempt,
                        "correctionCycle": cycle,
                    });
                }
                data
            }
        }
    }

    /// Returns where in the data a text is that may be cut.
    const fn may_be_cut(&self) -> Option<&'static [&'static str]> {
        match self {
            Self::Before { .. } | Self::Stop { gate: Some(_), .. } => None,
            Self::After { .. } => Some(&["result"]),
            Self::Stop { gate: None, .. } => Some(&["candidate", "text"]),
        }
    }
}

impl Envelope<'_> {
    /// Returns the envelope as it is written, on one line.
    pub fn text(&self) -> Result<String, Failure> {
        self.value().map(|value| value.to_string())
    }

    /// Returns the envelope as a value, to which the input of a tool may be bound.
    pub fn value(&self) -> Result<Value, Failure> {
        let mut envelope = super::redact_value(&Value::from(self.to_object()));
        let bytes = envelope.to_string().len();
        let too_large = || {
            let detail = format!("{bytes} bytes, and at most {ENVELOPE_BYTES} are sent");
            Failure::new(Cause::PayloadTooLarge, &detail)
        };
        if bytes > ENVELOPE_BYTES {
            let path = self.data.may_be_cut().ok_or_else(too_large)?;
            // That it was cut has to be said as well.
            let surplus = bytes + r#","truncated":true"#.len() - ENVELOPE_BYTES;
            cut(&mut envelope, path, surplus).ok_or_else(too_large)?;
        }
        Ok(envelope)
    }

    fn to_object(&self) -> Object {
        let key = self.key.to_string();
        object! {
            "version": 1,
            "idempotencyKey": key.as_str(),
            "timestamp": self.at.to_string(),
            "hook": object! {
                "id": self.hook.hook.as_str(),
                "pack": self.hook.pack.as_str(),
                "scope": self.scope.as_str(),
                "event": self.data.event().as_str(),
                "mode": self.mode.as_str(),
                "executionId": self.key.execution_id().to_string(),
                "idempotencyKey": key.as_str(),
                "depth": u32::from(self.depth),
                "data": self.data.to_object(),
            },
            "run": self.run.to_object(),
        }
    }
}

impl RunFacts<'_> {
    fn to_object(self) -> Object {
        let Invocation { surface, agent, loop_name, step, step_key, step_invocation, .. } =
            self.invocation;
        object! {
            "requestId": self.request_id,
            "runId": self.run_id,
            "sessionId": self.session_id,
            "agent": agent.as_str(),
            "surface": surface.as_str(),
            "loop": loop_name.as_deref(),
            "step": step.as_deref(),
            "stepKey": step_key.as_deref(),
            "stepInvocationId": step_invocation.as_deref(),
            "turn": self.turn,
        }
    }
}

/// Takes at least `surplus` bytes from the text at `path` in the data, if it has as many.
fn cut(envelope: &mut Value, path: &[&str], surplus: usize) -> Option<()> {
    let hook = member(envelope, "hook")?;
    let data = member(hook, "data")?;
    let Value::String(text) = path.iter().try_fold(data, |value, key| member(value, key))? else {
        return None;
    };
    let room = written_len(text).checked_sub(surplus)?.checked_sub(written_len(TRUNCATED))?;
    let mut used = 0;
    let end = text.char_indices().find_map(|(at, c)| {
        used += written_char_len(c);
        (used > room).then_some(at)
    });
    text.truncate(end.unwrap_or(text.len()));
    text.push_str(TRUNCATED);
    let Value::Object(hook) = hook else { return None };
    hook.insert("truncated".to_owned(), Value::from(true));
    Some(())
}

fn member<'v>(value: &'v mut Value, key: &str) -> Option<&'v mut Value> {
    match value {
        Value::Object(members) => members.get_mut(key),
        _ => None,
    }
}

/// Returns how many bytes a text is once it is written, without its quotes.
fn written_len(text: &str) -> usize {
    text.chars().map(written_char_len).sum()
}

const fn written_char_len(c: char) -> usize {
    match c {
        '"' | '\\' | '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' => 6,
        _ => c.len_utf8(),
    }
}
