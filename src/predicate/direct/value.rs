//! Values as the direct evaluator sees them: facts borrowed, what an expression built shared.

use std::rc::Rc;

use crate::canon::{Number, Object, Value as Json};
use crate::predicate::metered::value::MapKey;
use crate::record::RecordId;

/// A value. Copying one costs the same, however large it is.
#[derive(Debug, Clone)]
pub(super) enum Value<'a> {
    Null,
    Bool(bool),
    Int(i64),
    Uint(u64),
    Double(f64),
    /// A number that no type of CEL holds.
    Beyond,
    /// A type, by its name.
    Type(&'static str),
    Text(&'a str),
    Bytes(&'a [u8]),
    /// A text that is written out. Like one that a conversion made it counts where it becomes part
    /// of a list or a map.
    WrittenText(&'a str),
    WrittenBytes(&'a [u8]),
    MadeText(Made<str>),
    MadeBytes(Made<[u8]>),
    /// Elements of a fact.
    Elements(&'a [Json]),
    /// Ids of records that are a fact. One becomes a text when it is looked at.
    Ids(&'a [RecordId]),
    /// A list that the expression built.
    List(Rc<[Self]>),
    /// Members of a fact.
    Members(&'a Object),
    /// A map whose keys are known.
    Shape(Shape),
    /// A map that the expression built, in the order of its keys.
    Map(Rc<[(Self, Self)]>),
}

/// What an expression made of other texts or bytes.
#[derive(Debug)]
pub(super) enum Made<T: ?Sized> {
    /// Made to be shared by its copies.
    Shared(Rc<T>),
    /// Made by a conversion: counts again where it becomes part of a list or a map.
    Fresh(Rc<T>),
}

impl<T: ?Sized> Made<T> {
    pub(super) fn get(&self) -> &T {
        let (Self::Shared(made) | Self::Fresh(made)) = self;
        made
    }
}

impl<T: ?Sized> Clone for Made<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Shared(made) => Self::Shared(Rc::clone(made)),
            Self::Fresh(made) => Self::Fresh(Rc::clone(made)),
        }
    }
}

/// A map whose keys are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    Record,
    /// The body of a record that is a returned call.
    Body,
    System,
    Today,
    /// What is known about any task: nothing.
    Task,
}

impl Shape {
    /// Returns the keys, in order.
    pub(super) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Record => &["act", "actor", "thread", "data_type", "clock", "parents", "body"],
            Self::Body => &["tool", "args", "status", "content"],
            Self::System => &[
                "uptime_secs",
                "records_total",
                "threads_total",
                "daemon_version",
                "active_dispatches",
                "today",
            ],
            Self::Today => &["dispatches", "cost_usd", "tasks_completed"],
            Self::Task => &["status", "priority", "assigned_to", "age_secs", "cost_usd", "exists"],
        }
    }
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TypeName {
    Null,
    Bool,
    Int,
    Uint,
    Double,
    Beyond,
    Type,
    Text,
    Bytes,
    List,
    Map,
}

impl TypeName {
    /// Returns the name that CEL has for the type.
    pub(super) const fn as_str(self) -> &'static str {
        match self {
            Self::Null => "null_type",
            Self::Bool => "bool",
            Self::Int => "int",
            Self::Uint => "uint",
            Self::Double => "double",
            Self::Beyond => "number beyond 64 bits",
            Self::Type => "type",
            Self::Text => "string",
            Self::Bytes => "bytes",
            Self::List => "list",
            Self::Map => "map",
        }
    }
}

impl<'a> Value<'a> {
    /// Returns a value that borrows `json`.
    pub(super) fn of(json: &'a Json) -> Self {
        match json {
            Json::Null => Self::Null,
            Json::Bool(bool) => Self::Bool(*bool),
            Json::Number(number) => Self::of_number(number),
            Json::String(text) => Self::Text(text),
            Json::Array(elements) => Self::Elements(elements),
            Json::Object(members) => Self::Members(members),
        }
    }

    fn of_number(number: &Number) -> Self {
        if let Some(int) = number.as_i64() {
            return Self::Int(int);
        }
        if let Some(uint) = number.as_u64() {
            return Self::Uint(uint);
        }
        number.as_fraction().map_or(Self::Beyond, Self::Double)
    }

    fn of_id(id: &RecordId) -> Self {
        Self::fresh_text(&id.to_string())
    }

    /// Returns a text that a conversion made.
    pub(super) fn fresh_text(text: &str) -> Self {
        Self::MadeText(Made::Fresh(text.into()))
    }

    pub(super) fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) | Self::WrittenText(text) => Some(text),
            Self::MadeText(made) => Some(made.get()),
            _ => None,
        }
    }

    pub(super) fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) | Self::WrittenBytes(bytes) => Some(bytes),
            Self::MadeBytes(made) => Some(made.get()),
            _ => None,
        }
    }

    pub(super) const fn type_of(&self) -> TypeName {
        match self {
            Self::Null => TypeName::Null,
            Self::Bool(_) => TypeName::Bool,
            Self::Int(_) => TypeName::Int,
            Self::Uint(_) => TypeName::Uint,
            Self::Double(_) => TypeName::Double,
            Self::Beyond => TypeName::Beyond,
            Self::Type(_) => TypeName::Type,
            Self::Text(_) | Self::WrittenText(_) | Self::MadeText(_) => TypeName::Text,
            Self::Bytes(_) | Self::WrittenBytes(_) | Self::MadeBytes(_) => TypeName::Bytes,
            Self::Elements(_) | Self::Ids(_) | Self::List(_) => TypeName::List,
            Self::Members(_) | Self::Shape(_) | Self::Map(_) => TypeName::Map,
        }
    }

    /// Returns the value as a key; `None` if values of its type are none.
    pub(super) fn as_key(&self) -> Option<MapKey<'_>> {
        match self {
            Self::Bool(bool) => Some(MapKey::Bool(*bool)),
            Self::Int(int) => Some(MapKey::Number(i128::from(*int))),
            Self::Uint(uint) => Some(MapKey::Number(i128::from(*uint))),
            Self::Double(double) => Some(MapKey::of_double(*double)),
            _ => self.as_text().map(MapKey::Text),
        }
    }

    /// Returns the value as a key that a map is built with; `None` if it cannot be one.
    pub(super) fn into_key(self) -> Option<Self> {
        match self {
            Self::Bool(_) | Self::Int(_) | Self::Uint(_) | Self::Text(_) | Self::WrittenText(_) => {
                Some(self)
            }
            Self::MadeText(Made::Shared(text) | Made::Fresh(text)) => {
                Some(Self::MadeText(Made::Fresh(text)))
            }
            _ => None,
        }
    }

    /// Returns an element of a list.
    pub(super) fn at(&self, at: usize) -> Option<Self> {
        match self {
            Self::Elements(elements) => elements.get(at).map(Self::of),
            Self::Ids(ids) => ids.get(at).map(Self::of_id),
            Self::List(elements) => elements.get(at).cloned(),
            _ => None,
        }
    }

    /// Returns how many elements a list or a map has.
    pub(super) fn len(&self) -> Option<usize> {
        match self {
            Self::Elements(elements) => Some(elements.len()),
            Self::Ids(ids) => Some(ids.len()),
            Self::List(elements) => Some(elements.len()),
            Self::Members(members) => Some(members.len()),
            Self::Shape(shape) => Some(shape.keys().len()),
            Self::Map(entries) => Some(entries.len()),
            _ => None,
        }
    }

    /// Returns the elements of a list or the keys of a map, in order.
    pub(super) fn each(&self) -> Option<Each<'a>> {
        Some(match self {
            Self::Elements(elements) => Each::Elements(elements.iter()),
            Self::Ids(ids) => Each::Ids(ids.iter()),
            Self::List(elements) => Each::List(Rc::clone(elements), 0),
            Self::Members(members) => Each::Members(members.keys()),
            Self::Shape(shape) => Each::Shape(shape.keys().iter()),
            Self::Map(entries) => Each::Map(Rc::clone(entries), 0),
            _ => return None,
        })
    }
}

/// The elements of a list, or the keys of a map.
pub(super) enum Each<'a> {
    Elements(std::slice::Iter<'a, Json>),
    Ids(std::slice::Iter<'a, RecordId>),
    List(Rc<[Value<'a>]>, usize),
    Members(std::collections::btree_map::Keys<'a, String, Json>),
    Shape(std::slice::Iter<'static, &'static str>),
    Map(Rc<[(Value<'a>, Value<'a>)]>, usize),
}

impl<'a> Iterator for Each<'a> {
    type Item = Value<'a>;

    fn next(&mut self) -> Option<Value<'a>> {
        match self {
            Self::Elements(elements) => elements.next().map(Value::of),
            Self::Ids(ids) => ids.next().map(Value::of_id),
            Self::List(elements, at) => {
                *at += 1;
                elements.get(*at - 1).cloned()
            }
            Self::Members(keys) => keys.next().map(|key| Value::Text(key)),
            Self::Shape(keys) => keys.next().map(|key| Value::Text(key)),
            Self::Map(entries, at) => {
                *at += 1;
                entries.get(*at - 1).map(|(key, _)| key.clone())
            }
        }
    }
}
