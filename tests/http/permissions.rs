//! Permission rules over requests, from outside.

use std::time::Duration;

use spl::canon::Value;
use spl::http::ServerLimits;
use spl::record::ThreadId;
use spl::store::ThreadRange;

use crate::client::{Reply, Request, Server, note};

/// Writes configuration as the engine does, which no rule judges.
fn configure(server: &Server, body: spl::canon::Object) {
    let draft = spl::record::Draft::new(
        ThreadId::config(),
        spl::record::ActorId::engine(),
        spl::record::Act::Learn,
        body,
    );
    server.engine.author(move |author| author.write(draft).map(drop)).expect("written");
}

fn rule(server: &Server, name: &str, action: &str, priority: i64, expression: &str) {
    configure(
        server,
        spl::object! {
            "action": action, "expression": expression, "name": name, "priority": priority,
            "topic": "permission_rule",
        },
    );
}

fn put_in_force(server: &Server) {
    configure(server, spl::object! { "topic": "permissions_enabled", "enabled": true });
}

/// Every operation of the description: method, path, and the media type of its body if it has one.
fn operations() -> Vec<(String, String, Option<String>)> {
    let document = Value::from(spl::http::document());
    let paths = document.get("paths").and_then(Value::as_object).expect("paths");
    let mut operations = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let content = operation.get("requestBody").and_then(|body| body.get("content"));
            let media = content.and_then(Value::as_object).and_then(|it| it.keys().next().cloned());
            operations.push((method.to_uppercase(), path.clone(), media));
        }
    }
    operations
}

/// A request of an operation that is good enough to come to the rules.
fn asking(request: Request, path: &str, media: Option<&str>) -> Request {
    match media {
        Some(media) => {
            let body = match path {
                "/v1/records" => note("th_a", 0, "x"),
                "/v1/threads/{id}/checkpoint" => {
                    r#"{"actor":"did:sync:user:vera","learnings":["l"],"summary":"s"}"#.into()
                }
                _ => "{}".into(),
            };
            request.header("content-type", media).body(body)
        }
        None => request,
    }
}

/// What is left when rules are in force and there is none: what asks nobody who they are, what the
/// engine is told of and writes itself, and what a caller is told about itself.
#[test]
fn without_a_rule_every_gated_route_refuses_the_operator_too() {
    let server = Server::start();
    let admin = server.token("admin");
    server.note("th_seen", 0, "there");
    put_in_force(&server);
    let mut open = Vec::new();
    let mut asked = 0;
    for (method, path, media) in operations() {
        let place = path.replace("{id}", "th_seen").replace("{thread}", "th_seen");
        let place = place.replace("{actor}", "did:x").replace("{domain}", "d");
        for request in [server.request(&method, &place), server.tcp(&method, &place).bearer(&admin)]
        {
            let reply = asking(request, &path, media.as_deref()).send();
            asked += 1;
            if reply.status != 403 || reply.code() != "PERMISSION_DENIED" {
                open.push(format!("{method} {path}"));
            }
        }
    }
    assert!(asked > 100, "{asked}");
    open.dedup();
    insta::assert_snapshot!("open_without_a_rule", open.join("\n"));
}

fn told(reply: &Reply) -> String {
    if reply.status < 400 { reply.status.to_string() } else { reply.code() }
}

#[test]
fn rules_open_what_they_say_and_nothing_else() {
    let server = Server::start();
    let bearer = server.token("records:read,records:write,config:read");
    server.note("th_a", 0, "here");
    let id = server.note("th_b", 0, "there");
    rule(&server, "reads-a", "allow", 0, "resource.endsWith('_read') && record.thread == 'th_a'");
    rule(&server, "operator", "allow", 9, "current_actor() == 'did:sync:user:vera'");
    put_in_force(&server);
    let get = |path: &str| told(&server.tcp("GET", path).bearer(&bearer).send());
    for (path, wanted) in [
        ("/v1/threads/th_a", "200"),
        ("/v1/threads/th_a/records", "200"),
        ("/v1/threads/th_a/state", "200"),
        ("/v1/records?thread=th_a", "200"),
        ("/v1/threads/th_b", "PERMISSION_DENIED"),
        ("/v1/threads/th_b/watch", "PERMISSION_DENIED"),
        ("/v1/threads", "PERMISSION_DENIED"),
        ("/v1/records?thread=th_b", "PERMISSION_DENIED"),
        (&format!("/v1/records/{id}"), "PERMISSION_DENIED"),
        // What is not there is refused alike.
        ("/v1/records/none", "PERMISSION_DENIED"),
        ("/v1/config/permission-rules", "PERMISSION_DENIED"),
        // The beginning of the name of another thread.
        ("/v1/threads/th_/resume", "PERMISSION_DENIED"),
        ("/health", "200"),
        ("/openapi.json", "200"),
    ] {
        assert_eq!(get(path), wanted, "{path}");
    }
    rule(&server, "a-first", "allow", 5, "record.thread == 'th_b' && record.clock == 0");
    assert_eq!(get(&format!("/v1/records/{id}")), "200");
    // The operator goes on, over the socket and where nobody is asked.
    assert_eq!(server.get("/v1/threads").status, 200);
    assert_eq!(server.insecure("GET", "/v1/threads").send().status, 200);
}

/// What may not be asked for by its name is in no list either.
#[test]
fn a_list_leaves_out_what_its_reader_could_not_ask_for() {
    let server = Server::start();
    let bearer = server.token("records:read");
    server.note("th_a", 0, "here");
    server.note("th_secret", 0, "there");
    let get = |path: &str| server.tcp("GET", path).bearer(&bearer).send();
    let query = || {
        let request = server.tcp("POST", "/v1/records/query").bearer(&bearer);
        request.json(r#"{"filter":{"actor":"did:sync:user:vera"}}"#).send()
    };
    let lists = || {
        [get("/v1/threads"), get("/v1/records?actor=did:sync:user:vera"), query()]
            .map(|reply| reply.text().contains("th_secret"))
    };
    assert_eq!(lists(), [true; 3]);
    rule(&server, "all", "allow", 0, "true");
    rule(&server, "secret", "deny", 9, "record.thread == 'th_secret'");
    put_in_force(&server);
    assert_eq!(lists(), [false; 3]);
    assert!(query().text().contains("th_a") && get("/v1/threads").text().contains("th_a"));
}

#[test]
fn a_room_is_asked_for_by_its_whole_name() {
    let server = Server::start();
    let bearer = server.token("records:read");
    server.note("th_secret", 0, "there");
    rule(&server, "all", "allow", 0, "true");
    rule(&server, "secret", "deny", 9, "record.thread == 'th_secret'");
    put_in_force(&server);
    let get = |path: &str| told(&server.tcp("GET", path).bearer(&bearer).send());
    assert_eq!(get("/v1/threads/th_secret/resume"), "PERMISSION_DENIED");
    assert_eq!(get("/v1/threads/th_sec/resume"), "PERMISSION_DENIED");
}

#[test]
fn the_two_paths_of_the_rules_are_one() {
    let server = Server::start();
    rule(&server, "r", "allow", 3, "true");
    let rules = server.get("/v1/config/permission-rules");
    assert_eq!(rules.status, 200);
    assert_eq!(rules.json(), server.get("/v1/config/permissions").json());
    insta::assert_snapshot!("permission_rules", rules.shown());
}

#[test]
fn a_rule_reads_what_a_request_says() {
    let server = Server::start();
    rule(&server, "rest", "allow", 0, "true");
    rule(&server, "policy", "deny", 9, "resource == 'aitl_decide' && record.body.becomes_policy");
    rule(&server, "dear", "deny", 9, "resource == 'dispatch' && record.body.budget_usd > 5");
    put_in_force(&server);
    let post = |path: &str, body: &str| told(&server.post(path, body));
    let decide = "/v1/decisions/none/decide";
    assert_eq!(
        post(decide, r#"{"decision":"approve","becomes_policy":true}"#),
        "PERMISSION_DENIED"
    );
    assert_eq!(post(decide, r#"{"decision":"approve"}"#), "NOT_FOUND");
    let preview = "/v1/work/loop/preview";
    assert_eq!(post(preview, r#"{"goal":"g","budget_usd":6}"#), "PERMISSION_DENIED");
    assert_eq!(post(preview, r#"{"goal":"g","budget_usd":5}"#), "WORK_NO_PROVIDER");
    // An answer to a run's question is an answer, whichever way it comes.
    let said = r#"{"type":"decision","decision":"approve","becomes_policy":true}"#;
    assert_eq!(post("/v1/runs/th_none/events", said), "PERMISSION_DENIED");
    // What does not read is for the route to refuse.
    assert_eq!(post(preview, "{"), "INVALID_REQUEST");
}

#[test]
fn the_deciders_tell_whether_rules_are_in_force() {
    let server = Server::start();
    let rules = || {
        let health = server.get("/v1/health").json();
        let deciders = health.get("authorization").and_then(|it| it.get("deciders")).cloned();
        let deciders = deciders.expect("deciders");
        let deciders = deciders.as_array().expect("a list");
        let of = |it: &&Value| it.get("decider") == Some(&"permission_rules".into());
        deciders.iter().find(of).and_then(|it| it.get("state")).cloned()
    };
    assert_eq!(rules(), Some("disabled".into()));
    rule(&server, "all", "allow", 0, "true");
    put_in_force(&server);
    assert_eq!(rules(), Some("live".into()));
}

fn denials(server: &Server) -> Vec<spl::canon::Object> {
    let read = |reader: &spl::store::Reader<'_>| {
        reader.thread(&ThreadId::security(), ThreadRange::default(), 100)
    };
    let stored = server.engine.store().read(read).expect("read");
    stored.into_iter().map(|stored| stored.record.body.clone()).collect()
}

/// Refuses in every way there is, and looks what is left of it when the server has gone.
#[test]
fn a_refusal_of_a_known_caller_is_recorded_and_that_of_a_stranger_is_not() {
    let mut server = Server::start();
    let bearer = server.token("records:read,records:write");
    let secret = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let send = |method: &str, path: &str, bearer: &str, body: Option<String>| {
        let request = server.tcp(method, path).bearer(bearer);
        let request = request.header("x-test", "1");
        told(&match body {
            Some(body) => request.json(body).send(),
            None => request.send(),
        })
    };
    let config = |body: &str| {
        format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","body":{body}}}"#
        )
    };
    assert_eq!(send("GET", "/v1/tokens", &bearer, None), "SCOPE_FORBIDDEN");
    let hook = config(&format!(r#"{{"topic":"hook","text":"{secret}"}}"#));
    assert_eq!(send("POST", "/v1/records", &bearer, Some(hook)), "CONFIG_WRITE_DENIED");
    let engine = note("th_a", 0, secret).replace("did:sync:user:vera", "did:sync:system:engine");
    assert_eq!(send("POST", "/v1/records", &bearer, Some(engine)), "DID_CLAIM_DENIED");
    put_in_force(&server);
    for _ in 0..3 {
        assert_eq!(send("GET", "/v1/threads", &bearer, None), "PERMISSION_DENIED");
    }
    assert_eq!(server.get("/v1/threads").status, 403);
    assert_eq!(send("GET", "/v1/threads", "spl_prod_x_nothing", None), "AUTH_REQUIRED");
    // What is wrong and what is missing is no denial.
    assert_eq!(told(&server.get("/v1/nothing")), "NOT_FOUND");
    assert_eq!(denials(&server), Vec::new());
    server.tell_to_stop();
    server.wait();
    let rows = denials(&server);
    let text = |row: &spl::canon::Object, key: &str| row[key].as_str().expect("text").to_owned();
    let callers: std::collections::BTreeSet<String> =
        rows.iter().map(|row| text(row, "caller")).collect();
    assert_eq!(callers.len(), 2, "{callers:?}");
    let mut counts = std::collections::BTreeMap::new();
    for row in &rows {
        *counts.entry(text(row, "code")).or_default() += row["count"].as_u64().expect("a count");
        let shown = Value::from(row.clone()).to_string();
        assert!(!shown.contains(secret) && !shown.contains("AUTH"), "{shown}");
    }
    let wanted = [
        ("CONFIG_WRITE_DENIED", 1),
        ("DID_CLAIM_DENIED", 1),
        ("PERMISSION_DENIED", 4),
        ("SCOPE_FORBIDDEN", 1),
    ];
    assert_eq!(counts, wanted.map(|(code, count)| (code.to_owned(), count)).into());
}

#[test]
fn a_server_writes_denials_down_while_it_runs() {
    let sweep = Duration::from_millis(20);
    let server = Server::with_limits(ServerLimits { sweep, ..ServerLimits::default() });
    let bearer = server.token("records:read");
    let refused = server.tcp("GET", "/v1/tokens").bearer(&bearer).send();
    assert_eq!(refused.code(), "SCOPE_FORBIDDEN");
    // The clock of this server moves by a second whenever it is asked.
    let written = (0..50_000).find_map(|_| {
        assert_eq!(server.get("/v1/threads").status, 200);
        std::iter::once(denials(&server)).find(|rows| !rows.is_empty())
    });
    let rows = written.expect("written");
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0]["count"], 1.into());
}
