//! Values as whoever embeds the engine sees them: what an expression gives, and what its declared
//! names are bound to.

mod time;

use std::collections::BTreeMap;

use base64::Engine as _;

pub(super) use time::{length, of_length, of_point, point};

use super::environment::Type;
use crate::canon;

/// A value of CEL. Two are equal if they are of the same type and written alike: `1` is not `1u`.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `1.0`
    Double(f64),
    /// `'a'`
    String(String),
    /// `b'a'`
    Bytes(Vec<u8>),
    /// `[1, 'a']`
    List(Vec<Self>),
    /// `{'a': 1}`, in the order of the keys. Numbers that are equal are one key to an expression,
    /// so a map that is bound to a name must not have both `1` and `1u`.
    Map(BTreeMap<Key, Self>),
    /// A type, by its name: `int`, `google.protobuf.Timestamp`.
    Type(String),
    /// A point in time between the years 1 and 9999.
    Timestamp {
        /// Whole seconds since 1970-01-01 UTC.
        seconds: i64,
        /// Nanoseconds after that, below 1,000,000,000.
        nanos: u32,
    },
    /// A length of time, of at most 2^63 nanoseconds.
    Duration {
        /// Whole seconds.
        seconds: i64,
        /// Nanoseconds beside them, of the same sign and below 1,000,000,000.
        nanos: i32,
    },
}

/// A key of a map.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// `true` or `false`
    Bool(bool),
    /// `1`
    Int(i64),
    /// `1u`
    Uint(u64),
    /// `'a'`
    String(String),
}

impl Value {
    /// Returns the type of the value.
    pub const fn of_type(&self) -> Type {
        match self {
            Self::Null => Type::Null,
            Self::Bool(_) => Type::Bool,
            Self::Int(_) => Type::Int,
            Self::Uint(_) => Type::Uint,
            Self::Double(_) => Type::Double,
            Self::String(_) => Type::String,
            Self::Bytes(_) => Type::Bytes,
            Self::List(_) => Type::List,
            Self::Map(_) => Type::Map,
            Self::Type(_) => Type::Type,
            Self::Timestamp { .. } => Type::Timestamp,
            Self::Duration { .. } => Type::Duration,
        }
    }

    /// Returns the value as JSON. Points and lengths of time are what `string()` makes of them,
    /// types their names, bytes base64; a number that JSON lacks is `null`, and so is a point in
    /// time that no calendar reaches.
    pub fn into_json(self) -> canon::Value {
        match self {
            Self::Null => canon::Value::Null,
            Self::Bool(bool) => bool.into(),
            Self::Int(int) => int.into(),
            Self::Uint(uint) => uint.into(),
            Self::Double(double) => canon::Value::from_float(double),
            Self::String(text) | Self::Type(text) => text.into(),
            Self::Bytes(bytes) => base64::engine::general_purpose::STANDARD.encode(bytes).into(),
            Self::List(elements) => {
                canon::Value::Array(elements.into_iter().map(Self::into_json).collect())
            }
            Self::Map(entries) => {
                let members =
                    entries.into_iter().map(|(key, value)| (key.into_name(), value.into_json()));
                canon::Value::Object(members.collect())
            }
            Self::Timestamp { seconds, nanos } => {
                time::point_in_words(seconds, nanos).map_or(canon::Value::Null, canon::Value::from)
            }
            Self::Duration { seconds, nanos } => time::length_in_words(seconds, nanos).into(),
        }
    }
}

impl Key {
    fn into_name(self) -> String {
        match self {
            Self::Bool(bool) => bool.to_string(),
            Self::Int(int) => int.to_string(),
            Self::Uint(uint) => uint.to_string(),
            Self::String(text) => text,
        }
    }
}
