//! The samples of `fixtures/session/`, and what becomes of them when they are damaged.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::canon::{Object, Value, hex};
use crate::object;

mod damaged;
mod pitfalls;
mod schemas;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/session")
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let mut files: Vec<(String, Vec<u8>)> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().expect("a name");
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

/// Every sample of a harness.
fn samples(harness: Harness) -> Vec<(String, Vec<u8>)> {
    files(&folder().join(harness.name()))
}

fn event(payload: &str) -> Event {
    let payload = Payload::read(payload.as_bytes()).expect(payload);
    Event::read(&payload, None).expect("an event")
}

#[track_caller]
fn call_of(event: &Event) -> &ToolCall {
    match &event.moment {
        Moment::Returned(call) => call,
        other => panic!("{other:?}"),
    }
}

/// What of an event is worth a look, as JSON.
fn described(event: &Event) -> Value {
    let mut members = object! { "name": &*event.name, "delivers": event.delivers() };
    let mut put = |name: &str, value: Option<&str>| {
        if let Some(value) = value {
            members.insert(name.into(), value.into());
        }
    };
    put("agent", event.agent.as_ref().map(|agent| &*agent.id));
    put("agent kind", event.agent.as_ref().and_then(|agent| agent.kind.as_deref()));
    put("turn", event.turn.as_deref());
    put("model", event.model.as_deref());
    let (kind, what) = moment(&event.moment);
    members.insert(kind.into(), what.into());
    if !event.rest.is_empty() {
        members.insert("rest".into(), event.rest.clone().into());
    }
    Value::from(members)
}

fn moment(moment: &Moment) -> (&'static str, Object) {
    let text = |name: &str, text: &Option<String>| {
        text.iter().map(|text| (name.to_owned(), Value::from(&**text))).collect::<Object>()
    };
    match moment {
        Moment::Started { source } => ("started", text("source", source)),
        Moment::Prompted { text } => ("prompted", object! { "text": &**text }),
        Moment::Returned(call) => (
            "returned",
            object! {
                "args": call.args.clone(),
                "call id": &*call.call_id,
                "canonical": &*call.canonical,
                "content": &*call.content,
                "status": call.status.as_str(),
                "tool": &*call.tool,
            },
        ),
        Moment::TurnEnded { text: said, failed } => {
            let mut ended = text("text", said);
            ended.extend(text("failed", failed));
            ("turn ended", ended)
        }
        Moment::AgentStarted => ("agent started", Object::new()),
        Moment::AgentStopped { text: said } => ("agent stopped", text("text", said)),
        Moment::Ended { reason } => ("ended", text("reason", reason)),
        Moment::Other => ("other", Object::new()),
    }
}

#[track_caller]
fn show(harness: Harness) {
    let mut shown = String::new();
    for (name, bytes) in samples(harness) {
        let payload = Payload::read(&bytes).expect(&name);
        let event = Event::read(&payload, Some(harness)).expect(&name);
        let is_call = matches!(event.moment, Moment::Returned(_));
        assert_eq!(event.digest == payload.digest(), !is_call);
        let value: serde_json::Value =
            serde_json::from_str(&described(&event).to_string()).expect("JSON");
        let laid_out = serde_json::to_string_pretty(&value).expect("JSON");
        shown.push_str(&format!("{name}\n{laid_out}\n\n"));
    }
    insta::assert_snapshot!(harness.name(), shown);
}

#[test]
fn samples_of_claude() {
    show(Harness::Claude);
}

#[test]
fn samples_of_codex() {
    show(Harness::Codex);
}

#[test]
fn samples_of_gemini() {
    show(Harness::Gemini);
}

#[test]
fn samples_of_qwen() {
    show(Harness::Qwen);
}

#[test]
fn samples_of_copilot() {
    show(Harness::Copilot);
}

#[test]
fn samples_of_opencode() {
    show(Harness::Opencode);
}

#[test]
fn a_sample_tells_which_harness_it_is_of() {
    for harness in Harness::ALL {
        for (name, bytes) in samples(harness) {
            let payload = Payload::read(&bytes).expect(&name);
            assert_eq!(Harness::detect(&payload), harness, "{name}");
            let named = Event::read(&payload, Some(harness));
            assert_eq!(Event::read(&payload, None), named, "{name}");
        }
    }
}

/// Whose log is elsewhere is told by what it says, except at the end of a session of Codex, which
/// is like one of Claude Code in every other way.
#[test]
fn a_sample_tells_its_harness_without_the_folder_of_its_log() {
    for harness in Harness::ALL {
        for (name, bytes) in samples(harness) {
            let mut members = Payload::read(&bytes).expect(&name).members().clone();
            if members.contains_key("transcript_path") {
                members.insert("transcript_path".into(), "/srv/logs/session.jsonl".into());
            }
            let detected = Harness::detect(&Payload::of(members));
            let alike = harness == Harness::Codex && name == "SessionEnd.json";
            assert!(detected == harness || alike, "{name}: {detected:?}");
        }
    }
}

#[test]
fn what_is_malformed_says_why_on_one_line() {
    let mut shown = String::new();
    for (name, bytes) in files(&folder().join("malformed")) {
        let read = Payload::read(&bytes).and_then(|payload| Event::read(&payload, None));
        let reason = read.expect_err(&name).to_string();
        assert!(!reason.chars().any(char::is_control), "{reason:?}");
        shown.push_str(&format!("{name}: {reason}\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn an_envelope_is_read_as_its_payload_alone() {
    for harness in Harness::ALL {
        for (name, bytes) in samples(harness) {
            for bytes in [bytes.clone(), [b"\xef\xbb\xbf ", bytes.as_slice()].concat()] {
                let sent = Envelope::write(Some(harness), Some("acme/site"), "a\"1", None, &bytes);
                let envelope = Envelope::read(&sent).expect(&name);
                assert_eq!(envelope.harness, Some(harness));
                assert_eq!(
                    envelope.namespace.map(|it| it.to_string()).as_deref(),
                    Some("acme/site")
                );
                assert_eq!(envelope.attempt, "a\"1");
                assert_eq!(envelope.payload, Payload::read(&bytes).expect(&name), "{name}");
            }
        }
    }
    let deep = format!(r#"{{"a":{}1{}}}"#, "[".repeat(300), "]".repeat(300));
    let sent = Envelope::write(None, None, "1", None, deep.as_bytes());
    let envelope = Envelope::read(&sent).expect("an envelope");
    assert_eq!((envelope.harness, envelope.namespace), (None, None));
    assert_eq!(envelope.payload.digest(), Payload::read(deep.as_bytes()).expect("deep").digest());
}

#[test]
fn a_payload_cannot_end_its_envelope() {
    let mut shown = String::new();
    for payload in [
        r#"{},"x":1"#,
        r#"{},"payload":{"session_id":"other"}"#,
        r#"{},"attempt":"2""#,
        r#"{},"att\u0065mpt":"2""#,
        r#"{},"harness":"codex""#,
        "{}} {",
        "{}}",
        "",
        "[]",
        "null",
    ] {
        let sent = Envelope::write(None, None, "1", None, payload.as_bytes());
        shown.push_str(&format!("{payload}: {}\n", Envelope::read(&sent).expect_err(payload)));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn an_envelope_has_four_fields() {
    let mut shown = String::new();
    for envelope in [
        r#"{"attempt":"1"}"#,
        r#"{"payload":{}}"#,
        r#"{"attempt":"","payload":{}}"#,
        r#"{"attempt":7,"payload":{}}"#,
        r#"{"attempt":"1","harness":"clippy","payload":{}}"#,
        r#"{"attempt":"1","harness":{},"payload":{}}"#,
        r#"{"attempt":"1","namespace":"A b","payload":{}}"#,
        r#"{"attempt":"1","payload":{},"extra\n":1}"#,
        "[]",
        "{",
    ] {
        let reason = Envelope::read(envelope.as_bytes()).expect_err(envelope).to_string();
        assert!(!reason.chars().any(char::is_control), "{reason:?}");
        shown.push_str(&format!("{envelope}: {reason}\n"));
    }
    insta::assert_snapshot!(shown);
}

#[test]
fn what_is_too_large_is_not_read() {
    use crate::code::{Code, Coded as _};
    let large = format!(r#"{{"a":"{}"}}"#, "x".repeat(Payload::MAX_BYTES));
    let error = Payload::read(large.as_bytes()).expect_err("too large");
    assert_eq!(error.code(), Code::BodyTooLarge);
    assert_eq!(Payload::read(b"[]").expect_err("a list").code(), Code::InvalidRequest);
}

#[test]
fn equal_payloads_have_one_digest() {
    let digest = |text: &str| hex(&Payload::read(text.as_bytes()).expect(text).digest());
    assert_eq!(digest(r#"{"a":1,"b":[2]}"#), digest(" {\"b\" : [2.0], \"a\":1}\n"));
    assert_ne!(digest(r#"{"a":1}"#), digest(r#"{"a":2}"#));
}
