//! What a route answers.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::canon::{Object, Value};

/// An answer that is whole.
pub(super) struct Answer {
    status: StatusCode,
    media: &'static str,
    text: String,
}

impl Answer {
    /// Returns `object` with status 200.
    pub(super) fn ok(object: Object) -> Self {
        Self::json(StatusCode::OK, object)
    }

    /// Returns `object` for something that is now there.
    pub(super) fn created(object: Object) -> Self {
        Self::json(StatusCode::CREATED, object)
    }

    fn json(status: StatusCode, object: Object) -> Self {
        // Canonical text, in which an integer keeps all its digits.
        Self { status, media: "application/json", text: Value::from(object).to_string() }
    }

    /// Returns text in a format of its own.
    pub(super) const fn text(media: &'static str, text: String) -> Self {
        Self { status: StatusCode::OK, media, text }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = Response::new(Body::from(self.text));
        *response.status_mut() = self.status;
        let media = HeaderValue::from_static(self.media);
        response.headers_mut().insert(header::CONTENT_TYPE, media);
        response
    }
}
