//! The records that state one item, or mean to, and what they add up to.

use std::sync::Arc;

use rpds::{ListSync, RedBlackTreeSetSync};

use super::item::Item;
use super::version::Version;
use super::{RecordId, Refusal};
use crate::predicate::ExpressionCache;
use crate::record::Sequence;

/// Every version of one item, and what they add up to.
#[derive(Debug, Clone)]
pub(super) struct Versions<T> {
    newest_first: ListSync<Version>,
    standing: Standing<T>,
}

/// What the versions of one item add up to.
#[derive(Debug, Clone)]
pub(super) struct Standing<T> {
    /// The newest good version.
    pub(super) current: Option<T>,
    /// Why the newest version was refused, if it is newer than that one.
    pub(super) refused: Option<Arc<Refusal>>,
}

impl<T> Default for Standing<T> {
    fn default() -> Self {
        Self { current: None, refused: None }
    }
}

impl<T> Default for Versions<T> {
    fn default() -> Self {
        Self { newest_first: ListSync::new_sync(), standing: Standing::default() }
    }
}

impl<T: Item> Versions<T> {
    /// Adds a version that is newer than all others.
    pub(super) fn push(&mut self, version: Version) {
        self.newest_first.push_front_mut(version);
    }

    /// Returns where the first version stands.
    pub(super) fn since(&self) -> Sequence {
        self.newest_first.last().map(Version::sequence).unwrap_or_default()
    }

    /// Returns what they add up to, as of when this was last worked out.
    pub(super) const fn standing(&self) -> &Standing<T> {
        &self.standing
    }

    /// Works out what they add up to now: looks from the newest back, and no further than the first
    /// good one. Returns which was current before.
    pub(super) fn settle(
        &mut self,
        erased: &RedBlackTreeSetSync<RecordId>,
        expressions: &ExpressionCache,
    ) -> Option<T> {
        let before = std::mem::take(&mut self.standing).current;
        for version in self.newest_first.iter().filter(|it| !erased.contains(&it.record_id())) {
            match version.check(before.as_ref(), expressions) {
                Ok(current) => {
                    self.standing.current = Some(current);
                    break;
                }
                Err(refusal) => {
                    self.standing.refused.get_or_insert(refusal);
                }
            }
        }
        before
    }
}
