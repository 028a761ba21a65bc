//! Gemini: `generateContent` and `streamGenerateContent`.

use serde_json::{Value, json};

use crate::answer::{Answer, Format, of_role, pieces};
use crate::script::{Call, Stop};

pub(crate) struct Gemini;

fn stop(stop: &Stop) -> Value {
    match stop {
        Stop::EndTurn | Stop::ToolUse => "STOP".into(),
        Stop::OutputLimit => "MAX_TOKENS".into(),
        Stop::Filtered => "SAFETY".into(),
        Stop::Nothing => Value::Null,
    }
}

fn part(call: &Call, id: &str) -> Value {
    // What is no JSON cannot stand here, so it is a text where an object should be.
    let args: Value =
        serde_json::from_str(&call.args).unwrap_or_else(|_| Value::String(call.args.clone()));
    let mut function = json!({"name": call.name, "args": args});
    if call.id.is_some() {
        function["id"] = id.into();
    }
    json!({"functionCall": function})
}

fn reply(model: &str, parts: &[Value], finish: &Value) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if !finish.is_null() {
        candidate["finishReason"] = finish.clone();
    }
    json!({"candidates": [candidate], "modelVersion": model, "responseId": "r1"})
}

fn count(reply: &mut Value, usage: Option<(u64, u64)>) {
    if let Some((input, output)) = usage {
        reply["usageMetadata"] = json!({
            "promptTokenCount": input, "candidatesTokenCount": output,
            "totalTokenCount": input + output,
        });
    }
}

impl Format for Gemini {
    fn model(path: &str, _: &Value) -> String {
        let name = path.rsplit('/').next().unwrap_or_default();
        name.split(':').next().unwrap_or_default().to_owned()
    }

    fn replies(request: &Value) -> usize {
        of_role(request, "contents", "model")
    }

    fn streams(path: &str, _: &Value) -> bool {
        path.ends_with(":streamGenerateContent")
    }

    fn plain(answer: &Answer<'_>) -> Value {
        let mut parts = Vec::new();
        if !answer.text.is_empty() {
            parts.push(json!({"text": answer.text}));
        }
        parts.extend(answer.calls.iter().map(|(id, call)| part(call, id)));
        let mut whole = reply(answer.model, &parts, &stop(&answer.stop));
        count(&mut whole, answer.usage);
        whole
    }

    fn events(answer: &Answer<'_>) -> Vec<String> {
        let mut replies: Vec<Value> = pieces(answer.text)
            .into_iter()
            .map(|piece| reply(answer.model, &[json!({"text": piece})], &Value::Null))
            .collect();
        if !answer.calls.is_empty() {
            let calls: Vec<Value> = answer.calls.iter().map(|(id, call)| part(call, id)).collect();
            replies.push(reply(answer.model, &calls, &Value::Null));
        }
        let mut last = reply(answer.model, &[json!({"text": ""})], &stop(&answer.stop));
        count(&mut last, answer.usage);
        replies.push(last);
        replies.iter().map(|reply| format!("data: {reply}")).collect()
    }

    fn error(status: u16, message: &str) -> Value {
        let word = match status {
            429 => "RESOURCE_EXHAUSTED",
            500.. => "UNAVAILABLE",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": status, "message": message, "status": word}})
    }

    fn error_event(message: &str) -> String {
        format!("data: {}", Self::error(503, message))
    }

    fn empty() -> (Value, Vec<String>) {
        let reply = json!({"candidates": []});
        let events = vec![format!("data: {reply}")];
        (reply, events)
    }
}
