//! A loop elsewhere, over the wire.

use crate::client::Server;

const LESSON: &str = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
    "body":{"kind":"core.hook.v1","topic":"hook","name":"shell-failed","max_fires_per_run":2,
    "when":"record.body.tool == \"bash\" && record.body.status != \"ok\"",
    "text":"${tool} ended with ${status}; read stderr first."}}"#;

fn call(id: &str) -> String {
    format!(
        r#"{{"call_id":"{id}","tool":"bash","args":{{"command":"make {id}"}},"status":"error",
            "content":"make: *** No targets."}}"#
    )
}

#[test]
fn a_call_is_told_and_words_come_back() {
    let server = Server::start();
    assert_eq!(server.post("/v1/records", LESSON).status, 201);
    let first = server.post("/v1/runs/th_theirs/observe", call("c1"));
    insta::assert_snapshot!("what_the_hooks_say", first.shown());
    assert_eq!(server.post("/v1/runs/th_theirs/observe", call("c1")).json(), first.json());
    assert_eq!(server.post("/v1/runs/th_theirs/observe", call("c2")).data().len(), 1);
    assert_eq!(server.post("/v1/runs/th_theirs/observe", call("c3")).data(), []);
    let odd =
        server.post(&format!("/v1/runs/{}/observe", crate::client::percent("th/ä x")), call("c1"));
    assert_eq!(odd.string("thread"), "th/ä x");
}

#[test]
fn twenty_at_once_get_two_fires() {
    let server = Server::start();
    assert_eq!(server.post("/v1/records", LESSON).status, 201);
    let words: usize = std::thread::scope(|scope| {
        let tell = |n: usize| {
            let post = server.request("POST", "/v1/runs/th_theirs/observe");
            scope.spawn(move || post.json(call(&format!("c{n}"))).send().data().len())
        };
        let threads: Vec<_> = (0..20).map(tell).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).sum()
    });
    assert_eq!(words, 2);
}

#[test]
fn what_is_no_call_is_refused_where_it_is_wrong() {
    let server = Server::start();
    let mut said = String::new();
    for body in [
        "{}",
        r#"{"call_id":"c","tool":"bash"}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","args":[]}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","life":0}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","life":1.5}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","namespace":"NO"}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","actor":""}"#,
        r#"{"call_id":"","tool":"bash","status":"ok"}"#,
        r#"{"call_id":"c","tool":"bash","status":"ok","priority":1}"#,
    ] {
        let reply = server.post("/v1/runs/th_theirs/observe", body);
        said.push_str(&format!("{body}\n{}\n\n", reply.shown()));
    }
    insta::assert_snapshot!("refused_calls", said);
    let config = server.post("/v1/runs/th_engine_config/observe", call("c1"));
    assert_eq!(config.status, 422, "{}", config.text());
    assert_eq!(server.get("/v1/threads/th_theirs/records").data(), []);
}
