//! A JSON value that can be canonical: no NaN, no duplicate key, no lone surrogate.

use std::collections::BTreeMap;

use super::Number;

/// The members of an object, in the canonical order of their keys (by code point, which is the
/// order of their UTF-8 bytes).
pub type Object = BTreeMap<String, Value>;

/// A JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, exact.
    Number(Number),
    /// A string of Unicode scalar values.
    String(String),
    /// An ordered list.
    Array(Vec<Value>),
    /// An object.
    Object(Object),
}

impl Value {
    /// Returns the member `key` of an object; `None` for anything else.
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.as_object()?.get(key)
    }

    /// Returns the text of a string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the value of a boolean.
    pub const fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(bool) => Some(*bool),
            _ => None,
        }
    }

    /// Returns the value of a number that fits `i64` exactly.
    pub const fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Number(number) => number.as_i64(),
            _ => None,
        }
    }

    /// Returns the value of a number that fits `u64` exactly.
    pub const fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => number.as_u64(),
            _ => None,
        }
    }

    /// Returns the elements of an array.
    pub fn as_array(&self) -> Option<&[Self]> {
        match self {
            Self::Array(elements) => Some(elements),
            _ => None,
        }
    }

    /// Returns the members of an object.
    pub const fn as_object(&self) -> Option<&Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns the members of an object, owned; `None` for anything else.
    pub fn into_object(self) -> Option<Object> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// Returns what kind of value this is, in the words of JSON.
    pub const fn type_name(&self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Bool(_) => "boolean",
            Self::Number(_) => "number",
            Self::String(_) => "string",
            Self::Array(_) => "array",
            Self::Object(_) => "object",
        }
    }

    /// Returns the same with its article: `an array`, `a string`, `null`.
    pub fn type_in_words(&self) -> String {
        match self.type_name() {
            null @ "null" => null.to_owned(),
            name @ ("array" | "object") => format!("an {name}"),
            name => format!("a {name}"),
        }
    }

    /// Returns how many values this is, itself and all inside of it.
    pub fn count(&self) -> usize {
        let inside: usize = match self {
            Self::Array(elements) => elements.iter().map(Self::count).sum(),
            Self::Object(members) => members.values().map(Self::count).sum(),
            _ => 0,
        };
        1 + inside
    }

    /// Returns whether arrays and objects stand inside each other at most `levels` deep. Looks no
    /// deeper than that.
    pub fn nests_within(&self, levels: usize) -> bool {
        let inside = |value: &Self| value.nests_within(levels.saturating_sub(1));
        match self {
            Self::Array(elements) => levels > 0 && elements.iter().all(inside),
            Self::Object(members) => levels > 0 && members.values().all(inside),
            _ => true,
        }
    }

    /// Returns `float` as a value; NaN and the infinities, which JSON lacks, become `null`.
    pub fn from_float(float: f64) -> Self {
        Number::from_f64(float).map_or(Self::Null, Self::Number)
    }
}

impl From<bool> for Value {
    fn from(bool: bool) -> Self {
        Self::Bool(bool)
    }
}

macro_rules! from_integers {
    ($($type:ty as $wide:ty),*) => { $(
        impl From<$type> for Value {
            fn from(int: $type) -> Self {
                Self::Number(Number::from(<$wide>::from(int)))
            }
        }
    )* };
}
from_integers!(i32 as i64, i64 as i64, u16 as u64, u32 as u64, u64 as u64);

impl From<usize> for Value {
    fn from(int: usize) -> Self {
        Self::Number(Number::from(int as u64))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

impl From<Object> for Value {
    fn from(members: Object) -> Self {
        Self::Object(members)
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Self {
        Self::Array(elements.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
