//! What an error answer says, and the one place where it becomes a status.

use std::borrow::Cow;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};

use super::wire;
use crate::code::{Class, Code, Coded};
use crate::record::{NameError, Reason, ShapeError};
use crate::secret::mask;

/// What an error answer says. Small, because most results never are one.
#[derive(Debug, Clone)]
pub(super) struct Problem(Box<Said>);

/// All that can be said.
#[derive(Debug, Clone)]
pub(super) struct Said {
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) field: Option<String>,
    pub(super) reason: Option<&'static str>,
    pub(super) column: Option<usize>,
    pub(super) hint: Option<String>,
    /// When to come again, in seconds: a header, and nothing of the body.
    pub(super) retry_after: Option<u64>,
    /// What the log says beyond that.
    cause: Option<String>,
}

impl Problem {
    /// Returns a problem of the request itself.
    pub(super) fn new(code: Code, message: impl Into<String>) -> Self {
        Self(Box::new(Said {
            code,
            message: message.into(),
            field: None,
            reason: None,
            column: None,
            hint: None,
            retry_after: None,
            cause: None,
        }))
    }

    /// Returns what an error of the engine says.
    pub(super) fn of(error: &dyn Coded) -> Self {
        let mut cause = error.to_string();
        let mut source = error.source();
        while let Some(error) = source {
            cause.push_str(&format!(": {error}"));
            source = error.source();
        }
        Self(Box::new(Said {
            code: error.code(),
            message: error.to_string(),
            field: error.field().map(str::to_owned),
            reason: error.reason(),
            column: error.column(),
            hint: error.hint(),
            retry_after: None,
            cause: Some(cause),
        }))
    }

    /// Returns the problem of a request that this door does not understand.
    pub(super) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::new(Code::InvalidRequest, message).at(field)
    }

    /// Returns the problem of something that is not there.
    pub(super) fn missing(message: impl Into<String>) -> Self {
        Self::new(Code::NotFound, message)
    }

    /// Returns the problem of a failure that is ours.
    pub(super) fn internal(cause: impl Into<String>) -> Self {
        let mut problem = Self::new(Code::Internal, String::new());
        problem.0.cause = Some(cause.into());
        problem
    }

    /// Returns the problem of a field that is no name.
    pub(super) fn not_a_name(field: &str, error: &NameError) -> Self {
        ShapeError::new(field, Reason::BadValue, format!("`{field}` {error}")).into()
    }

    /// Says which field is wrong.
    pub(super) fn at(mut self, field: &str) -> Self {
        self.0.field = Some(field.into());
        self
    }

    /// Says what is wrong with the field, in a stable word.
    pub(super) fn because(mut self, reason: &'static str) -> Self {
        self.0.reason = Some(reason);
        self
    }

    /// Says what to do next.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.0.hint = Some(hint.into());
        self
    }

    /// Says when to come again.
    pub(super) fn retry_after(mut self, seconds: u64) -> Self {
        self.0.retry_after = Some(seconds);
        self
    }

    /// Returns the code.
    pub(super) fn code(&self) -> Code {
        self.0.code
    }

    /// Returns what may be said outside: of a failure that is ours, only that it is one; of what was
    /// sent nothing that looks like a secret, for an answer ends in somebody's log.
    pub(super) fn said(&self) -> Said {
        let mut said = (*self.0).clone();
        if said.code.class() == Class::Internal {
            said.message = "internal error".into();
        }
        if let Cow::Owned(masked) = mask(&said.message) {
            said.message = masked;
        }
        said
    }

    /// Returns the answer, for the request that has this id.
    pub(super) fn answer(self, request_id: &str) -> Response {
        let mut said = self.said();
        let status = status_of(said.code);
        // What this instance does not offer, or does not have yet, is no failure of it.
        let is_ours = !matches!(said.code, Code::SemanticSearchDisabled | Code::BootstrapRequired);
        if status.is_server_error() && is_ours {
            let cause = mask(self.0.cause.as_deref().unwrap_or(&self.0.message));
            let cause = &*cause;
            tracing::error!(request_id, code = %said.code, cause, "a request failed");
        }
        if said.code.class() == Class::Internal {
            said.hint.get_or_insert_with(|| format!("The log has more under `{request_id}`."));
        }
        let mut response = (status, wire::envelope_text(&said)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if said.code.class() == Class::Unauthenticated {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(seconds) = said.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// Returns the status of a code: the one of its class, and nothing finer, but for the one status
/// that HTTP itself sets apart.
pub(super) fn status_of(code: Code) -> StatusCode {
    if code == Code::MethodNotAllowed {
        return StatusCode::METHOD_NOT_ALLOWED;
    }
    match code.class() {
        Class::Invalid => StatusCode::BAD_REQUEST,
        Class::Unauthenticated => StatusCode::UNAUTHORIZED,
        Class::Refused => StatusCode::FORBIDDEN,
        Class::Missing => StatusCode::NOT_FOUND,
        Class::Conflict => StatusCode::CONFLICT,
        Class::Unprocessable => StatusCode::UNPROCESSABLE_ENTITY,
        Class::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
        Class::MediaType => StatusCode::UNSUPPORTED_MEDIA_TYPE,
        Class::Timeout => StatusCode::REQUEST_TIMEOUT,
        Class::TooMany => StatusCode::TOO_MANY_REQUESTS,
        Class::Internal => StatusCode::INTERNAL_SERVER_ERROR,
        Class::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
    }
}

impl<E: Coded> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::of(&error)
    }
}

/// An answer that is still to be written: whoever knows the id of the request writes it.
impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = StatusCode::INTERNAL_SERVER_ERROR.into_response();
        response.extensions_mut().insert(self);
        response
    }
}
