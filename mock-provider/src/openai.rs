//! `OpenAI`: chat completions.

use serde_json::{Value, json};

use crate::answer::{Answer, Format, of_role, pieces, text};
use crate::script::Stop;

pub(crate) struct OpenAi;

fn stop(stop: &Stop) -> Value {
    match stop {
        Stop::EndTurn => "stop".into(),
        Stop::ToolUse => "tool_calls".into(),
        Stop::OutputLimit => "length".into(),
        Stop::Filtered => "content_filter".into(),
        Stop::Nothing => Value::Null,
    }
}

fn usage((input, output): (u64, u64)) -> Value {
    json!({"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output})
}

fn chunk(model: &str, delta: &Value, finish: &Value) -> String {
    let chunk = json!({
        "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": model,
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    });
    format!("data: {chunk}")
}

impl Format for OpenAi {
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
        let mut message = json!({"role": "assistant", "content": answer.text});
        let calls = answer.calls.iter().map(|(id, call)| {
            json!({
                "id": id, "type": "function",
                "function": {"name": call.name, "arguments": call.args},
            })
        });
        let calls: Vec<Value> = calls.collect();
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let mut reply = json!({
            "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": answer.model,
            "choices": [{"index": 0, "message": message, "finish_reason": stop(&answer.stop)}],
        });
        if let Some(counts) = answer.usage {
            reply["usage"] = usage(counts);
        }
        reply
    }

    fn events(answer: &Answer<'_>) -> Vec<String> {
        let one = |delta: &Value| chunk(answer.model, delta, &Value::Null);
        let mut events = vec![one(&json!({"role": "assistant", "content": ""}))];
        events.extend(pieces(answer.text).into_iter().map(|it| one(&json!({"content": it}))));
        for (index, (id, call)) in answer.calls.iter().enumerate() {
            events.push(one(&json!({"tool_calls": [{
                "index": index, "id": id, "type": "function",
                "function": {"name": call.name, "arguments": ""},
            }]})));
            let args = pieces(&call.args).into_iter();
            events.extend(args.map(|piece| {
                one(&json!({"tool_calls": [{"index": index, "function": {"arguments": piece}}]}))
            }));
        }
        events.push(chunk(answer.model, &json!({}), &stop(&answer.stop)));
        if let (Some(counts), true) = (answer.usage, answer.counted) {
            let tail = json!({
                "id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1,
                "model": answer.model, "choices": [], "usage": usage(counts),
            });
            events.push(format!("data: {tail}"));
        }
        events.push("data: [DONE]".into());
        events
    }

    fn error(status: u16, message: &str) -> Value {
        let kind = if status >= 500 { "server_error" } else { "invalid_request_error" };
        json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
    }

    fn error_event(message: &str) -> String {
        format!("data: {}", Self::error(500, message))
    }

    fn empty() -> (Value, Vec<String>) {
        let reply = json!({"id": "chatcmpl-1", "object": "chat.completion", "choices": []});
        let events = vec![format!("data: {reply}"), "data: [DONE]".into()];
        (reply, events)
    }
}
