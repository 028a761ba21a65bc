//! One row for each route: a request of it, and whom it is there for.
//!
//! Whom a route is for is written here once more, by hand: the table of routes is what is tested.

/// Whom a route is there for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Opens {
    /// Nobody is asked who they are.
    All,
    /// Whoever is known.
    Known,
    /// Whoever has one of these scopes.
    To(&'static [&'static str]),
    /// The operator alone.
    Operator,
}

/// A request of one route. `{a}` in its path is a record of `th_a`.
pub(super) struct Row {
    /// The method and the path, as the table of routes has them.
    pub(super) route: &'static str,
    pub(super) path: &'static str,
    pub(super) body: Option<&'static str>,
    pub(super) opens: Opens,
}

/// A request without a body.
const fn get(route: &'static str, path: &'static str, opens: Opens) -> Row {
    Row { route, path, body: None, opens }
}

const fn post(route: &'static str, path: &'static str, opens: Opens, body: &'static str) -> Row {
    Row { route, path, body: Some(body), opens }
}

const READ: Opens = Opens::To(&["records:read"]);
const WRITE: Opens = Opens::To(&["records:write"]);
const CONFIG: Opens = Opens::To(&["config:read"]);
const INSTALL: Opens = Opens::To(&["records:write", "config:write"]);
const REGISTRY: Opens = Opens::To(&["config:write"]);

const NOTE: &str = r#"{"act":"KNOW","actor":"did:sync:user:vera","thread":"th_a","clock":7,
    "body":{"text":"x"}}"#;
const CHECKPOINT: &str = r#"{"actor":"did:sync:user:vera","summary":"s","learnings":["l"]}"#;
const VERDICT: &str = r#"{"verdict":"accept","actor":"did:sync:user:vera"}"#;

const PACKS: &str = r#"{"packs":[{"name":"quality","pack":{"version":1,"hooks":[{"id":"a",
    "event":"turn:stop","handler":{"type":"command","command":"true"}}]}}]}"#;
const BLUEPRINT: &str = r#"{"actor":"did:sync:user:vera","blueprint":{}}"#;

/// Each of them, in the order in which they are asked.
pub(super) const ROWS: &[Row] = &[
    get("GET /health", "/health", Opens::All),
    get("GET /health/ready", "/health/ready", Opens::All),
    get("GET /openapi.json", "/openapi.json", Opens::All),
    // Nobody is asked for a bearer; the token of the bootstrap is another thing.
    post(
        "POST /v1/bootstrap/service-account",
        "/v1/bootstrap/service-account",
        Opens::All,
        r#"{"display_name":"first","scopes":["admin"]}"#,
    ),
    get("GET /metrics", "/metrics", Opens::Known),
    get("GET /v1/health", "/v1/health", Opens::Known),
    get("GET /v1/engine/health", "/v1/engine/health", Opens::Known),
    get("GET /v1/engine/expression_cache/stats", "/v1/engine/expression_cache/stats", Opens::Known),
    post("POST /v1/records", "/v1/records", Opens::To(&["records:write", "config:write"]), NOTE),
    get("GET /v1/records", "/v1/records?thread=th_a", READ),
    get("GET /v1/records/{id}", "/v1/records/{a}", READ),
    get("GET /v1/records/{id}/proof", "/v1/records/{a}/proof", READ),
    post("POST /v1/records/query", "/v1/records/query", READ, r#"{"filter":{}}"#),
    post("POST /v1/records/search", "/v1/records/search", READ, r#"{"query":"x"}"#),
    get("GET /v1/threads", "/v1/threads", READ),
    get("GET /v1/threads/{id}", "/v1/threads/th_a", READ),
    get("GET /v1/threads/{id}/records", "/v1/threads/th_a/records", READ),
    get("GET /v1/threads/{id}/state", "/v1/threads/th_a/state", READ),
    // A position that is none ends the request where a stream would begin.
    get("GET /v1/threads/{id}/watch", "/v1/threads/th_a/watch?since_clock=x", READ),
    get("GET /v1/threads/{id}/checkpoints", "/v1/threads/th_a/checkpoints", READ),
    post("POST /v1/threads/{id}/checkpoint", "/v1/threads/th_a/checkpoint", WRITE, CHECKPOINT),
    get("GET /v1/threads/{id}/resume", "/v1/threads/th_a/resume", READ),
    post("POST /v1/threads/{id}/resume", "/v1/threads/th_a/resume", READ, "{}"),
    get("GET /v1/config/hooks", "/v1/config/hooks", CONFIG),
    get("GET /v1/config/permissions", "/v1/config/permissions", CONFIG),
    get("GET /v1/config/permission-rules", "/v1/config/permission-rules", CONFIG),
    get("GET /v1/config/tiers", "/v1/config/tiers", CONFIG),
    get("GET /v1/namespaces", "/v1/namespaces", Opens::To(&["config:read", "records:read"])),
    post("POST /v1/namespaces", "/v1/namespaces", REGISTRY, r#"{"id":"acme"}"#),
    post("POST /v1/namespaces/{id}/archive", "/v1/namespaces/acme/archive", REGISTRY, "{}"),
    get("DELETE /v1/namespaces/{id}", "/v1/namespaces/acme", REGISTRY),
    get("GET /v1/trust", "/v1/trust", READ),
    get("GET /v1/governance/trust", "/v1/governance/trust", READ),
    get("GET /v1/governance/trust/{actor}/{domain}", "/v1/governance/trust/did:x/ops", READ),
    get("GET /v1/decisions", "/v1/decisions", READ),
    get("GET /v1/governance/decisions", "/v1/governance/decisions", READ),
    get("GET /v1/decisions/{id}", "/v1/decisions/{a}", READ),
    post(
        "POST /v1/decisions/{id}/decide",
        "/v1/decisions/{a}/decide",
        Opens::Known,
        r#"{"decision":"approve"}"#,
    ),
    post("POST /v1/engine/sweep", "/v1/engine/sweep", Opens::Operator, "{}"),
    post(
        "POST /v1/expr/eval",
        "/v1/expr/eval",
        Opens::To(&["config:read", "records:read"]),
        r#"{"context":"permission","expression":"true"}"#,
    ),
    post(
        "POST /v1/runs/{id}/observe",
        "/v1/runs/th_a/observe",
        WRITE,
        r#"{"call_id":"c","tool":"bash","status":"ok","actor":"did:sync:user:vera"}"#,
    ),
    post("POST /v1/work/loop", "/v1/work/loop", WRITE, r#"{"goal":"g"}"#),
    post("POST /v1/work/loop/preview", "/v1/work/loop/preview", WRITE, r#"{"goal":"g"}"#),
    get("GET /v1/work/loop/{id}", "/v1/work/loop/th_none", READ),
    post("POST /v1/work/loop/{id}/cancel", "/v1/work/loop/th_none/cancel", WRITE, "{}"),
    get("GET /v1/work/loop/{id}/stream", "/v1/work/loop/th_none/stream", READ),
    post("POST /v1/work/loop/{id}/review", "/v1/work/loop/th_none/review", WRITE, VERDICT),
    get("GET /v1/work/compensation/review", "/v1/work/compensation/review", Opens::Operator),
    get(
        "GET /v1/work/compensation/review/top",
        "/v1/work/compensation/review/top",
        Opens::Operator,
    ),
    get("GET /v1/runs", "/v1/runs", READ),
    get("GET /v1/runs/{id}", "/v1/runs/th_none", READ),
    get("GET /v1/runs/{id}/events", "/v1/runs/th_none/events", READ),
    post("POST /v1/runs/{id}/events", "/v1/runs/th_none/events", WRITE, r#"{"type":"stop"}"#),
    get("GET /v1/runs/{id}/provenance", "/v1/runs/th_none/provenance", READ),
    get("GET /v1/actors/{id}/runs", "/v1/actors/did:sync:user:vera/runs", READ),
    post(
        "POST /v1/actors/{id}/runs",
        "/v1/actors/did:sync:user:vera/runs",
        WRITE,
        r#"{"goal":"g"}"#,
    ),
    post(
        "POST /v1/sessions/events",
        "/v1/sessions/events",
        Opens::Operator,
        r#"{"payload":{"session_id":"s","hook_event_name":"Stop"}}"#,
    ),
    post(
        "POST /v1/sessions/start",
        "/v1/sessions/start",
        Opens::Operator,
        r#"{"harness":"claude","session_id":"s"}"#,
    ),
    post(
        "POST /v1/sessions/{thread}/tool",
        "/v1/sessions/th_none/tool",
        Opens::Operator,
        r#"{"tool":"bash","status":"ok"}"#,
    ),
    post(
        "POST /v1/sessions/{thread}/turn",
        "/v1/sessions/th_none/turn",
        Opens::Operator,
        r#"{"text":"t"}"#,
    ),
    post("POST /v1/sessions/{thread}/end", "/v1/sessions/th_none/end", Opens::Operator, "{}"),
    post("POST /v1/sessions/{thread}/retain", "/v1/sessions/th_none/retain", Opens::Operator, "{}"),
    get("DELETE /v1/sessions/{thread}/source", "/v1/sessions/th_none/source", Opens::Operator),
    get("GET /v1/portability/export", "/v1/portability/export", Opens::Operator),
    post("POST /v1/portability/import", "/v1/portability/import", Opens::Operator, "{}"),
    post(
        "POST /v1/portability/adopt",
        "/v1/portability/adopt",
        Opens::Operator,
        r#"{"actor":"did:sync:user:vera","id":"none"}"#,
    ),
    post(
        "POST /v1/erasure",
        "/v1/erasure",
        Opens::Operator,
        r#"{"actor":"did:sync:user:vera","erases":[],"reason":"r"}"#,
    ),
    get("GET /v1/sessions", "/v1/sessions", READ),
    get("GET /v1/sessions/{thread}", "/v1/sessions/th_none", READ),
    post(
        "POST /v1/tokens",
        "/v1/tokens",
        Opens::Operator,
        r#"{"name":"t","scopes":["records:read"]}"#,
    ),
    get("GET /v1/tokens", "/v1/tokens", Opens::Operator),
    get("DELETE /v1/tokens/{id}", "/v1/tokens/none", Opens::Operator),
    get("POST /v1/tokens/{id}/rotate", "/v1/tokens/none/rotate", Opens::Known),
    get(
        "GET /v1/hooks/capabilities",
        "/v1/hooks/capabilities",
        Opens::To(&["config:read", "records:read"]),
    ),
    get("GET /v1/policy/packs", "/v1/policy/packs", CONFIG),
    post("POST /v1/policy/packs", "/v1/policy/packs", Opens::Operator, PACKS),
    get("GET /v1/blueprints", "/v1/blueprints", CONFIG),
    post("POST /v1/blueprints/plan", "/v1/blueprints/plan", INSTALL, BLUEPRINT),
    post(
        "POST /v1/blueprints/materialize",
        "/v1/blueprints/materialize",
        INSTALL,
        r#"{"accept_plan":"0","actor":"did:sync:user:vera","blueprint":{}}"#,
    ),
    get("GET /v1/identity", "/v1/identity", Opens::Known),
    post(
        "POST /v1/service-accounts",
        "/v1/service-accounts",
        Opens::Operator,
        r#"{"name":"n","scopes":["records:read"]}"#,
    ),
    get("GET /v1/service-accounts", "/v1/service-accounts", Opens::Operator),
    get("GET /v1/service-accounts/{id}", "/v1/service-accounts/none", Opens::Operator),
    get("DELETE /v1/service-accounts/{id}", "/v1/service-accounts/none", Opens::Operator),
    get(
        "POST /v1/service-accounts/{id}/rotate-key",
        "/v1/service-accounts/none/rotate-key",
        Opens::Known,
    ),
];
