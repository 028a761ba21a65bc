//! The bodies of a session's records: masked, and no longer than they need to be.

use super::rest::first_chars;
use super::{Event, Moment, ToolCall};
use crate::canon::{Object, Value};
use crate::hook::head;
use crate::object;
use crate::record::{RecordId, ThreadId};
use crate::secret::{mask, mask_value};
use crate::trust::GENERAL;

/// The kind of the record that opens a session.
pub const CHARTER_KIND: &str = "core.session.charter.v1";
/// The kind of a record that says that a harness began a session, or took it up again.
pub const START_KIND: &str = "core.session.start.v1";
/// The kind of the record of a prompt.
pub const PROMPT_KIND: &str = "core.session.prompt.v1";
/// The kind of the record of a tool call.
pub const TOOL_KIND: &str = "core.session.tool.v1";
/// The kind of the record of a turn's end.
pub const TURN_KIND: &str = "core.session.turn.v1";
/// The kind of the record of any other event.
pub const EVENT_KIND: &str = "core.session.event.v1";
/// The kind of the record, on the thread of a session, about a subagent.
pub const AGENT_KIND: &str = "core.session.agent.v1";
/// The kind of the record of a session's end.
pub const END_KIND: &str = "core.session.end.v1";

/// The most characters of a text: of a prompt, or of a turn's closing words.
const MAX_TEXT_CHARS: usize = 16_384;

/// The most characters of one text among the arguments of a call.
const MAX_ARGUMENT_CHARS: usize = 16_384;

/// How many characters more than are kept are masked, so that a secret across the edge is seen whole.
const EDGE_CHARS: usize = 2_048;

/// The most values in the arguments of a call, and how deep they stand in each other.
const MAX_ARGUMENTS: usize = 1_000;
const MAX_ARGUMENT_DEPTH: usize = 32;

/// What stands in the place of an argument that is one too many.
const LEFT_OUT: &str = "[left out]";

/// Returns the body of the record that opens a session.
pub(super) fn charter(event: &Event, parent: Option<&ThreadId>, missed_start: bool) -> Object {
    let mut body = object! {
        "domain": GENERAL,
        "harness": event.harness.name(),
        "kind": CHARTER_KIND,
        "missed_start": missed_start,
        "session_id": event.session_id.as_str(),
    };
    let facts = [
        ("cwd", event.cwd.as_deref()),
        ("model", event.model.as_deref()),
        ("transcript_path", event.transcript_path.as_deref()),
    ];
    for (field, text) in facts {
        say(&mut body, field, text);
    }
    if let Some(parent) = parent {
        body.insert("parent_thread".into(), parent.into());
        name_agent(&mut body, event);
    }
    body
}

/// Returns the body of the record, on the thread of the session, about a subagent.
pub(super) fn agent(event: &Event, what: &str, thread: &ThreadId) -> Object {
    let mut body = object! { "event": what, "kind": AGENT_KIND, "thread": thread };
    name_agent(&mut body, event);
    body
}

fn name_agent(body: &mut Object, event: &Event) {
    if let Some(agent) = &event.agent {
        body.insert("agent_id".into(), agent.id.as_str().into());
        say(body, "agent_type", agent.kind.as_deref());
    }
}

/// Returns the body of the record of an event in this life of its session.
pub(super) fn event(event: &Event, life: u32, delivers: &[RecordId]) -> Object {
    let name = event.name.as_str();
    let mut body = match &event.moment {
        Moment::Started { source } => {
            let mut body = object! { "kind": START_KIND, "life": life };
            say(&mut body, "source", source.as_deref());
            body
        }
        Moment::Prompted { text } => {
            let mut body = object! { "kind": PROMPT_KIND };
            say(&mut body, "text", Some(text));
            body
        }
        Moment::Returned(call) => tool(call, name, life),
        Moment::TurnEnded { text, failed } => {
            let mut body = object! { "event": name, "kind": TURN_KIND };
            say(&mut body, "text", text.as_deref());
            say(&mut body, "failed", failed.as_deref());
            body
        }
        Moment::AgentStopped { text } => {
            let mut body = object! { "event": name, "kind": TURN_KIND };
            say(&mut body, "text", text.as_deref());
            body
        }
        Moment::Ended { reason } => {
            let mut body = object! { "kind": END_KIND };
            say(&mut body, "reason", reason.as_deref());
            body
        }
        Moment::AgentStarted | Moment::Other => {
            let fields = mask_value(&Value::Object(event.rest.clone()));
            object! { "event": name, "fields": fields, "kind": EVENT_KIND }
        }
    };
    say(&mut body, "turn", event.turn.as_deref());
    if !delivers.is_empty() {
        let delivers: Vec<Value> = delivers.iter().map(|id| (*id).into()).collect();
        body.insert("delivers".into(), delivers.into());
    }
    body
}

fn tool(call: &ToolCall, event: &str, life: u32) -> Object {
    object! {
        "args": args(&call.args),
        "call_id": call.call_id.as_str(),
        "canonical": call.canonical.as_str(),
        "content": head(&mask(&call.content)),
        "event": event,
        "kind": TOOL_KIND,
        "life": life,
        "status": call.status.as_str(),
        "tool": call.tool.as_str(),
    }
}

/// Inserts a text, masked and cut, if there is one.
fn say(body: &mut Object, field: &str, text: Option<&str>) {
    if let Some(text) = text {
        let masked = mask(first_chars(text, MAX_TEXT_CHARS + EDGE_CHARS));
        body.insert(field.into(), first_chars(&masked, MAX_TEXT_CHARS).into());
    }
}

/// Returns arguments as they are recorded.
fn args(args: &Object) -> Value {
    let mut bounds = Bounds { chars: MAX_ARGUMENT_CHARS + EDGE_CHARS, values: MAX_ARGUMENTS };
    let masked = mask_value(&bounds.object(args, MAX_ARGUMENT_DEPTH));
    Bounds { chars: MAX_ARGUMENT_CHARS, values: MAX_ARGUMENTS }
        .value(&masked, MAX_ARGUMENT_DEPTH + 1)
}

/// What is still kept of a value.
struct Bounds {
    chars: usize,
    values: usize,
}

impl Bounds {
    fn value(&mut self, value: &Value, depth: usize) -> Value {
        let Some(left) = self.values.checked_sub(1).filter(|_| depth > 0) else {
            return LEFT_OUT.into();
        };
        self.values = left;
        match value {
            Value::String(text) => first_chars(text, self.chars).into(),
            Value::Array(items) => {
                // One more than there is room for says that some are left out.
                let items = items.iter().take(self.values + 1);
                Value::Array(items.map(|item| self.value(item, depth - 1)).collect())
            }
            Value::Object(members) => self.object(members, depth - 1),
            other => other.clone(),
        }
    }

    fn object(&mut self, members: &Object, depth: usize) -> Value {
        let members = members.iter().take(self.values + 1);
        let member = |(name, value): (&String, &Value)| {
            (first_chars(name, 256).to_owned(), self.value(value, depth))
        };
        Value::Object(members.map(member).collect())
    }
}
