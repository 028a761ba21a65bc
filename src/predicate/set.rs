//! Many predicates, asked about the same facts.

use super::{Facts, Predicate, Ruling};
use crate::predicate::question::Question;

/// Predicates, each with the key that its owner knows it by.
#[derive(Debug, Clone)]
pub struct PredicateSet<K> {
    predicates: Vec<(K, Predicate)>,
}

impl<K> PredicateSet<K> {
    /// Returns a set without predicates.
    pub const fn new() -> Self {
        Self { predicates: Vec::new() }
    }

    /// Adds a predicate. Answers come in the order in which predicates were added.
    pub fn insert(&mut self, key: K, predicate: Predicate) {
        self.predicates.push((key, predicate));
    }

    /// Returns how many predicates there are.
    pub const fn len(&self) -> usize {
        self.predicates.len()
    }

    /// Tells whether there are no predicates.
    pub const fn is_empty(&self) -> bool {
        self.predicates.is_empty()
    }

    /// Returns the predicates, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &Predicate)> {
        self.predicates.iter().map(|(key, predicate)| (key, predicate))
    }

    /// Asks every predicate about `facts` and calls `answer` for those that hold or fail, in
    /// order. Of those that do not hold nothing is heard.
    pub fn ask(&self, facts: &Facts<'_>, mut answer: impl FnMut(&K, Ruling)) {
        if self.predicates.is_empty() {
            return;
        }
        let question = Question::new(facts);
        for (key, predicate) in &self.predicates {
            match predicate.0.ask(&question).ruling {
                Ruling::DoesNotHold => {}
                ruling => answer(key, ruling),
            }
        }
    }
}

impl<K> Default for PredicateSet<K> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K> FromIterator<(K, Predicate)> for PredicateSet<K> {
    fn from_iter<I: IntoIterator<Item = (K, Predicate)>>(predicates: I) -> Self {
        Self { predicates: predicates.into_iter().collect() }
    }
}
