//! Storing and finding records.

use spl::canon::Value;
use spl::engine::Caller;

use crate::client::{Reply, Server, note, percent};

fn hook(name: &str, when: &str) -> String {
    let when = when.replace('"', "\\\"");
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":1,
            "body":{{"kind":"core.hook.v1","topic":"hook","name":"{name}","when":"{when}","text":"Read stderr."}}}}"#
    )
}

#[test]
fn a_record_is_stored_once_and_found_by_its_id() {
    let server = Server::start();
    let first = server.post("/v1/records", note("th_a", 0, "one"));
    insta::assert_snapshot!("a_new_record", first.shown());
    let again = server.post("/v1/records", note("th_a", 0, "one"));
    assert_eq!(again.status, 200);
    assert_eq!(again.json(), first.json());
    let found = server.get(&format!("/v1/records/{}", first.string("id")));
    assert_eq!((found.status, found.json()), (200, first.json()));
}

/// What is not hashed may differ in a repeat; the record stays what it was.
#[test]
fn a_repeat_answers_what_is_stored() {
    let server = Server::start();
    let id = "a".repeat(64);
    let judged = note("th_a", 0, "one").replacen('{', &format!("{{\"judged_by\":\"{id}\","), 1);
    assert_eq!(server.post("/v1/records", note("th_a", 0, "one")).status, 201);
    let again = server.post("/v1/records", judged);
    assert_eq!((again.status, again.json().get("judged_by")), (200, None));
}

#[test]
fn what_is_refused_says_where_and_why() {
    let server = Server::start();
    server.note("th_a", 0, "one");
    let mut said = String::new();
    for body in [
        note("th_a", 0, "two"),
        "{".into(),
        r#"{"act":"KNOW"}"#.into(),
        note("th_a", 1, "x").replace("KNOW", "SING"),
        note("th_a", 1, "x").replacen('{', r#"{"sig":"x","#, 1),
        note("th_a", 1, "x").replacen('{', r#"{"colour":"red","#, 1),
        note("th_a", -1, "x"),
        note("", 1, "x"),
        note("th\n", 1, "x"),
        hook("veto", "true").replace("\"topic\"", "\"action\":\"deny\",\"topic\""),
        hook("typo", r#"record.body.tol == "bash""#),
        "[]".into(),
    ] {
        said.push_str(&format!("{body}\n{}\n\n", server.post("/v1/records", &body).shown()));
    }
    insta::assert_snapshot!("refused_records", said);
}

#[test]
fn a_hook_that_was_taken_is_in_force_when_the_door_answers() {
    let server = Server::start();
    let loaded = || {
        let health = server.get("/v1/engine/health").json();
        health.get("work_loop").and_then(|it| it.get("hooks_loaded")).and_then(|it| it.as_i64())
    };
    assert_eq!(loaded(), Some(0));
    let posted = server.post("/v1/records", hook("shell-failed", r#"record.body.tool == "bash""#));
    assert_eq!(posted.status, 201, "{}", posted.text());
    assert_eq!(loaded(), Some(1));
    let hooks = server.get("/v1/config/hooks");
    insta::assert_snapshot!("the_hooks", hooks.shown());
}

#[test]
fn records_are_listed_by_thread_actor_and_clock() {
    let server = Server::start();
    for clock in 0..5 {
        server.note("th_a", clock, "x");
    }
    server.note("th_b", 9, "x");
    let clocks = |path: &str| -> Vec<i64> {
        let clock = |record: &spl::canon::Value| record.get("clock").and_then(|it| it.as_i64());
        server.get(path).data().iter().filter_map(clock).collect()
    };
    assert_eq!(clocks("/v1/records?thread=th_a"), [0, 1, 2, 3, 4]);
    assert_eq!(clocks("/v1/records?thread=th_a&since=3"), [3, 4], "since is inclusive");
    assert_eq!(clocks("/v1/records?thread=th_a&limit=2"), [0, 1]);
    assert_eq!(clocks("/v1/records?since=4"), [4, 9]);
    assert_eq!(clocks("/v1/records?actor=did:sync:user:vera&thread=th_b"), [9]);
    assert_eq!(clocks("/v1/records?actor=did%3Async%3Auser%3Avera&thread=th_b"), [9]);
    assert_eq!(clocks("/v1/records?actor=nobody"), Vec::<i64>::new());
    let capped = server.get("/v1/records?thread=th_a&limit=5000").json();
    assert_eq!(capped.get("capped"), Some(&true.into()));
}

#[test]
fn a_query_string_that_does_not_read_is_refused() {
    let server = Server::start();
    let mut said = String::new();
    for path in [
        "/v1/records",
        "/v1/records?limit=10",
        "/v1/records?thread=",
        "/v1/records?tread=th_a",
        "/v1/records?thread=a&thread=b",
        "/v1/records?thread=a&since=yesterday",
        "/v1/records?thread=a&limit=-1",
        "/v1/records?thread=%FF",
        "/v1/threads?colour=red",
        "/v1/threads/th_a/records?cursor=x",
        "/health?x=1",
    ] {
        said.push_str(&format!("{path}\n{}\n\n", server.get(path).shown()));
    }
    insta::assert_snapshot!("refused_query_strings", said);
}

#[test]
fn what_is_not_there_is_an_envelope_too() {
    let server = Server::start();
    let mut said = String::new();
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/v1/nothing"),
        ("GET", "/v1/records/"),
        ("GET", "/v1/records/0000"),
        ("GET", &format!("/v1/records/{}", "0".repeat(64))),
        ("GET", "/v1/threads/th_none"),
        ("DELETE", "/v1/records"),
        ("PUT", "/health"),
        ("OPTIONS", "/v1/records"),
        ("GET", "/v1/threads/a%00b/state"),
        ("GET", "/v1/threads/%FF/state"),
    ] {
        let reply = server.request(method, path).send();
        let allow = reply.header("allow").map(|allow| format!("allow: {allow}\n"));
        let allow = allow.unwrap_or_default();
        said.push_str(&format!("{method} {path}\n{allow}{}\n\n", reply.shown()));
    }
    insta::assert_snapshot!("what_is_not_there", said);
}

/// A caller's text is never SQL, wherever it stands.
#[test]
fn text_of_a_caller_is_never_sql() {
    let server = Server::start();
    server.note("th_a", 0, "x");
    for text in ["'; DROP TABLE records; --", "th_a' OR '1'='1", "\" OR 1=1 --", "%", "_h_a", "?1"]
    {
        let encoded = percent(text);
        for path in [
            format!("/v1/records?thread={encoded}"),
            format!("/v1/records?actor={encoded}"),
            format!("/v1/threads/{encoded}/records"),
        ] {
            assert_eq!(server.get(&path).data(), [], "{path}");
        }
        let state = server.get(&format!("/v1/threads/{encoded}/state")).json();
        assert_eq!(state.get("record_count"), Some(&0.into()));
        assert_eq!(server.get(&format!("/v1/records/{encoded}")).status, 404);
        assert_eq!(server.request("DELETE", &format!("/v1/tokens/{encoded}")).send().status, 404);
        assert_eq!(server.get(&format!("/v1/threads?cursor={encoded}")).status, 200);
    }
    assert_eq!(server.get("/v1/records?thread=th_a").data().len(), 1);
    assert_eq!(server.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn search_by_meaning_is_not_on_this_instance() {
    let server = Server::start();
    let mut said = String::new();
    for body in [
        r#"{"query":"why","k":5}"#,
        r#"{"query":"  "}"#,
        "{}",
        r#"{"query":1}"#,
        r#"{"q":""}"#,
        "x",
    ] {
        said.push_str(&format!("{body}\n{}\n\n", server.post("/v1/records/search", body).shown()));
    }
    insta::assert_snapshot!("search", said);
}

/// The published client shows the first 200 characters of a refusal and nothing else.
#[test]
fn a_refusal_says_what_matters_first() {
    let server = Server::start();
    let thread = format!("th_{}", "0123456789abcdef".repeat(4));
    server.note(&thread, 7, "one");
    let refused = server.post("/v1/records", note(&thread, 7, "two")).text();
    let seen: String = refused.chars().take(200).collect();
    assert!(seen.contains("DuplicateClock") && seen.contains(&thread), "{seen}");
}

/// A record may be as large as a door takes, and an answer has to fit into memory.
#[test]
fn an_answer_of_large_records_comes_in_pages() {
    let server = Server::start();
    for clock in 0..12 {
        let large = note("th_a", clock, &"x".repeat(4_000_000));
        server.engine.ingest(&Caller::operator(), large.as_bytes()).expect("ingested");
    }
    let clocks = |reply: &Reply| -> Vec<i64> {
        reply.data().iter().filter_map(|it| it.get("clock").and_then(Value::as_i64)).collect()
    };
    let first = server.get("/v1/threads/th_a/records");
    assert!(first.body.len() < 34_000_000);
    let next = first.string("next_cursor");
    let second = server.get(&format!("/v1/threads/th_a/records?cursor={next}"));
    assert_eq!([clocks(&first), clocks(&second)].concat(), (0..12).collect::<Vec<_>>());
    let first = server.post("/v1/records/query", r#"{"filter":{}}"#);
    let next = first.string("next_cursor");
    let rest = format!(r#"{{"filter":{{}},"cursor":"{next}"}}"#);
    let second = server.post("/v1/records/query", rest);
    assert_eq!([clocks(&first), clocks(&second)].concat(), (0..12).collect::<Vec<_>>());
    let listed = server.get("/v1/records?thread=th_a");
    assert_eq!(listed.json().get("capped"), Some(&true.into()));
    let few = server.get("/v1/records?thread=th_a&limit=2");
    assert_eq!((clocks(&few), few.json().get("capped")), (vec![0, 1], None));
}
