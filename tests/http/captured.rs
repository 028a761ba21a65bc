//! Captured sessions over the wire: told of, listed, kept, forgotten and come back to.

use spl::canon::Value;

use crate::client::{Reply, Server};

const LESSON: &str = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
    "body":{"kind":"core.hook.v1","topic":"hook","name":"tests-failed",
    "when":"resource == \"tool:bash\" && record.body.status == \"error\"",
    "text":"${tool} ended with ${status}; read stderr first."}}"#;

/// Begins a session and returns its thread.
fn begun(server: &Server, harness: &str) -> String {
    let body = format!(r#"{{"harness":"{harness}","session_id":"s1","cwd":"/home/dev/shop"}}"#);
    let reply = server.post("/v1/sessions/start", body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply.string("thread")
}

fn called(server: &Server, thread: &str, call: &str, status: &str) -> Reply {
    let body = format!(
        r#"{{"call_id":"{call}","tool":"Bash","args":{{"command":"make"}},"status":"{status}",
            "content":"no target"}}"#
    );
    let reply = server.post(&format!("/v1/sessions/{thread}/tool"), body);
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply
}

/// An answer with names for what differs from run to run.
fn shown(server: &Server, reply: &Reply) -> String {
    let home = server.home.path().display().to_string();
    let text = reply.shown().replace(&home, "<home>");
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        // The time of this server moves on whenever somebody asks for it.
        let timed = ["_at\":", "\"at\":"].iter().any(|key| line.contains(key));
        match line.split_once(": ") {
            Some((key, _)) if timed => lines.push(format!("{key}: <time>")),
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n")
}

#[test]
fn a_session_is_told_of_step_by_step() {
    let server = Server::start();
    assert_eq!(server.post("/v1/records", LESSON).status, 201);
    let thread = begun(&server, "claude");
    let failed = called(&server, &thread, "c1", "error");
    assert_eq!(failed.string("words"), "tests-failed: Bash ended with error; read stderr first.");
    let output = failed.json().get("output").expect("an output").to_string();
    assert!(output.contains(r#""hookEventName":"PostToolUseFailure""#), "{output}");
    assert_eq!(called(&server, &thread, "c1", "error").json().get("words"), Some(&Value::Null));
    called(&server, &thread, "c2", "ok");
    let path = format!("/v1/sessions/{thread}");
    let turn = server.post(&format!("{path}/turn"), r#"{"text":"The Makefile has no target."}"#);
    assert_eq!(turn.status, 200, "{}", turn.text());
    assert_eq!(server.get("/v1/sessions?state=open").data().len(), 1);
    let end = server.post(&format!("{path}/end"), r#"{"reason":"other"}"#);
    assert_eq!(end.status, 200, "{}", end.text());
    let session = server.get(&path);
    let report = session.string("report");
    let report = server.get(&format!("/v1/records/{report}"));
    let reason = report.json().get("body").and_then(|body| body.get("reason")).cloned();
    assert_eq!(reason, Some("ended".into()));
    let listed = server.get("/v1/sessions");
    let context = session.string("context");
    assert!(context.contains("Done: 2 calls, 1 failed: bash × 2."), "{context}");
    // It has times in it.
    let mut object = session.json().as_object().expect("an object").clone();
    object.insert("context".into(), "<context>".into());
    let body = Value::from(object).to_string().into_bytes();
    let session = Reply { body, ..session };
    let said = [shown(&server, &listed), shown(&server, &session)].join("\n\n");
    insta::assert_snapshot!("a_session_and_its_row", said);
    assert_eq!(server.get("/v1/sessions?state=ended&harness=claude").data().len(), 1);
    assert_eq!(server.get("/v1/sessions?harness=codex").data(), []);
}

#[test]
fn a_subagent_is_a_session_below_another() {
    let server = Server::start();
    let parent = begun(&server, "claude");
    let start = r#"{"harness":"claude","session_id":"s1","agent_id":"a1","agent_type":"Explore"}"#;
    let child = server.post("/v1/sessions/start", start).string("thread");
    assert_ne!(parent, child);
    called(&server, &child, "c1", "ok");
    let end = server.post(&format!("/v1/sessions/{child}/end"), r#"{"text":"Found it."}"#);
    assert_eq!(end.status, 200, "{}", end.text());
    let agents = server.get(&format!("/v1/sessions/{parent}")).json().get("agents").cloned();
    let end = agents.as_ref().and_then(Value::as_array).and_then(|it| it.first()?.get("end"));
    assert_eq!(end, Some(&"stopped".into()), "{agents:?}");
    assert_eq!(server.get("/v1/sessions").data().len(), 1);
    assert_eq!(server.get("/v1/sessions?agents=true").data().len(), 2);
}

#[test]
fn steps_that_are_none_are_refused_where_they_are_wrong() {
    let server = Server::start();
    let thread = begun(&server, "qwen");
    let mut said = String::new();
    for (path, body) in [
        ("start", "{}"),
        ("start", r#"{"harness":"emacs","session_id":"s"}"#),
        ("start", r#"{"harness":"codex","session_id":""}"#),
        ("start", r#"{"harness":"codex","session_id":"s","env":{}}"#),
        ("th_none/tool", r#"{"call_id":"c","tool":"Bash","status":"ok"}"#),
        ("<thread>/tool", r#"{"call_id":"c","tool":"Bash","status":"fine"}"#),
        ("<thread>/tool", r#"{"call_id":"c","tool":"Bash","status":"ok","args":7}"#),
        ("<thread>/turn", r#"{"text":7}"#),
        ("th_none/end", "{}"),
    ] {
        let path = path.replace("<thread>", &thread);
        let reply = server.post(&format!("/v1/sessions/{path}"), body);
        said.push_str(&format!("{body}\n{}\n\n", reply.shown()));
    }
    for path in ["?state=gone", "?agents=x", "/th_none"] {
        let reply = server.get(&format!("/v1/sessions{path}"));
        said.push_str(&format!("{path}\n{}\n\n", reply.shown()));
    }
    insta::assert_snapshot!("refused_steps", said);
}

#[test]
fn a_transcript_is_kept_as_bytes_and_forgotten() {
    let server = Server::start();
    let thread = begun(&server, "claude");
    let path = format!("/v1/sessions/{thread}/retain");
    let line = "{\"password\":\"open sesame\"}\n";
    let refused = server.post(&path, line);
    assert_eq!((refused.status, refused.code()), (415, "UNSUPPORTED_MEDIA_TYPE".into()));
    let send = |bytes: Vec<u8>| {
        let request = server.request("POST", &path).header("content-type", "application/x-ndjson");
        request.body(bytes).send()
    };
    let kept = send(line.into());
    assert_eq!(kept.status, 201, "{}", kept.text());
    let file = std::fs::read_to_string(kept.string("path")).expect("a file");
    assert_eq!(file, "{\"password\":\"[masked:assignment]\"}\n");
    // Longer than any other body may be.
    let long = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1000)).repeat(6000);
    assert_eq!(send(long.into_bytes()).status, 201);
    let gone = server.request("DELETE", &format!("/v1/sessions/{thread}/source")).send();
    let again = server.request("DELETE", &format!("/v1/sessions/{thread}/source")).send();
    assert!(!std::path::Path::new(&kept.string("path")).exists());
    let said = [shown(&server, &kept), shown(&server, &gone), shown(&server, &again)].join("\n\n");
    insta::assert_snapshot!("a_transcript_kept_and_forgotten", said);
}

#[test]
fn whoever_comes_back_finds_what_was_noted_down() {
    let server = Server::start();
    let thread = begun(&server, "claude");
    let note =
        |thread: &str, body: &str| server.post(&format!("/v1/threads/{thread}/checkpoint"), body);
    let vera = r#""actor":"did:sync:user:vera""#;
    let missing = note("th_a", &format!(r#"{{{vera},"summary":"half"}}"#));
    assert_eq!((missing.status, missing.code()), (422, "INVALID_BODY".into()));
    let body = format!(r#"{{{vera},"summary":"half","learnings":["look first"]}}"#);
    let written = note("th_a", &body);
    assert_eq!(written.status, 201, "{}", written.text());
    assert_eq!(server.get("/v1/threads/th_a/checkpoints").data().len(), 1);
    let drafted = note("th_attention", &format!(r#"{{{vera},"draft":true}}"#));
    assert_eq!(drafted.status, 201, "{}", drafted.text());
    let whole = server.get("/v1/threads/th_attention/resume");
    assert_eq!(whole.json().get("room"), Some(&Value::Null));
    let room = server.get(&format!("/v1/threads/{}/resume", &thread[..20]));
    assert_eq!(room.string("room"), thread);
    assert!(room.string("context").starts_with("Session s1 in claude"), "{}", room.text());
    let posted = server.post(&format!("/v1/threads/{thread}/resume"), "{}");
    assert_eq!(posted.json(), room.json());
    assert_eq!(server.get("/v1/threads/th_nobody/resume").status, 404);
}
