//! What a declared name is bound to.

use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelInt, CelMapKey, CelNull, CelString, CelType, CelUInt,
};
use cel::common::value::Val;

use super::{BuiltList, BuiltMap};
use crate::predicate::value::{Key, Value, length, point};

/// The longest name of a type. Types are compared without counting it.
const MAX_TYPE_NAME: usize = 64;

/// Returns the value of `bound`, whose texts and bytes it borrows; `None` if it nests deeper than
/// `levels`, or holds a type, a point or a length of time that CEL has not.
pub(in crate::predicate) fn bound(bound: &Value, levels: usize) -> Option<Box<dyn Val + '_>> {
    let inside = |value| self::bound(value, levels.checked_sub(1)?);
    Some(match bound {
        Value::Null => Box::new(CelNull),
        Value::Bool(bool) => Box::new(CelBool::from(*bool)),
        Value::Int(int) => Box::new(CelInt::from(*int)),
        Value::Uint(uint) => Box::new(CelUInt::from(*uint)),
        Value::Double(double) => Box::new(CelDouble::from(*double)),
        Value::String(text) => Box::new(CelString::from(text.as_str())),
        Value::Bytes(bytes) => Box::new(CelBytes::from(bytes.as_slice())),
        Value::List(elements) => {
            Box::new(BuiltList::new(elements.iter().map(inside).collect::<Option<_>>()?))
        }
        Value::Map(entries) => {
            let entries = entries.iter().map(|(key, value)| Some((held(key), inside(value)?)));
            Box::new(BuiltMap::new(entries.collect::<Option<_>>()?))
        }
        Value::Type(name) if name.len() > MAX_TYPE_NAME => return None,
        Value::Type(name) => Box::new(CelType::new(name.as_str())),
        Value::Timestamp { seconds, nanos } => Box::new(point(*seconds, *nanos)?),
        Value::Duration { seconds, nanos } => Box::new(length(*seconds, *nanos)?),
    })
}

fn held(key: &Key) -> CelMapKey<'_> {
    match key {
        Key::Bool(bool) => CelMapKey::from(*bool),
        Key::Int(int) => CelMapKey::from(*int),
        Key::Uint(uint) => CelMapKey::from(*uint),
        Key::String(text) => CelMapKey::from(text.as_str()),
    }
}
