//! Items of one sort, each with every record that states it.

use rpds::{RedBlackTreeMapSync, RedBlackTreeSetSync};

use super::Refusal;
use super::item::Item;
use super::version::{Version, WrittenKey};
use super::versions::Versions;
use crate::predicate::ExpressionCache;
use crate::record::RecordId;

/// Every item of one sort, by what tells them apart. A copy shares everything until one of the two
/// changes.
#[derive(Debug, Clone)]
pub(super) struct Family<T: Item>(RedBlackTreeMapSync<WrittenKey, Versions<T>>);

impl<T: Item> Default for Family<T> {
    fn default() -> Self {
        Self(RedBlackTreeMapSync::new_sync())
    }
}

impl<T: Item> Family<T> {
    /// Adds a record that is newer than all others.
    pub(super) fn push(&mut self, key: WrittenKey, version: Version) {
        let mut versions = self.0.get(&key).cloned().unwrap_or_default();
        versions.push(version);
        self.0.insert_mut(key, versions);
    }

    /// Works out which version of an item is current now. Returns the one that was, and the one
    /// that is.
    pub(super) fn settle(
        &mut self,
        key: &WrittenKey,
        erased: &RedBlackTreeSetSync<RecordId>,
        expressions: &ExpressionCache,
    ) -> (Option<T>, Option<T>) {
        let Some(versions) = self.0.get_mut(key) else { return (None, None) };
        let before = versions.settle(erased, expressions);
        (before, versions.standing().current.clone())
    }

    /// Returns the current version of an item.
    pub(super) fn current(&self, key: &WrittenKey) -> Option<&T> {
        self.0.get(key)?.standing().current.as_ref()
    }

    /// Returns why the newest record of an item is skipped, if it is.
    pub(super) fn refused(&self, key: &WrittenKey) -> Option<&Refusal> {
        self.0.get(key)?.standing().refused.as_deref()
    }

    /// Returns the current version of every item.
    pub(super) fn all_current(&self) -> impl Iterator<Item = &T> {
        self.0.values().filter_map(|versions| versions.standing().current.as_ref())
    }

    /// Returns every item with its versions, in the order of their keys.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&WrittenKey, &Versions<T>)> {
        self.0.iter()
    }
}
