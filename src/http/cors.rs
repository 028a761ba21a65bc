//! Which web pages may ask, and what their browsers are told (contract §2.1).
//!
//! Comes in: the `Origin` of a request. Goes out: the origin, if it is on the list of the topic
//! `auth_cors_origins`. The list holds where bearers are asked for: a page that has one was given it.
//! Elsewhere no page may ask at all, this server's own included, since it serves none.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use tokio::task::spawn_blocking;

use super::ApiState;
use super::problem::Problem;
use crate::code::Code;

/// What a page may send beside what every page may.
const SENT: HeaderValue = HeaderValue::from_static(
    "authorization, content-type, last-event-id, x-api-key, x-syncropel-actor",
);

/// What of an answer a page may read beside its body.
const READ: HeaderValue = HeaderValue::from_static("retry-after, x-request-id");

const METHODS: HeaderValue = HeaderValue::from_static("DELETE, GET, POST");

/// How long a browser need not ask again, in seconds.
const KEPT: HeaderValue = HeaderValue::from_static("600");

/// Returns the origin of the page that makes a request, if a page does; refuses one that may not.
pub(super) async fn admit(
    state: &ApiState,
    headers: &HeaderMap,
) -> Result<Option<HeaderValue>, Problem> {
    let mut origins = headers.get_all(header::ORIGIN).iter();
    let Some(origin) = origins.next() else { return Ok(None) };
    let only = origins.next().is_none();
    if only && state.access().asks() && is_listed(state, origin).await? {
        return Ok(Some(origin.clone()));
    }
    let message = "requests of web pages are taken from listed origins only";
    Err(Problem::new(Code::OriginForbidden, message))
}

async fn is_listed(state: &ApiState, origin: &HeaderValue) -> Result<bool, Problem> {
    let Ok(origin) = origin.to_str().map(str::to_owned) else { return Ok(false) };
    let engine = state.engine().clone();
    let looked = spawn_blocking(move || engine.live().map(|live| live.config.cors_origins()));
    match looked.await {
        Ok(listed) => Ok(listed?.allow(&origin)),
        Err(failure) => Err(Problem::internal(format!("looking broke: {failure}"))),
    }
}

/// Returns whether a browser asks on behalf of a page whether it may ask.
pub(super) fn is_preflight(request: &Parts) -> bool {
    request.method == Method::OPTIONS
        && request.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

/// Returns what it is told, of every path: who may do what is found out when it is done.
pub(super) fn preflight() -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_METHODS, METHODS);
    headers.insert(header::ACCESS_CONTROL_ALLOW_HEADERS, SENT);
    headers.insert(header::ACCESS_CONTROL_MAX_AGE, KEPT);
    response
}

/// Lets the page read an answer, whatever it is.
pub(super) fn let_read(response: &mut Response, origin: HeaderValue) {
    let headers = response.headers_mut();
    headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, READ);
    headers.insert(header::VARY, HeaderValue::from_static("origin"));
}
