//! From what a call is like to the predicates that may hold of it.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::fast::FixedState;

use super::needles::Needles;
use super::prefixes::Prefixes;
use crate::predicate::guard::{MAX_SOURCE_BYTES, MAX_UNITS, UNIT_BYTES};
use crate::predicate::selector::{Place, PlaceName, SearchKey};
use crate::predicate::{BodyFacts, Facts};

/// Where a predicate stands in the list of its owner.
pub(super) type Position = usize;

/// How long an index is used, and so what building it may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lasts {
    /// Until the next change.
    Shortly,
    /// Over many changes, and it is built off their path.
    Long,
}

/// What is found by a whole name.
///
/// The hash is fast and known to all. The texts in the table are written by operators, who may
/// write slow predicates as well; those looked up come from anywhere, and make nothing grow.
type Table = HashMap<Arc<str>, Bucket, FixedState>;

/// The longest content that needles are searched in. Beyond it a predicate might exhaust its
/// budget on the needles themselves, and that is for it to say.
const MAX_SEARCHED_BYTES: usize = 48 * 1024;
const _: () = {
    let searches = MAX_SOURCE_BYTES / "record.body.content.contains(a)".len();
    let bytes = searches * (MAX_SEARCHED_BYTES + MAX_SOURCE_BYTES);
    assert!((bytes as u64) < MAX_UNITS * UNIT_BYTES);
};

/// The keys of many predicates.
#[derive(Debug, Default)]
pub(super) struct Lookup {
    anywhere: Bucket,
    tools: ByName,
    resources: ByName,
    /// A body of any shape may look like anything to a predicate that expects a call.
    reads_body: bool,
    len: usize,
}

/// What is found by a name.
#[derive(Debug, Default)]
struct ByName {
    exact: Table,
    prefixes: Prefixes<Bucket>,
}

/// What may hold at one place.
#[derive(Debug, Default)]
struct Bucket {
    any_status: Leaf,
    /// In the order of the statuses. There are few, most often one.
    by_status: Box<[(Arc<str>, Leaf)]>,
}

/// What may hold at one place with one status.
#[derive(Debug, Default)]
struct Leaf {
    any_content: Box<[Position]>,
    needles: Option<Box<Needles>>,
}

/// A key and where it leads.
type Pointer<'k> = (&'k SearchKey, Position);

impl Lookup {
    /// Indexes predicates by their keys, of which each has as many as it likes. There are `len`
    /// positions.
    pub(super) fn of<'k>(
        keys: impl IntoIterator<Item = Pointer<'k>>,
        len: usize,
        lasts: Lasts,
    ) -> Self {
        let mut pointers: Vec<Pointer<'_>> = keys.into_iter().collect();
        pointers.sort_unstable();
        let reads_body = pointers.iter().any(|(key, _)| key.reads_body());
        let mut lookup = Self { reads_body, len, ..Self::default() };
        let (mut tools, mut resources) = (Vec::new(), Vec::new());
        for group in pointers.chunk_by(|(one, _), (two, _)| one.place == two.place) {
            let Some((SearchKey { place, .. }, _)) = group.first() else { continue };
            let bucket = Bucket::of(group, lasts);
            match place {
                Place::Anywhere => lookup.anywhere = bucket,
                Place::Tool(name) => tools.push((name, bucket)),
                Place::Resource(name) => resources.push((name, bucket)),
            }
        }
        Self { tools: ByName::of(tools), resources: ByName::of(resources), ..lookup }
    }

    /// Calls `each` with the position of every predicate that may hold of `facts`, or fail on
    /// them. A position may come twice.
    pub(super) fn candidates(&self, facts: &Facts<'_>, mut each: impl FnMut(Position)) {
        if self.len == 0 {
            return;
        }
        let call = match facts.record.body {
            BodyFacts::Call { tool, status, content, .. } => Call { tool, status, content },
            BodyFacts::Any(_) if self.reads_body => return (0..self.len).for_each(each),
            BodyFacts::Any(_) => Call::default(),
        };
        self.anywhere.candidates(&call, &mut each);
        self.tools.candidates(call.tool, &call, &mut each);
        self.resources.candidates(facts.resource, &call, &mut each);
    }
}

#[derive(Default)]
struct Call<'f> {
    tool: &'f str,
    status: &'f str,
    content: &'f str,
}

impl ByName {
    /// Indexes by names, which ascend and differ.
    fn of(named: Vec<(&PlaceName, Bucket)>) -> Self {
        let (mut exact, mut prefixes) = (Table::default(), Vec::new());
        for (name, bucket) in named {
            match name {
                PlaceName::Is(name) => drop(exact.insert(Arc::clone(name), bucket)),
                PlaceName::StartsWith(prefix) => prefixes.push((prefix, bucket)),
            }
        }
        Self { exact, prefixes: Prefixes::of(prefixes) }
    }

    fn candidates(&self, name: &str, call: &Call<'_>, each: &mut impl FnMut(Position)) {
        if let Some(bucket) = self.exact.get(name) {
            bucket.candidates(call, each);
        }
        self.prefixes.walk(name, |bucket| bucket.candidates(call, each));
    }
}

impl Bucket {
    fn of(pointers: &[Pointer<'_>], lasts: Lasts) -> Self {
        let (mut any_status, mut by_status) = (Leaf::default(), Vec::new());
        for group in pointers.chunk_by(|(one, _), (two, _)| one.status == two.status) {
            let Some((SearchKey { status, .. }, _)) = group.first() else { continue };
            let leaf = Leaf::of(group, lasts);
            match status {
                None => any_status = leaf,
                Some(status) => by_status.push((Arc::clone(status), leaf)),
            }
        }
        Self { any_status, by_status: by_status.into() }
    }

    fn candidates(&self, call: &Call<'_>, each: &mut impl FnMut(Position)) {
        self.any_status.candidates(call, each);
        let at = self.by_status.binary_search_by(|(status, _)| (**status).cmp(call.status));
        if let Some((_, leaf)) = at.ok().and_then(|at| self.by_status.get(at)) {
            leaf.candidates(call, each);
        }
    }
}

impl Leaf {
    fn of(pointers: &[Pointer<'_>], lasts: Lasts) -> Self {
        let mut leaf = Self::default();
        let mut needles = Vec::new();
        for group in pointers.chunk_by(|(one, _), (two, _)| one.needle == two.needle) {
            let Some((SearchKey { needle, .. }, _)) = group.first() else { continue };
            let positions = group.iter().map(|(_, position)| *position).collect();
            match needle {
                None => leaf.any_content = positions,
                Some(needle) => needles.push((needle, positions)),
            }
        }
        leaf.needles = (!needles.is_empty()).then(|| Box::new(Needles::of(needles, lasts)));
        leaf
    }

    fn candidates(&self, call: &Call<'_>, each: &mut impl FnMut(Position)) {
        self.any_content.iter().copied().for_each(&mut *each);
        match &self.needles {
            None => {}
            Some(needles) if call.content.len() > MAX_SEARCHED_BYTES => needles.all(each),
            Some(needles) => needles.find(call.content, each),
        }
    }
}
