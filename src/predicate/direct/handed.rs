//! A result, handed to the evaluator of the CEL crate, which knows how results are told.

use cel::common::types::{
    CelBool, CelBytes, CelDouble, CelInt, CelMapKey, CelNull, CelString, CelType, CelUInt,
};
use cel::common::value::Val;

use super::eval::Walk;
use super::value::{Made, Shape, Value};
use crate::predicate::metered::value::{
    Beyond, Blob, BuiltList, BuiltMap, ListFact, MapFact, Text,
};
use crate::predicate::metered::{asked, engine};

impl<'a> Walk<'a> {
    /// Returns the value that the other evaluator would have.
    pub(super) fn handed(&self, value: &Value<'a>) -> Box<dyn Val + 'a> {
        match value {
            Value::Null => Box::new(CelNull),
            Value::Bool(bool) => Box::new(CelBool::from(*bool)),
            Value::Int(int) => Box::new(CelInt::from(*int)),
            Value::Uint(uint) => Box::new(CelUInt::from(*uint)),
            Value::Double(double) => Box::new(CelDouble::from(*double)),
            Value::Beyond => Box::new(Beyond),
            Value::Type(name) => Box::new(CelType::new_static(name)),
            Value::Text(text) | Value::WrittenText(text) => Box::new(CelString::from(*text)),
            Value::Bytes(bytes) | Value::WrittenBytes(bytes) => Box::new(CelBytes::from(*bytes)),
            Value::MadeText(made) => Box::new(Text::from(made.get().to_owned())),
            Value::MadeBytes(made) => Box::new(Blob::from(made.get().to_vec())),
            Value::Elements(elements) => Box::new(ListFact::of(elements)),
            Value::Ids(ids) => Box::new(ListFact::of_ids(ids)),
            Value::Members(members) => Box::new(MapFact::of(members)),
            Value::Shape(shape) => Box::new(self.shape(*shape)),
            Value::List(elements) => {
                Box::new(BuiltList::new(elements.iter().map(|it| self.handed(it)).collect()))
            }
            Value::Map(entries) => {
                let entries = entries.iter().filter_map(|(key, value)| {
                    let key = match key {
                        Value::Bool(bool) => CelMapKey::Bool(CelBool::from(*bool)),
                        Value::Int(int) => CelMapKey::Int(CelInt::from(*int)),
                        Value::Uint(uint) => CelMapKey::UInt(CelUInt::from(*uint)),
                        Value::Text(text) | Value::WrittenText(text) => {
                            CelMapKey::String(CelString::from(*text))
                        }
                        Value::MadeText(Made::Shared(text) | Made::Fresh(text)) => {
                            CelMapKey::String(CelString::from(String::from(&**text)))
                        }
                        _ => return None,
                    };
                    Some((key, self.handed(value)))
                });
                Box::new(BuiltMap::new(entries.collect()))
            }
        }
    }

    fn shape(&self, shape: Shape) -> MapFact<'a> {
        let question = self.question;
        match shape {
            Shape::Record => engine::record(question),
            Shape::Body => engine::body(question.facts.record.body),
            Shape::System => engine::system(question),
            Shape::Today => engine::today(),
            Shape::Task => asked::no_task(),
        }
    }
}
