//! Keys of maps.

use std::fmt;

use cel::common::types::{CelBool, CelDouble, CelInt, CelMapKey, CelString, CelUInt};
use cel::common::value::Val;

/// A key that is looked for. Numbers of all types are one kind: `1`, `1u` and `1.0` are one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::predicate) enum MapKey<'k> {
    Bool(bool),
    Number(i128),
    /// A number that no map can hold, as it is not integral.
    Fraction,
    Text(&'k str),
}

impl<'k> MapKey<'k> {
    /// Returns `value` as a key; `None` if values of its type are none.
    pub(super) fn of(value: &'k dyn Val) -> Option<Self> {
        if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            return Some(Self::Text(text.inner()));
        }
        if let Some(int) = value.downcast_ref::<CelInt>() {
            return Some(Self::Number(i128::from(*int.inner())));
        }
        if let Some(uint) = value.downcast_ref::<CelUInt>() {
            return Some(Self::Number(i128::from(*uint.inner())));
        }
        if let Some(bool) = value.downcast_ref::<CelBool>() {
            return Some(Self::Bool(*bool.inner()));
        }
        value.downcast_ref::<CelDouble>().map(|double| Self::of_double(*double.inner()))
    }

    /// Returns the key that a map holds.
    pub(super) fn held(key: &'k CelMapKey<'_>) -> Self {
        match key {
            CelMapKey::Bool(bool) => Self::Bool(*bool.inner()),
            CelMapKey::Int(int) => Self::Number(i128::from(*int.inner())),
            CelMapKey::UInt(uint) => Self::Number(i128::from(*uint.inner())),
            CelMapKey::String(text) => Self::Text(text.inner()),
        }
    }

    pub(in crate::predicate) fn of_double(double: f64) -> Self {
        // 2^64, beyond which no map has keys.
        const END: f64 = 18_446_744_073_709_551_616.0;
        if double.fract() != 0.0 || !(-END..END).contains(&double) {
            return Self::Fraction;
        }
        #[expect(clippy::cast_possible_truncation, reason = "integral and inside the range above")]
        Self::Number(double as i128)
    }

    /// Returns the bytes that looking for the key handles.
    pub(super) const fn len(self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            _ => 0,
        }
    }
}

/// The key in an error: cut, as it may be long.
impl fmt::Display for MapKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(bool) => write!(f, "{bool}"),
            Self::Number(number) => write!(f, "{number}"),
            Self::Fraction => f.write_str("a fraction"),
            Self::Text(text) => {
                let end = text.char_indices().nth(64).map_or(text.len(), |(end, _)| end);
                f.write_str(text.get(..end).unwrap_or_default())
            }
        }
    }
}
