//! Namespaces over HTTP.

use spl::canon::Value;

use crate::client::{Server, note};

fn listed(server: &Server, query: &str) -> Vec<String> {
    let text = |row: &Value, key| row.get(key).and_then(Value::as_str).unwrap_or("-").to_owned();
    let open = |row: &Value| row.get("open").and_then(Value::as_bool).expect("open");
    let rows = server.get(&format!("/v1/namespaces{query}")).data();
    let shown = rows.iter().map(|row| {
        format!("{} {} {} {}", text(row, "id"), text(row, "level"), text(row, "status"), open(row))
    });
    shown.collect()
}

fn note_in(namespace: &str, clock: i64) -> String {
    note("th_a", clock, "x")
        .replace("{\"text\"", &format!("{{\"namespace\":\"{namespace}\",\"text\""))
}

#[test]
fn a_namespace_is_created_listed_archived_and_deleted() {
    let server = Server::start();
    assert_eq!(listed(&server, ""), ["default default active true"]);
    let refused = server.post("/v1/records", note_in("acme/site", 0));
    insta::assert_snapshot!("a_rejected_namespace", refused.shown());
    let orphan = server.post("/v1/namespaces", r#"{"id":"acme/site"}"#);
    assert_eq!((orphan.status, orphan.code().as_str()), (403, "NAMESPACE_REJECTED"));
    server.register("acme");
    server.register("acme/site");
    let again = server.post("/v1/namespaces", r#"{"id":"acme"}"#);
    assert_eq!(again.status, 200);
    assert_eq!(server.post("/v1/records", note_in("acme/site", 0)).status, 201);
    assert_eq!(
        listed(&server, ""),
        ["default default active true", "acme org active true", "acme/site project active true"]
    );
    let archived = server.request("POST", "/v1/namespaces/acme/archive").json("{}").send();
    assert_eq!(archived.status, 200, "{}", archived.text());
    assert_eq!(
        listed(&server, "?status=active"),
        ["default default active true", "acme/site project active false"]
    );
    let refused = server.post("/v1/records", note_in("acme/site", 1));
    assert_eq!((refused.status, refused.code().as_str()), (403, "NAMESPACE_REJECTED"));
    let deleted = server.request("DELETE", "/v1/namespaces/acme%2Fsite").send();
    assert_eq!(deleted.status, 200, "{}", deleted.text());
    assert_eq!(listed(&server, ""), ["default default active true", "acme org archived false"]);
    assert_eq!(listed(&server, "?status=deleted"), ["acme/site project deleted false"]);
}

#[test]
fn what_cannot_be_is_refused_by_field() {
    let server = Server::start();
    for (method, path, body, wanted) in [
        ("POST", "/v1/namespaces", "{}", (422, "id")),
        ("POST", "/v1/namespaces", r#"{"id":"No"}"#, (422, "id")),
        ("POST", "/v1/namespaces", r#"{"id":"default"}"#, (422, "id")),
        ("POST", "/v1/namespaces", r#"{"id":"a","owner":"v"}"#, (422, "owner")),
        ("DELETE", "/v1/namespaces/default", "", (422, "id")),
        ("GET", "/v1/namespaces?status=gone", "", (400, "status")),
    ] {
        let request = server.request(method, path);
        let reply = if body.is_empty() { request } else { request.json(body) }.send();
        assert_eq!((reply.status, reply.string("field").as_str()), wanted, "{path} {body}");
    }
    let unknown = server.request("DELETE", "/v1/namespaces/nobody").send();
    assert_eq!((unknown.status, unknown.code().as_str()), (404, "NOT_FOUND"));
}

#[test]
fn the_registry_takes_config_write() {
    let server = Server::start();
    let ask = |scopes: &str, method: &str, path: &str, body: &str| {
        let request = server.tcp(method, path).bearer(&server.token(scopes));
        if body.is_empty() { request } else { request.json(body) }.send()
    };
    let acme = r#"{"id":"acme"}"#;
    for scopes in ["records:read,records:write", "config:read"] {
        let reply = ask(scopes, "POST", "/v1/namespaces", acme);
        assert_eq!((reply.status, reply.code().as_str()), (403, "SCOPE_FORBIDDEN"), "{scopes}");
        assert_eq!(ask(scopes, "GET", "/v1/namespaces", "").status, 200, "{scopes}");
    }
    assert_eq!(ask("config:write", "POST", "/v1/namespaces", acme).status, 201);
    assert_eq!(ask("config:write", "DELETE", "/v1/namespaces/acme", "").status, 200);
}

/// What a request says of the shell that it comes from makes it less and never more.
#[test]
fn the_shell_of_an_agent_is_no_operator() {
    let server = Server::start();
    let hook = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
        "body":{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}}"#;
    let admin = server.token("admin");
    let agents = [
        server.request("POST", "/v1/records"),
        server.insecure("POST", "/v1/records"),
        server.tcp("POST", "/v1/records").bearer(&admin),
    ];
    for request in agents {
        let reply = request.clone().header("x-syncropel-agent", "CLAUDECODE").json(hook).send();
        assert_eq!((reply.status, reply.code().as_str()), (403, "CONFIG_WRITE_DENIED"));
        let told = request.header("x-syncropel-agent", "").json(note("th_a", 0, "x")).send();
        assert!(matches!(told.status, 200 | 201), "{}", told.text());
    }
    let ask = |method: &str, path: &str| {
        server.request(method, path).header("x-syncropel-agent", "SPL_RUN").send().status
    };
    assert_eq!(ask("GET", "/v1/namespaces"), 200);
    assert_eq!(ask("GET", "/v1/tokens"), 403);
    let poor = server.token("records:read");
    let poor = server.tcp("POST", "/v1/records").bearer(&poor);
    let reply = poor.header("x-syncropel-agent", "X").json(note("th_a", 1, "x")).send();
    assert_eq!(reply.code(), "SCOPE_FORBIDDEN", "nobody may more than before");
    assert_eq!(server.post("/v1/records", hook).status, 201);
}
