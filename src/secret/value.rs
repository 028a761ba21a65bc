//! Secrets in a value, where keys say more than a text can.

use std::borrow::Cow;

use super::scan::label_of;
use super::table::{ASSIGNMENT, NAMES, NAMES_IN_OBJECTS};
use super::{Rendering, render};
use crate::canon::{Object, Value};

/// Returns `value` with every string masked, keys as they are. A string under a key that names a
/// secret is masked whole, whatever it looks like.
pub fn mask_value(value: &Value) -> Value {
    render_value(value, Rendering::Masked)
}

/// The same, as `rendering` has it.
pub fn render_value(value: &Value, rendering: Rendering) -> Value {
    let inside = |value: &Value| render_value(value, rendering);
    match value {
        Value::String(text) => Value::String(render(text, rendering).into_owned()),
        Value::Array(elements) => Value::Array(elements.iter().map(inside).collect()),
        Value::Object(members) => Value::Object(render_object(members, rendering)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn render_object(members: &Object, rendering: Rendering) -> Object {
    let render_member = |(key, value): (&String, &Value)| {
        let rendered = match value {
            Value::String(text) if hides(key) && !is_mark(text) => {
                Value::String(rendering.mark(label_of(text, ASSIGNMENT)).into_owned())
            }
            other => render_value(other, rendering),
        };
        (key.clone(), rendered)
    };
    members.iter().map(render_member).collect()
}

/// Tells whether `key` names a secret: it ends in `password`, `api_key`, `token` or the like.
pub fn names_a_secret(key: &str) -> bool {
    ends_in_one_of(key, NAMES)
}

fn hides(key: &str) -> bool {
    names_a_secret(key) || ends_in_one_of(key, NAMES_IN_OBJECTS)
}

/// Tells whether `key` ends in one of these names, which are in lower case and without `-` and `_`:
/// neither case nor these tell one key from another.
pub fn ends_in_one_of(key: &str, names: &[&str]) -> bool {
    let key = folded(key);
    names.iter().any(|name| {
        let mut key = letters_backwards(&key);
        letters_backwards(name).all(|c| key.next() == Some(c))
    })
}

/// Returns `key` with letters that are another case of ASCII ones as those: `ſecret`.
fn folded(key: &str) -> Cow<'_, str> {
    if key.is_ascii() { Cow::Borrowed(key) } else { Cow::Owned(key.to_uppercase().to_lowercase()) }
}

fn letters_backwards(text: &str) -> impl Iterator<Item = char> {
    text.chars().rev().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
}

fn is_mark(text: &str) -> bool {
    text.strip_prefix("[masked:").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}
