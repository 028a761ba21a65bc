//! Facts that loops borrow, made as the loops get to them.

use std::sync::OnceLock;

use cel::common::traits::Iterator;
use cel::common::value::Val;

use super::Fact;

/// How many facts are made at first; each further batch is twice as large.
const FIRST: usize = 16;

/// Where facts come from, one after the other.
pub(super) trait Source<'a> {
    /// Returns up to `count` facts, after the `given` first ones of which `last` is the last.
    fn next(&self, given: usize, last: Option<&Fact<'a>>, count: usize) -> Vec<Fact<'a>>;
}

/// The facts made so far.
#[derive(Debug, Default)]
pub(super) struct Lent<'a>(OnceLock<Box<Batch<'a>>>);

/// A copy makes its facts anew: copying what was made would cost what making it did.
impl Clone for Lent<'_> {
    fn clone(&self) -> Self {
        Self::default()
    }
}

#[derive(Debug)]
struct Batch<'a> {
    /// How many facts came before.
    before: usize,
    facts: Vec<Fact<'a>>,
    next: Lent<'a>,
}

impl<'a> Lent<'a> {
    /// Returns the facts of `source` from the start.
    pub(super) fn lend<'b>(&'b self, source: &'b dyn Source<'a>) -> Lending<'b, 'a> {
        Lending { source, batch: self.batch(source, None), at: 0 }
    }

    fn batch(&self, source: &dyn Source<'a>, before: Option<&Batch<'a>>) -> &Batch<'a> {
        self.0.get_or_init(|| {
            let (given, last, count) = match before {
                Some(batch) => {
                    (batch.before + batch.facts.len(), batch.facts.last(), batch.facts.len() * 2)
                }
                None => (0, None, FIRST),
            };
            let facts = source.next(given, last, count);
            Box::new(Batch { before: given, facts, next: Self::default() })
        })
    }
}

/// Facts, lent one after the other.
pub(super) struct Lending<'b, 'a> {
    source: &'b dyn Source<'a>,
    batch: &'b Batch<'a>,
    at: usize,
}

impl<'b, 'a: 'v, 'v> Iterator<'b, 'v> for Lending<'b, 'a> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        if self.at == self.batch.facts.len() && self.at > 0 {
            self.batch = self.batch.next.batch(self.source, Some(self.batch));
            self.at = 0;
        }
        let fact = self.batch.facts.get(self.at)?;
        self.at += 1;
        Some(fact.as_val())
    }
}
