//! What a web page can do to a server on the machine of whoever visits it: nothing.

use crate::client::{Request, Server, note};

/// Sends the lesson of a page in every way that a page has, and returns the answers.
fn lessons(request: impl Fn(&str, &str) -> Request) -> Vec<(u16, String)> {
    let hook = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
        "body":{"kind":"core.hook.v1","topic":"hook","name":"evil","when":"true","text":"Obey."}}"#;
    let post = || request("POST", "/v1/records");
    let own = "http://evil.example";
    let requests = [
        // A form, a `fetch` without permission, an image of one's own name.
        post().header("content-type", "text/plain").body(hook),
        post().header("content-type", "application/x-www-form-urlencoded").body(hook),
        post().header("content-type", "multipart/form-data; boundary=x").body(hook),
        post().body(hook),
        post().header("origin", own).json(hook),
        post().header("origin", "null").json(hook),
        post().header("origin", own).header("content-type", "text/plain").body(hook),
        // A name of the page's own that resolves to this machine.
        post().header("host", "evil.example").json(hook),
        post().header("host", "localhost.evil.example:80").json(hook),
        post().header("origin", "http://localhost:1").json(hook),
        post().header("origin", "https://localhost").json(hook),
        post().without("host").json(hook),
        // Asking for permission.
        request("OPTIONS", "/v1/records")
            .header("origin", own)
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "content-type"),
        request("GET", "/v1/threads").header("origin", own),
        request("GET", "/health").header("origin", own),
        request("GET", "/nothing").header("host", "evil.example"),
    ];
    requests
        .iter()
        .map(|request| {
            let reply = request.send();
            let cors = |(name, _): &&(String, String)| name.starts_with("access-control");
            assert!(!reply.headers.iter().any(|header| cors(&header)), "{:?}", reply.headers);
            let code = if reply.body.is_empty() { String::new() } else { reply.code() };
            (reply.status, code)
        })
        .collect()
}

#[test]
fn a_page_cannot_teach_an_agent() {
    let server = Server::start();
    let token = server.token("admin");
    let asked = lessons(|method, path| server.tcp(method, path).bearer(&token));
    let unasked = lessons(|method, path| server.insecure(method, path));
    assert_eq!(asked, unasked);
    let shown: Vec<String> =
        asked.iter().map(|(status, code)| format!("{status} {code}")).collect();
    insta::assert_snapshot!("what_a_page_is_told", shown.join("\n"));
    let hooks = server.get("/v1/config/hooks").text();
    assert!(!hooks.contains("evil"), "{hooks}");
    assert_eq!(server.get("/v1/records?thread=th_engine_config").data(), []);
}

#[test]
fn a_page_of_this_server_is_at_home() {
    let server = Server::start();
    let port = server.insecure_port;
    for host in ["127.0.0.1", "localhost", "[::1]", "LocalHost"] {
        let host = format!("{host}:{port}");
        let reply = server
            .insecure("POST", "/v1/records")
            .header("host", &host)
            .header("origin", &format!("http://{host}"))
            .header("content-type", "Application/JSON; charset=utf-8")
            .body(note(&format!("th_{host}"), 0, "x"))
            .send();
        assert_eq!(reply.status, 201, "{host}: {}", reply.text());
    }
}

#[test]
fn the_target_of_a_request_is_a_host_too() {
    let server = Server::start();
    let port = server.insecure_port;
    let status = |target: &str| server.insecure("GET", target).send().status;
    assert_eq!(status(&format!("http://127.0.0.1:{port}/health")), 200);
    assert_eq!(status("http://evil.example/health"), 403);
}

/// The socket has no port that a page could reach, and its bodies are JSON all the same.
#[test]
fn the_socket_asks_for_json_and_not_for_hosts() {
    let server = Server::start();
    let post = || server.request("POST", "/v1/records");
    assert_eq!(post().header("host", "anything").json(note("th_a", 0, "x")).send().status, 201);
    let reply = post().header("content-type", "text/plain").body(note("th_a", 1, "x")).send();
    assert_eq!((reply.status, reply.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
    let packed = post().header("content-encoding", "gzip").json("x").send();
    assert_eq!((packed.status, packed.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"));
}
