//! What stands in an envelope, and how large it may be.

use spl::canon::{Limits, Object, Value, parse};
use spl::object;
use spl::policy::polpo::envelope::{Attempt, Candidate, Data, Envelope, RunFacts};
use spl::policy::polpo::{
    Cause, ENVELOPE_BYTES, Failure, HookName, Identity, Invocation, Mode, Occurrence, Scope,
    Surface, TRUNCATED,
};
use spl::time::Timestamp;

/// Writes what the handler of a hook reads.
pub(crate) fn text(hook: &HookName, mode: Mode, data: Data<'_>) -> Result<String, Failure> {
    let identity = Identity {
        invocation: "run_1",
        step_invocation: None,
        agent: "coder",
        hook,
        event: data.event(),
        occurrence: Occurrence::Tool { turn: 1, call_id: "call_1" },
    };
    let envelope = Envelope {
        key: &identity.key(),
        at: Timestamp::from_millis(1_796_045_823_007),
        hook,
        scope: Scope::Agent,
        mode,
        depth: 0,
        data,
        run: RunFacts {
            request_id: None,
            run_id: Some("run_1"),
            session_id: None,
            invocation: &Invocation::of(Surface::Run, "coder"),
            turn: 1,
        },
    };
    envelope.text()
}

fn written(data: Data<'_>) -> Result<String, Cause> {
    let hook = HookName { pack: "quality".to_owned(), hook: "no-rm".to_owned() };
    text(&hook, Mode::Control, data).map_err(|failure| failure.cause)
}

fn read(text: &str) -> Value {
    assert!(text.len() <= ENVELOPE_BYTES, "{} bytes", text.len());
    parse(text.as_bytes(), Limits::STORED).expect("an envelope")
}

fn before(input: &Object) -> Data<'_> {
    Data::Before { call_id: "call_1", tool: "bash", input }
}

fn after<'a>(input: &'a Object, result: &'a str) -> Data<'a> {
    Data::After { call_id: "call_1", tool: "bash", input, result, is_error: false, skipped: false }
}

fn stop(candidate: &Candidate, gate: Option<Attempt>) -> Data<'_> {
    Data::Stop { candidate, finish_reason: "stop", recovered: false, gate }
}

#[test]
fn an_envelope_is_one_line_with_all_there_is_to_know() {
    let text = written(before(&object! { "command": "ls" })).expect("an envelope");
    assert_eq!(
        text,
        concat!(
            r#"{"hook":{"data":{"input":{"command":"ls"},"toolCallId":"call_1","toolName":"bash"},"#,
            r#""depth":0,"event":"tool:before","executionId":"hx1_803e556fe5028296e3f30f99922ba308","#,
            r#""id":"no-rm","idempotencyKey":"hk1_803e556fe5028296e3f30f99922ba308ce2f96c991997161"#,
            r#"adb47856ba28bc80","mode":"control","pack":"quality","scope":"agent"},"#,
            r#""idempotencyKey":"hk1_803e556fe5028296e3f30f99922ba308ce2f96c991997161adb47856ba28b"#,
            r#"c80","run":{"agent":"coder","loop":null,"requestId":null,"runId":"run_1","#,
            r#""sessionId":null,"step":null,"stepInvocationId":null,"stepKey":null,"surface":"run","#,
            r#""turn":1},"timestamp":"2026-11-30T13:37:03.007Z","version":1}"#,
        )
    );
}

#[test]
fn a_candidate_says_what_it_is() {
    let json = Candidate::Json { value: Value::from(object! { "a": 1 }), text: "{}".to_owned() };
    let text = written(stop(&json, Some(Attempt { attempt: 2, cycle: 1 }))).expect("an envelope");
    let data = read(&text).get("hook").and_then(|hook| hook.get("data")).cloned();
    let want = object! {
        "candidate": object! { "type": "json", "value": object! { "a": 1 }, "text": "{}" },
        "finishReason": "stop",
        "recovered": false,
        "terminationAttempt": 2,
        "correctionCycle": 1,
    };
    assert_eq!(data, Some(Value::from(want)));
    assert_eq!(Candidate::of_value(json.to_value()), Some(json));
    assert_eq!(Candidate::of_value(Value::from(object! { "type": "text" })), None);
}

#[test]
fn no_secret_is_in_an_envelope() {
    let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let input =
        object! { "command": format!("curl {token}"), "password": "x", "list": vec![token] };
    let text = written(after(&input, "token=hunter2hunter2")).expect("an envelope");
    let data = read(&text).get("hook").and_then(|hook| hook.get("data")).cloned().expect("data");
    let want = object! {
        "command": "curl [REDACTED]", "password": "[REDACTED]", "list": vec!["[REDACTED]"],
    };
    assert_eq!(data.get("input"), Some(&Value::from(want)));
    assert_eq!(data.get("result"), Some(&Value::from("token=[REDACTED]")));
}

#[test]
fn a_result_is_cut_to_the_byte_and_that_is_said() {
    for unit in ["x", "é", "\"", "\u{1}", "🔑", "\n"] {
        let result = unit.repeat(300_000);
        let text = written(after(&Object::new(), &result)).expect("an envelope");
        let most = Value::from(unit).to_string().len() - 3;
        assert!(text.len() + most >= ENVELOPE_BYTES, "{unit:?}: {} bytes", text.len());
        let envelope = read(&text);
        let hook = envelope.get("hook").expect("a hook");
        assert_eq!(hook.get("truncated"), Some(&Value::from(true)));
        let shown = hook.get("data").and_then(|data| data.get("result")).and_then(Value::as_str);
        let shown = shown.and_then(|shown| shown.strip_suffix(TRUNCATED)).expect("the mark");
        assert!(result.starts_with(shown));
    }
    let fits = "x".repeat(200_000);
    let text = written(after(&Object::new(), &fits)).expect("an envelope");
    assert!(!text.contains("truncated"));
}

#[test]
fn what_may_not_be_cut_is_not_sent() {
    let large = object! { "content": "x".repeat(ENVELOPE_BYTES) };
    assert_eq!(written(before(&large)), Err(Cause::PayloadTooLarge));
    assert_eq!(written(after(&large, "short")), Err(Cause::PayloadTooLarge));
    let long = Candidate::Text("x".repeat(ENVELOPE_BYTES));
    let text = written(stop(&long, None)).expect("without a gate it is cut");
    assert!(read(&text).get("hook").and_then(|hook| hook.get("truncated")).is_some());
    let attempt = Attempt { attempt: 1, cycle: 0 };
    assert_eq!(written(stop(&long, Some(attempt))), Err(Cause::PayloadTooLarge));
    let value = Value::from("x".repeat(ENVELOPE_BYTES));
    let long = Candidate::Json { value, text: "short".to_owned() };
    assert_eq!(written(stop(&long, None)), Err(Cause::PayloadTooLarge));
}
