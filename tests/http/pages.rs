//! What a web page can do to a server on the machine of whoever visits it: nothing.

use spl::http::Front;

use crate::client::{Reply, Request, Server, note};

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

/// It serves none, so a page that says so is somebody else's: of another user's server on the same
/// port of another address, for example.
#[test]
fn not_even_a_page_of_this_server_is_at_home() {
    let server = Server::start();
    for host in ["127.0.0.1", "localhost", "[::1]", "LocalHost"] {
        let host = format!("{host}:{}", server.insecure_port);
        let post = || {
            let media = "Application/JSON; charset=utf-8";
            let post = server.insecure("POST", "/v1/records").header("host", &host);
            post.header("content-type", media).body(note(&format!("th_{host}"), 0, "x"))
        };
        assert_eq!(post().header("origin", &format!("http://{host}")).send().status, 403, "{host}");
        assert_eq!(post().send().status, 201, "{host}");
    }
}

fn origins(clock: i64, origins: &str) -> String {
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{clock},
            "body":{{"topic":"auth_cors_origins","origins":{origins}}}}}"#
    )
}

/// Returns the headers of an answer that are for browsers.
fn cors(reply: &Reply) -> Vec<String> {
    let headers = reply.headers.iter();
    let cors = headers.filter(|(name, _)| name.starts_with("access-control") || name == "vary");
    let mut shown: Vec<String> = cors.map(|(name, value)| format!("{name}: {value}")).collect();
    shown.sort();
    shown
}

#[test]
fn a_listed_page_asks_where_bearers_are_asked_for() {
    let server = Server::start();
    let token = server.token("records:read,records:write");
    let page = "https://app.example:8443";
    let preflight = |request: Request| {
        request
            .header("access-control-request-method", "POST")
            .header("access-control-request-headers", "authorization,content-type")
    };
    let options = || preflight(server.tcp("OPTIONS", "/v1/records"));
    let forbidden = |request: Request| {
        let reply = request.send();
        let told = (reply.status, reply.code());
        assert_eq!((told, cors(&reply)), ((403, "ORIGIN_FORBIDDEN".into()), Vec::new()));
    };
    forbidden(options().header("origin", page));
    let list = server.post("/v1/records", origins(0, r#"["https://App.example:8443"]"#));
    assert_eq!(list.status, 201, "{}", list.text());

    let told = options().header("origin", page).send();
    assert_eq!((told.status, told.text()), (204, String::new()));
    insta::assert_snapshot!("what_a_browser_is_told", cors(&told).join("\n"));
    let post = || server.tcp("POST", "/v1/records").header("origin", page);
    let made = post().bearer(&token).json(note("th_a", 0, "x")).send();
    assert_eq!(made.status, 201, "{}", made.text());
    insta::assert_snapshot!("what_a_page_may_read", cors(&made).join("\n"));
    // It has to say who asks, and it may read why it was refused.
    let refused = post().json(note("th_a", 1, "x")).send();
    assert_eq!((refused.status, cors(&refused)), (401, cors(&made)));
    let form = post().bearer(&token).header("content-type", "text/plain").body("{}").send();
    assert_eq!((form.status, cors(&form)), (415, cors(&made)));
    assert_eq!(cors(&server.tcp("GET", "/health").send()), Vec::<String>::new());

    // Nobody else, and nowhere else.
    let near = ["https://app.example", "http://app.example:8443", "https://x.app.example:8443"];
    for origin in near.into_iter().chain(["null", "", "https://App.example:8443"]) {
        forbidden(options().header("origin", origin));
    }
    forbidden(options().header("origin", page).header("origin", page));
    forbidden(preflight(server.insecure("OPTIONS", "/v1/records")).header("origin", page));
    forbidden(server.insecure("GET", "/health").header("origin", page));

    let none = server.post("/v1/records", origins(1, "[]"));
    assert_eq!(none.status, 201, "{}", none.text());
    forbidden(options().header("origin", page));
}

#[test]
fn the_list_of_origins_is_the_operator_s_to_write() {
    let server = Server::start();
    let token = server.token("records:read,records:write,config:read,config:write");
    let post = |body: &str| server.tcp("POST", "/v1/records").bearer(&token).json(body).send();
    let refused = post(&origins(0, r#"["https://evil.example"]"#));
    assert_eq!((refused.status, refused.code().as_str()), (403, "CONFIG_WRITE_DENIED"));
    for bad in [r#""*""#, r#"["*"]"#, r#"["null"]"#, r#"["https://a.example/"]"#, "[1]", "null"] {
        // Nobody learns more who may not write it.
        assert_eq!(post(&origins(0, bad)).json(), refused.json(), "{bad}");
        let reply = server.post("/v1/records", origins(0, bad));
        let told = (reply.status, reply.code(), reply.string("field"));
        assert_eq!(told, (422, "INVALID_BODY".into(), "origins".into()), "{bad}");
    }
    let many: Vec<String> = (0..65).map(|n| format!("\"https://{n}.example\"")).collect();
    let reply = server.post("/v1/records", origins(0, &format!("[{}]", many.join(","))));
    assert_eq!(reply.status, 422, "{}", reply.text());
}

#[test]
fn a_configured_name_is_a_host_where_bearers_are_asked_for() {
    let names = vec!["spl.example".into(), "other.example:8443".into()];
    let server = Server::behind(&Front::default().known_as(names));
    let token = server.token("records:read");
    let with_port = format!("spl.example:{}", server.port);
    for host in ["spl.example", "SPL.Example", with_port.as_str(), "other.example:8443"] {
        let get = || server.tcp("GET", "/v1/threads").header("host", host);
        assert_eq!(get().bearer(&token).send().status, 200, "{host}");
        assert_eq!(get().send().status, 401, "{host}");
        let page = get().bearer(&token).header("origin", &format!("http://{host}")).send();
        assert_eq!(page.status, 403, "{host}");
        let insecure = server.insecure("GET", "/v1/threads").header("host", host).send();
        assert_eq!((insecure.status, insecure.code().as_str()), (403, "ORIGIN_FORBIDDEN"));
    }
    for host in ["spl.example:1", "other.example", "evil.example", "spl.example.evil.example"] {
        let get = server.tcp("GET", "/v1/threads").header("host", host).bearer(&token).send();
        assert_eq!(get.status, 403, "{host}");
    }
}

/// A route that takes no body takes no form either.
#[test]
fn what_a_form_sends_is_taken_by_no_route() {
    let server = Server::start();
    for (method, path) in [("POST", "/v1/engine/sweep"), ("DELETE", "/v1/tokens/none")] {
        let request = || server.insecure(method, path);
        let form = request().header("content-type", "text/plain").body("x=1").send();
        assert_eq!((form.status, form.code().as_str()), (415, "UNSUPPORTED_MEDIA_TYPE"), "{path}");
        assert_ne!(request().send().status, 415, "{path}");
        assert_ne!(request().json("{}").send().status, 415, "{path}");
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
