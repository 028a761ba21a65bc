//! Conversions between types. Their rules are those of the CEL crate, which is asked.

use cel::common::types::{CelBool, CelBytes, CelDouble, CelInt, CelString, CelUInt};
use cel::common::value::CowVal;

use super::eval::{Outcome, Walk};
use super::fault::Fault;
use super::node::Conversion;
use super::value::{Made, Value};
use crate::predicate::metered::engine;

impl<'a> Walk<'a> {
    pub(super) fn convert(&mut self, to: Conversion, value: Value<'a>) -> Outcome<'a> {
        self.copied(&value)?;
        match (to, &value) {
            (Conversion::Text, Value::Text(_) | Value::WrittenText(_) | Value::MadeText(_))
            | (Conversion::Bytes, Value::Bytes(_) | Value::WrittenBytes(_) | Value::MadeBytes(_))
            | (Conversion::Int, Value::Int(_))
            | (Conversion::Uint, Value::Uint(_))
            | (Conversion::Double, Value::Double(_))
            | (Conversion::Bool, Value::Bool(_)) => Ok(value),
            (Conversion::Bytes, Value::Text(text)) => Ok(Value::Bytes(text.as_bytes())),
            (Conversion::Bytes, Value::WrittenText(text)) => {
                Ok(Value::WrittenBytes(text.as_bytes()))
            }
            (Conversion::Bytes, Value::MadeText(made)) => {
                Ok(Value::MadeBytes(Made::Fresh(made.get().as_bytes().into())))
            }
            _ => converted(name(to), &value).ok_or(Fault::NotConverted(name(to))),
        }
    }
}

const fn name(to: Conversion) -> &'static str {
    match to {
        Conversion::Text => "string",
        Conversion::Int => "int",
        Conversion::Uint => "uint",
        Conversion::Double => "double",
        Conversion::Bool => "bool",
        Conversion::Bytes => "bytes",
    }
}

fn converted<'a>(function: &'static str, value: &Value<'_>) -> Option<Value<'a>> {
    let argument = match value {
        Value::Bool(bool) => CowVal::owned(CelBool::from(*bool)),
        Value::Int(int) => CowVal::owned(CelInt::from(*int)),
        Value::Uint(uint) => CowVal::owned(CelUInt::from(*uint)),
        Value::Double(double) => CowVal::owned(CelDouble::from(*double)),
        _ => match (value.as_text(), value.as_bytes()) {
            (Some(text), _) => CowVal::owned(CelString::from(text)),
            (_, Some(bytes)) => CowVal::owned(CelBytes::from(bytes)),
            _ => return None,
        },
    };
    let arguments = vec![argument];
    let convert = engine::environment().find_overload(function, &arguments)?;
    let converted = convert(arguments).ok()?;
    if let Some(text) = converted.downcast_ref::<CelString<'_>>() {
        return Some(Value::fresh_text(text.inner()));
    }
    if let Some(int) = converted.downcast_ref::<CelInt>() {
        return Some(Value::Int(*int.inner()));
    }
    if let Some(uint) = converted.downcast_ref::<CelUInt>() {
        return Some(Value::Uint(*uint.inner()));
    }
    if let Some(double) = converted.downcast_ref::<CelDouble>() {
        return Some(Value::Double(*double.inner()));
    }
    converted.downcast_ref::<CelBool>().map(|bool| Value::Bool(*bool.inner()))
}
