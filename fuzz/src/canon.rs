//! Canonical JSON: what reads well has one canonical text, which reads as the same value.

use spl::canon::{Canonical, Limits, ParseError, Value, parse};

/// Checks that a canonical text is its own canonical text, and that limits hold.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let value = match parse(bytes, Limits::DOOR) {
        Ok(value) => value,
        Err(error) => {
            let utf8 = std::str::from_utf8(bytes).is_ok();
            assert_eq!(!utf8, matches!(error, ParseError::NotUtf8 { .. }), "{error}");
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    assert!(depth(&value) <= Limits::DOOR.depth);
    let canonical = Canonical::of(&value);
    let again = parse(canonical.as_bytes(), Limits::STORED).expect("canonical text reads back");
    assert_eq!(Canonical::of(&again), canonical, "canonical twice");
    assert_eq!(value.to_string(), canonical.as_str(), "a value is shown in its canonical text");
    bound(&value, &canonical);
    true
}

/// A bounded text is the whole text or none.
fn bound(value: &Value, canonical: &Canonical) {
    let Value::Object(members) = value else { return };
    let len = canonical.as_bytes().len();
    assert_eq!(Canonical::of_object_within(members, len).as_ref(), Ok(canonical));
    assert!(Canonical::of_object_within(members, len - 1).is_err());
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(elements) => 1 + elements.iter().map(depth).max().unwrap_or(0),
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}
