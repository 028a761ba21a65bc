//! Who is refused for asking too often: who fails to say who asks, and nobody else unless it is set.

use spl::http::ServerLimits;

use crate::client::{Request, Server};

/// What a server does by default.
fn start() -> Server {
    Server::with_limits(ServerLimits::default())
}

#[track_caller]
fn check(request: &Request, status: u16) {
    let reply = request.send();
    assert_eq!(reply.status, status, "{}", reply.text());
}

#[test]
fn whoever_fails_ten_times_a_minute_is_told_to_wait() {
    let server = start();
    let token = server.token("records:read");
    let guess = |bearer: &str| server.tcp("GET", "/v1/threads").bearer(bearer);
    for n in 0..10 {
        check(&guess(&format!("spl_prod_x_{n}")), 401);
    }
    let refused = guess("spl_prod_x_11").send();
    assert_eq!(refused.status, 429);
    insta::assert_snapshot!("too_often", refused.shown());
    let wait = refused.header("retry-after").and_then(|it| it.parse().ok()).expect("a time");
    assert!((1..=60_u32).contains(&wait), "{wait}");
    // Whatever is wrong, and wherever.
    for request in [
        guess(""),
        guess(&format!("{token}0")),
        server.tcp("GET", "/v1/threads"),
        server.tcp("POST", "/v1/records").json("{"),
        server.tcp("DELETE", "/v1/tokens/x"),
    ] {
        let reply = request.send();
        assert_eq!((reply.status, reply.json()), (429, refused.json()));
    }
    // Who says who asks does not pay for it, on this address or on any other way.
    check(&guess(&token), 200);
    check(&server.tcp("GET", "/health"), 200);
    check(&server.insecure("GET", "/v1/threads"), 200);
    check(&server.request("GET", "/v1/threads"), 200);
    // Nor does what is refused for something else.
    check(&server.tcp("POST", "/v1/tokens").bearer(&token).json("{}"), 403);
}

/// The other address is one of this machine as well: on Linux all of 127.0.0.0/8 is.
#[cfg(target_os = "linux")]
#[test]
fn one_address_does_not_pay_for_another() {
    let server = start();
    let request = || server.tcp("GET", "/v1/threads");
    for _ in 0..10 {
        check(&request(), 401);
    }
    check(&request(), 429);
    check(&request().from("127.0.0.2"), 401);
    check(&request().from("127.0.0.3"), 401);
    check(&request(), 429);
}

#[test]
fn a_caller_is_held_to_what_is_set() {
    let limits = ServerLimits { requests_per_minute: Some(3), ..ServerLimits::default() };
    let server = Server::with_limits(limits);
    let (one, other) = (server.token("records:read"), server.home.token().expect("read"));
    let other = other.expect("a token");
    let get = |token: &str| server.tcp("GET", "/v1/threads").bearer(token);
    for _ in 0..3 {
        check(&get(&one), 200);
    }
    let refused = get(&one).send();
    assert_eq!((refused.status, refused.code().as_str()), (429, "RATE_LIMITED"));
    assert!(refused.header("retry-after").is_some());
    check(&get(&other), 200);
    for _ in 0..10 {
        check(&server.request("GET", "/v1/threads"), 200);
        check(&server.insecure("GET", "/v1/threads"), 200);
    }
}

#[test]
fn no_limit_is_none() {
    let server = Server::start();
    for _ in 0..30 {
        check(&server.tcp("GET", "/v1/threads"), 401);
    }
}
