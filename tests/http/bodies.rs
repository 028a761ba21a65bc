//! Bodies that no client should send.

use crate::client::{Server, note};

const DOOR: usize = 4 * 1024 * 1024;

/// Returns the status and the code that a body gets.
fn told(server: &Server, body: impl AsRef<[u8]>) -> (u16, String) {
    let reply = server.post("/v1/records", body);
    (reply.status, reply.code())
}

#[track_caller]
fn check(server: &Server, body: impl AsRef<[u8]>, status: u16, code: &str) {
    assert_eq!(told(server, body), (status, code.to_owned()));
}

fn with_body(body: &str) -> String {
    note("th_a", 1, "BODY").replace(r#"{"text":"BODY"}"#, body)
}

#[test]
fn what_is_not_json_is_refused() {
    let server = Server::start();
    let whole = note("th_a", 0, "x");
    for body in ["", " ", "nonsense", "{", &whole[..whole.len() - 1], &format!("{whole}{whole}")] {
        check(&server, body, 400, "INGEST_FAILED");
    }
    check(&server, b"\xff\xfe{}", 400, "INGEST_FAILED");
    check(&server, whole.replace('x', "\u{0}"), 400, "INGEST_FAILED");
    check(&server, whole.replace("\"x\"", r#""\ud800""#), 400, "INGEST_FAILED");
    let twice = whole.replacen('{', r#"{"clock":0,"#, 1);
    check(&server, twice, 400, "INGEST_FAILED");
    check(&server, with_body(r#"{"a":1,"a":2}"#), 400, "INGEST_FAILED");
    check(&server, with_body(r#"{"n":1e999}"#), 400, "INGEST_FAILED");
    assert_eq!(server.get("/v1/threads").data(), []);
}

#[test]
fn nesting_has_a_floor() {
    let server = Server::start();
    for depth in [1_000, 100_000, DOOR / 2 - 200] {
        let deep = format!("{{\"n\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
        check(&server, with_body(&deep), 400, "INGEST_FAILED");
        check(&server, with_body(&"{\"a\":".repeat(depth / 3)), 400, "INGEST_FAILED");
    }
    let as_deep_as_it_goes = format!("{{\"n\":{}{}}}", "[".repeat(126), "]".repeat(126));
    assert_eq!(server.post("/v1/records", with_body(&as_deep_as_it_goes)).status, 201);
    // The same bodies at the other doors that take one.
    for path in ["/v1/records/query", "/v1/records/search", "/v1/expr/eval", "/v1/tokens"] {
        let reply = server.post(path, "[".repeat(100_000));
        assert_eq!((reply.status, reply.code().as_str()), (400, "INVALID_REQUEST"), "{path}");
    }
}

#[test]
fn what_is_too_large_is_refused_in_our_envelope() {
    let server = Server::start();
    let large = note("th_a", 0, &"x".repeat(5 * 1024 * 1024));
    check(&server, &large, 413, "BODY_TOO_LARGE");
    // Nobody knows how long it is before it ends.
    let mut wire = server
        .request("POST", "/v1/records")
        .header("content-type", "application/json")
        .header("transfer-encoding", "chunked")
        .header("connection", "close")
        .open();
    let chunk = vec![b'x'; 64 * 1024];
    for _ in 0..80 {
        wire.write(format!("{:x}\r\n", chunk.len()).as_bytes());
        wire.write(&chunk);
        wire.write(b"\r\n");
    }
    wire.write(b"0\r\n\r\n");
    let reply = wire.reply();
    assert_eq!((reply.status, reply.code().as_str()), (413, "BODY_TOO_LARGE"));
    // As large as it may be.
    let fits = note("th_a", 0, &"x".repeat(DOOR - note("th_a", 0, "").len() - 64));
    assert_eq!(server.post("/v1/records", fits).status, 201);
}

/// A client that asks first is told before it sends.
#[test]
fn a_client_that_asks_first_sends_nothing_for_nothing() {
    let server = Server::start();
    let mut wire = server
        .request("POST", "/v1/records")
        .header("content-type", "application/json")
        .header("content-length", "5000000")
        .header("expect", "100-continue")
        .header("connection", "close")
        .open();
    let (status, _) = wire.reply_head();
    assert_eq!(status, 413);
}

/// Five bytes may ask for three hundred: what is stored has a bound of its own.
#[test]
fn numbers_that_swell_are_bounded() {
    let server = Server::start();
    let count = (39 * DOOR / 40 - 200) / "1e308,".len();
    let swelling = format!("{{\"n\":[{}0]}}", "1e308,".repeat(count));
    check(&server, with_body(&swelling), 413, "BODY_TOO_LARGE");
    let few = format!("{{\"n\":[{}0]}}", "1e308,".repeat(1000));
    let reply = server.post("/v1/records", with_body(&few));
    assert_eq!(reply.status, 201);
    assert!(reply.body.len() > 300_000, "every digit is in the answer");
}

#[test]
fn no_member_is_magic() {
    let server = Server::start();
    let body = r#"{"$serde_json::private::Number":"12"}"#;
    let reply = server.post("/v1/records", with_body(body));
    assert_eq!(reply.status, 201);
    assert!(reply.text().contains(body), "{}", reply.text());
}

#[test]
fn integers_keep_every_digit_on_the_way_through() {
    let server = Server::start();
    let sent = r#"{"big":18446744073709551616,"float":1e22,"small":1e-5,"whole":1.0}"#;
    let kept =
        r#"{"big":18446744073709551616,"float":10000000000000000000000,"small":1e-05,"whole":1}"#;
    let stored = server.post("/v1/records", with_body(sent));
    assert!(stored.text().contains(kept), "{}", stored.text());
    let found = server.get(&format!("/v1/records/{}", stored.string("id")));
    assert!(found.text().contains(kept), "{}", found.text());
}
