//! Secrets in a value, where keys say more than a text can.

use super::scan::label_of;
use super::table::{ASSIGNMENT, NAMES, NAMES_IN_OBJECTS};
use super::{Rendering, mask};
use crate::canon::{Object, Value};

/// Returns `value` with every string masked, keys as they are. A string under a key that names a
/// secret is masked whole, whatever it looks like.
pub fn mask_value(value: &Value) -> Value {
    match value {
        Value::String(text) => Value::String(mask(text).into_owned()),
        Value::Array(elements) => Value::Array(elements.iter().map(mask_value).collect()),
        Value::Object(members) => Value::Object(mask_object(members)),
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    }
}

fn mask_object(members: &Object) -> Object {
    let mask_member = |(key, value): (&String, &Value)| {
        let masked = match value {
            Value::String(text) if hides(key) && !is_mark(text) => {
                Value::String(Rendering::Masked.mark(label_of(text, ASSIGNMENT)).into_owned())
            }
            other => mask_value(other),
        };
        (key.clone(), masked)
    };
    members.iter().map(mask_member).collect()
}

/// Tells whether `key` names a secret: it ends in `password`, `api_key`, `token` or the like.
pub fn names_a_secret(key: &str) -> bool {
    ends_in_one_of(key, NAMES)
}

fn hides(key: &str) -> bool {
    names_a_secret(key) || ends_in_one_of(key, NAMES_IN_OBJECTS)
}

fn ends_in_one_of(key: &str, names: &[&str]) -> bool {
    names.iter().any(|name| {
        let mut key = letters_backwards(key);
        letters_backwards(name).all(|c| key.next() == Some(c))
    })
}

fn letters_backwards(text: &str) -> impl Iterator<Item = char> {
    text.chars().rev().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase())
}

fn is_mark(text: &str) -> bool {
    text.strip_prefix("[masked:").is_some_and(|rest| rest.find(']') == Some(rest.len() - 1))
}
