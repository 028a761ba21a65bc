//! What a predicate sees of a call: `{tool, args, status, content}`, and the canonical name.
//!
//! The shapes are those that the harnesses send. The one that we choose ourselves is that of
//! opencode, which has no hook commands: a plugin writes one object an event to the hook's input.
//!
//! | opencode's own | `hook_event_name` | besides `session_id`, `cwd` |
//! |---|---|---|
//! | `event` of `session.created` | `session.created` | |
//! | `chat.message` | the same | `prompt`, `message_id`, `model` |
//! | `tool.execute.before` | the same | `tool_name`, `tool_use_id`, `tool_input` |
//! | `tool.execute.after` | the same | `tool_name`, `tool_use_id`, `tool_input`, `tool_response` |
//! | `event` of `session.idle` | `session.idle` | `last_assistant_message`, where it is known |
//! | `event` of `session.deleted` | `session.deleted` | |
//!
//! `prompt` is the text parts, one a line; `tool_use_id` the `callID`, `tool_input` the `args`, and
//! `tool_response` is `{title, output, metadata}`, with the exit status of a shell in
//! `metadata.exit`. What is answered to `tool.execute.after` the plugin puts behind `output`, and what
//! is answered to `chat.message` behind the prompt.
//!
//! A session with a `parentID` is a subagent: the plugin sends the id of the topmost session as
//! `session_id`, and its own as `agent_id`, with `agent_type` where it is known.

mod content;
mod tool;

use std::borrow::Cow;

use super::event::{Reading, ToolCall};
use super::rest::{bounded_id, first_chars};
use super::{Harness, Payload};
use crate::canon::{Limits, Object, Value, digest_of, hash_of, hex, parse_leniently};
use crate::hook::CONTENT_CHARS;
use crate::object;
use crate::tool::Status;

use content::says_failed;
pub(super) use content::{shown, text};
pub use tool::canonical_tool;

/// How many characters more than a predicate sees are kept of an answer, so that a secret across the
/// edge is seen whole when the answer is masked.
const EDGE_CHARS: usize = 2048;

const TOOL: &[&str] = &["tool_name", "toolName", "tool"];
const INPUT: &[&str] = &["tool_input", "toolInput", "toolArgs", "tool_args", "args"];
const RESPONSE: &[&str] = &["tool_response", "toolResponse", "tool_result", "toolResult"];

/// Returns the call that an event tells of; `None` if it names no tool.
pub(super) fn call(reading: &Reading<'_>, failed: bool) -> Option<ToolCall> {
    let payload = reading.payload;
    let tool = payload.word(TOOL)?;
    let args = args(payload);
    let canonical = canonical_tool(&bounded_id(tool));
    let response = payload.get(RESPONSE);
    let failed =
        failed || has_error(payload) || response.is_some_and(|it| says_failed(it, &canonical));
    Some(ToolCall {
        call_id: call_id(reading, tool, &args),
        tool: bounded_id(tool),
        canonical,
        args,
        status: if failed { Status::Error } else { Status::Ok },
        content: first_chars(&content(payload, response, failed), CONTENT_CHARS + EDGE_CHARS)
            .to_owned(),
    })
}

/// Returns whether the answer of a tool is an error of the harness's own, such as a file that is
/// not there.
pub(super) fn has_error(payload: &Payload) -> bool {
    match payload.get(RESPONSE).and_then(|response| response.get("error")) {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::String(text)) => !text.is_empty(),
        Some(_) => true,
    }
}

fn args(payload: &Payload) -> Object {
    match payload.get(INPUT) {
        None => Object::new(),
        Some(Value::Object(members)) => members.clone(),
        // Some send the arguments as the model wrote them: the text of an object.
        Some(Value::String(text)) => {
            let limits = Limits { bytes: Payload::MAX_BYTES, depth: 128 };
            let read = parse_leniently(text.as_bytes(), limits).ok();
            read.and_then(Value::into_object).unwrap_or_else(|| object! { "input": &**text })
        }
        Some(other) => object! { "input": other.clone() },
    }
}

/// Returns what tells a call from others of its session: its id, where the harness sends one. In
/// Qwen Code one id runs through all events of a call, and it is not the one of the usual name.
fn call_id(reading: &Reading<'_>, tool: &str, args: &Object) -> String {
    let names: &[&str] = match reading.harness {
        Harness::Qwen => &["tool_call_id", "tool_use_id"],
        _ => &["tool_use_id", "toolUseId", "callID", "tool_call_id"],
    };
    if let Some(id) = reading.payload.word(names) {
        return bounded_id(id);
    }
    // Two equal calls differ in their time alone.
    let time = match reading.payload.get(&["timestamp"]) {
        Some(Value::String(time)) => time.clone(),
        Some(Value::Number(time)) => time.to_string(),
        _ => hex(&reading.payload.digest()),
    };
    let front = Value::from(vec![reading.session_id, reading.name, tool, &time]).to_string();
    format!("sha256:{}", hex(&hash_of(&[front.as_bytes(), &digest_of(args)])))
}

/// Returns what the model is told. Of a failure that is the error.
fn content<'p>(payload: &'p Payload, response: Option<&'p Value>, failed: bool) -> Cow<'p, str> {
    if failed && let Some(error) = payload.get(&["error"]) {
        return shown(error);
    }
    let Some(response) = response else { return Cow::default() };
    match (shown(response), response.get("error")) {
        // A tool that has nothing to say may have failed with a message.
        (content, Some(error)) if content.is_empty() => shown(error),
        (content, _) => content,
    }
}
