//! Canonical JSON: the one way to bytes that are hashed or signed.
//!
//! Comes in: bytes from a client, or a [`Value`] that the engine built. Goes out: [`Canonical`]
//! bytes (contract §1.3), from which a record's id is hashed and over which it is signed.
//!
//! The rules differ from every stock serializer in the numbers: an integer keeps all its digits, a
//! float with an integral value becomes that integer exactly, any other float is the shortest
//! decimal that reads back, with at least two digits of exponent. So reading is ours as well, on
//! top of a raw-token event parser: a duplicate key, a lone surrogate and the text of a number
//! must be seen, not repaired.
//!
//! What a program of others sends is read by [`parse_leniently`], which repairs what can be.
//!
//! **Invariant:** nobody else calls a serializer for bytes that are hashed. There is no Unicode
//! normalisation. A [`Value`] read from bytes nests at most [`Limits::depth`] levels.

mod digest;
mod lenient;
mod long;
mod number;
mod parse;
mod value;
mod write;

pub use digest::{Digest, digest_of, hash_of, hex, unhex};
pub use lenient::{parse_leniently, parse_members_leniently};
pub use number::Number;
pub use parse::{Limits, ParseError, Step, parse};
pub use value::{Object, Value};
pub use write::{Canonical, TooLong};

/// Builds an [`Object`] from `"key": value` pairs; values convert with `Value::from`.
#[macro_export]
macro_rules! object {
    ($($key:literal : $value:expr),* $(,)?) => {{
        let mut object = $crate::canon::Object::new();
        $( object.insert(::std::string::String::from($key), $crate::canon::Value::from($value)); )*
        object
    }};
}
