//! SHA-256, and hex for what it returns.

use sha2::Digest as _;

use super::{Object, Value};

/// A SHA-256.
pub type Digest = [u8; 32];

/// Returns the SHA-256 of `parts`, one after another.
pub fn hash_of(parts: &[&[u8]]) -> Digest {
    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// Returns what tells an object from every other: a SHA-256 over its members, in one time
/// whatever is in them. Not that of the canonical text, in which `1e308` has three hundred digits.
pub fn digest_of(members: &Object) -> Digest {
    let mut hasher = sha2::Sha256::new();
    feed_object(members, &mut hasher);
    hasher.finalize().into()
}

fn feed(value: &Value, hasher: &mut sha2::Sha256) {
    match value {
        Value::Null => hasher.update(b"n"),
        Value::Bool(true) => hasher.update(b"t"),
        Value::Bool(false) => hasher.update(b"f"),
        Value::Number(number) => feed_text(b"#", &number.short(), hasher),
        Value::String(text) => feed_text(b"s", text, hasher),
        Value::Array(elements) => {
            hasher.update(b"[");
            for element in elements {
                feed(element, hasher);
            }
            hasher.update(b"]");
        }
        Value::Object(members) => feed_object(members, hasher),
    }
}

fn feed_object(members: &Object, hasher: &mut sha2::Sha256) {
    hasher.update(b"{");
    for (key, value) in members {
        feed_text(b"k", key, hasher);
        feed(value, hasher);
    }
    hasher.update(b"}");
}

fn feed_text(tag: &[u8], text: &str, hasher: &mut sha2::Sha256) {
    hasher.update(tag);
    hasher.update((text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

/// Returns `bytes` as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.push(DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit)));
        }
    }
    text
}

/// Reads exactly `N` bytes of lower-case hex; anything else is `None`.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.as_bytes();
    if text.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canon::{Limits, parse};

    #[test]
    fn a_digest_tells_objects_apart() {
        let texts = [
            "{}",
            r#"{"a":null}"#,
            r#"{"a":true}"#,
            r#"{"a":false}"#,
            r#"{"a":1}"#,
            r#"{"a":"1"}"#,
            r#"{"a":1.5}"#,
            r#"{"a":1e300}"#,
            r#"{"a":-1e300}"#,
            r#"{"a":18446744073709551616}"#,
            r#"{"a":[]}"#,
            r#"{"a":[[]]}"#,
            r#"{"a":[[],[]]}"#,
            r#"{"a":{}}"#,
            r#"{"a":"","b":""}"#,
            r#"{"a":["b",""]}"#,
            r#"{"a":{"b":1},"c":2}"#,
            r#"{"a":{"b":1,"c":2}}"#,
        ];
        let digest = |text: &str| {
            let value = parse(text.as_bytes(), Limits::DOOR).expect(text);
            digest_of(value.as_object().expect(text))
        };
        let mut seen: Vec<Digest> = texts.map(digest).to_vec();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), texts.len());
        assert_eq!(digest(r#"{"a":1,"b":2.0}"#), digest(r#" {"b":2,"a":1}"#));
    }
}
