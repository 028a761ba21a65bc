//! Anthropic: messages.

use serde_json::{Value, json};

use crate::answer::{Answer, Format, of_role, pieces, text};
use crate::script::Stop;

pub(crate) struct Anthropic;

fn stop(stop: &Stop) -> Value {
    match stop {
        Stop::EndTurn => "end_turn".into(),
        Stop::ToolUse => "tool_use".into(),
        Stop::OutputLimit => "max_tokens".into(),
        Stop::Filtered => "refusal".into(),
        Stop::Nothing => Value::Null,
    }
}

fn kind_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        403 => "permission_error",
        404 => "not_found_error",
        429 => "rate_limit_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}

fn event(data: &Value) -> String {
    format!("event: {}\ndata: {data}", data["type"].as_str().unwrap_or_default())
}

fn block(index: usize, start: &Value, deltas: impl Iterator<Item = Value>) -> Vec<String> {
    let mut events = vec![event(
        &json!({"type": "content_block_start", "index": index, "content_block": start}),
    )];
    events.extend(deltas.map(|delta| {
        event(&json!({"type": "content_block_delta", "index": index, "delta": delta}))
    }));
    events.push(event(&json!({"type": "content_block_stop", "index": index})));
    events
}

impl Format for Anthropic {
    fn model(_: &str, request: &Value) -> String {
        text(request, "model")
    }

    fn replies(request: &Value) -> usize {
        of_role(request, "messages", "assistant")
    }

    fn streams(_: &str, request: &Value) -> bool {
        request["stream"] == true
    }

    fn plain(answer: &Answer<'_>) -> Value {
        let mut content = Vec::new();
        if !answer.text.is_empty() {
            content.push(json!({"type": "text", "text": answer.text}));
        }
        for (id, call) in &answer.calls {
            let input: Value = serde_json::from_str(&call.args)
                .unwrap_or_else(|_| Value::String(call.args.clone()));
            content.push(json!({"type": "tool_use", "id": id, "name": call.name, "input": input}));
        }
        let mut reply = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": answer.model,
            "content": content, "stop_reason": stop(&answer.stop), "stop_sequence": null,
        });
        if let Some((input, output)) = answer.usage {
            reply["usage"] = json!({"input_tokens": input, "output_tokens": output});
        }
        reply
    }

    fn events(answer: &Answer<'_>) -> Vec<String> {
        let mut message = json!({
            "id": "msg_1", "type": "message", "role": "assistant", "model": answer.model,
            "content": [], "stop_reason": null, "stop_sequence": null,
        });
        if let Some((input, _)) = answer.usage {
            message["usage"] = json!({"input_tokens": input, "output_tokens": 1});
        }
        let mut events = vec![
            event(&json!({"type": "message_start", "message": message})),
            event(&json!({"type": "ping"})),
        ];
        let mut index = 0;
        if !answer.text.is_empty() {
            let deltas = pieces(answer.text).into_iter();
            let deltas = deltas.map(|piece| json!({"type": "text_delta", "text": piece}));
            events.extend(block(index, &json!({"type": "text", "text": ""}), deltas));
            index += 1;
        }
        for (id, call) in &answer.calls {
            let start = json!({"type": "tool_use", "id": id, "name": call.name, "input": {}});
            let deltas = pieces(&call.args).into_iter();
            let deltas =
                deltas.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
            events.extend(block(index, &start, deltas));
            index += 1;
        }
        let mut end = json!({
            "type": "message_delta",
            "delta": {"stop_reason": stop(&answer.stop), "stop_sequence": null},
        });
        if let Some((_, output)) = answer.usage {
            end["usage"] = json!({"output_tokens": output});
        }
        events.push(event(&end));
        events.push(event(&json!({"type": "message_stop"})));
        events
    }

    fn error(status: u16, message: &str) -> Value {
        json!({"type": "error", "error": {"type": kind_of(status), "message": message}})
    }

    fn error_event(message: &str) -> String {
        event(&Self::error(529, message))
    }

    fn empty() -> (Value, Vec<String>) {
        let plain = json!({"id": "msg_1", "type": "message", "role": "assistant", "content": []});
        let events = vec![
            event(&json!({"type": "message_start", "message": plain})),
            event(&json!({"type": "message_stop"})),
        ];
        (plain, events)
    }
}
