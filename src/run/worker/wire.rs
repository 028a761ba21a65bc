//! Events, wishes and answers, as they cross a worker's socket.

use super::super::replay::reply_of;
use super::super::{Blocked, Effect, Event, Spent};
use crate::canon::{Object, Value};
use crate::engine::Heard;
use crate::hook::head;
use crate::model::{CallRequest, Reply};
use crate::object;
use crate::record::RecordId;
use crate::tool::{Answer, Status};

/// Returns what a worker says to have this done. The engine compares it with its own.
pub(super) fn wish(effect: &Effect) -> Object {
    let (name, about) = match effect {
        Effect::Open(_) => ("open", None),
        Effect::AskModel(_) => ("ask_model", None),
        Effect::RecordTurn(_) => ("record_turn", None),
        Effect::Rule(request) => ("rule", Some(request.id.clone())),
        Effect::Approve(id) => ("approve", Some(id.clone())),
        Effect::Guard(id) => ("guard", Some(id.clone())),
        Effect::RecordCall(_) => ("record_call", None),
        Effect::Execute(execution) => ("execute", Some(execution.call.to_string())),
        Effect::Spawn(execution) => ("spawn", Some(execution.call.to_string())),
        Effect::Request(execution) => ("request", Some(execution.call.to_string())),
        Effect::AwaitDecision(request) => ("await_decision", Some(request.to_string())),
        Effect::Sift(call) => ("sift", Some(call.to_string())),
        Effect::Observe(returned) => ("observe", Some(returned.call.to_string())),
        Effect::Close(_) => ("close", None),
    };
    object! { "about": about, "effect": name }
}

/// Returns an event under its name.
pub(super) fn event_object(event: &Event) -> Object {
    let id = |name: &str, id: &RecordId| object! { "id": *id, "name": name };
    match event {
        Event::Start => object! { "name": "start" },
        Event::Opened(opening) => id("opened", opening),
        Event::Said(texts) => object! { "name": "said", "texts": texts.clone() },
        Event::Replied { reply, took_ms } => {
            object! { "name": "replied", "reply": reply_object(reply), "took_ms": *took_ms }
        }
        Event::OutOfTime => object! { "name": "out_of_time" },
        Event::TurnRecorded(turn) => id("turn_recorded", turn),
        Event::Ruled { rule, refused } => {
            object! { "name": "ruled", "refused": refused.clone(), "rule": rule.clone() }
        }
        Event::Approved { refused } => {
            object! { "name": "approved", "refused": refused.clone() }
        }
        Event::Guarded { blocked } => {
            object! { "blocked": blocked.as_ref().map(Blocked::to_object), "name": "guarded" }
        }
        Event::Sifted { blocked } => {
            object! { "blocked": blocked.as_ref().map(Blocked::to_object), "name": "sifted" }
        }
        Event::CallRecorded(call) => id("call_recorded", call),
        Event::Requested(request) => id("requested", request),
        Event::Answered { answer, took_ms } => {
            object! { "answer": answer_object(answer), "name": "answered", "took_ms": *took_ms }
        }
        Event::Worked { answer, spent } => object! {
            "answer": answer_object(answer), "name": "worked", "spent": spent.to_object(),
        },
        Event::Parked => object! { "name": "parked" },
        Event::Observed { result, heard } => {
            let heard: Vec<Object> = heard.iter().map(heard_object).collect();
            object! { "heard": heard, "id": *result, "name": "observed" }
        }
        Event::Failed { why, resumable } => {
            object! { "name": "failed", "resumable": *resumable, "why": why.as_str() }
        }
        Event::Cancelled => object! { "name": "cancelled" },
        Event::Closed(outcome) => id("closed", outcome),
        Event::Resumed => object! { "name": "resumed" },
    }
}

/// Reads an event.
pub(super) fn event_of(value: &Value) -> Option<Event> {
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    let id = || RecordId::parse(value.get("id")?.as_str()?);
    let took_ms = || value.get("took_ms")?.as_u64();
    let list = |key: &str| value.get(key)?.as_array();
    Some(match value.get("name")?.as_str()? {
        "start" => Event::Start,
        "opened" => Event::Opened(id()?),
        "said" => {
            let text = |text: &Value| Some(text.as_str()?.to_owned());
            Event::Said(list("texts")?.iter().map(text).collect::<Option<_>>()?)
        }
        "replied" => Event::Replied {
            reply: reply_of(value.get("reply")?.as_object()?)?,
            took_ms: took_ms()?,
        },
        "out_of_time" => Event::OutOfTime,
        "turn_recorded" => Event::TurnRecorded(id()?),
        "ruled" => Event::Ruled { rule: text("rule"), refused: text("refused") },
        "approved" => Event::Approved { refused: text("refused") },
        "guarded" => Event::Guarded { blocked: value.get("blocked").and_then(Blocked::of_value) },
        "sifted" => Event::Sifted { blocked: value.get("blocked").and_then(Blocked::of_value) },
        "call_recorded" => Event::CallRecorded(id()?),
        "requested" => Event::Requested(id()?),
        "answered" => {
            Event::Answered { answer: answer_of(value.get("answer")?)?, took_ms: took_ms()? }
        }
        "worked" => Event::Worked {
            answer: answer_of(value.get("answer")?)?,
            spent: Spent::of_object(value.get("spent")?)?,
        },
        "parked" => Event::Parked,
        "observed" => Event::Observed {
            result: id()?,
            heard: list("heard")?.iter().map(heard_of).collect::<Option<_>>()?,
        },
        "failed" => {
            Event::Failed { why: text("why")?, resumable: value.get("resumable")?.as_bool()? }
        }
        "cancelled" => Event::Cancelled,
        "closed" => Event::Closed(id()?),
        "resumed" => Event::Resumed,
        _ => return None,
    })
}

fn reply_object(reply: &Reply) -> Object {
    object! {
        "stop": reply.stop.as_str(),
        "text": reply.text.as_str(),
        "tool_calls": reply.calls.iter().map(call_object).collect::<Vec<_>>(),
        "usage": object! {
            "estimated": reply.usage.estimated,
            "input_tokens": reply.usage.input_tokens,
            "output_tokens": reply.usage.output_tokens,
        },
    }
}

fn call_object(call: &CallRequest) -> Object {
    object! {
        "args": call.args.clone(),
        "id": call.id.as_str(),
        "malformed": call.malformed.clone(),
        "name": call.name.as_str(),
    }
}

fn heard_object(heard: &Heard) -> Object {
    object! { "record": heard.record, "rule": heard.rule.as_str(), "text": heard.text.as_str() }
}

fn heard_of(value: &Value) -> Option<Heard> {
    let text = |key: &str| Some(value.get(key)?.as_str()?.to_owned());
    Some(Heard {
        rule: text("rule")?,
        text: text("text")?,
        record: RecordId::parse(value.get("record")?.as_str()?)?,
    })
}

/// Returns an answer.
pub(super) fn answer_object(answer: &Answer) -> Object {
    object! {
        "data": answer.data.clone(),
        "empty": answer.empty,
        "head": answer.head.as_str(),
        "shown": answer.shown.as_str(),
        "status": answer.status.as_str(),
    }
}

/// Reads an answer, within the bounds that hold for every answer: a worker may send any.
pub(super) fn answer_of(value: &Value) -> Option<Answer> {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let bounded = match Status::parse(text("status")?)? {
        Status::Ok => Answer::ok(text("shown")?),
        Status::Error => Answer::error(text("shown")?),
    };
    Some(Answer {
        head: head(text("head")?).to_owned(),
        data: value.get("data").filter(|data| **data != Value::Null).cloned(),
        empty: value.get("empty")?.as_bool()?,
        ..bounded
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{StopReason, Usage};

    fn id() -> RecordId {
        RecordId::parse(&"ab".repeat(32)).expect("an id")
    }

    fn blocked() -> Blocked {
        Blocked { event: "preToolUse".into(), reason: "r".into() }
    }

    #[test]
    fn every_event_reads_back() {
        let call = CallRequest {
            id: "c1".into(),
            name: "bash".into(),
            args: object! { "command": "ls" },
            malformed: Some("cut".into()),
        };
        let usage = Usage { input_tokens: 3, output_tokens: 4, estimated: true };
        let reply =
            Reply { text: "hm".into(), calls: vec![call], usage, stop: StopReason::OutputLimit };
        let heard = Heard { rule: "r".into(), text: "t".into(), record: id() };
        let answer = Answer::error("no").with_data(object! { "n": 1 }).with_empty(true);
        let events = [
            Event::Start,
            Event::Opened(id()),
            Event::Said(vec!["a".into(), "b".into()]),
            Event::Replied { reply, took_ms: 5 },
            Event::OutOfTime,
            Event::TurnRecorded(id()),
            Event::Ruled { rule: Some("r".into()), refused: None },
            Event::Approved { refused: Some("no".into()) },
            Event::Guarded { blocked: None },
            Event::Guarded { blocked: Some(blocked()) },
            Event::Sifted { blocked: Some(blocked()) },
            Event::CallRecorded(id()),
            Event::Requested(id()),
            Event::Answered { answer: answer.clone(), took_ms: 7 },
            Event::Worked { answer, spent: Spent { turns: 2, millis: 9, ..Spent::default() } },
            Event::Parked,
            Event::Observed { result: id(), heard: vec![heard] },
            Event::Failed { why: "w".into(), resumable: true },
            Event::Cancelled,
            Event::Closed(id()),
            Event::Resumed,
        ];
        for event in events {
            let read = event_of(&Value::Object(event_object(&event))).expect("an event");
            assert_eq!(format!("{read:?}"), format!("{event:?}"));
        }
        assert!(event_of(&Value::Object(object! { "name": "else" })).is_none());
    }

    #[test]
    fn an_answer_is_bounded_whoever_sends_it() {
        let long = "x".repeat(1024 * 1024);
        let sent = object! {
            "data": Value::Null, "empty": false, "head": long.as_str(),
            "shown": long.as_str(), "status": "ok",
        };
        let read = answer_of(&Value::Object(sent)).expect("an answer");
        assert!(read.shown.len() <= crate::tool::SHOWN_BYTES);
        assert!(read.head.len() <= crate::hook::CONTENT_CHARS);
        assert_eq!(answer_of(&Value::Object(answer_object(&read))), Some(read));
    }
}
