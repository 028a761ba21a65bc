//! Many predicates, asked about the same facts.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{Facts, Predicate, Ruling};
use crate::predicate::engine;

/// Predicates, each with the key that its owner knows it by and what the owner keeps with it.
///
/// A copy is another handle on the same predicates, until either is changed.
#[derive(Debug, Clone)]
pub struct PredicateSet<K, V> {
    entries: Arc<BTreeMap<K, (V, Predicate)>>,
}

impl<K: Ord + Clone, V: Clone> PredicateSet<K, V> {
    /// Returns a set without predicates.
    pub fn new() -> Self {
        Self { entries: Arc::default() }
    }

    /// Puts a predicate in the place of the one that has this key, if any.
    pub fn insert(&mut self, key: K, value: V, predicate: Predicate)
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        Arc::make_mut(&mut self.entries).insert(key, (value, predicate));
    }

    /// Removes the predicate that has this key, and tells whether there was one.
    pub fn remove(&mut self, key: &K) -> bool
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        Arc::make_mut(&mut self.entries).remove(key).is_some()
    }

    /// Returns the predicate that has this key.
    pub fn get(&self, key: &K) -> Option<(&V, &Predicate)> {
        self.entries.get(key).map(|(value, predicate)| (value, predicate))
    }

    /// Returns how many predicates there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Tells whether there are no predicates.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the predicates, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V, &Predicate)> {
        self.entries.iter().map(|(key, (value, predicate))| (key, value, predicate))
    }

    /// Asks the predicates about `facts` and calls `answer` for those that hold or fail, in the
    /// order of their keys. Of those that do not hold nothing is heard.
    pub fn ask(&self, facts: &Facts<'_>, mut answer: impl FnMut(&K, &V, Ruling)) {
        if self.entries.is_empty() {
            return;
        }
        engine::with_context(facts, |context| {
            for (key, (value, predicate)) in self.entries.iter() {
                match predicate.0.ask(context).ruling {
                    Ruling::DoesNotHold => {}
                    ruling => answer(key, value, ruling),
                }
            }
        });
    }
}

impl<K: Ord + Clone, V: Clone> Default for PredicateSet<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Of two predicates with one key, the later stays.
impl<K: Ord + Clone, V: Clone> FromIterator<(K, V, Predicate)> for PredicateSet<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V, Predicate)>>(predicates: I) -> Self {
        let keyed = predicates.into_iter().map(|(key, value, predicate)| (key, (value, predicate)));
        Self { entries: Arc::new(keyed.collect()) }
    }
}
