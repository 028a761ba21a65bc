//! Who may do what.

use crate::client::{Request, Server, note};

const SCOPES: [&str; 5] = ["records:read", "records:write", "config:read", "config:write", "admin"];

fn config(body: &str) -> String {
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":1,"body":{body}}}"#
    )
}

/// One request for each thing there is to do.
fn requests(request: impl Fn(&str, &str) -> Request) -> Vec<(&'static str, Request)> {
    let post = |path: &str, body: &str| request("POST", path).json(body);
    let get = |path: &str| request("GET", path);
    let record = |body: String| post("/v1/records", &body);
    let hook = r#"{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}"#;
    let bad_hook = r#"{"kind":"core.hook.v1","topic":"hook","name":7,"when":"((","nope":1}"#;
    let elsewhere = config(hook).replace("th_engine_config", "th_elsewhere");
    let evaluate = r#"{"context":"permission","expression":"true"}"#;
    let decide = format!("/v1/decisions/{}/decide", "0".repeat(64));
    let observe = r#"{"call_id":"c","tool":"bash","status":"ok"}"#;
    let as_engine = observe.replace('{', r#"{"actor":"did:sync:system:engine","#);
    let verdict = r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#;
    vec![
        ("write a record", record(note("th_a", 0, "x"))),
        ("write no JSON", record("{".into())),
        ("write as the engine", record(note("th_a", 1, "x").replace("user:vera", "system:engine"))),
        ("write a hook", record(config(hook))),
        ("write a bad hook", record(config(bad_hook))),
        ("write a hook elsewhere", record(elsewhere)),
        ("write a permission rule", record(config(r#"{"topic":"permission_rule"}"#))),
        (
            "write a transport",
            record(
                config(r#"{"topic":"work_loop_transport_members","transport":"in_process"}"#)
                    .replace("\"clock\":1", "\"clock\":3"),
            ),
        ),
        (
            "write other config",
            record(
                config(r#"{"topic":"routing_rule","name":"r"}"#)
                    .replace("\"clock\":1", "\"clock\":2"),
            ),
        ),
        ("find a record", get(&format!("/v1/records/{}", "0".repeat(64)))),
        ("list records", get("/v1/records?thread=th_a")),
        ("query records", post("/v1/records/query", r#"{"filter":{}}"#)),
        ("search records", post("/v1/records/search", r#"{"query":"x"}"#)),
        ("list threads", get("/v1/threads")),
        ("find a thread", get("/v1/threads/th_none")),
        ("list a thread", get("/v1/threads/th_a/records")),
        ("find a state", get("/v1/threads/th_a/state")),
        ("watch a thread", get("/v1/threads/th_a/watch").header("last-event-id", "x")),
        ("begin a session", post("/v1/sessions/start", r#"{"harness":"claude","session_id":"s"}"#)),
        (
            "retain a transcript",
            request("POST", "/v1/sessions/th_none/retain")
                .header("content-type", "application/x-ndjson")
                .body("{}"),
        ),
        ("forget a transcript", request("DELETE", "/v1/sessions/th_none/source")),
        ("list sessions", get("/v1/sessions")),
        ("find a session", get("/v1/sessions/th_none")),
        ("come back", get("/v1/threads/th_attention/resume")),
        ("list checkpoints", get("/v1/threads/th_a/checkpoints")),
        (
            "note a checkpoint",
            post(
                "/v1/threads/th_a/checkpoint",
                r#"{"actor":"did:sync:user:vera","summary":"s","learnings":["l"]}"#,
            ),
        ),
        ("list hooks", get("/v1/config/hooks")),
        ("list decisions", get("/v1/decisions")),
        ("find a decision", get("/v1/decisions/none")),
        ("decide", post(&decide, r#"{"decision":"approve"}"#)),
        ("decide for good", post(&decide, r#"{"decision":"approve","becomes_policy":true}"#)),
        ("sweep", post("/v1/engine/sweep", "{}")),
        ("observe", post("/v1/runs/th_theirs/observe", observe)),
        ("observe as the engine", post("/v1/runs/th_ours/observe", &as_engine)),
        ("list permission rules", get("/v1/config/permission-rules")),
        ("list tiers", get("/v1/config/tiers")),
        ("list trust", get("/v1/trust")),
        ("find trust", get("/v1/governance/trust/did:x/ops")),
        ("review a run", post("/v1/work/loop/th_none/review", verdict)),
        ("list compensations", get("/v1/work/compensation/review")),
        ("count compensations", get("/v1/work/compensation/review/top")),
        ("evaluate", post("/v1/expr/eval", evaluate)),
        ("make a token", post("/v1/tokens", r#"{"name":"t","scopes":["config:read"]}"#)),
        ("list tokens", get("/v1/tokens")),
        ("revoke a token", request("DELETE", "/v1/tokens/none")),
        ("export", get("/v1/portability/export")),
        (
            "import",
            request("POST", "/v1/portability/import")
                .header("content-type", "application/x-ndjson")
                .body("{}"),
        ),
        ("adopt", post("/v1/portability/adopt", r#"{"id":"0","actor":"did:sync:user:vera"}"#)),
        (
            "erase",
            post("/v1/erasure", r#"{"erases":[],"actor":"did:sync:user:vera","reason":"r"}"#),
        ),
        ("full health", get("/v1/health")),
        ("engine health", get("/v1/engine/health")),
        ("cache", get("/v1/engine/expression_cache/stats")),
        ("metrics", get("/metrics")),
        ("health", get("/health")),
        ("ready", get("/health/ready")),
        ("openapi", get("/openapi.json")),
    ]
}

fn told(request: &Request) -> String {
    let reply = request.send();
    if reply.status < 400 {
        reply.status.to_string()
    } else {
        format!("{} {}", reply.status, reply.code())
    }
}

#[test]
fn each_scope_opens_what_it_says() {
    let mut rows: Vec<(String, Vec<String>)> = Vec::new();
    for scope in ["nobody"].into_iter().chain(SCOPES) {
        // Each on an instance of its own, so that what one has written is new to the next.
        let server = Server::start();
        let token = (scope != "nobody").then(|| server.token(scope));
        let request = |method: &str, path: &str| match &token {
            Some(token) => server.tcp(method, path).bearer(token),
            None => server.tcp(method, path),
        };
        for (row, (what, request)) in requests(request).into_iter().enumerate() {
            if rows.len() <= row {
                rows.push((what.into(), Vec::new()));
            }
            rows[row].1.push(told(&request));
        }
    }
    let mut table = String::new();
    for (what, cells) in rows {
        table.push_str(&format!("{what}\n"));
        for (scope, cell) in ["nobody"].into_iter().chain(SCOPES).zip(cells) {
            table.push_str(&format!("  {scope:<14} {cell}\n"));
        }
    }
    insta::assert_snapshot!("scopes", table);
}

#[test]
fn a_gate_says_nothing_about_what_it_keeps_out() {
    let server = Server::start();
    let token = server.token("records:read,records:write,config:read,config:write");
    let post =
        |body: &str| server.tcp("POST", "/v1/records").bearer(&token).json(config(body)).send();
    let good =
        post(r#"{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}"#);
    let bad =
        post(r#"{"kind":"core.hook.v1","name":7,"when":"((","veto":true,"namespace":"NO NO"}"#);
    insta::assert_snapshot!("the_gate", good.shown());
    assert_eq!(good.json(), bad.json());
}

#[test]
fn every_refusal_of_a_bearer_is_the_same() {
    let server = Server::start();
    let known = server.token("admin");
    let revoked = server.token("admin");
    let revoked_id = spl::store::TokenId::of_secret(revoked.rsplit_once('_').expect("a secret").1);
    let gone = server.request("DELETE", &format!("/v1/tokens/{}", revoked_id.as_str())).send();
    assert_eq!(gone.status, 200, "{}", gone.text());
    let request = || server.tcp("GET", "/v1/threads");
    let refused = [
        request(),
        request().bearer(&revoked),
        request().bearer(""),
        request().bearer("x"),
        request().bearer(&format!("{known}0")),
        request().bearer(known.rsplit_once('_').expect("a secret").1),
        request().header("authorization", &format!("Basic {known}")),
        request().header("authorization", &known),
        request().header("authorization", "Bearer nothing").header("x-api-key", &known),
        request().bearer(&known).header("authorization", "Bearer nothing"),
        request().header("x-api-key", &revoked),
    ];
    insta::assert_snapshot!("no_bearer", refused[0].send().shown());
    let first = refused[0].send();
    assert_eq!(first.header("www-authenticate"), Some("Bearer"));
    for request in &refused {
        let reply = request.send();
        assert_eq!((reply.status, reply.json()), (401, first.json()));
    }
    for request in [
        request().bearer(&known),
        request().header("authorization", &format!("bearer  {known}")),
        request().header("x-api-key", &known),
        request().bearer(&known).header("x-api-key", "nothing"),
    ] {
        assert_eq!(request.send().status, 200);
    }
    let home = server.home.token().expect("read").expect("a token");
    assert_eq!(request().bearer(&home).send().status, 200);
}

#[test]
fn tokens_are_made_listed_and_revoked() {
    let server = Server::start();
    let made =
        server.post("/v1/tokens", r#"{"name":"ci","scopes":["records:write","records:read"]}"#);
    assert_eq!(made.status, 201, "{}", made.text());
    let (bearer, id) = (made.string("bearer"), made.string("id"));
    assert!(bearer.starts_with("spl_prod_sa-"), "{bearer}");
    let asked = || server.tcp("GET", "/v1/threads").bearer(&bearer).send().status;
    assert_eq!(asked(), 200);
    let listed = server.get("/v1/tokens");
    assert!(!listed.text().contains(bearer.rsplit_once('_').expect("a secret").1));
    let name_of =
        |value: &spl::canon::Value| value.get("name").and_then(|it| it.as_str()).map(str::to_owned);
    let names: Vec<Option<String>> = listed.data().iter().map(name_of).collect();
    assert_eq!(names, [Some("admin".into()), Some("ci".into())]);
    let revoked = server.request("DELETE", &format!("/v1/tokens/{id}")).send();
    assert_eq!(revoked.json().get("revoked"), Some(&1.into()));
    assert_eq!(asked(), 401);
    assert_eq!(server.request("DELETE", &format!("/v1/tokens/{id}")).send().status, 404);
    assert_eq!(server.post("/v1/tokens", r#"{"name":"ci","scopes":"records:read"}"#).status, 201);
    assert_eq!(server.request("DELETE", "/v1/tokens/ci").send().status, 200);
    let mut said = String::new();
    for body in [
        "{}",
        r#"{"name":"","scopes":["admin"]}"#,
        r#"{"name":"a\nb","scopes":["admin"]}"#,
        r#"{"name":"a"}"#,
        r#"{"name":"a","scopes":[]}"#,
        r#"{"name":"a","scopes":["root"]}"#,
        r#"{"name":"a","scopes":[1]}"#,
        r#"{"name":"a","scopes":1}"#,
        r#"{"name":"a","scopes":["admin"],"secret":"mine"}"#,
        "[]",
    ] {
        said.push_str(&format!("{body}\n{}\n\n", server.post("/v1/tokens", body).shown()));
    }
    insta::assert_snapshot!("refused_tokens", said);
}
