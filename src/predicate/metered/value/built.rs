//! Lists and maps that an expression built, shared by their copies.

use std::sync::Arc;

use cel::ExecutionError;
use cel::common::traits::{Indexer, Iterable, Iterator, Sizer};
use cel::common::types::{CelInt, CelMapKey};
use cel::common::value::{CowVal, Val};

use super::key::MapKey;
use super::{container, no_such_key, not_an_index, position};
use crate::predicate::meter;

/// A list that an expression built.
#[derive(Debug, Clone)]
pub(in crate::predicate) struct BuiltList<'a>(Arc<[Box<dyn Val + 'a>]>);

impl<'a> BuiltList<'a> {
    /// Returns the list of `elements`, which must be cheap to copy.
    pub(in crate::predicate) fn new(elements: Vec<Box<dyn Val + 'a>>) -> Self {
        Self(elements.into())
    }
}

container!(BuiltList, CelList);

impl Indexer for BuiltList<'_> {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let index = position(index, self.0.len())?;
        match self.0.get(index) {
            Some(element) => Ok(CowVal::Borrowed(element.as_ref())),
            None => Err(ExecutionError::IndexOutOfBounds(cel::Value::Null)),
        }
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl Iterable for BuiltList<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Elements(self.0.iter()))
    }
}

struct Elements<'b, 'a>(std::slice::Iter<'b, Box<dyn Val + 'a>>);

impl<'b, 'a: 'v, 'v> Iterator<'b, 'v> for Elements<'b, 'a> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        self.0.next().map(|element| -> &'b (dyn Val + 'v) { element.as_ref() })
    }
}

impl Sizer for BuiltList<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.0.len()).unwrap_or(i64::MAX))
    }
}

/// A map that an expression built, in the order of its keys.
#[derive(Debug, Clone)]
pub(in crate::predicate) struct BuiltMap<'a>(Arc<[Entry<'a>]>);

type Entry<'a> = (CelMapKey<'a>, Box<dyn Val + 'a>);

impl<'a> BuiltMap<'a> {
    /// Returns the map of `entries`, whose keys differ and whose values must be cheap to copy.
    pub(in crate::predicate) fn new(mut entries: Vec<Entry<'a>>) -> Self {
        entries.sort_by(|(one, _), (two, _)| MapKey::held(one).cmp(&MapKey::held(two)));
        Self(entries.into())
    }
}

container!(BuiltMap, CelMap);

impl Indexer for BuiltMap<'_> {
    fn get<'b, 'v>(&'b self, key: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let Some(wanted) = MapKey::of(key) else { return Err(not_an_index(key)) };
        meter::look_up(wanted.len())?;
        let found = self.0.binary_search_by(|(held, _)| MapKey::held(held).cmp(&wanted));
        match found.ok().and_then(|at| self.0.get(at)) {
            Some((_, value)) => Ok(CowVal::Borrowed(value.as_ref())),
            None => Err(no_such_key(key)),
        }
    }

    fn steal<'v>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(key).map(CowVal::into_owned)
    }
}

impl Iterable for BuiltMap<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Keys(self.0.iter()))
    }
}

struct Keys<'b, 'a>(std::slice::Iter<'b, Entry<'a>>);

impl<'b, 'a: 'v, 'v> Iterator<'b, 'v> for Keys<'b, 'a> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        self.0.next().map(|(key, _)| -> &'b (dyn Val + 'v) { key.inner() })
    }
}

impl Sizer for BuiltMap<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.0.len()).unwrap_or(i64::MAX))
    }
}
