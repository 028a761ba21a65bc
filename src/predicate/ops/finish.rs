//! What becomes of the result.

use base64::Engine as _;
use cel::ExecutionError;
use cel::common::types::{CelBool, CelDouble, CelInt, CelString, CelType, CelUInt, Kind};
use cel::common::value::{CowVal, Val};

use super::{Args, MAX_VALUE_DEPTH, Outcome, bool, bytes_of, no_overload, only, text_of};
use crate::canon::{Object, Value};
use crate::predicate::{engine, meter};

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

/// Returns a value as JSON has it.
fn plain(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    if depth > MAX_VALUE_DEPTH {
        return Err(ExecutionError::function_error("result", "nested too deep"));
    }
    meter::build(16)?;
    if let Some(text) = text_of(value) {
        meter::build(text.len())?;
        return Ok(Value::from(text));
    }
    if let Some(bytes) = bytes_of(value) {
        meter::build(bytes.len().saturating_mul(4) / 3)?;
        return Ok(Value::from(base64::engine::general_purpose::STANDARD.encode(bytes)));
    }
    Ok(match value.get_type().kind() {
        Kind::NullType => Value::Null,
        Kind::List => list(value, depth)?,
        Kind::Map => map(value, depth)?,
        Kind::Timestamp | Kind::Duration => Value::from(in_words(value)?),
        _ => return scalar(value),
    })
}

fn scalar(value: &dyn Val) -> Result<Value, ExecutionError> {
    if let Some(bool) = value.downcast_ref::<CelBool>() {
        return Ok(Value::from(*bool.inner()));
    }
    if let Some(int) = value.downcast_ref::<CelInt>() {
        return Ok(Value::from(*int.inner()));
    }
    if let Some(uint) = value.downcast_ref::<CelUInt>() {
        return Ok(Value::from(*uint.inner()));
    }
    if let Some(double) = value.downcast_ref::<CelDouble>() {
        return Ok(Value::from_float(*double.inner()));
    }
    if let Some(ty) = value.downcast_ref::<CelType>() {
        return Ok(Value::from(ty.name()));
    }
    Err(no_overload("result", &[value]))
}

fn list(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    let mut elements = Vec::new();
    let mut list = value.as_iterable().ok_or_else(|| no_overload("result", &[value]))?.iter();
    while let Some(element) = list.next() {
        elements.push(plain(element, depth + 1)?);
    }
    Ok(Value::Array(elements))
}

fn map(value: &dyn Val, depth: usize) -> Result<Value, ExecutionError> {
    let (Some(keys), Some(map)) = (value.as_iterable(), value.as_indexer()) else {
        return Err(no_overload("result", &[value]));
    };
    let mut members = Object::new();
    let mut keys = keys.iter();
    while let Some(key) = keys.next() {
        let name = match text_of(key) {
            Some(text) => text.to_owned(),
            None => scalar(key)?.to_string(),
        };
        meter::build(name.len())?;
        members.insert(name, plain(map.get(key)?.as_ref(), depth + 1)?);
    }
    Ok(Value::Object(members))
}

/// Returns a point or a length of time as `string()` has it.
fn in_words(value: &dyn Val) -> Result<String, ExecutionError> {
    let args = vec![CowVal::Owned(value.clone_as_boxed())];
    let convert = engine::environment().find_overload("string", &args);
    let text = convert.ok_or_else(|| no_overload("string", &[value]))?(args)?;
    let text = text.downcast_ref::<CelString<'_>>().map(|text| text.inner().to_owned());
    text.ok_or_else(|| no_overload("string", &[value]))
}
