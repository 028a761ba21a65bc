//! Events of agents' sessions, over the wire.

use spl::canon::Value;

use crate::client::{Reply, Server};

const PATH: &str = "/v1/sessions/events";

const LESSON: &str = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
    "body":{"kind":"core.hook.v1","topic":"hook","name":"tests-failed","max_fires_per_run":2,
    "when":"resource == \"tool:bash\" && record.body.status == \"error\"",
    "text":"${tool} ended with ${status}; read stderr first."}}"#;

/// What Claude Code sends when a command has failed.
fn failed(call: &str) -> String {
    format!(
        r#"{{"session_id":"7b0e2c9a","cwd":"/home/dev/shop","hook_event_name":"PostToolUseFailure",
            "tool_name":"Bash","tool_input":{{"command":"cargo test {call}"}},"tool_use_id":"{call}",
            "error":"Exit code 101\nerror: test failed, to rerun pass `-p pay`"}}"#
    )
}

fn envelope(attempt: &str, payload: &str) -> String {
    format!(r#"{{"harness":"claude","namespace":null,"attempt":"{attempt}","payload":{payload}}}"#)
}

fn taught() -> Server {
    let server = Server::start();
    assert_eq!(server.post("/v1/records", LESSON).status, 201);
    server
}

#[track_caller]
fn said(reply: &Reply) -> Option<String> {
    assert_eq!(reply.status, 200, "{}", reply.text());
    match reply.json().get("output") {
        Some(Value::Null) => None,
        Some(output) => Some(output.to_string()),
        None => panic!("no output: {}", reply.text()),
    }
}

#[test]
fn the_same_attempt_is_answered_the_same_and_another_with_nothing() {
    let server = taught();
    let first = server.post(PATH, envelope("a1", &failed("toolu_1")));
    let output = said(&first).expect("words");
    assert!(output.contains("tests-failed: Bash ended with error"), "{output}");
    assert_eq!(said(&server.post(PATH, envelope("a1", &failed("toolu_1")))), Some(output));
    assert_eq!(said(&server.post(PATH, envelope("a2", &failed("toolu_1")))), None);
    assert!(said(&server.post(PATH, envelope("a3", &failed("toolu_2")))).is_some());
    assert_eq!(said(&server.post(PATH, envelope("a4", &failed("toolu_3")))), None);
}

#[test]
fn twenty_events_at_once_get_two_fires() {
    let server = taught();
    let spoken: usize = std::thread::scope(|scope| {
        let tell = |n: usize| {
            let post = server.request("POST", PATH);
            let body = envelope(&format!("a{n}"), &failed(&format!("toolu_{n}")));
            scope.spawn(move || usize::from(said(&post.json(body).send()).is_some()))
        };
        let threads: Vec<_> = (0..20).map(tell).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).sum()
    });
    assert_eq!(spoken, 2);
}

#[test]
fn what_is_no_event_is_refused_and_nothing_is_kept() {
    let server = Server::start();
    for body in [
        "",
        "{}",
        r#"{"attempt":"a"}"#,
        r#"{"attempt":"a","payload":[]}"#,
        r#"{"attempt":"a","payload":{}}"#,
        r#"{"attempt":"a","payload":{"session_id":"s"}}"#,
        r#"{"attempt":"a","payload":{"session_id":7,"hook_event_name":"Stop"}}"#,
        r#"{"attempt":"a","payload":{"session_id":"s","hook_event_name":"Stop"}"#,
        r#"{"harness":"clod","attempt":"a","payload":{"session_id":"s","hook_event_name":"Stop"}}"#,
        r#"{"payload":{"session_id":"s","hook_event_name":"Stop"}}"#,
    ] {
        let reply = server.post(PATH, body);
        assert_eq!(reply.status, 400, "{body}: {}", reply.text());
        assert_eq!(reply.string("code"), "INVALID_REQUEST", "{body}");
    }
    assert_eq!(server.get("/v1/threads").data(), []);
}

/// It speaks for the agents of this machine, so writing records is not enough.
#[test]
fn nobody_but_the_operator_tells_of_a_session() {
    let server = taught();
    let body = envelope("a1", &failed("toolu_1"));
    let post = |scopes: &str| {
        let bearer = server.token(scopes);
        server.tcp("POST", PATH).bearer(&bearer).json(&body).send().status
    };
    assert_eq!(post("records:read,records:write,config:write"), 403);
    assert_eq!(post("admin"), 200);
}

/// A tool may have printed megabytes.
#[test]
fn a_payload_may_be_longer_than_a_record() {
    let server = taught();
    let long = failed("toolu_1").replace("cargo test", &"x".repeat(3 * 1024 * 1024));
    assert!(said(&server.post(PATH, envelope("a1", &long))).is_some());
    let too_long = failed("toolu_2").replace("cargo test", &"x".repeat(33 * 1024 * 1024));
    let reply = server.post(PATH, envelope("a2", &too_long));
    assert_eq!((reply.status, reply.string("code").as_str()), (413, "BODY_TOO_LARGE"));
}
