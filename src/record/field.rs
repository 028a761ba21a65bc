//! Reading the fields of a body, by their bare names.

use super::{Act, Draft, Namespace, Reason, ShapeError};
use crate::canon::{Object, Value};

/// Returns a text that must be there and must not be empty.
pub(crate) fn text<'a>(body: &'a Object, field: &str) -> Result<&'a str, ShapeError> {
    match body.get(field) {
        Some(Value::String(text)) if text.is_empty() => {
            Err(ShapeError::new(field, Reason::BadValue, format!("`{field}` must not be empty")))
        }
        Some(Value::String(text)) => Ok(text),
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name())),
        None => Err(ShapeError::missing(field)),
    }
}

/// Returns a text that names something: not empty, at most `most` characters, none of them a
/// control character.
pub(crate) fn name<'a>(body: &'a Object, field: &str, most: usize) -> Result<&'a str, ShapeError> {
    let name = text(body, field)?;
    let refused = |message: String| Err(ShapeError::new(field, Reason::BadValue, message));
    let chars = name.chars().count();
    if chars > most {
        return refused(format!("`{field}` must be at most {most} characters, not {chars}"));
    }
    if name.chars().any(char::is_control) {
        return refused(format!("`{field}` must not hold control characters"));
    }
    Ok(name)
}

/// Returns a truth value; `absent` if it is not there.
pub(crate) fn flag(body: &Object, field: &str, absent: bool) -> Result<bool, ShapeError> {
    match body.get(field) {
        None => Ok(absent),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(other) => Err(ShapeError::wrong_type(field, "true or false", other.type_name())),
    }
}

/// Returns the namespace, or the root if there is none.
pub(crate) fn namespace(draft: &Draft) -> Result<Namespace, ShapeError> {
    draft.namespace().map_err(|mut error| {
        error.message = error.message.replace(&error.field, "namespace");
        error.field = "namespace".into();
        error
    })
}

/// Checks that a record of the configuration is something learned.
pub(crate) fn learned(draft: &Draft) -> Result<(), ShapeError> {
    if draft.act == Act::Learn {
        return Ok(());
    }
    let message = format!("the `act` of configuration is `LEARN`, not `{}`", draft.act);
    Err(ShapeError::new("act", Reason::BadValue, message))
}
