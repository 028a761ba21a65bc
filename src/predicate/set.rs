//! Many predicates, asked about the same facts.
//!
//! A set is a base that never changes and a small delta. Both find by what a call is like those of
//! their predicates that may have something to say, and only those are evaluated: a predicate
//! that asks for another tool costs nothing. The base is built anew when the delta has grown, on a
//! thread of its own; until a later change takes it over, the delta answers.
//!
//! **Invariant:** what a set answers is what its predicates answer one by one.

mod delta;
mod index;
mod lookup;
mod needles;
mod prefixes;
mod rebuild;
#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::Arc;

use super::{Facts, Predicate, Ruling};
use crate::predicate::question::Question;
use crate::time::Stopwatch;
use delta::{Delta, merge};
use index::{Entry, Index};
use lookup::Lasts;
use rebuild::{Rebuild, bearable};

/// Predicates, each with the key that its owner knows it by and what the owner keeps with it.
///
/// A copy is another handle on the same predicates, until either is changed.
#[derive(Clone)]
pub struct PredicateSet<K, V> {
    base: Arc<Index<K, V>>,
    delta: Arc<Delta<K, V>>,
    rebuild: Option<Arc<Rebuild<K, V>>>,
}

impl<K: Ord + Clone, V: Clone> PredicateSet<K, V> {
    /// Returns a set without predicates.
    pub fn new() -> Self {
        Self::of(Vec::new())
    }

    fn of(entries: Vec<Entry<K, V>>) -> Self {
        let (base, delta) = (Arc::new(Index::of(entries, Lasts::Long)), Arc::new(Delta::none()));
        Self { base, delta, rebuild: None }
    }

    /// Takes over the base that was being built, if it is.
    fn adopt(&mut self) {
        let rebuild = self.rebuild.as_ref();
        let Some((built, rebuild)) = rebuild.and_then(|it| Some((it.built()?, it))) else { return };
        if let Some(base) = built {
            self.delta = Arc::new(self.delta.only(rebuild.since(), base));
            self.base = Arc::clone(base);
        }
        self.rebuild = None;
    }

    /// Returns the predicate that has this key.
    pub fn get(&self, key: &K) -> Option<(&V, &Predicate)> {
        let in_base = || {
            let position = self.base.position(key).ok()?;
            self.base
                .entries()
                .get(position)
                .filter(|_| !index::contains(&self.delta.gone, position))
        };
        let entry = self.delta.new.get(key).or_else(in_base)?;
        Some((&entry.value, &entry.predicate))
    }

    /// Returns how many predicates there are.
    pub fn len(&self) -> usize {
        self.base.entries().len() - self.delta.gone.len() + self.delta.new.entries().len()
    }

    /// Tells whether there are no predicates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the predicates, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V, &Predicate)> {
        let entries = self.delta.entries(&self.base);
        entries.map(|entry| (&entry.key, &entry.value, &entry.predicate))
    }

    /// Calls `answer` for the predicates that hold of `facts` or fail on them, in the order of
    /// their keys. Of those that do not hold nothing is heard.
    pub fn ask(&self, facts: &Facts<'_>, answer: impl FnMut(&K, &V, Ruling)) {
        let question = Question::new(facts);
        self.ask_with(&question, |entry| entry.ask(&question), answer);
    }

    /// The same, and calls `took` for each predicate that had to be evaluated, also for those that
    /// do not hold, with the nanoseconds that this took by `watch`.
    pub fn ask_timed(
        &self,
        facts: &Facts<'_>,
        watch: &Stopwatch,
        mut took: impl FnMut(&K, u64),
        answer: impl FnMut(&K, &V, Ruling),
    ) {
        let question = Question::new(facts);
        self.ask_with(
            &question,
            |entry| {
                let before = watch.elapsed();
                let ruling = entry.ask(&question);
                let nanos = watch.elapsed().saturating_sub(before).as_nanos();
                took(&entry.key, u64::try_from(nanos).unwrap_or(u64::MAX));
                ruling
            },
            answer,
        );
    }

    fn ask_with<'q>(
        &'q self,
        question: &'q Question<'q>,
        mut rule: impl FnMut(&'q Entry<K, V>) -> Ruling,
        mut answer: impl FnMut(&K, &V, Ruling),
    ) {
        let (base, new) = (&self.base, &self.delta.new);
        let in_base = base.ask(question, &self.delta.gone, &mut rule);
        let in_new = new.ask(question, &[], &mut rule);
        if in_base.is_empty() && in_new.is_empty() {
            return;
        }
        for (entry, ruling) in merge(base.at(in_base), new.at(in_new), |(entry, _)| &entry.key) {
            answer(&entry.key, &entry.value, ruling);
        }
    }
}

/// What changes a set may build its base anew, on another thread.
impl<K, V> PredicateSet<K, V>
where
    K: Ord + Clone + Send + Sync + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Puts a predicate in the place of the one that has this key, if any. What that takes does
    /// not depend on how many there are.
    pub fn insert(&mut self, key: K, value: V, predicate: Predicate) {
        self.change(&key.clone(), Some(Entry { key, value, predicate }));
    }

    /// Removes the predicate that has this key, and tells whether there was one.
    pub fn remove(&mut self, key: &K) -> bool {
        let there = self.get(key).is_some();
        if there {
            self.change(key, None);
        }
        there
    }

    fn change(&mut self, key: &K, entry: Option<Entry<K, V>>) {
        self.adopt();
        self.delta = Arc::new(self.delta.with(&self.base, key, entry));
        self.rebuild = match self.rebuild.take() {
            Some(rebuild) => Some(Arc::unwrap_or_clone(rebuild).without(key.clone())),
            None if self.delta.len() <= bearable(self.base.entries().len()) => None,
            None => Rebuild::start(&self.base, &self.delta),
        }
        .map(Arc::new);
    }
}

impl<K: Ord + Clone, V: Clone> Default for PredicateSet<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Built at once. Of two predicates with one key the later stays.
impl<K: Ord + Clone, V: Clone> FromIterator<(K, V, Predicate)> for PredicateSet<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V, Predicate)>>(predicates: I) -> Self {
        let entry = |(key, value, predicate)| Entry { key, value, predicate };
        let mut entries: Vec<Entry<K, V>> = predicates.into_iter().map(entry).collect();
        // Stable, so that of equal keys the last one is the later.
        entries.sort_by(|one, two| one.key.cmp(&two.key));
        entries.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Self::of(entries)
    }
}

impl<K: Ord + Clone + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for PredicateSet<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
