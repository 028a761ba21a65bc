//! `schema/openapi.json` is what the code says, and the answers are what it says.

use std::collections::BTreeSet;
use std::path::Path;

use spl::canon::{Object, Value};

use crate::client::{Reply, Server};

/// With `INSTA_UPDATE=always` the file is written anew, like every other snapshot.
#[test]
fn the_description_is_the_one_in_the_tree() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/openapi.json");
    let document = Value::from(spl::http::document()).to_string();
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    let document = serde_json::to_string_pretty(&document).expect("JSON") + "\n";
    if std::env::var("INSTA_UPDATE").is_ok_and(|update| update == "always") {
        std::fs::write(&path, &document).expect("written");
    }
    let written = std::fs::read_to_string(&path).expect("schema/openapi.json");
    assert!(written == document, "schema/openapi.json is not what the code says");
}

#[test]
fn the_server_describes_itself() {
    let server = Server::start();
    assert_eq!(server.get("/openapi.json").json(), Value::from(spl::http::document()));
}

/// Returns the members of the schema that the description has for an answer: those that must be
/// there, and all.
fn members(path: &str, method: &str, status: u16) -> (BTreeSet<String>, BTreeSet<String>) {
    let document = Value::from(spl::http::document());
    let at = |mut value: &Value, keys: &[&str]| -> Value {
        for key in keys {
            value = value.get(key).unwrap_or_else(|| panic!("no `{key}` for {method} {path}"));
        }
        value.clone()
    };
    let status = status.to_string();
    let reference = at(
        &document,
        &[
            "paths",
            path,
            method,
            "responses",
            &status,
            "content",
            "application/json",
            "schema",
            "$ref",
        ],
    );
    let name = reference.as_str().and_then(|it| it.rsplit('/').next()).expect("a name").to_owned();
    let schema = at(&document, &["components", "schemas", &name]);
    let required = schema.get("required").and_then(Value::as_array).expect("required");
    let required = required.iter().filter_map(|it| it.as_str().map(str::to_owned)).collect();
    let all: &Object = schema.get("properties").and_then(Value::as_object).expect("properties");
    (required, all.keys().cloned().collect())
}

#[track_caller]
pub(crate) fn check(path: &str, method: &str, reply: &Reply) {
    let (required, all) = members(path, method, reply.status);
    let json = reply.json();
    let there: BTreeSet<String> = json.as_object().expect("an object").keys().cloned().collect();
    assert!(required.is_subset(&there), "{path}: {required:?} of {there:?}");
    if path != "/openapi.json" {
        assert!(there.is_subset(&all), "{path}: {there:?} beside {all:?}");
    }
}

#[test]
fn answers_have_the_members_that_the_description_says() {
    let server = Server::start();
    let id = server.note("th_a", 0, "x");
    let again = server.post("/v1/records", crate::client::note("th_a", 0, "x"));
    check("/v1/records", "post", &again);
    let new = server.post("/v1/records", crate::client::note("th_a", 1, "x"));
    check("/v1/records", "post", &new);
    check("/v1/records/{id}", "get", &server.get(&format!("/v1/records/{id}")));
    check("/v1/records/{id}/proof", "get", &server.get(&format!("/v1/records/{id}/proof")));
    check("/v1/records", "get", &server.get("/v1/records?thread=th_a&limit=1"));
    let query = server.post("/v1/records/query", r#"{"filter":{},"limit":1,"explain":true}"#);
    check("/v1/records/query", "post", &query);
    check("/v1/threads", "get", &server.get("/v1/threads?limit=5000"));
    check("/v1/threads/{id}", "get", &server.get("/v1/threads/th_a"));
    check("/v1/threads/{id}/records", "get", &server.get("/v1/threads/th_a/records?limit=1"));
    check("/v1/threads/{id}/state", "get", &server.get("/v1/threads/th_a/state"));
    check("/v1/config/hooks", "get", &server.get("/v1/config/hooks"));
    crate::trust::finished_run(&server, "th_run", "completed");
    let verdict = r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#;
    let review = server.post("/v1/work/loop/th_run/review", verdict);
    check("/v1/work/loop/{id}/review", "post", &review);
    let found = server.get("/v1/governance/trust/did:sync:agent:clerk/code");
    check("/v1/governance/trust/{actor}/{domain}", "get", &found);
    for path in [
        "/v1/config/permissions",
        "/v1/config/tiers",
        "/v1/governance/trust",
        "/v1/trust",
        "/v1/work/compensation/review",
        "/v1/work/compensation/review/top",
    ] {
        check(path, "get", &server.get(path));
    }
    let start = r#"{"harness":"claude","session_id":"s"}"#;
    let started = server.post("/v1/sessions/start", start);
    check("/v1/sessions/start", "post", &started);
    let session = format!("/v1/sessions/{}", started.string("thread"));
    check("/v1/sessions", "get", &server.get("/v1/sessions"));
    check("/v1/sessions/{thread}", "get", &server.get(&session));
    let kept = server.request("POST", &format!("{session}/retain"));
    let kept = kept.header("content-type", "application/x-ndjson").body("{}").send();
    check("/v1/sessions/{thread}/retain", "post", &kept);
    let forgotten = server.request("DELETE", &format!("{session}/source")).send();
    check("/v1/sessions/{thread}/source", "delete", &forgotten);
    for room in ["th_attention", "th_a"] {
        let resume = server.get(&format!("/v1/threads/{room}/resume"));
        check("/v1/threads/{id}/resume", "get", &resume);
    }
    let note = r#"{"actor":"did:sync:user:vera","draft":true}"#;
    let note = server.post("/v1/threads/th_attention/checkpoint", note);
    check("/v1/threads/{id}/checkpoint", "post", &note);
    let lines = server.request("POST", "/v1/portability/import");
    let lines = lines.header("content-type", "application/x-ndjson").body("{}\n").send();
    check("/v1/portability/import", "post", &lines);
    let erase = format!(r#"{{"erases":["{id}"],"actor":"a","reason":"r","purge":true}}"#);
    check("/v1/erasure", "post", &server.post("/v1/erasure", erase));
    check("/v1/records/{id}", "get", &server.get(&format!("/v1/records/{id}")));
    let evaluated = server.post("/v1/expr/eval", r#"{"context":"hook","expression":"true"}"#);
    check("/v1/expr/eval", "post", &evaluated);
    let token = server.post("/v1/tokens", r#"{"name":"t","scopes":["admin"]}"#);
    check("/v1/tokens", "post", &token);
    check("/v1/tokens", "get", &server.get("/v1/tokens"));
    let revoked = server.request("DELETE", "/v1/tokens/t").send();
    check("/v1/tokens/{id}", "delete", &revoked);
    for path in [
        "/v1/health",
        "/v1/engine/health",
        "/v1/engine/expression_cache/stats",
        "/health",
        "/health/ready",
        "/openapi.json",
    ] {
        check(path, "get", &server.get(path));
    }
    check("/v1/engine/health", "get", &server.get("/v1/engine/health?details=true"));
}

/// The hooks and threads of a list are shapes of their own.
#[test]
fn elements_of_lists_have_the_members_that_the_description_says() {
    let server = Server::start();
    server.note("th_a", 0, "x");
    crate::trust::finished_run(&server, "th_run", "completed");
    let verdict = r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#;
    server.post("/v1/work/loop/th_run/review", verdict);
    server.post("/v1/sessions/start", r#"{"harness":"claude","session_id":"s"}"#);
    let document = Value::from(spl::http::document());
    let schemas = document.get("components").and_then(|it| it.get("schemas")).expect("schemas");
    for (path, name) in [
        ("/v1/config/hooks", "Hook"),
        ("/v1/config/tiers", "Tier"),
        ("/v1/threads", "Thread"),
        ("/v1/sessions", "SessionRow"),
        ("/v1/tokens", "Token"),
        ("/v1/trust", "Trust"),
        ("/v1/records?thread=th_a", "Record"),
    ] {
        let properties = schemas.get(name).and_then(|it| it.get("properties"));
        let properties = properties.and_then(Value::as_object).expect("properties");
        let data = server.get(path).data();
        assert!(!data.is_empty(), "{path}");
        for element in data {
            for key in element.as_object().expect("an object").keys() {
                assert!(properties.contains_key(key), "{path} has `{key}`");
            }
        }
    }
}
