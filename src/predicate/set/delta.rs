//! What has changed since a base was built.

use std::collections::BTreeSet;

use super::index::{Entry, Index, contains};
use super::lookup::{Lasts, Position};

/// The changes to a base.
#[derive(Debug)]
pub(super) struct Delta<K, V> {
    /// What is new, or stands in the place of something that is gone.
    pub(super) new: Index<K, V>,
    /// Where in the base something is gone, ascending.
    pub(super) gone: Vec<Position>,
}

impl<K: Ord, V> Delta<K, V> {
    /// Returns the delta of a base that has not changed.
    pub(super) fn none() -> Self {
        Self { new: Index::of(Vec::new(), Lasts::Shortly), gone: Vec::new() }
    }

    /// Returns how many changes there are; where one entry stands for another there are two.
    pub(super) fn len(&self) -> usize {
        self.new.entries().len() + self.gone.len()
    }

    /// Returns everything in `base` and this delta, in the order of the keys.
    pub(super) fn entries<'s>(
        &'s self,
        base: &'s Index<K, V>,
    ) -> impl Iterator<Item = &'s Entry<K, V>> {
        let stay = base.entries().iter().enumerate();
        let stay = stay.filter(|(position, _)| !contains(&self.gone, *position));
        merge(stay.map(|(_, entry)| entry), self.new.entries().iter(), |entry| &entry.key)
    }
}

impl<K: Ord + Clone, V: Clone> Delta<K, V> {
    /// Returns the delta in which `entry`, or nothing, has this key.
    pub(super) fn with(&self, base: &Index<K, V>, key: &K, entry: Option<Entry<K, V>>) -> Self {
        let mut new = self.new.entries().to_vec();
        let (at, there) = match self.new.position(key) {
            Ok(at) => (at, 1),
            Err(at) => (at, 0),
        };
        new.splice(at..at + there, entry);
        let mut gone = self.gone.clone();
        if let Ok(position) = base.position(key)
            && let Err(at) = gone.binary_search(&position)
        {
            gone.insert(at, position);
        }
        Self { new: Index::of(new, Lasts::Shortly), gone }
    }

    /// Returns what of this delta has these keys, as a delta of `base`.
    pub(super) fn only(&self, keys: &BTreeSet<K>, base: &Index<K, V>) -> Self {
        let new = self.new.entries().iter().filter(|entry| keys.contains(&entry.key)).cloned();
        let gone = keys.iter().filter_map(|key| base.position(key).ok());
        Self { new: Index::of(new.collect(), Lasts::Shortly), gone: gone.collect() }
    }
}

/// Merges what ascends by a key, no key on both sides, so that the result does as well.
pub(super) fn merge<'k, T, K: Ord + 'k>(
    one: impl Iterator<Item = T>,
    two: impl Iterator<Item = T>,
    key: impl Fn(&T) -> &'k K,
) -> impl Iterator<Item = T> {
    let (mut one, mut two) = (one.peekable(), two.peekable());
    std::iter::from_fn(move || match (one.peek(), two.peek()) {
        (Some(left), Some(right)) if key(left) > key(right) => two.next(),
        (Some(_), _) => one.next(),
        (None, _) => two.next(),
    })
}
