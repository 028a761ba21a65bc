//! Paths and what stands behind them: each is answered, and decoded once.

use std::sync::LazyLock;

use axum::body::{Body, to_bytes};
use axum::http::{Request, Uri, header};
use percent_encoding::percent_decode_str;
use spl::canon::{Limits, Value, parse};
use spl::engine::{Caller, Engine};
use spl::http::{Access, ApiState, router};
use spl::object;
use tokio::runtime::Runtime;
use tower::ServiceExt as _;

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    builder.worker_threads(1).enable_all().build().expect("a runtime")
});

static ROUTES: LazyLock<axum::Router> = LazyLock::new(|| {
    let engine = Engine::in_memory().expect("an engine");
    for thread in ["th_a", "a/b", "a%2Fb", "a b+c", "caf\u{e9}"] {
        let record = object! {
            "act": "KNOW",
            "actor": "did:sync:user:vera",
            "body": object! { "text": "x" },
            "clock": 0_i64,
            "thread": thread,
        };
        let record = Value::from(record).to_string();
        engine.ingest(&Caller::operator(), record.as_bytes()).expect("stored");
    }
    router(ApiState::new(engine, Access::InsecureLocalhost { port: 9100 }))
});

/// Checks that a request for this target is answered with what it asks for or with a refusal, never
/// with a failure; and that the state of a thread is that of the thread whose name stands in the path.
/// Returns whether something was there.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    // What is no target is refused before there is a request.
    let Ok(target) = Uri::try_from(bytes) else { return false };
    let named = thread_in(target.path());
    let request = Request::get(target).header(header::HOST, "127.0.0.1:9100");
    let Ok(request) = request.body(Body::empty()) else { return false };
    let (status, media, body) = RUNTIME.block_on(async {
        let answer = ROUTES.clone().oneshot(request).await.expect("an answer");
        let status = answer.status().as_u16();
        let media = answer.headers().get(header::CONTENT_TYPE).cloned();
        let media = media.and_then(|it| it.to_str().ok().map(str::to_owned)).unwrap_or_default();
        // A stream does not end.
        let is_whole = media != "text/event-stream";
        let body = if is_whole { Some(to_bytes(answer.into_body(), 1 << 24).await) } else { None };
        (status, media, body.map(|body| body.expect("a body")))
    });
    assert!(status < 500, "{status}");
    if media != "application/json" {
        return status == 200;
    }
    let body = parse(&body.expect("a body"), Limits::STORED).expect("JSON");
    let is = |key: &str| body.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    if status >= 400 {
        assert_eq!(is("object"), "error");
        assert_eq!(is("code"), is("error"));
    } else if let Some(thread) = named {
        assert_eq!(is("thread"), thread);
    }
    status == 200
}

/// Returns the thread of whose state a path is, decoded once.
fn thread_in(path: &str) -> Option<String> {
    let name = path.strip_prefix("/v1/threads/")?.strip_suffix("/state")?;
    if name.contains('/') {
        return None;
    }
    percent_decode_str(name).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}
