//! The first account of an instance, and everything before it.

use spl::http::{BootstrapToken, Front, ServerLimits};
use spl::store::TokenId;

use crate::client::{Request, Server, unlimited};

const TOKEN: &str = "a first word, once";
const PATH: &str = "/v1/bootstrap/service-account";

fn front() -> Front {
    Front::default().opened_by(BootstrapToken::parse(TOKEN).expect("a token"))
}

fn post(server: &Server, body: &str) -> Request {
    server.tcp("POST", PATH).json(body)
}

#[test]
fn a_token_is_sixteen_printable_characters_or_more() {
    for good in ["0123456789abcdef", TOKEN, "~!@#$%^&*()_+{}|", &"x".repeat(256)] {
        assert!(BootstrapToken::parse(good).is_some(), "{good}");
    }
    let long = "x".repeat(257);
    for bad in [
        "",
        "0123456789abcde",
        &long,
        "0123456789abcde\n",
        "\t123456789abcdef ",
        "0123456789abcd\u{e9}",
    ] {
        assert!(BootstrapToken::parse(bad).is_none(), "{bad:?}");
    }
    assert!(BootstrapToken::parse(" 0123456789abcdef").is_none(), "no header can say so");
    assert_eq!(format!("{:?}", BootstrapToken::parse(TOKEN)), "Some(BootstrapToken)");
}

#[test]
fn an_instance_without_an_account_says_so_to_whoever_needs_one() {
    let server = Server::without_token(&Front::default(), unlimited());
    let required = server.tcp("GET", "/v1/threads").send();
    insta::assert_snapshot!("bootstrap_required", required.shown());
    assert_eq!(required.status, 503);
    for request in [
        server.tcp("GET", "/v1/threads").bearer("spl_prod_x_y"),
        server.tcp("POST", "/v1/records").json("{"),
        server.tcp("GET", "/metrics").header("x-api-key", TOKEN),
        server.tcp("GET", "/v1/health"),
    ] {
        let reply = request.send();
        assert_eq!((reply.status, reply.json()), (503, required.json()));
    }
    for open in ["/health", "/health/ready", "/openapi.json"] {
        assert_eq!(server.tcp("GET", open).send().status, 200, "{open}");
    }
    assert_eq!(server.request("GET", "/v1/threads").send().status, 200);
    assert_eq!(server.insecure("GET", "/v1/threads").send().status, 200);
    // What the operator makes locally is an account too.
    let token = server.token("records:read");
    assert_eq!(server.tcp("GET", "/v1/threads").send().status, 401);
    assert_eq!(server.tcp("GET", "/v1/threads").bearer(&token).send().status, 200);
}

#[test]
fn whoever_has_the_token_makes_the_first_account_once() {
    let server = Server::without_token(&front(), unlimited());
    let made = post(&server, "{}").bearer(TOKEN).send();
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.string("object"), "bootstrap_result");
    assert_eq!(made.string("service_account_id"), "sa-bootstrap-env");
    assert_eq!(made.string("namespace"), "default");
    let bearer = made.string("bearer");
    assert!(bearer.starts_with("spl_prod_sa-bootstrap-env_"), "{bearer}");
    let secret = bearer.rsplit_once('_').expect("a secret").1;
    assert_eq!(made.string("token_id"), TokenId::of_secret(secret).as_str());
    for record in ["sa_record_id", "token_record_id"] {
        let found = server.get(&format!("/v1/records/{}", made.string(record)));
        assert_eq!(found.status, 200, "{record}: {}", found.text());
        assert!(!found.text().contains(secret));
    }
    // It may do everything: write a hook, for example.
    let hook = r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
        "body":{"kind":"core.hook.v1","topic":"hook","name":"h","when":"true","text":"t"}}"#;
    let wrote = server.tcp("POST", "/v1/records").bearer(&bearer).json(hook).send();
    assert_eq!(wrote.status, 201, "{}", wrote.text());
    // The token of the start opens this door and nothing behind it.
    assert_eq!(server.tcp("GET", "/v1/threads").bearer(TOKEN).send().status, 401);

    let again = post(&server, "{}").bearer(TOKEN).send();
    insta::assert_snapshot!("bootstrap_closed", again.shown());
    assert_eq!((again.status, again.code().as_str()), (409, "BOOTSTRAP_CLOSED"));
    assert_eq!(post(&server, "no JSON").bearer(TOKEN).send().json(), again.json());
    assert_eq!(server.engine.store().read(|it| it.accounts()).expect("accounts").len(), 1);
}

#[test]
fn an_account_may_bring_an_id_a_token_and_less_than_everything() {
    let server = Server::without_token(&front(), unlimited());
    let id = TokenId::of_secret("s3cret");
    let body = format!(
        r#"{{"service_account_id":"sa-ci","display_name":"CI","scopes":["records:read"],
            "namespace":"acme","with_token":{{"token_id":"{}","env_tag":"test",
            "created_at":"2026-11-30T00:00:00Z"}}}}"#,
        id.as_str()
    );
    let made = post(&server, &body).bearer(TOKEN).send();
    assert_eq!(made.status, 201, "{}", made.text());
    assert_eq!(made.string("service_account_id"), "sa-ci");
    assert_eq!(made.string("token_id"), id.as_str());
    assert_eq!(made.json().get("bearer"), None, "nobody here knows it");
    let get = |path: &str| server.tcp("GET", path).bearer("spl_test_sa-ci_s3cret").send();
    assert_eq!(get("/v1/threads").status, 200);
    assert_eq!(get("/v1/config/hooks").status, 403);
}

#[test]
fn what_does_not_read_makes_no_account() {
    let server = Server::without_token(&front(), unlimited());
    let id = TokenId::of_secret("s3cret");
    let with_token = format!(r#"{{"with_token":{{"token_id":"{}"}}}}"#, id.as_str().to_uppercase());
    for (body, field) in [
        (r#"{"service_account_id":"ci"}"#, "service_account_id"),
        (r#"{"service_account_id":7}"#, "service_account_id"),
        (r#"{"display_name":""}"#, "display_name"),
        (r#"{"scopes":[]}"#, "scopes"),
        (r#"{"scopes":["everything"]}"#, "scopes"),
        (r#"{"namespace":"NO NO"}"#, "namespace"),
        (r#"{"with_token":{}}"#, "token_id"),
        (with_token.as_str(), "token_id"),
        (r#"{"with_token":7}"#, "with_token"),
        (r#"{"more":1}"#, "more"),
    ] {
        let reply = post(&server, body).bearer(TOKEN).send();
        assert_eq!((reply.status, reply.code().as_str()), (422, "INVALID_BODY"), "{body}");
        assert_eq!(reply.string("field"), field, "{body}: {}", reply.text());
    }
    assert!(!server.engine.has_accounts().expect("read"));
}

/// Whether there is a token, whether there is an account, and what of it was right: the same words.
#[test]
fn without_the_token_nothing_is_told() {
    let open = Server::without_token(&front(), unlimited());
    let closed = Server::behind(&front());
    let without = Server::without_token(&Front::default(), unlimited());
    let wrong: [fn(Request) -> Request; 7] = [
        |it| it,
        |it| it.bearer(""),
        |it| it.bearer("a first word, onc"),
        |it| it.bearer("a first word, once!"),
        |it| it.header("authorization", "Basic a first word, once"),
        |it| it.header("x-api-key", "A first word, once"),
        |it| it.bearer("other words, many").header("x-api-key", TOKEN),
    ];
    let told = post(&open, "{}").send();
    assert_eq!((told.status, told.code().as_str()), (503, "BOOTSTRAP_REQUIRED"));
    for server in [&open, &closed, &without] {
        for wrong in wrong {
            let reply = wrong(post(server, r#"{"scopes":["everything"]}"#)).send();
            assert_eq!((reply.status, reply.json()), (503, told.json()));
        }
        let socket = server.request("POST", PATH).json("{}").send();
        assert_eq!((socket.status, socket.json()), (503, told.json()));
    }
    assert_eq!(post(&without, "{}").bearer(TOKEN).send().json(), told.json());
    assert_eq!(post(&closed, "{}").bearer(TOKEN).send().code(), "BOOTSTRAP_CLOSED");
    assert!(!open.engine.has_accounts().expect("read"));
    assert_eq!(post(&open, "{}").header("x-api-key", TOKEN).send().status, 201);
}

/// It may be a word that a person has thought of, so it cannot be guessed at leisure.
#[test]
fn whoever_guesses_the_token_is_told_to_wait_with_the_right_one_too() {
    let server = Server::without_token(&front(), ServerLimits::default());
    for n in 0..10 {
        let guess = post(&server, "{}").bearer(&format!("a wrong word, {n} times")).send();
        assert_eq!(guess.status, 503, "{}", guess.text());
    }
    let told = post(&server, "{}").bearer("a wrong word, once").send();
    assert_eq!((told.status, told.code().as_str()), (429, "RATE_LIMITED"));
    let right = post(&server, "{}").bearer(TOKEN).send();
    assert_eq!((right.status, right.json()), (429, told.json()));
    assert_eq!(server.request("POST", PATH).json("{}").bearer(TOKEN).send().status, 201);
}

#[test]
fn of_many_at_once_one_makes_the_account() {
    let server = Server::without_token(&front(), unlimited());
    let statuses: Vec<u16> = std::thread::scope(|scope| {
        let server = &server;
        let ask = || post(server, "{}").bearer(TOKEN).send().status;
        let asking: Vec<_> = (0..16).map(|_| scope.spawn(ask)).collect();
        asking.into_iter().map(|it| it.join().expect("an answer")).collect()
    });
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 15, "{statuses:?}");
}
