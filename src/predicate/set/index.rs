//! Predicates that stay as they are, found by what a call is like.

use super::lookup::{Lasts, Lookup, Position};
use crate::predicate::question::Question;
use crate::predicate::{Predicate, Ruling};

/// A predicate, the key that its owner knows it by, and what the owner keeps with it.
#[derive(Debug, Clone)]
pub(super) struct Entry<K, V> {
    pub(super) key: K,
    pub(super) value: V,
    pub(super) predicate: Predicate,
}

impl<K, V> Entry<K, V> {
    pub(super) fn ask<'q>(&'q self, question: &'q Question<'q>) -> Ruling {
        self.predicate.0.ask(question).ruling
    }
}

/// For how many rulings there is room as soon as there is one.
const AT_ONCE: usize = 16;

/// Entries in the order of their keys.
#[derive(Debug)]
pub(super) struct Index<K, V> {
    entries: Box<[Entry<K, V>]>,
    lookup: Lookup,
}

impl<K: Ord, V> Index<K, V> {
    /// Indexes entries that are in the order of their keys, each key once.
    pub(super) fn of(entries: Vec<Entry<K, V>>, lasts: Lasts) -> Self {
        let keys = entries.iter().enumerate().flat_map(|(position, entry)| {
            entry.predicate.0.selector.keys().iter().map(move |key| (key, position))
        });
        let lookup = Lookup::of(keys, entries.len(), lasts);
        Self { entries: entries.into(), lookup }
    }

    /// Returns the entries, in order.
    pub(super) fn entries(&self) -> &[Entry<K, V>] {
        &self.entries
    }

    /// Returns where the entry stands that has this key; if there is none, where it would stand.
    pub(super) fn position(&self, key: &K) -> Result<Position, Position> {
        self.entries.binary_search_by(|entry| entry.key.cmp(key))
    }

    /// Returns the entry that has this key.
    pub(super) fn get(&self, key: &K) -> Option<&Entry<K, V>> {
        self.entries.get(self.position(key).ok()?)
    }

    /// Asks whatever may have something to say about `facts`, except at the positions in `gone`,
    /// which ascend: `rule` evaluates it. Returns what held or failed, in order. Allocates nothing if
    /// nothing did.
    pub(super) fn ask<'q>(
        &'q self,
        question: &'q Question<'q>,
        gone: &[Position],
        mut rule: impl FnMut(&'q Entry<K, V>) -> Ruling,
    ) -> Vec<(Position, Ruling)> {
        let mut spoken = Vec::new();
        self.lookup.candidates(question.facts, |position| {
            let entry = self.entries.get(position).filter(|_| !contains(gone, position));
            match entry.map(&mut rule) {
                None | Some(Ruling::DoesNotHold) => {}
                Some(ruling) => {
                    if spoken.is_empty() {
                        spoken.reserve(AT_ONCE);
                    }
                    spoken.push((position, ruling));
                }
            }
        });
        spoken.sort_unstable_by_key(|(position, _)| *position);
        spoken.dedup_by_key(|(position, _)| *position);
        spoken
    }

    /// Returns rulings with the entries that gave them.
    pub(super) fn at(
        &self,
        rulings: Vec<(Position, Ruling)>,
    ) -> impl Iterator<Item = (&Entry<K, V>, Ruling)> {
        rulings.into_iter().filter_map(|(at, ruling)| Some((self.entries.get(at)?, ruling)))
    }
}

/// Tells whether `position` is among `positions`, which ascend.
pub(super) fn contains(positions: &[Position], position: Position) -> bool {
    positions.binary_search(&position).is_ok()
}
