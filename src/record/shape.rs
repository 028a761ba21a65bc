//! How a refusal names what is wrong with an envelope or a body.

use std::fmt;

use crate::code::{Code, Coded};

/// The stable word for what is wrong with a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A field that would let a hook do more than add words.
    ForbiddenField,
    /// A field that this envelope or kind does not have.
    UnknownField,
    /// A field that must be there.
    MissingField,
    /// A value of another type.
    WrongType,
    /// A value of the right type that is not allowed.
    BadValue,
    /// An expression that cannot be a predicate.
    BadCel,
}

impl Reason {
    /// Returns the word as clients see it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ForbiddenField => "forbidden_field",
            Self::UnknownField => "unknown_field",
            Self::MissingField => "missing_field",
            Self::WrongType => "wrong_type",
            Self::BadValue => "bad_value",
            Self::BadCel => "bad_cel",
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The most characters of a field that an error names.
const MAX_FIELD_CHARS: usize = 128;

/// An envelope or a body that is not of its shape.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ShapeError {
    /// The field, as a path from the envelope: `clock`, `body.namespace`.
    pub field: String,
    /// What is wrong with it.
    pub reason: Reason,
    /// One sentence for people.
    pub message: String,
    /// Where in the field, counted in characters from 0.
    pub column: Option<usize>,
    /// What to do next.
    pub hint: Option<String>,
}

impl ShapeError {
    /// Returns the refusal of `field` for `reason`.
    pub fn new(field: impl Into<String>, reason: Reason, message: impl Into<String>) -> Self {
        let mut field: String = field.into();
        // The name of an unknown field is whatever a client sent.
        if let Some((end, _)) = field.char_indices().nth(MAX_FIELD_CHARS) {
            field.truncate(end);
        }
        Self { field, reason, message: message.into(), column: None, hint: None }
    }

    /// Returns the refusal of a field that must be there and is not.
    pub fn missing(field: impl Into<String>) -> Self {
        let field = field.into();
        let message = format!("`{field}` is missing");
        Self::new(field, Reason::MissingField, message)
    }

    /// Returns the refusal of a value of another type.
    pub fn wrong_type(field: impl Into<String>, wanted: &str, got: &str) -> Self {
        let field = field.into();
        let message = format!("`{field}` must be {wanted}, not {got}");
        Self::new(field, Reason::WrongType, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Coded for ShapeError {
    fn code(&self) -> Code {
        Code::InvalidBody
    }

    fn field(&self) -> Option<&str> {
        Some(&self.field)
    }

    fn reason(&self) -> Option<&'static str> {
        Some(self.reason.as_str())
    }

    fn column(&self) -> Option<usize> {
        self.column
    }

    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}
