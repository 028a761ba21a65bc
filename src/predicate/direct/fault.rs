//! Why an evaluation has no result.

use super::value::{TypeName, Value};

/// Why there is no result.
#[derive(Debug)]
pub(super) enum Fault<'a> {
    /// The budget is exhausted, or a limit reached: nothing absorbs it.
    Stopped,
    /// There is no such field.
    NoField(&'a str),
    /// There is no such key, which is a number or was made.
    NoKey(Box<str>),
    /// An operation does not take a value of this type.
    NotTaken(&'static str, TypeName),
    /// An operation does not take values of these types.
    NotBothTaken(&'static str, TypeName, TypeName),
    /// A value of this type, where a boolean should be.
    NotBool(TypeName),
    /// A conversion cannot take the value.
    NotConverted(&'static str),
    DivisionByZero,
    OutOfRange,
    OutOfBounds,
    DuplicateKey,
    NotAKey,
    TooDeep,
}

/// How much of a key is told.
const KEY_CHARS: usize = 64;

impl<'a> Fault<'a> {
    /// The fault of looking for a key that is not there.
    pub(super) fn no_key(key: &Value<'a>) -> Self {
        match (key, key.as_key()) {
            (Value::Text(name) | Value::WrittenText(name), _) => Self::NoField(name),
            (_, Some(key)) => Self::NoKey(key.to_string().into()),
            (_, None) => Self::NotAKey,
        }
    }

    /// The fault of an operation that is given these two.
    pub(super) const fn not_both(
        operation: &'static str,
        one: &Value<'_>,
        two: &Value<'_>,
    ) -> Self {
        Self::NotBothTaken(operation, one.type_of(), two.type_of())
    }

    /// Returns one sentence for people. It names keys and types, never values.
    pub(super) fn in_words(&self) -> String {
        match self {
            Self::Stopped => "stopped".to_owned(),
            Self::NoField(name) => {
                format!("there is no key `{}`", name.chars().take(KEY_CHARS).collect::<String>())
            }
            Self::NoKey(key) => format!("there is no key `{key}`"),
            Self::NotTaken(operation, one) => {
                format!("`{operation}` does not take {}", one.as_str())
            }
            Self::NotBothTaken(operation, one, two) => {
                format!("`{operation}` does not take {} and {}", one.as_str(), two.as_str())
            }
            Self::NotBool(got) => format!("{} where bool was expected", got.as_str()),
            Self::NotConverted(function) => format!("`{function}` cannot take this value"),
            Self::DivisionByZero => "division by zero".to_owned(),
            Self::OutOfRange => "the result is out of range".to_owned(),
            Self::OutOfBounds => "the index is out of bounds".to_owned(),
            Self::DuplicateKey => "the same key twice in one map".to_owned(),
            Self::NotAKey => "a value that cannot be a key".to_owned(),
            Self::TooDeep => "values nested too deep".to_owned(),
        }
    }
}
