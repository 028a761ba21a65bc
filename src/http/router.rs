//! From a request to its route and back: the checks in front of every route, in their one order.

use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody as _};
use axum::extract::{FromRequestParts as _, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderName, HeaderValue, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, on};
use futures_util::{FutureExt as _, StreamExt as _};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use tracing::Instrument as _;

use super::call::{Call, Parameters};
use super::endpoint::{Does, Endpoint, Method, Needs, endpoints};
use super::problem::Problem;
use super::{ApiState, bootstrap, cors, front, guard, permit};
use crate::canon::hex;
use crate::code::Code;
use crate::engine::Caller;
use crate::identity::random_bytes;
use crate::time::Stopwatch;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Returns the routes over `state`.
///
/// They need nothing of a connection, so a process may call them itself; they do need a runtime
/// that keeps time.
pub fn router(state: ApiState) -> Router {
    route(state, endpoints())
}

fn route(state: ApiState, endpoints: impl IntoIterator<Item = &'static Endpoint>) -> Router {
    let mut router = Router::new();
    for endpoint in endpoints {
        let filter = match endpoint.method {
            Method::Get => MethodFilter::GET,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        let serve = move |State(state): State<ApiState>, request: Request| async move {
            enter(state, endpoint, request).await
        };
        router = router.route(endpoint.path, on(filter, serve));
    }
    router
        .fallback(async || Problem::missing("there is no such path"))
        .method_not_allowed_fallback(async || {
            Problem::new(Code::MethodNotAllowed, "this path does not take this method")
        })
        .layer(from_fn_with_state(state.clone(), outermost))
        .with_state(state)
}

/// What surrounds every request, also one without a route: its id, the guard, its line in the log,
/// and an answer even if something panics.
async fn outermost(State(state): State<ApiState>, request: Request, next: Next) -> Response {
    let id = request_id();
    let span = tracing::debug_span!(
        "request",
        id,
        method = %request.method(),
        path = request.uri().path()
    );
    let took = Stopwatch::start();
    let (parts, body) = request.into_parts();
    let page = guarded(&state, &parts).await;
    let listed = page.as_ref().ok().cloned().flatten();
    let response = match page {
        Ok(Some(_)) if cors::is_preflight(&parts) => cors::preflight(),
        Ok(_) => {
            let answer = next.run(Request::from_parts(parts, body));
            let answer = AssertUnwindSafe(answer).catch_unwind().instrument(span.clone()).await;
            answer.unwrap_or_else(|_| Problem::internal("a route panicked").into_response())
        }
        Err(problem) => problem.into_response(),
    };
    let _inside = span.enter();
    let mut response = dress(response, &id);
    if let Some(origin) = listed {
        cors::let_read(&mut response, origin);
    }
    let status = response.status().as_u16();
    tracing::debug!(status, took_us = took.elapsed().as_micros(), "answered");
    response
}

/// Returns the origin of the page that makes a request, if a page does and may. Where no page gets
/// to, nobody is asked.
async fn guarded(state: &ApiState, parts: &Parts) -> Result<Option<HeaderValue>, Problem> {
    let Some(port) = state.access().port() else { return Ok(None) };
    let names = if state.access().asks() { state.front().names() } else { &[] };
    guard::check(port, names, parts)?;
    cors::admit(state, &parts.headers).await
}

fn request_id() -> String {
    // Names a line in the log and nothing else, so a system without randomness may go on.
    hex(&random_bytes::<8>().unwrap_or_default())
}

/// Writes the answer of a refusal, and the headers that every answer has.
fn dress(mut response: Response, id: &str) -> Response {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        let written = problem.answer(id);
        // What the router itself says about the path, such as `allow`, stays.
        let said = std::mem::replace(&mut response, written);
        for (name, value) in said.headers() {
            if name != header::CONTENT_LENGTH {
                response.headers_mut().entry(name).or_insert(value.clone());
            }
        }
    }
    let headers = response.headers_mut();
    if let Ok(id) = HeaderValue::from_str(id) {
        headers.insert(REQUEST_ID, id);
    }
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}

/// Takes a request through the checks in front of its route.
async fn enter(state: ApiState, endpoint: &'static Endpoint, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let admitted = admit(&state, endpoint, &mut parts).await;
    let (caller, [segment, second], query) = match admitted {
        Ok(admitted) => admitted,
        Err(problem) => {
            skip(&state, endpoint.body_bytes(&state.limits()), &parts, body).await;
            return problem.into_response();
        }
    };
    let body = match endpoint.takes {
        Some(_) => {
            let limit = endpoint.body_bytes(&state.limits());
            read(&state, limit, &parts, body).await
        }
        None => Ok(Bytes::new()),
    };
    let (asker, claim) = (caller.clone(), permit::claim(&parts.headers));
    let answer = async {
        let state = state.seen_by(&caller);
        let call = Call { caller, segment, second, query, headers: parts.headers, body: body? };
        match endpoint.does {
            Does::Answers(answer) => {
                let answer = move |state: &ApiState| {
                    permit::check(state, endpoint, &call)?;
                    answer(state, &call)
                };
                waiting(&state, answer).await
            }
            Does::Streams(stream) => {
                let call = permitted(&state, endpoint, call).await?;
                stream(state, call).await
            }
        }
    };
    answer.await.unwrap_or_else(|problem: Problem| {
        permit::note(&state, endpoint, &asker, claim.as_ref(), &problem);
        problem.into_response()
    })
}

/// Asks the permission rules about a request whose answer goes on for long.
async fn permitted(
    state: &ApiState,
    endpoint: &'static Endpoint,
    call: Call,
) -> Result<Call, Problem> {
    let state = state.clone();
    spawn_blocking(move || permit::check(&state, endpoint, &call).map(|()| call))
        .await
        .unwrap_or_else(|failure| Err(Problem::internal(format!("asking failed: {failure}"))))
}

/// Runs `work`, which may wait for the store, beside the requests that do not.
async fn waiting<T>(
    state: &ApiState,
    work: impl FnOnce(&ApiState) -> Result<T, Problem> + Send + 'static,
) -> Result<Response, Problem>
where
    T: axum::response::IntoResponse + Send + 'static,
{
    let (own, span) = (state.clone(), tracing::Span::current());
    let work = spawn_blocking(move || span.in_scope(|| work(&own)));
    match timeout(state.limits().answer, work).await {
        Ok(Ok(answer)) => answer.map(T::into_response),
        Ok(Err(failure)) => Err(Problem::internal(format!("a route failed: {failure}"))),
        Err(_) => Err(Problem::new(Code::RequestTimeout, "the answer took too long")
            .hint("If this was a write, it may be there; the same write again is safe.")),
    }
}

/// Returns who makes the request, the open segments of its path and its parameters.
async fn admit(
    state: &ApiState,
    endpoint: &Endpoint,
    parts: &mut Parts,
) -> Result<(Caller, [String; 2], Parameters), Problem> {
    let caller = match endpoint.needs {
        // Nobody is asked who they are, so nobody may do anything else either.
        Needs::Nothing => Caller::bearer(crate::engine::Scopes::default()),
        Needs::Bootstrap => {
            asked(state, parts, bootstrap::admit).await?;
            Caller::bearer(crate::engine::Scopes::default())
        }
        _ => asked(state, parts, front::caller).await?,
    };
    endpoint.needs.check(&caller).inspect_err(|problem| {
        permit::note(state, endpoint, &caller, permit::claim(&parts.headers).as_ref(), problem);
    })?;
    if endpoint.takes.is_some() || (endpoint.method != Method::Get && guard::has_body(parts)) {
        guard::check_media(&parts.headers, endpoint.media())?;
    }
    let segments = match RawPathParams::from_request_parts(parts, state).await {
        Ok(segments) => {
            let mut segments = segments.iter().map(|(_, segment)| segment.to_owned());
            [(); 2].map(|()| segments.next().unwrap_or_default())
        }
        Err(_) => return Err(Problem::new(Code::InvalidRequest, "the path is not UTF-8")),
    };
    let known: Vec<&str> = endpoint.query.iter().map(|parameter| parameter.name).collect();
    let query = Parameters::parse(parts.uri.query().unwrap_or_default(), &known)?;
    Ok((caller, segments, query))
}

/// Asks about who makes a request, beside the requests that wait for nothing.
async fn asked<T: Send + 'static>(
    state: &ApiState,
    parts: &Parts,
    ask: fn(&ApiState, &Parts) -> Result<T, Problem>,
) -> Result<T, Problem> {
    let (state, parts) = (state.clone(), parts.clone());
    spawn_blocking(move || ask(&state, &parts))
        .await
        .unwrap_or_else(|failure| Err(Problem::internal(format!("asking failed: {failure}"))))
}

/// Reads the body of a request, as far as one is taken.
async fn read(state: &ApiState, limit: usize, parts: &Parts, body: Body) -> Result<Bytes, Problem> {
    let too_large =
        || Problem::new(Code::BodyTooLarge, format!("a body of at most {limit} bytes is taken"));
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if announced > limit {
        skip(state, limit, parts, body).await;
        return Err(too_large());
    }
    let mut chunks = body.into_data_stream();
    let reading = async {
        let mut bytes = Vec::with_capacity(announced);
        while let Some(chunk) = chunks.next().await {
            let chunk = chunk.map_err(|error| {
                Problem::new(Code::InvalidRequest, format!("the body broke off: {error}"))
            })?;
            if bytes.len() + chunk.len() > limit {
                return Err(too_large());
            }
            bytes.extend_from_slice(&chunk);
        }
        Ok(Bytes::from(bytes))
    };
    let Ok(read) = timeout(state.limits().body, reading).await else {
        return Err(Problem::new(Code::RequestTimeout, "the body took too long"));
    };
    if read.is_err() {
        skip(state, limit, parts, Body::from_stream(chunks)).await;
    }
    read
}

/// Reads over the rest of a body that nobody wants, up to a bound: a client that is still sending
/// would otherwise see its connection break instead of the answer.
async fn skip(state: &ApiState, limit: usize, parts: &Parts, body: Body) {
    const FACTOR: usize = 4;
    // Such a client sends nothing before it is told to go on, and it will not be.
    if parts.headers.contains_key(header::EXPECT) {
        return;
    }
    let mut left = limit.saturating_mul(FACTOR);
    let mut chunks = body.into_data_stream();
    let skipping = async {
        while let Some(Ok(chunk)) = chunks.next().await {
            let Some(rest) = left.checked_sub(chunk.len()) else { break };
            left = rest;
        }
    };
    // Past its time or not, the answer is what it was.
    let _ = timeout(state.limits().body, skipping).await;
}

#[cfg(test)]
mod tests {
    use std::sync::{Condvar, Mutex};
    use std::time::Duration;

    use axum::body::to_bytes;
    use tower::ServiceExt as _;

    use super::super::answer::Answer;
    use super::super::{Access, ServerLimits};
    use super::*;
    use crate::engine::Engine;
    use crate::store::StoreError;

    /// Whether the route that is stuck may go on.
    static RELEASED: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());

    type Route = fn(&ApiState, &Call) -> Result<Answer, Problem>;

    const fn at(path: &'static str, route: Route) -> Endpoint {
        Endpoint {
            method: Method::Get,
            path,
            name: "test",
            summary: "A test.",
            needs: Needs::Nothing,
            resource: None,
            query: &[],
            takes: None,
            answers: &[],
            does: Does::Answers(route),
        }
    }

    const FAILING: &[Endpoint] = &[
        at("/panics", |_, _| panic!("the secret of the house")),
        at("/fails", |_, _| {
            let what = "the secret of the house".to_owned();
            Err(StoreError::Damaged { sequence: 7, what }.into())
        }),
        at("/stuck", |_, _| {
            let mut released = RELEASED.0.lock().expect("a lock");
            while !*released {
                released = RELEASED.1.wait(released).expect("a lock");
            }
            Err(Problem::internal("nobody hears this"))
        }),
        Endpoint {
            does: Does::Streams(|_, _| Box::pin(async { panic!("the secret of the house") })),
            ..at("/breaks", |_, _| Err(Problem::internal("not called")))
        },
    ];

    async fn ask(state: &ApiState, path: &str) -> (u16, String, String) {
        let request = Request::get(path).body(Body::empty()).expect("a request");
        let reply = route(state.clone(), FAILING).oneshot(request).await.expect("an answer");
        let status = reply.status().as_u16();
        let id = reply.headers().get(REQUEST_ID).expect("an id").to_str().expect("text").to_owned();
        let body = to_bytes(reply.into_body(), 10_000).await.expect("a body");
        (status, id, String::from_utf8(body.to_vec()).expect("UTF-8"))
    }

    fn state(limits: ServerLimits) -> ApiState {
        let engine = Engine::in_memory().expect("an engine");
        ApiState::with_limits(engine, Access::SameUser, limits)
    }

    #[tokio::test]
    async fn a_failure_of_ours_says_nothing_but_where_to_look() {
        let state = state(ServerLimits::default());
        for path in ["/panics", "/fails", "/breaks"] {
            let (status, id, body) = ask(&state, path).await;
            assert_eq!(status, 500, "{path}");
            assert!(body.contains(r#""code":"INTERNAL""#), "{path}: {body}");
            assert!(body.contains(r#""message":"internal error""#), "{path}: {body}");
            assert!(!body.contains("secret"), "{path}: {body}");
            assert!(path == "/fails" || body.contains(&id), "{path}: {body}");
        }
        // Nothing is broken for the next one.
        assert_eq!(ask(&state, "/nothing").await.0, 404);
    }

    #[tokio::test]
    async fn an_answer_that_takes_too_long_is_not_waited_for() {
        let limits = ServerLimits { answer: Duration::from_millis(20), ..ServerLimits::default() };
        let (status, _, body) = ask(&state(limits), "/stuck").await;
        *RELEASED.0.lock().expect("a lock") = true;
        RELEASED.1.notify_all();
        assert_eq!(status, 408);
        assert!(body.contains(r#""code":"REQUEST_TIMEOUT""#), "{body}");
    }
}
