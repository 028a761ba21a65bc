//! Records that move over the wire, and those that go.

use spl::canon::{Limits, Value, parse};

use crate::client::{Reply, Server, note};

fn import(server: &Server, query: &str, lines: impl AsRef<[u8]>) -> Reply {
    let request = server.request("POST", &format!("/v1/portability/import{query}"));
    request.header("content-type", "application/x-ndjson").body(lines).send()
}

fn erase(server: &Server, id: &str, purge: bool) -> Reply {
    let request = spl::object! {
        "actor": "did:sync:user:vera",
        "erases": vec![Value::from(id)],
        "purge": purge,
        "reason": "a test",
    };
    let reply = server.post("/v1/erasure", Value::from(request).to_string());
    assert_eq!(reply.status, 200, "{}", reply.text());
    reply
}

#[test]
fn an_export_is_a_stream_of_lines_that_an_import_takes() {
    let (ours, theirs) = (Server::start(), Server::start());
    let text = "x".repeat(5_000);
    for clock in 0..700 {
        theirs.note(if clock < 600 { "th_a" } else { "th_b" }, clock, &text);
    }
    let export = theirs.get("/v1/portability/export?thread=th_a%0Ath_b");
    assert_eq!(export.status, 200);
    assert_eq!(export.header("content-type"), Some("application/x-ndjson"));
    assert!(export.header("spl-through-sequence").is_some());
    let lines: Vec<&[u8]> = export.body.split_inclusive(|byte| *byte == b'\n').collect();
    assert_eq!(lines.len(), 700);
    for batch in lines.chunks(300) {
        let reply = import(&ours, "", batch.concat());
        let new = reply.json().get("new").and_then(Value::as_u64);
        assert_eq!(new, Some(batch.len() as u64), "{}", reply.text());
    }
    let again = ours.get("/v1/portability/export?thread=th_a%0Ath_b");
    assert_eq!(again.body.split(|byte| *byte == b'\n').count(), 701);
    let some = theirs.get("/v1/portability/export?thread=th_b").body;
    assert_eq!(some.split(|byte| *byte == b'\n').count(), 101);
    let since = |line: &[u8]| {
        let line = parse(line.trim_ascii(), Limits::STORED).expect("JSON");
        line.get("sequence").and_then(Value::as_i64).expect("a sequence")
    };
    let path = format!("/v1/portability/export?since={}", since(lines[698]));
    let rest = theirs.get(&path).body;
    assert_eq!(rest.split(|byte| *byte == b'\n').count(), 2);
}

#[test]
fn an_import_tells_each_line_and_takes_no_more_than_it_can() {
    let server = Server::start();
    let lines = format!("{}\n{{}}\n\n{}\n", note("th_a", 0, "x"), note("th_a", 0, "y"));
    insta::assert_snapshot!(import(&server, "", &lines).shown());
    assert_eq!(import(&server, "?strict=yes", &lines).code(), "INVALID_REQUEST");
    let form = server.post("/v1/portability/import", &lines);
    assert_eq!((form.status, form.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
    assert_eq!(import(&server, "", "{}\n".repeat(1001)).code(), "INVALID_BODY");
    assert_eq!(import(&server, "", vec![b' '; 9 * 1024 * 1024]).status, 413);
}

#[test]
fn only_the_operator_moves_and_erases() {
    let server = Server::start();
    let id = server.note("th_a", 0, "x");
    let token = server.token("records:read,records:write,config:read,config:write");
    let body = format!(r#"{{"erases":["{id}"],"actor":"did:sync:user:vera","reason":"r"}}"#);
    for (method, path, media) in [
        ("GET", "/v1/portability/export", ""),
        ("POST", "/v1/portability/import", "application/x-ndjson"),
        ("POST", "/v1/portability/adopt", "application/json"),
        ("POST", "/v1/erasure", "application/json"),
    ] {
        let request = server.tcp(method, path).bearer(&token);
        let request = if method == "POST" {
            request.header("content-type", media).body(&body)
        } else {
            request
        };
        let reply = request.send();
        assert_eq!((reply.status, reply.code().as_str()), (403, "SCOPE_FORBIDDEN"), "{path}");
    }
}

/// What was purged is an envelope everywhere, and no door stumbles over it.
#[test]
fn every_reader_takes_a_purged_record() {
    let server = Server::start();
    let goal = note("th_a", 0, "zanzibar").replace("KNOW", "INTEND");
    let goal = server.post("/v1/records", goal).string("id");
    let other = server.note("th_a", 1, "another");
    let mut watch = server.request("GET", "/v1/threads/th_a/watch?since_clock=0").open();
    assert_eq!(watch.reply_head().0, 200);
    assert_eq!(watch.next("record.created").clock(), 0);
    assert_eq!(server.get("/v1/threads/th_a/state").string("status"), "open");

    erase(&server, &goal, false);
    assert_eq!(server.get("/v1/threads/th_a/state").string("status"), "closed");
    let marked = server.get(&format!("/v1/records/{goal}"));
    assert!(marked.text().contains("zanzibar") && marked.text().contains(r#""erased":true"#));
    let purged = erase(&server, &goal, true);
    assert_eq!(purged.json().get("scrubbed"), Some(&true.into()));

    let found = server.get(&format!("/v1/records/{goal}")).json();
    assert_eq!(found.get("purged"), Some(&true.into()));
    assert_eq!(found.get("body").and_then(Value::as_object).map(|it| it.len()), Some(0));
    assert_eq!(found.get("id").and_then(Value::as_str), Some(goal.as_str()));
    let query = |filter: &str| {
        let request = format!(r#"{{"filter":{filter},"sort":{{"body.text":1}}}}"#);
        server.post("/v1/records/query", request)
    };
    assert_eq!(query(r#"{"body.text":{"$ilike":"%zanzi%"}}"#).data().len(), 0);
    for reply in [
        query("{}"),
        server.get("/v1/records?thread=th_a"),
        server.get("/v1/threads/th_a/records"),
        server.get("/v1/threads"),
        server.get("/v1/threads/th_a"),
        server.get("/v1/threads/th_a/state"),
        server.get("/v1/threads/th_a/resume"),
        server.get("/v1/threads/th_attention/resume"),
        server.get("/v1/portability/export"),
        server.get("/v1/config/hooks"),
        server.get("/v1/trust"),
        server.get("/v1/runs"),
        server.get("/v1/sessions"),
        server.get("/v1/decisions"),
        server.get("/v1/engine/health"),
        server.get("/metrics"),
    ] {
        assert_eq!(reply.status, 200, "{}", reply.text());
        assert!(!reply.text().contains("zanzibar"), "{}", reply.text());
    }
    // A watcher that comes back is told of the envelope, and of the erasure.
    let mut watch = server.request("GET", "/v1/threads/th_a/watch?since_clock=0").open();
    assert_eq!(watch.reply_head().0, 200);
    let told: Vec<String> = (0..3).map(|_| watch.next("record.created").data).collect();
    assert!(told[0].contains(r#""purged":true"#) && told[1].contains(&other));
    assert!(told[2].contains("core.erasure"));
    // The same envelope once more is the same record, and stays what it is.
    let again = server.post("/v1/records", note("th_a", 0, "zanzibar").replace("KNOW", "INTEND"));
    assert_eq!((again.status, again.text().contains("zanzibar")), (200, false));
}

/// A session whose records go, one after another.
#[test]
fn a_session_with_holes_is_still_told_of() {
    let server = Server::start();
    let started = server.post("/v1/sessions/start", r#"{"harness":"claude","session_id":"s"}"#);
    let thread = started.string("thread");
    let call = r#"{"call_id":"c1","tool":"Bash","status":"error","content":"zanzibar"}"#;
    let told = server.post(&format!("/v1/sessions/{thread}/tool"), call);
    assert_eq!(told.status, 200, "{}", told.text());
    let records = server.get(&format!("/v1/threads/{thread}/records")).data();
    assert!(records.len() >= 2);
    for record in records.iter().rev() {
        let id = record.get("id").and_then(Value::as_str).expect("an id");
        erase(&server, id, true);
        for path in [
            format!("/v1/sessions/{thread}"),
            "/v1/sessions".to_owned(),
            format!("/v1/threads/{thread}/resume"),
        ] {
            let reply = server.get(&path);
            assert!(matches!(reply.status, 200 | 404), "{path}: {}", reply.text());
            assert!(!reply.text().contains("zanzibar"), "{path}: {}", reply.text());
        }
        let told = server.post(&format!("/v1/sessions/{thread}/end"), "{}");
        assert!(told.status < 500, "{}", told.text());
    }
}
