//! Maps of facts.

use std::ops::Bound;
use std::sync::Arc;

use cel::ExecutionError;
use cel::common::traits::{Indexer, Iterable, Iterator, Sizer};
use cel::common::types::CelInt;
use cel::common::value::{CowVal, Val};

use super::key::MapKey;
use super::lent::{Lent, Source};
use super::{Fact, container, no_such_key, not_an_index};
use crate::canon::Object;
use crate::predicate::meter;

/// A map of facts. Its keys are texts.
#[derive(Debug, Clone)]
pub(in crate::predicate) struct MapFact<'a> {
    members: Members<'a>,
    lent: Lent<'a>,
}

#[derive(Debug, Clone)]
enum Members<'a> {
    Object(&'a Object),
    Fields(Arc<[(&'static str, Fact<'a>)]>),
}

impl<'a> MapFact<'a> {
    /// Returns a map that borrows `members`.
    pub(in crate::predicate) fn of(members: &'a Object) -> Self {
        Self { members: Members::Object(members), lent: Lent::default() }
    }

    /// Returns a map with these fields.
    pub(in crate::predicate) fn of_fields<const N: usize>(
        fields: [(&'static str, Fact<'a>); N],
    ) -> Self {
        Self { members: Members::Fields(Arc::new(fields)), lent: Lent::default() }
    }

    fn find(&self, name: &str) -> Option<Fact<'a>> {
        match &self.members {
            Members::Object(members) => members.get(name).map(Fact::of),
            Members::Fields(fields) => {
                fields.iter().find(|(field, _)| *field == name).map(|(_, fact)| fact.clone())
            }
        }
    }
}

container!(MapFact, CelMap);

impl Indexer for MapFact<'_> {
    fn get<'b, 'v>(&'b self, key: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let Some(wanted) = MapKey::of(key) else { return Err(not_an_index(key)) };
        meter::look_up(wanted.len())?;
        let found = match wanted {
            MapKey::Text(name) => self.find(name),
            _ => None,
        };
        found.map(Fact::into_val).ok_or_else(|| no_such_key(key))
    }

    fn steal<'v>(self: Box<Self>, key: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(key).map(CowVal::into_owned)
    }
}

impl Iterable for MapFact<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Iterator<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(self.lent.lend(&self.members))
    }
}

/// The keys, in order.
impl<'a> Source<'a> for Members<'a> {
    fn next(&self, given: usize, last: Option<&Fact<'a>>, count: usize) -> Vec<Fact<'a>> {
        match self {
            Self::Object(members) => {
                let after = match last {
                    Some(Fact::Text(key)) => Bound::Excluded(key.inner()),
                    _ => Bound::Unbounded,
                };
                let rest = members.range::<str, _>((after, Bound::Unbounded));
                rest.take(count).map(|(key, _)| Fact::text(key)).collect()
            }
            Self::Fields(fields) => {
                fields.iter().skip(given).take(count).map(|(field, _)| Fact::text(field)).collect()
            }
        }
    }
}

impl Sizer for MapFact<'_> {
    fn size(&self) -> CelInt {
        let len = match &self.members {
            Members::Object(members) => members.len(),
            Members::Fields(fields) => fields.len(),
        };
        CelInt::from(i64::try_from(len).unwrap_or(i64::MAX))
    }
}
