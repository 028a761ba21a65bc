//! Values as the evaluator sees them.
//!
//! Facts are borrowed: a map or a list of facts is a pointer until somebody looks inside, and then
//! only what is looked at is turned into values. What an expression builds is shared: the
//! evaluator copies values freely, so a copy must never cost what the original did.
//!
//! **Invariant:** copying any value of this module takes the same time, however large it is.

mod bound;
mod built;
mod key;
mod lent;
mod list;
mod map;
mod scalar;

pub(in crate::predicate) use bound::bound;
pub(in crate::predicate) use built::{BuiltList, BuiltMap};
pub(in crate::predicate) use key::MapKey;
pub(in crate::predicate) use list::{ListFact, position};
pub(in crate::predicate) use map::MapFact;
pub(in crate::predicate) use scalar::{Beyond, Blob, Text};

use cel::ExecutionError;
use cel::common::types::{CelBool, CelDouble, CelInt, CelNull, CelString, CelUInt};
use cel::common::value::{CowVal, Val};

use crate::canon::{Number, Value};
use crate::record::RecordId;

/// One fact.
#[derive(Debug, Clone)]
pub(in crate::predicate) enum Fact<'a> {
    Null(CelNull),
    Bool(CelBool),
    Int(CelInt),
    Uint(CelUInt),
    Double(CelDouble),
    Beyond(Beyond),
    Text(CelString<'a>),
    List(ListFact<'a>),
    Map(MapFact<'a>),
}

impl<'a> Fact<'a> {
    /// Returns a fact that borrows `value`.
    pub(in crate::predicate) fn of(value: &'a Value) -> Self {
        match value {
            Value::Null => Self::Null(CelNull),
            Value::Bool(bool) => Self::Bool(CelBool::from(*bool)),
            Value::Number(number) => Self::of_number(number),
            Value::String(text) => Self::text(text),
            Value::Array(elements) => Self::List(ListFact::of(elements)),
            Value::Object(members) => Self::Map(MapFact::of(members)),
        }
    }

    /// Returns a fact that borrows `text`.
    pub(in crate::predicate) fn text(text: &'a str) -> Self {
        Self::Text(CelString::from(text))
    }

    /// Returns the text of `id`.
    fn id(id: &RecordId) -> Self {
        Self::Text(CelString::from(id.to_string()))
    }

    /// Returns a fact of the integer.
    pub(in crate::predicate) fn int(int: i64) -> Self {
        Self::Int(CelInt::from(int))
    }

    fn of_number(number: &Number) -> Self {
        if let Some(int) = number.as_i64() {
            return Self::int(int);
        }
        if let Some(uint) = number.as_u64() {
            return Self::Uint(CelUInt::from(uint));
        }
        match number.as_fraction() {
            Some(float) => Self::Double(CelDouble::from(float)),
            None => Self::Beyond(Beyond),
        }
    }

    /// Returns the value, borrowed.
    pub(in crate::predicate) fn as_val(&self) -> &(dyn Val + 'a) {
        match self {
            Self::Null(null) => null,
            Self::Bool(bool) => bool,
            Self::Int(int) => int,
            Self::Uint(uint) => uint,
            Self::Double(double) => double,
            Self::Beyond(beyond) => beyond,
            Self::Text(text) => text,
            Self::List(list) => list,
            Self::Map(map) => map,
        }
    }

    /// Returns the value, owned.
    pub(in crate::predicate) fn into_val<'b, 'v>(self) -> CowVal<'b, 'v>
    where
        'a: 'v,
    {
        match self {
            Self::Null(null) => CowVal::owned(null),
            Self::Bool(bool) => CowVal::owned(bool),
            Self::Int(int) => CowVal::owned(int),
            Self::Uint(uint) => CowVal::owned(uint),
            Self::Double(double) => CowVal::owned(double),
            Self::Beyond(beyond) => CowVal::owned(beyond),
            Self::Text(text) => CowVal::owned(text),
            Self::List(list) => CowVal::owned(list),
            Self::Map(map) => CowVal::owned(map),
        }
    }
}

/// The error for a key that is not there.
fn no_such_key(key: &dyn Val) -> ExecutionError {
    let key = match MapKey::of(key) {
        Some(key) => key.to_string(),
        None => key.get_type().name().to_owned(),
    };
    ExecutionError::no_such_key(&key)
}

/// The error for an index of a type that indexes nothing here. The evaluator puts its own words in
/// its place.
fn not_an_index(index: &dyn Val) -> ExecutionError {
    ExecutionError::UnexpectedType {
        got: index.get_type().name().to_owned(),
        want: "an index".to_owned(),
    }
}

/// Implements [`Val`] for a container of type `$like`, whose traits are implemented apart.
macro_rules! container {
    ($name:ident, $like:ident) => {
        impl<'a> ::cel::common::value::Val for $name<'a> {
            fn get_type(&self) -> &::cel::common::types::Type {
                <Self as ::cel::common::value::Val>::cel_type()
            }

            fn cel_type() -> &'static ::cel::common::types::Type {
                <::cel::common::types::$like<'static> as ::cel::common::value::Val>::cel_type()
            }

            fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn ::cel::common::traits::Indexer + 'v)>
            where
                Self: 'v,
            {
                Some(self)
            }

            fn as_iterable<'b, 'v>(
                &'b self,
            ) -> Option<&'b (dyn ::cel::common::traits::Iterable + 'v)>
            where
                Self: 'v,
            {
                Some(self)
            }

            fn as_sizer(&self) -> Option<&dyn ::cel::common::traits::Sizer> {
                Some(self)
            }

            fn equals(&self, other: &dyn ::cel::common::value::Val) -> bool {
                $crate::predicate::metered::ops::equal(self, other).unwrap_or(false)
            }

            fn clone_as_boxed<'v>(&self) -> Box<dyn ::cel::common::value::Val + 'v>
            where
                Self: 'v,
            {
                Box::new(self.clone())
            }
        }
    };
}
use container;
