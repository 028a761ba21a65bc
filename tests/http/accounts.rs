//! Accounts, keys and claims on the wire.

use spl::canon::Value;

use crate::client::{Reply, Request, Server, note};

fn create(server: &Server, body: &str) -> Reply {
    let reply = server.post("/v1/service-accounts", body);
    assert_eq!(reply.status, 201, "{}", reply.text());
    reply
}

fn with(server: &Server, method: &str, path: &str, bearer: &str) -> Request {
    server.tcp(method, path).bearer(bearer)
}

#[test]
fn an_account_is_made_shown_rotated_and_revoked() {
    let server = Server::start();
    let made = create(
        &server,
        r#"{"id":"sa-ci","name":"ci","scopes":["reader"],"actors":["did:sync:agent:ci"],"expires":"30d"}"#,
    );
    let key = made.string("api_key");
    assert!(key.starts_with("spl_prod_sa-ci_"), "{key}");
    let own = |key: &str| with(&server, "GET", "/v1/identity", key).send();
    let said = own(&key).json();
    let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
    assert_eq!(text("service_account_id"), Some("sa-ci".into()));
    assert_eq!(text("class"), Some("service_account".into()));
    assert_eq!(text("did"), Some("did:sync:system:sa-ci".into()));
    assert_eq!(said.get("scopes").map(ToString::to_string), Some(r#"["records:read"]"#.into()));
    assert!(text("expires_at").is_some());

    let rotate = "/v1/service-accounts/sa-ci/rotate-key";
    let rotated = with(&server, "POST", rotate, &key).json("{}").send();
    assert_eq!(rotated.status, 200, "{}", rotated.text());
    let second = rotated.string("api_key");
    assert_eq!((own(&key).status, own(&second).status), (401, 200));
    let token = format!("/v1/tokens/{}/rotate", rotated.string("token_id"));
    let third = with(&server, "POST", &token, &second).json("{}").send();
    assert_eq!(third.status, 200, "{}", third.text());
    let third = third.string("bearer");
    assert_eq!((own(&second).status, own(&third).status), (401, 200));

    let mut lists = String::new();
    for path in ["/v1/service-accounts", "/v1/service-accounts/ci", "/v1/tokens"] {
        lists.push_str(&server.get(path).text());
    }
    for key in [&key, &second, &third] {
        assert!(!lists.contains(key.rsplit_once('_').expect("a secret").1));
    }
    let revoked =
        server.request("DELETE", "/v1/service-accounts/ci?reason=gone%20for%20good").send();
    assert_eq!(revoked.status, 200, "{}", revoked.text());
    insta::assert_snapshot!("a_revoked_account", revoked.shown());
    assert_eq!(own(&third).status, 401);
    let shown = server.get("/v1/service-accounts/sa-ci");
    assert_eq!(shown.string("reason"), "gone for good");
    assert_eq!(server.request("DELETE", "/v1/service-accounts/ci").send().status, 404);
}

#[test]
fn what_is_no_account_is_refused_by_field() {
    let server = Server::start();
    let mut said = String::new();
    for body in [
        "{}",
        r#"{"name":"a","id":"ci"}"#,
        r#"{"name":"a","id":"sa-CI"}"#,
        r#"{"name":"a","id":"sa-admin"}"#,
        r#"{"name":"a","scopes":["records"]}"#,
        r#"{"name":"a","scopes":["thread:a:own"]}"#,
        r#"{"name":"a","scopes":["thread:a,b:read"]}"#,
        r#"{"name":"a","actors":["did:sync:system:engine"]}"#,
        r#"{"name":"a","actors":[1]}"#,
        r#"{"name":"a","namespace":"NO"}"#,
        r#"{"name":"a","namespace":"nowhere"}"#,
        r#"{"name":"a","with_token":"yes"}"#,
        r#"{"name":"a","env_tag":"a_b"}"#,
        r#"{"name":"a","expires":"soon"}"#,
        r#"{"name":"a","expires":"2020-01-01T00:00:00Z"}"#,
        r#"{"name":"a","secret":"mine"}"#,
    ] {
        said.push_str(&format!(
            "{body}\n{}\n\n",
            server.post("/v1/service-accounts", body).shown()
        ));
    }
    for body in
        [r#"{"service_account_id":"sa-none"}"#, r#"{"service_account_id":"sa-admin","scopes":[]}"#]
    {
        said.push_str(&format!("{body}\n{}\n\n", server.post("/v1/tokens", body).shown()));
    }
    insta::assert_snapshot!("refused_accounts", said);
    assert_eq!(server.get("/v1/service-accounts").data().len(), 1);
}

/// By the header and by the record alike.
#[test]
fn an_actor_is_claimed_only_by_whom_the_list_names() {
    const VERA: &str = "did:sync:user:vera";
    let server = Server::start();
    let key = |actors: &str, scopes: &str| {
        let body = format!(r#"{{"name":"x","actors":{actors},"scopes":["{scopes}"]}}"#);
        let made = create(&server, &body);
        (made.string("api_key"), made.string("did"))
    };
    let mut clock = 0;
    let mut claims = |bearer: &str, actor: &str| {
        clock += 1;
        let body = note("th_a", clock, "x").replace(VERA, actor);
        let written = with(&server, "POST", "/v1/records", bearer).json(&body).send();
        let header = with(&server, "GET", "/v1/identity", bearer);
        let header = header.header("x-syncropel-actor", actor).send();
        for reply in [&written, &header] {
            if reply.status >= 400 {
                assert_eq!((reply.status, reply.code()), (403, "DID_CLAIM_DENIED".into()));
                assert!(!reply.text().contains("did:"), "{}", reply.text());
            }
        }
        assert_eq!(written.status < 400, header.status < 400, "{}", header.text());
        if header.status < 400 {
            assert_eq!(header.string("actor"), actor);
        }
        header.status < 400
    };
    let (engine, other) = ("did:sync:system:engine", "did:sync:user:other");
    let (alone, own) = key("[]", "records:write");
    assert!(claims(&alone, &own));
    assert!(![VERA, engine, other].iter().any(|actor| claims(&alone, actor)));
    let (listed, own) = key(r#"["did:sync:user:vera"]"#, "records:write");
    assert!(claims(&listed, VERA));
    assert!(![own.as_str(), engine, other].iter().any(|actor| claims(&listed, actor)));
    let (every, _) = key(r#"["*"]"#, "records:write");
    assert!([VERA, other].iter().all(|actor| claims(&every, actor)));
    assert!(!claims(&every, engine) && !claims(&every, &own));
    let (admin, _) = key(r#"["*"]"#, "admin");
    assert!([VERA, engine, other].iter().all(|actor| claims(&admin, actor)));

    let twice = with(&server, "GET", "/v1/identity", &every)
        .header("x-syncropel-actor", VERA)
        .header("x-syncropel-actor", other)
        .send();
    assert_eq!((twice.status, twice.code()), (400, "INVALID_REQUEST".into()));
    // Over the socket everybody is whom they say.
    let socket = server.request("GET", "/v1/identity").header("x-syncropel-actor", VERA).send();
    assert_eq!((socket.string("actor"), socket.string("class")), (VERA.into(), "operator".into()));
}

#[test]
fn a_claim_is_checked_at_every_door() {
    let server = Server::start();
    let made = create(&server, r#"{"name":"x","actors":["did:sync:agent:x"]}"#);
    let key = made.string("api_key");
    let vera = r#""actor":"did:sync:user:vera""#;
    for (path, body) in [
        ("/v1/runs/th_r/observe", r#"{"call_id":"c","tool":"t","status":"ok",ACTOR}"#),
        ("/v1/threads/th_a/checkpoint", r#"{"summary":"s","learnings":["l"],ACTOR}"#),
        ("/v1/work/loop", r#"{"goal":"g",ACTOR}"#),
        ("/v1/work/loop/preview", r#"{"goal":"g",ACTOR}"#),
        ("/v1/records", r#"{"act":"KNOW","thread":"th_a","body":{},"clock":0,ACTOR}"#),
    ] {
        let body = body.replace("ACTOR", vera);
        let reply = with(&server, "POST", path, &key).json(&body).send();
        assert_eq!((reply.status, reply.code()), (403, "DID_CLAIM_DENIED".into()), "{path}");
    }
    let path = "/v1/actors/did:sync:user:vera/runs";
    let reply = with(&server, "POST", path, &key).json(r#"{"goal":"g"}"#).send();
    assert_eq!(reply.code(), "DID_CLAIM_DENIED");
    // A loop that names nobody is the account's own.
    let told = with(&server, "POST", "/v1/runs/th_r/observe", &key)
        .header("x-syncropel-actor", "did:sync:agent:x")
        .json(r#"{"call_id":"c","tool":"t","status":"ok"}"#)
        .send();
    assert_eq!(told.status, 200, "{}", told.text());
    let opened = server.get("/v1/threads/th_r/records").data();
    assert_eq!(opened[0].get("actor"), Some(&"did:sync:agent:x".into()));
}

/// The time of this server moves by a second each time it is asked.
#[test]
fn a_token_that_has_ended_is_none() {
    let server = Server::start();
    let made = create(&server, r#"{"name":"x","scopes":["reader"],"expires":"1m"}"#);
    let key = made.string("api_key");
    let asked = || with(&server, "GET", "/v1/threads", &key).send();
    assert_eq!(asked().status, 200);
    let refused = (0..100).map(|_| asked()).find(|reply| reply.status != 200).expect("an end");
    let unknown = with(&server, "GET", "/v1/threads", "spl_prod_sa-x_0").send();
    assert_eq!((refused.status, refused.json()), (401, unknown.json()));
}

#[test]
fn what_gives_up_the_operator_s_standing_is_no_operator() {
    let server = Server::start();
    let agent = |method: &str, path: &str| {
        server.request(method, path).header("x-syncropel-agent", "SPL_RUN")
    };
    assert_eq!(agent("GET", "/v1/identity").send().string("class"), "agent");
    let hook = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
        "body":{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}}"#;
    assert_eq!(agent("POST", "/v1/records").json(hook).send().code(), "CONFIG_WRITE_DENIED");
    assert_eq!(agent("POST", "/v1/records").json(note("th_a", 0, "x")).send().status, 201);
    assert_eq!(agent("GET", "/v1/threads").send().status, 200);
    for path in ["/v1/tokens", "/v1/service-accounts", "/v1/config/hooks"] {
        assert_eq!(agent("GET", path).send().code(), "SCOPE_FORBIDDEN", "{path}");
    }
}
