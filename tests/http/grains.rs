//! Whoever may read some threads and some namespaces: what else there is does not show, in whatever
//! way it is asked for.

use std::collections::BTreeSet;

use spl::canon::Value;
use spl::engine::{DecisionRequest, Engine, Hooks, RunSeat};
use spl::object;
use spl::record::{ActorId, Namespace, RecordId, ThreadId};

use crate::client::{Reply, Request, Server, percent};
use crate::runs::Lab;

const SCOPES: &str = "config:read,thread:th_a:read,thread:th_a:write,\
                      namespace:acme:read,namespace:acme:write";

/// What is there for everybody to be asked about.
struct World {
    server: Server,
    bearer: String,
}

fn record(act: &str, thread: &str, clock: i64, body: &str) -> String {
    format!(
        r#"{{"act":"{act}","actor":"did:sync:user:vera","thread":"{thread}","clock":{clock},"body":{body}}}"#
    )
}

fn hook(namespace: &str, name: &str, clock: i64) -> String {
    let body = format!(
        r#"{{"kind":"core.hook.v1","topic":"hook","name":"{name}","namespace":"{namespace}",
            "when":"record.body.status == \"error\"","text":"words of {name}"}}"#
    );
    record("LEARN", "th_engine_config", clock, &body)
}

fn register(server: &Server, namespaces: &[&str]) {
    for id in namespaces {
        let made = server.post("/v1/namespaces", format!(r#"{{"id":"{id}"}}"#));
        assert_eq!(made.status, 201, "{}", made.text());
    }
}

fn observed(namespace: &str, actor: &str) -> String {
    format!(
        r#"{{"call_id":"c","tool":"bash","status":"error","namespace":"{namespace}","actor":"{actor}"}}"#
    )
}

fn ask(engine: &Engine, thread: &str, namespace: &str) -> RecordId {
    let seat = RunSeat {
        thread: ThreadId::parse(thread).expect("a thread"),
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
        domain: "ops".into(),
        namespace: Namespace::parse(namespace).expect("a path"),
        hooks: Hooks::Live,
    };
    let asked =
        object! { "question": format!("Shall I in {namespace}?"), "options": vec!["a", "b"] };
    let asked = DecisionRequest::read(&asked).expect("a question");
    engine.request_decision(&seat, RecordId::from_bytes([7; 32]), &asked).expect("asked")
}

/// Fills a place, and returns the ids of what is there.
fn fill(server: &Server, mark: &str, namespace: &str, first: i64) -> BTreeSet<String> {
    let within = |more: &str| format!(r#"{{"namespace":"{namespace}",{more}}}"#);
    let (thread, run) = (format!("th_{mark}"), format!("th_{mark}_run"));
    let verdict = format!(
        r#""topic":"task_verdict","verdict":"accept","domain":"ops","judged_by":"did:sync:agent:{mark}""#
    );
    let mut ids = BTreeSet::from([thread.clone(), run.clone(), format!("did:sync:agent:{mark}")]);
    for body in [
        record("KNOW", &thread, first, &within(&format!(r#""text":"the {mark} note""#))),
        record("INTEND", &thread, first + 1, &within(&format!(r#""goal":"the {mark} goal""#))),
        record("KNOW", &thread, first + 2, &within(&verdict)),
        record(
            "LEARN",
            &thread,
            first + 3,
            &within(
                r#""kind":"agent.session.checkpoint","summary":"s","learnings":["l"],"next_steps":"n""#,
            ),
        ),
        hook(namespace, mark, first),
    ] {
        let reply = server.post("/v1/records", &body);
        assert_eq!(reply.status, 201, "{}", reply.text());
        ids.insert(reply.string("id"));
        ids.insert(reply.string("id").chars().take(12).collect());
    }
    let actor = format!("did:sync:agent:{mark}");
    let told = server.post(&format!("/v1/runs/{run}/observe"), observed(namespace, &actor));
    assert_eq!(told.status, 200, "{}", told.text());
    ids.insert(ask(&server.engine, &format!("th_{mark}_asks"), namespace).to_string());
    ids.insert(format!("th_{mark}_asks"));
    ids
}

impl World {
    /// A server that has what the caller may read, and with `hidden` more than that.
    fn new(hidden: bool) -> (Self, BTreeSet<String>) {
        let server = Server::start();
        register(&server, &["acme", "acme/site", "other"]);
        let mut ids = fill(&server, "acme", "acme/site", 0);
        server.note("th_a", 0, "on the thread");
        // What stands on the thread is read wherever it belongs.
        let reply = server
            .post("/v1/records", record("KNOW", "th_a", 1, r#"{"namespace":"other","text":"x"}"#));
        assert_eq!(reply.status, 201, "{}", reply.text());
        ids.insert("th_a".into());
        let bearer = server.token(SCOPES);
        if hidden {
            register(&server, &["covert"]);
            ids.extend(fill(&server, "hidden", "other", 10));
            ids.extend(fill(&server, "root", "default", 20));
            server.note("th_acme", 90, "of the root, on a thread of acme's");
            let begun =
                server.post("/v1/sessions/start", r#"{"harness":"claude","session_id":"s"}"#);
            assert_eq!(begun.status, 200, "{}", begun.text());
            ids.insert(begun.string("thread"));
        }
        (Self { server, bearer }, ids)
    }

    fn request(&self, method: &str, path: &str) -> Request {
        self.server.tcp(method, path).bearer(&self.bearer)
    }

    /// What a request is answered, as far as it does not say when.
    fn told(request: &Request) -> String {
        let reply = request.send();
        format!("{} {}", reply.status, timeless(&reply))
    }

    /// What a stream begins with.
    fn begins(request: &Request) -> String {
        let mut wire = request.open();
        let (status, _) = wire.reply_head();
        if status != 200 {
            return status.to_string();
        }
        let frame = wire.frame().expect("a frame");
        format!("{} {:?} {}", frame.event, frame.id, frame.data)
    }
}

/// The answer without how much time has passed for the server.
fn timeless(reply: &Reply) -> String {
    const MOVING: [&str; 5] = ["changed_at", "elapsed_us", "mean_nanos", "nanos", "weight"];
    fn strip(value: &mut Value) {
        match value {
            Value::Object(members) => {
                members.retain(|key, _| !MOVING.contains(&key.as_str()));
                members.values_mut().for_each(strip);
            }
            Value::Array(elements) => elements.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let mut json = reply.json();
    strip(&mut json);
    json.to_string()
}

/// Every GET that there is, from the description of the routes.
fn reads(server: &Server) -> Vec<(String, bool)> {
    // What tells of the whole instance, in numbers and by design, and of the caller.
    // A proof too: it goes on to a signed link of the whole chain, by digests that say nothing.
    const OF_ALL: [&str; 10] = [
        "/health",
        "/health/ready",
        "/metrics",
        "/openapi.json",
        "/v1/engine/expression_cache/stats",
        "/v1/engine/health",
        "/v1/health",
        "/v1/identity",
        "/v1/config/tiers",
        "/v1/records/{id}/proof",
    ];
    let document = server.get("/openapi.json").json();
    let paths = document.get("paths").and_then(Value::as_object).expect("paths").clone();
    let mut found = Vec::new();
    for (path, methods) in &paths {
        let Some(get) = methods.get("get") else { continue };
        if OF_ALL.contains(&path.as_str()) {
            continue;
        }
        found.push((path.clone(), get.to_string().contains("text/event-stream")));
    }
    assert!(found.len() > 20, "{found:?}");
    found
}

#[test]
fn what_may_not_be_read_is_answered_as_what_is_not_there() {
    let (all, ids) = World::new(true);
    let (some, _) = World::new(false);
    let mut asked = 0;
    let mut compare = |what: &str, ask: &dyn Fn(&World) -> String| {
        assert_eq!(ask(&all), ask(&some), "{what}");
        asked += 1;
    };
    let mut segments: Vec<String> = ids.iter().map(|id| percent(id)).collect();
    segments.extend(["th_none", "th_attention", "th_engine_config", "th_h", "ops"].map(percent));
    for (path, streams) in reads(&all.server) {
        let whole: Vec<String> = if path.contains('{') {
            segments
                .iter()
                .map(|segment| {
                    let parts = path.split('/').enumerate().map(|(at, part)| match part {
                        _ if !part.starts_with('{') => part.to_owned(),
                        // The domain of a trust.
                        _ if at == 5 => "ops".to_owned(),
                        _ => segment.clone(),
                    });
                    parts.collect::<Vec<_>>().join("/")
                })
                .collect()
        } else {
            let more = if path == "/v1/records" { "?since=0" } else { "" };
            vec![format!("{path}{more}"), format!("{path}?limit=1")]
        };
        for path in whole {
            let request = |world: &World| world.request("GET", &path);
            if streams {
                compare(&path, &|world| World::begins(&request(world)));
                for query in ["since_clock=0", "replay=true"] {
                    let path = format!("{path}?{query}");
                    compare(&path, &|world| World::begins(&world.request("GET", &path)));
                }
            } else {
                compare(&path, &|world| World::told(&request(world)));
            }
        }
    }
    for query in [
        r#"{"filter":{}}"#,
        r#"{"filter":{},"limit":1,"explain":true,"sort":{"created_at":-1}}"#,
        r#"{"filter":{"body.namespace":"other"}}"#,
        r#"{"filter":{"body.text":{"$like":"%hidden%"}}}"#,
        r#"{"filter":{"$or":[{"thread":"th_hidden"},{"thread":"th_acme"}]}}"#,
        r#"{"filter":{},"thread":"th_hidden"}"#,
        r#"{"filter":{},"offset":3}"#,
    ] {
        let ask =
            |world: &World| World::told(&world.request("POST", "/v1/records/query").json(query));
        compare(query, &ask);
    }
    for actor in ["hidden", "root", "acme"] {
        let body = format!(
            r#"{{"context":"permission","expression":"trust('did:sync:agent:{actor}', 'ops') > 0.1"}}"#
        );
        let ask = |world: &World| World::told(&world.request("POST", "/v1/expr/eval").json(&body));
        compare(&body, &ask);
    }
    // Each on instances that nothing was written to in between.
    for segment in &segments {
        for (path, body) in [
            ("resume", "{}"),
            ("checkpoint", r#"{"actor":"did:sync:user:vera","summary":"","learnings":[]}"#),
        ] {
            let path = format!("/v1/threads/{segment}/{path}");
            compare(&path, &|world| World::told(&world.request("POST", &path).json(body)));
        }
        for (path, body) in [
            (format!("/v1/runs/{segment}/events"), r#"{"type":"stop"}"#),
            (format!("/v1/work/loop/{segment}/cancel"), "{}"),
            (
                format!("/v1/work/loop/{segment}/review"),
                r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#,
            ),
            (format!("/v1/decisions/{segment}/decide"), r#"{"decision":"approve"}"#),
        ] {
            // A run of acme's hears it, and would have moved on.
            if segment != &percent("th_acme_run") {
                compare(&path, &|world| World::told(&world.request("POST", &path).json(body)));
            }
        }
    }
    assert!(asked > 800, "{asked}");
}

#[test]
fn what_may_be_read_is() {
    let (world, _) = World::new(true);
    let count = |path: &str| {
        let reply = world.request("GET", path).send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply.data().len()
    };
    assert_eq!(count("/v1/threads"), 5, "th_a, th_acme, its run and its question, the hook");
    assert_eq!(count("/v1/threads/th_a/records"), 2);
    assert_eq!(count("/v1/threads/th_acme/records"), 4);
    assert_eq!(count("/v1/threads/th_hidden/records"), 0);
    assert_eq!(count("/v1/threads/th_engine_config/records"), 1);
    assert_eq!(count("/v1/runs"), 1);
    assert_eq!(count("/v1/decisions"), 1);
    assert_eq!(count("/v1/trust"), 1);
    assert_eq!(count("/v1/sessions"), 0);
    assert_eq!(count("/v1/config/hooks"), 1);
    let whole = |path: &str| world.server.get(path).data().len();
    assert_eq!((whole("/v1/runs"), whole("/v1/decisions"), whole("/v1/trust")), (3, 3, 3));
    assert_eq!((whole("/v1/sessions"), whole("/v1/config/hooks")), (1, 5));
}

#[test]
fn nothing_is_written_outside_of_what_is_named() {
    let server = Server::start();
    register(&server, &["acme", "acme/site", "acmeister", "other"]);
    let bearer = server.token(SCOPES);
    let post = |path: &str, body: &str| server.tcp("POST", path).bearer(&bearer).json(body).send();
    let note = |thread: &str, namespace: &str, clock: i64| {
        let body = format!(r#"{{"namespace":"{namespace}","text":"x"}}"#);
        post("/v1/records", &record("KNOW", thread, clock, &body)).status
    };
    assert_eq!(note("th_a", "default", 0), 201);
    assert_eq!(note("th_a", "other", 1), 201);
    assert_eq!(note("th_b", "acme", 0), 201);
    assert_eq!(note("th_b", "acme/site", 1), 201);
    for (thread, namespace) in [("th_b", "default"), ("th_b", "acmeister"), ("th_c", "other")] {
        assert_eq!(note(thread, namespace, 7), 403, "{thread} {namespace}");
    }
    // The refusal says nothing of what is there.
    let there = post("/v1/records", &record("KNOW", "th_engine_config", 0, "{}"));
    let nowhere = post("/v1/records", &record("KNOW", "th_nowhere", 0, "{}"));
    assert_eq!((there.status, there.json()), (nowhere.status, nowhere.json()));
    insta::assert_snapshot!("out_of_bounds", nowhere.shown());
    // The configuration takes a scope of its own, also in a namespace that one writes in.
    let mut body = hook("acme", "h", 0);
    assert_eq!(post("/v1/records", &body).code(), "CONFIG_WRITE_DENIED");
    body = record("LEARN", "th_engine_config", 0, r#"{"topic":"t","namespace":"acme"}"#);
    assert_eq!(post("/v1/records", &body).code(), "CONFIG_WRITE_DENIED");
    for (path, namespace, status) in [
        ("/v1/runs/th_r/observe", "acme", 200),
        ("/v1/runs/th_r/observe", "acme", 200),
        ("/v1/runs/th_s/observe", "default", 403),
        ("/v1/runs/th_a/observe", "default", 200),
    ] {
        let told = post(path, &observed(namespace, "did:sync:agent:x"));
        assert_eq!(told.status, status, "{path} {namespace}: {}", told.text());
    }
    let checkpoint =
        r#"{"actor":"did:sync:user:vera","summary":"s","learnings":["l"],"draft":true}"#;
    assert_eq!(post("/v1/threads/th_a/checkpoint", checkpoint).status, 201);
    assert_eq!(post("/v1/threads/th_a/checkpoint", checkpoint).status, 201);
    assert_eq!(post("/v1/threads/th_b/checkpoint", checkpoint).status, 403);
}

#[test]
fn a_watcher_is_told_what_it_may_read() {
    let server = Server::start();
    register(&server, &["acme", "acme/site", "other"]);
    let bearer = server.token("namespace:acme:read");
    let mut wire = server.tcp("GET", "/v1/threads/th_a/watch").bearer(&bearer).open();
    assert_eq!(wire.next_after_head("heartbeat").id.as_deref(), Some("0"));
    for clock in 0..6 {
        let namespace = if clock % 2 == 0 { "other" } else { "acme/site" };
        let body = format!(r#"{{"namespace":"{namespace}"}}"#);
        let reply = server.post("/v1/records", record("KNOW", "th_a", clock, &body));
        assert_eq!(reply.status, 201, "{}", reply.text());
    }
    assert_eq!(wire.clocks(3), [1, 3, 5]);
}

/// A run reads for whoever began it, so it finds no more than what lies where it is.
#[test]
fn a_run_finds_what_lies_in_its_namespace() {
    let lab = Lab::with_room(16, None);
    let script = r#"{"turns":[{"text":"I look.","tool_calls":[
        {"name":"search_records","args":{"query":"a secret"}}]},{"text":"Done."}]}"#;
    lab.script("looks", script);
    let server = &lab.server;
    register(server, &["acme", "acme/site", "acmeister", "other"]);
    for (clock, namespace) in ["acme/site", "other", "default"].into_iter().enumerate() {
        let body = format!(r#"{{"namespace":"{namespace}","text":"a secret of {namespace}"}}"#);
        let clock = i64::try_from(clock).expect("small");
        let reply = server.post("/v1/records", record("KNOW", "th_x", clock, &body));
        assert_eq!(reply.status, 201, "{}", reply.text());
    }
    let bearer = server.token("namespace:acme:read,namespace:acme:write");
    let start = |namespace: &str| {
        let body = format!(
            r#"{{"goal":"look","model":"looks","actor":"did:sync:agent:x","namespace":"{namespace}"}}"#
        );
        server.tcp("POST", "/v1/work/loop").bearer(&bearer).json(body).send()
    };
    for elsewhere in ["default", "other", "acmeister"] {
        let refused = start(elsewhere);
        assert_eq!((refused.status, refused.code()), (403, "SCOPE_FORBIDDEN".into()));
    }
    let started = start("acme");
    assert_eq!(started.status, 201, "{}", started.text());
    let thread = started.string("thread");
    lab.until(&thread, "done");
    let path = format!("/v1/threads/{thread}/records");
    let records = server.tcp("GET", &path).bearer(&bearer).send().text();
    assert!(records.contains("a secret of acme/site"), "{records}");
    assert!(!records.contains("a secret of other"), "{records}");
    assert!(!records.contains("a secret of default"), "{records}");
    lab.until_free();
}
