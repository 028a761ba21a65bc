//! What becomes of the result.

use std::collections::BTreeMap;

use cel::ExecutionError;
use cel::common::types::{
    CelBool, CelDouble, CelDuration, CelInt, CelTimestamp, CelType, CelUInt, Kind,
};
use cel::common::value::Val;

use super::{Args, MAX_VALUE_DEPTH, Outcome, bool, bytes_of, no_overload, only, text_of};
use crate::predicate::meter::{self, VALUE};
use crate::predicate::value::{Key, Value, of_length, of_point};

/// Passes a boolean on, and remembers that there was none otherwise.
pub(in crate::predicate) fn verdict<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    if value.downcast_ref::<CelBool>().is_some() {
        return Ok(value);
    }
    Err(meter::not_boolean(value.get_type().name()))
}

/// Remembers any value as the answer.
pub(in crate::predicate) fn answer<'b, 'v>(args: Args<'b, 'v>) -> Outcome<'b, 'v> {
    let value = only(args)?;
    meter::answer(plain(value.as_ref(), 0)?);
    Ok(bool(true))
}

/// Returns a value as whoever asked sees it.
fn plain(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    if depth > MAX_VALUE_DEPTH {
        return Err(ExecutionError::function_error("result", "nested too deep"));
    }
    meter::build(VALUE)?;
    if let Some(text) = text_of(value) {
        meter::build(text.len())?;
        return Ok(Value::String(text.to_owned()));
    }
    if let Some(bytes) = bytes_of(value) {
        // JSON will have them as base64.
        meter::build(bytes.len().saturating_mul(4) / 3)?;
        return Ok(Value::Bytes(bytes.to_vec()));
    }
    match value.get_type().kind() {
        Kind::NullType => Ok(Value::Null),
        Kind::List => list(value, depth),
        Kind::Map => map(value, depth),
        _ => scalar(value).ok_or_else(|| no_overload("result", &[value])),
    }
}

fn scalar(value: &dyn Val) -> Option<Value> {
    if let Some(bool) = value.downcast_ref::<CelBool>() {
        return Some(Value::Bool(*bool.inner()));
    }
    if let Some(int) = value.downcast_ref::<CelInt>() {
        return Some(Value::Int(*int.inner()));
    }
    if let Some(uint) = value.downcast_ref::<CelUInt>() {
        return Some(Value::Uint(*uint.inner()));
    }
    if let Some(double) = value.downcast_ref::<CelDouble>() {
        return Some(Value::Double(*double.inner()));
    }
    if let Some(ty) = value.downcast_ref::<CelType>() {
        return Some(Value::Type(ty.name().to_owned()));
    }
    if let Some(point) = value.downcast_ref::<CelTimestamp>() {
        return Some(of_point(point));
    }
    value.downcast_ref::<CelDuration>().map(of_length)
}

fn list(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    let mut elements = Vec::new();
    let mut list = value.as_iterable().ok_or_else(|| no_overload("result", &[value]))?.iter();
    while let Some(element) = list.next() {
        elements.push(plain(element, depth + 1)?);
    }
    Ok(Value::List(elements))
}

fn map(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    let (Some(keys), Some(map)) = (value.as_iterable(), value.as_indexer()) else {
        return Err(no_overload("result", &[value]));
    };
    let mut entries = BTreeMap::new();
    let mut keys = keys.iter();
    while let Some(key) = keys.next() {
        meter::build(text_of(key).map_or(VALUE, str::len))?;
        let name = plain_key(key).ok_or_else(|| no_overload("result", &[key]))?;
        entries.insert(name, plain(map.get(key)?.as_ref(), depth + 1)?);
    }
    Ok(Value::Map(entries))
}

fn plain_key(key: &dyn Val) -> Option<Key> {
    if let Some(text) = text_of(key) {
        return Some(Key::String(text.to_owned()));
    }
    match scalar(key)? {
        Value::Bool(bool) => Some(Key::Bool(bool)),
        Value::Int(int) => Some(Key::Int(int)),
        Value::Uint(uint) => Some(Key::Uint(uint)),
        _ => None,
    }
}
