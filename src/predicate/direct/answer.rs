//! A result, made for whoever asked.

use std::collections::BTreeMap;

use super::eval::{Outcome, Walk};
use super::fault::Fault;
use super::value::Value;
use crate::predicate::meter::{MAX_VALUE_DEPTH, VALUE};
use crate::predicate::value::{Key, Value as Plain};

impl<'a> Walk<'a> {
    /// Returns a value as whoever asked sees it, each part counted before it is made: what the
    /// expression shares is made anew wherever it stands.
    pub(super) fn answer(&mut self, value: &Value<'a>, depth: usize) -> Outcome<'a, Plain> {
        if depth > MAX_VALUE_DEPTH {
            return Err(Fault::NotConverted("result"));
        }
        self.spent.build(VALUE)?;
        if let Some(text) = value.as_text() {
            self.spent.build(text.len())?;
            return Ok(Plain::String(text.to_owned()));
        }
        if let Some(bytes) = value.as_bytes() {
            // JSON will have them as base64.
            self.spent.build(bytes.len().saturating_mul(4) / 3)?;
            return Ok(Plain::Bytes(bytes.to_vec()));
        }
        Ok(match value {
            Value::Null => Plain::Null,
            Value::Bool(bool) => Plain::Bool(*bool),
            Value::Int(int) => Plain::Int(*int),
            Value::Uint(uint) => Plain::Uint(*uint),
            Value::Double(double) => Plain::Double(*double),
            Value::Type(name) => Plain::Type((*name).to_owned()),
            Value::Elements(_) | Value::Ids(_) | Value::List(_) => {
                self.answer_list(value, depth)?
            }
            Value::Members(_) | Value::Shape(_) | Value::Map(_) => self.answer_map(value, depth)?,
            other => return Err(Fault::NotTaken("result", other.type_of())),
        })
    }

    fn answer_list(&mut self, list: &Value<'a>, depth: usize) -> Outcome<'a, Plain> {
        let elements = list.each().into_iter().flatten();
        let elements = elements.map(|element| self.answer(&element, depth + 1));
        Ok(Plain::List(elements.collect::<Result<_, _>>()?))
    }

    fn answer_map(&mut self, map: &Value<'a>, depth: usize) -> Outcome<'a, Plain> {
        let mut entries = BTreeMap::new();
        for key in map.each().into_iter().flatten() {
            let text = key.as_text();
            self.spent.build(text.map_or(VALUE, str::len))?;
            let name = match (&key, text) {
                (_, Some(text)) => Key::String(text.to_owned()),
                (Value::Bool(bool), _) => Key::Bool(*bool),
                (Value::Int(int), _) => Key::Int(*int),
                (Value::Uint(uint), _) => Key::Uint(*uint),
                (other, _) => return Err(Fault::NotTaken("result", other.type_of())),
            };
            self.spent.look_up(text.map_or(0, str::len))?;
            let value = self.member(map, &key).ok_or_else(|| Fault::no_key(&key))?;
            entries.insert(name, self.answer(&value, depth + 1)?);
        }
        Ok(Plain::Map(entries))
    }
}
