//! Lists of facts.

use cel::ExecutionError;
use cel::common::traits::{Indexer, Iterable, Iterator, Sizer};
use cel::common::types::CelInt;
use cel::common::value::{CowVal, Val};

use super::lent::{Lent, Source};
use super::{Fact, MapKey, container, not_an_index};
use crate::canon::Value;
use crate::record::RecordId;

/// A list of facts.
#[derive(Debug, Clone)]
pub(in crate::predicate) struct ListFact<'a> {
    items: Items<'a>,
    lent: Lent<'a>,
}

#[derive(Debug, Clone, Copy)]
enum Items<'a> {
    Values(&'a [Value]),
    Ids(&'a [RecordId]),
}

impl<'a> ListFact<'a> {
    /// Returns a list that borrows `elements`.
    pub(in crate::predicate) fn of(elements: &'a [Value]) -> Self {
        Self { items: Items::Values(elements), lent: Lent::default() }
    }

    /// Returns a list of the texts of `ids`. One becomes a text when somebody looks at it.
    pub(in crate::predicate) fn of_ids(ids: &'a [RecordId]) -> Self {
        Self { items: Items::Ids(ids), lent: Lent::default() }
    }

    fn len(&self) -> usize {
        match self.items {
            Items::Values(values) => values.len(),
            Items::Ids(ids) => ids.len(),
        }
    }

    fn at(&self, index: usize) -> Option<Fact<'a>> {
        match self.items {
            Items::Values(values) => values.get(index).map(Fact::of),
            Items::Ids(ids) => ids.get(index).map(Fact::id),
        }
    }
}

container!(ListFact, CelList);

impl Indexer for ListFact<'_> {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let index = position(index, self.len())?;
        self.at(index).map(Fact::into_val).ok_or_else(out_of_bounds)
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl Iterable for ListFact<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(self.lent.lend(&self.items))
    }
}

impl<'a> Source<'a> for Items<'a> {
    fn next(&self, given: usize, _: Option<&Fact<'a>>, count: usize) -> Vec<Fact<'a>> {
        match self {
            Self::Values(values) => values.iter().skip(given).take(count).map(Fact::of).collect(),
            Self::Ids(ids) => ids.iter().skip(given).take(count).map(Fact::id).collect(),
        }
    }
}

impl Sizer for ListFact<'_> {
    fn size(&self) -> CelInt {
        CelInt::from(i64::try_from(self.len()).unwrap_or(i64::MAX))
    }
}

/// Returns `index` as a position in a list of `len` elements.
pub(in crate::predicate) fn position(index: &dyn Val, len: usize) -> Result<usize, ExecutionError> {
    match MapKey::of(index) {
        Some(MapKey::Number(number)) => match usize::try_from(number) {
            Ok(index) if index < len => Ok(index),
            _ => Err(out_of_bounds()),
        },
        _ => Err(not_an_index(index)),
    }
}

const fn out_of_bounds() -> ExecutionError {
    ExecutionError::IndexOutOfBounds(cel::Value::Null)
}
