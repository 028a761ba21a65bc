//! What has been said so far, in the words of the client.
//!
//! A result goes as it is shown. What is said about it follows in a message of its own, each
//! observation as its own block `<name>: <text>`: the client loses text that stands beside a result
//! in one message for some formats, and a user's message behind the results arrives whole in all of
//! them. All results of a turn come first, since the formats demand an answer to every call before
//! anything else is said.

use genai::chat::{ChatMessage, ChatRequest, ContentPart, Tool, ToolCall, ToolResponse};
use serde_json::json;

use super::super::{CallRequest, Message, ToolDescription, TurnRequest};
use crate::canon::{Canonical, Object, Value};
use crate::engine::WireFormat;

/// Returns a turn in the words of the client.
pub(super) fn chat(request: &TurnRequest, format: WireFormat) -> ChatRequest {
    let mut said = Said { messages: Vec::new(), results: Vec::new(), words: Vec::new(), format };
    for message in &request.messages {
        said.add(message);
    }
    said.flush();
    let mut chat = ChatRequest::new(said.messages);
    chat.system = (!request.system.is_empty()).then(|| request.system.clone());
    let tools: Vec<Tool> = request.tools.iter().map(tool).collect();
    chat.tools = (!tools.is_empty()).then_some(tools);
    chat
}

struct Said {
    messages: Vec<ChatMessage>,
    /// Results of the calls of one turn.
    results: Vec<ContentPart>,
    /// What is said about them.
    words: Vec<String>,
    format: WireFormat,
}

impl Said {
    fn add(&mut self, message: &Message) {
        match message {
            Message::User { text } => {
                self.flush();
                self.messages.push(ChatMessage::user(text.as_str()));
            }
            Message::Assistant { text, calls } => {
                self.flush();
                let text = (!text.is_empty()).then(|| ContentPart::from_text(text.as_str()));
                let calls = calls.iter().map(|call| ContentPart::ToolCall(tool_call(call)));
                let parts: Vec<ContentPart> = text.into_iter().chain(calls).collect();
                // Nothing was said, and no format has a message for that.
                if !parts.is_empty() {
                    self.messages.push(ChatMessage::assistant(parts));
                }
            }
            Message::ToolResult { call_id, tool, text, failed } => {
                self.results.push(self.result(call_id, tool, text, *failed));
            }
            Message::Observation { rule, text } => self.words.push(format!("{rule}: {text}")),
            Message::Notice { text } => self.words.push(text.clone()),
        }
    }

    /// Only Anthropic has a place for whether a call failed, and the client has none for it: there
    /// the block is written as it is.
    fn result(&self, call_id: &str, tool: &str, text: &str, failed: bool) -> ContentPart {
        if failed && self.format == WireFormat::Anthropic {
            let block = json!({
                "type": "tool_result", "tool_use_id": call_id, "content": text, "is_error": true,
            });
            return ContentPart::from_custom(block, None);
        }
        ContentPart::ToolResponse(ToolResponse::new(call_id, text).with_fn_name(tool))
    }

    fn flush(&mut self) {
        if !self.results.is_empty() {
            self.messages.push(ChatMessage::tool(std::mem::take(&mut self.results)));
        }
        if !self.words.is_empty() {
            self.messages.push(ChatMessage::user(std::mem::take(&mut self.words).join("\n\n")));
        }
    }
}

fn tool_call(call: &CallRequest) -> ToolCall {
    ToolCall {
        call_id: call.id.clone(),
        fn_name: call.name.clone(),
        fn_arguments: arguments(&call.args),
        thought_signatures: None,
    }
}

fn arguments(args: &Object) -> serde_json::Value {
    from_canonical(&Canonical::of_object(args))
}

fn tool(tool: &ToolDescription) -> Tool {
    Tool::new(tool.name.as_str())
        .with_description(tool.description.as_str())
        .with_schema(json_of(&tool.parameters))
}

fn json_of(value: &Value) -> serde_json::Value {
    from_canonical(&Canonical::of(value))
}

/// What is canonical reads, if not deeper than the client can hold.
fn from_canonical(text: &Canonical) -> serde_json::Value {
    serde_json::from_str(text.as_str()).unwrap_or(serde_json::Value::Null)
}

/// Returns how many tokens a request has, if one token is four bytes of text.
pub(super) fn estimate(request: &TurnRequest) -> u64 {
    let of_call =
        |call: &CallRequest| call.name.len() + Canonical::of_object(&call.args).as_str().len();
    let of_message = |message: &Message| match message {
        Message::User { text } | Message::Notice { text } | Message::ToolResult { text, .. } => {
            text.len()
        }
        Message::Assistant { text, calls } => text.len() + calls.iter().map(of_call).sum::<usize>(),
        Message::Observation { rule, text } => rule.len() + text.len(),
    };
    let of_tool = |tool: &ToolDescription| {
        tool.name.len() + tool.description.len() + Canonical::of(&tool.parameters).as_str().len()
    };
    let bytes = request.system.len()
        + request.messages.iter().map(of_message).sum::<usize>()
        + request.tools.iter().map(of_tool).sum::<usize>();
    tokens(bytes)
}

/// Returns how many tokens a text of so many bytes has, at a guess.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}
