//! From a value to its canonical bytes.

use std::fmt;

use super::{Digest, Object, Value, hash_of};

/// The canonical text of a value: what is hashed, signed and stored.
///
/// Only this module makes one, so bytes from another serializer cannot be hashed by mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Canonical(String);

/// The canonical text would be longer than was allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("longer than {limit} bytes in canonical form")]
pub struct TooLong {
    /// The most bytes that were allowed.
    pub limit: usize,
}

impl Canonical {
    /// Returns the canonical text of `value`.
    pub fn of(value: &Value) -> Self {
        let mut text = String::new();
        // A `String` sink takes everything.
        let _ = write_value(value, &mut text);
        Self(text)
    }

    /// Returns the canonical text of an object.
    pub fn of_object(members: &Object) -> Self {
        let mut text = String::new();
        let _ = write_object(members, &mut text);
        Self(text)
    }

    /// Returns the canonical text of an object, or stops as soon as it is longer than `limit`
    /// bytes: four bytes of input (`1e308`) may ask for three hundred.
    pub fn of_object_within(members: &Object, limit: usize) -> Result<Self, TooLong> {
        let mut sink = Bounded { text: String::new(), limit };
        match write_object(members, &mut sink) {
            Ok(()) => Ok(Self(sink.text)),
            Err(fmt::Error) => Err(TooLong { limit }),
        }
    }

    /// Takes text that was canonical when it was stored.
    pub(crate) const fn reread(text: String) -> Self {
        Self(text)
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the bytes.
    pub fn as_bytes(&self) -> &[u8] {
        self.0.as_bytes()
    }

    /// Returns the SHA-256 of the bytes.
    pub fn sha256(&self) -> Digest {
        hash_of(&[self.as_bytes()])
    }

    /// Returns the text as an owned string.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// The canonical text. For answers to people and programs, where key order does no harm.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self, f)
    }
}

struct Bounded {
    text: String,
    limit: usize,
}

impl fmt::Write for Bounded {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.text.len() + piece.len() > self.limit {
            return Err(fmt::Error);
        }
        self.text.push_str(piece);
        Ok(())
    }
}

fn write_value(value: &Value, out: &mut impl fmt::Write) -> fmt::Result {
    match value {
        Value::Null => out.write_str("null"),
        Value::Bool(true) => out.write_str("true"),
        Value::Bool(false) => out.write_str("false"),
        Value::Number(number) => write!(out, "{number}"),
        Value::String(text) => write_string(text, out),
        Value::Array(elements) => write_list('[', elements, ']', out, write_value),
        Value::Object(members) => write_object(members, out),
    }
}

fn write_object(members: &Object, out: &mut impl fmt::Write) -> fmt::Result {
    write_list('{', members, '}', out, |(key, value), out| {
        write_string(key, out)?;
        out.write_char(':')?;
        write_value(value, out)
    })
}

fn write_list<T, W: fmt::Write>(
    open: char,
    items: impl IntoIterator<Item = T>,
    close: char,
    out: &mut W,
    write_item: impl Fn(T, &mut W) -> fmt::Result,
) -> fmt::Result {
    out.write_char(open)?;
    for (position, item) in items.into_iter().enumerate() {
        if position > 0 {
            out.write_char(',')?;
        }
        write_item(item, out)?;
    }
    out.write_char(close)
}

/// Writes a string with the short escapes and `\u00xx` below U+0020; everything else is raw.
fn write_string(text: &str, out: &mut impl fmt::Write) -> fmt::Result {
    out.write_char('"')?;
    let mut rest = text;
    // Everything that needs an escape is one ASCII byte, so the cut is a character boundary.
    while let Some(at) = rest.bytes().position(|b| b < 0x20 || b == b'"' || b == b'\\') {
        let (plain, tail) = rest.split_at(at);
        out.write_str(plain)?;
        let mut tail = tail.chars();
        match tail.next() {
            Some('"') => out.write_str("\\\"")?,
            Some('\\') => out.write_str("\\\\")?,
            Some('\u{8}') => out.write_str("\\b")?,
            Some('\t') => out.write_str("\\t")?,
            Some('\n') => out.write_str("\\n")?,
            Some('\u{c}') => out.write_str("\\f")?,
            Some('\r') => out.write_str("\\r")?,
            Some(control) => write!(out, "\\u{:04x}", u32::from(control))?,
            None => {}
        }
        rest = tail.as_str();
    }
    out.write_str(rest)?;
    out.write_char('"')
}
