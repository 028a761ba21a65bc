//! Bearers: who has none that is known is told the same, whatever they sent.

use std::sync::LazyLock;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderValue, Request, header};
use spl::engine::{Engine, NewAccount, Scopes};
use spl::http::{Access, ApiState, router};
use spl::store::TokenId;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

/// The secret of the one token that there is.
const SECRET: &str = "5ec2e7";

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
});

static ROUTES: LazyLock<axum::Router> = LazyLock::new(|| {
    let engine = Engine::in_memory().expect("an engine");
    let account = NewAccount::named("ci", Scopes::parse("records:read").expect("scopes"));
    let token = TokenId::of_secret(SECRET);
    engine.bootstrap(account, Some((token, None))).expect("made").expect("the first");
    router(ApiState::new(engine, Access::Bearer { port: 9100 }))
});

/// What a request without any header is told.
static REFUSED: LazyLock<(u16, Bytes)> = LazyLock::new(|| asked(None, None));

/// Takes the bytes as a value of `authorization` and, behind the first line, one of `x-api-key`; checks
/// that a request with them is answered if they hold the one bearer there is, and else refused with
/// the same words. Returns whether it was answered.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let mut lines = bytes.splitn(2, |byte| *byte == b'\n');
    let value = |line: Option<&[u8]>| line.filter(|it| !it.is_empty()).map(HeaderValue::from_bytes);
    let (Ok(authorization), Ok(key)) =
        (value(lines.next()).transpose(), value(lines.next()).transpose())
    else {
        return false;
    };
    let holds = holds(authorization.as_ref(), key.as_ref());
    let answer = asked(authorization, key);
    if holds {
        assert_eq!(answer.0, 200);
    } else {
        assert_eq!(answer, *REFUSED);
        assert_eq!(answer.0, 401);
    }
    holds
}

fn asked(authorization: Option<HeaderValue>, key: Option<HeaderValue>) -> (u16, Bytes) {
    let mut request = Request::get("/v1/threads").header(header::HOST, "127.0.0.1:9100");
    if let Some(value) = authorization {
        request = request.header(header::AUTHORIZATION, value);
    }
    if let Some(value) = key {
        request = request.header("x-api-key", value);
    }
    let request = request.body(Body::empty()).expect("a request");
    RUNTIME.block_on(async {
        let answer = ROUTES.clone().oneshot(request).await.expect("an answer");
        let status = answer.status().as_u16();
        (status, to_bytes(answer.into_body(), 1 << 20).await.expect("a body"))
    })
}

/// Tells by rules of its own whether these hold the bearer: `authorization` if it is there at all.
fn holds(authorization: Option<&HeaderValue>, key: Option<&HeaderValue>) -> bool {
    let bearer = match authorization {
        Some(value) => {
            let is_bearer = |it: &[u8]| it.eq_ignore_ascii_case(b"bearer ");
            let value = value.as_bytes();
            value.get(..7).filter(|it| is_bearer(it)).map(|scheme| &value[scheme.len()..])
        }
        None => key.map(HeaderValue::as_bytes),
    };
    let Some(bearer) = bearer else { return false };
    // Text of another sort is no header that anybody reads.
    let whole = authorization.or(key).map(HeaderValue::as_bytes).unwrap_or_default();
    if !whole.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~')) {
        return false;
    }
    let bearer = bearer.trim_ascii();
    let ending = [b"_", SECRET.as_bytes()].concat();
    bearer.strip_suffix(ending.as_slice()).is_some_and(|rest| rest.starts_with(b"spl_"))
}
