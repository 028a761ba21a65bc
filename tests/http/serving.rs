//! Connections: slow ones, many of them, and the end.

use std::time::Duration;

use axum::body::Body;
use axum::http::Request;
use spl::engine::Caller;
use spl::http::{Access, ApiState, ServerLimits, router};
use tower::ServiceExt as _;

use crate::client::{Door, Server, Wire, note};

#[test]
fn a_head_that_does_not_end_is_not_waited_for() {
    let limits = ServerLimits { head: Duration::from_millis(50), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let mut silent = Wire::to(&Door::Tcp(server.port));
    let mut slow = Wire::to(&Door::Tcp(server.port));
    slow.write(b"GET /health HTTP/1.1\r\nhost: loc");
    silent.rest();
    slow.rest();
}

#[test]
fn a_body_that_does_not_end_is_not_waited_for() {
    let limits = ServerLimits { body: Duration::from_millis(50), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let request = server.request("POST", "/v1/records").header("content-type", "application/json");
    let mut wire = request.header("content-length", "100").header("connection", "close").open();
    wire.write(b"{\"act\":");
    let reply = wire.reply();
    assert_eq!((reply.status, reply.code().as_str()), (408, "REQUEST_TIMEOUT"));
}

#[test]
fn a_crowd_on_the_port_leaves_the_socket_free() {
    let limits = ServerLimits {
        connections: 4,
        head: Duration::from_millis(200),
        ..ServerLimits::default()
    };
    let server = Server::with_limits(limits);
    let mut crowd: Vec<Wire> = (0..20).map(|_| Wire::to(&Door::Tcp(server.port))).collect();
    assert_eq!(server.get("/health").status, 200);
    // They lose their places, and then somebody else has a turn.
    let token = server.token("admin");
    assert_eq!(server.tcp("GET", "/v1/threads").bearer(&token).send().status, 200);
    for wire in &mut crowd {
        wire.rest();
    }
}

/// An answer waits for its client, and not forever.
#[test]
fn an_answer_that_nobody_reads_is_given_up() {
    let limits = ServerLimits {
        connections: 1,
        unread: Duration::from_millis(50),
        ..ServerLimits::default()
    };
    let server = Server::with_limits(limits);
    for clock in 0..8 {
        // Past the server, whose answers to this would be large as well.
        let large = note("th_a", clock, &"x".repeat(4_000_000));
        server.engine.ingest(&Caller::operator(), large.as_bytes()).expect("ingested");
    }
    let token = server.token("records:read");
    let get = |path: &str| server.tcp("GET", path).bearer(&token);
    let unread = get("/v1/threads/th_a/records").open();
    // The only place is free again.
    assert_eq!(get("/v1/threads").send().status, 200);
    drop(unread);
}

/// The file was changed behind the server's back: what is wrong is for the log alone.
#[test]
fn a_failing_store_says_nothing_outside() {
    let server = Server::start();
    server.note("th_a", 0, "x");
    let connection = rusqlite::Connection::open(server.home.store_path()).expect("a database");
    connection.execute_batch("DROP TABLE records").expect("dropped");
    for path in ["/v1/threads", "/v1/threads/th_a/state", "/metrics", "/health/ready"] {
        let reply = server.get(path);
        assert_eq!(
            (reply.status, reply.string("message")),
            (500, "internal error".into()),
            "{path}"
        );
        assert!(!reply.text().contains("records"), "{}", reply.text());
    }
    assert_eq!(server.get("/health").status, 200);
}

#[test]
fn a_head_may_be_only_so_large() {
    let server = Server::start();
    let mut wire = server.request("GET", "/health").header("x-filler", &"x".repeat(200_000)).open();
    assert_eq!(wire.reply_head().0, 431);
}

#[test]
fn what_is_going_on_ends_before_the_server_does() {
    let mut server = Server::start();
    let body = note("th_a", 0, "x");
    let mut wire = server
        .request("POST", "/v1/records")
        .header("content-type", "application/json")
        .header("content-length", &body.len().to_string())
        .header("expect", "100-continue")
        .open();
    wire.is_asked_for_the_body();
    wire.write(&body.as_bytes()[..10]);
    // An idle one does not hold it up.
    let mut idle = Wire::to(&Door::Unix(server.socket.clone()));
    idle.write(b"GET /health HTTP/1.1\r\nhost: x\r\n\r\n");
    assert_eq!(idle.reply_head().0, 200);
    let mut watcher = server.request("GET", "/v1/threads/th_a/watch").open();
    watcher.next_after_head("heartbeat");
    server.tell_to_stop();
    watcher.next("server_shutdown");
    wire.write(&body.as_bytes()[10..]);
    let (status, headers) = wire.reply_head();
    assert_eq!(status, 201);
    assert!(headers.contains(&("connection".into(), "close".into())), "{headers:?}");
    server.wait();
    assert_eq!(server.engine.store().read(|reader| reader.last()).expect("read").get(), 1);
}

#[test]
fn what_does_not_end_is_not_waited_for_forever() {
    let limits = ServerLimits { farewell: Duration::from_millis(50), ..ServerLimits::default() };
    let mut server = Server::with_limits(limits);
    let mut wire = server
        .request("POST", "/v1/records")
        .header("content-type", "application/json")
        .header("content-length", "100")
        .header("expect", "100-continue")
        .open();
    wire.is_asked_for_the_body();
    wire.write(b"{");
    server.tell_to_stop();
    server.wait();
    wire.rest();
}

#[test]
fn a_connection_serves_one_request_after_another() {
    let server = Server::start();
    let mut wire = Wire::to(&Door::Unix(server.socket.clone()));
    for _ in 0..3 {
        wire.write(b"GET /health/ready HTTP/1.1\r\nhost: x\r\n\r\n");
        let (status, headers) = wire.reply_head();
        assert_eq!(status, 200);
        let length = headers.iter().find(|(name, _)| name == "content-length").expect("a length");
        wire.take(length.1.parse().expect("a number"));
    }
}

#[test]
fn every_answer_names_its_request() {
    let server = Server::start();
    let id = |path: &str| server.get(path).header("x-request-id").expect("an id").to_owned();
    let ids = [id("/health"), id("/health"), id("/nothing")];
    assert!(ids.iter().all(|id| id.len() == 16), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[1] != ids[2], "{ids:?}");
}

/// The command calls the routes itself, on a runtime with one thread and without a connection.
#[test]
fn the_routes_need_no_connection() {
    let engine = spl::engine::Engine::in_memory().expect("an engine");
    let routes = router(ApiState::new(engine, Access::SameUser));
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
    runtime.block_on(async {
        let post = Request::post("/v1/records")
            .header("content-type", "application/json")
            .body(Body::from(note("th_a", 0, "x")))
            .expect("a request");
        let reply = routes.clone().oneshot(post).await.expect("an answer");
        assert_eq!(reply.status(), 201);
        let get = Request::get("/v1/threads/th_a").body(Body::empty()).expect("a request");
        let reply = routes.clone().oneshot(get).await.expect("an answer");
        assert_eq!(reply.status(), 200);
        let text = axum::body::to_bytes(reply.into_body(), 10_000).await.expect("a body");
        let text = String::from_utf8(text.to_vec()).expect("UTF-8");
        assert!(text.contains(r#""record_count":1"#), "{text}");
        let bearer = ApiState::new(
            spl::engine::Engine::in_memory().expect("an engine"),
            Access::Bearer { port: 9100 },
        );
        let get = Request::get("/v1/threads").body(Body::empty()).expect("a request");
        assert_eq!(router(bearer).oneshot(get).await.expect("an answer").status(), 403, "no host");
    });
}

#[test]
fn health_is_open_and_says_little() {
    let server = Server::start();
    let open = |path: &str| {
        let reply = server.tcp("GET", path).send();
        assert_eq!(reply.status, 200, "{path}: {}", reply.text());
        reply
    };
    let health = open("/health");
    assert_eq!(health.string("status"), "ok");
    assert!(health.string("instance_did").starts_with("did:key:z6Mk"));
    assert_eq!(open("/health/ready").string("status"), "ready");
    assert_eq!(open("/openapi.json").string("openapi"), "3.1.0");
    let full = server.get("/v1/health").json();
    let authorization = full.get("authorization").expect("a report").to_string();
    insta::assert_snapshot!("authorization", authorization);
}

#[test]
fn metrics_are_lines_that_a_scraper_reads() {
    let server = Server::start();
    server.note("th_a", 0, "x");
    let reply = server.get("/metrics");
    assert_eq!(reply.header("content-type"), Some("text/plain; version=0.0.4; charset=utf-8"));
    let text = reply.text();
    let names: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    assert!(names.contains(&"spl_ingested_total 1"), "{text}");
    assert!(names.contains(&"spl_records 1"), "{text}");
    for line in names {
        let (name, value) = line.split_once(' ').expect("a value");
        assert!(text.contains(&format!("# TYPE {name} ")), "{name}");
        assert!(value.parse::<u64>().is_ok(), "{line}");
    }
}
