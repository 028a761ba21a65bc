//! Configuration: what the records of `th_engine_config` add up to (contract §3).
//!
//! Comes in: the records of that thread, in the order of their sequence, each with its receipt.
//! Goes out: the live [`HookSet`], one [`HookRow`] for each hook that anybody tried to write, and
//! the latest record of every other setting.
//!
//! The latest record of a key replaces the earlier ones as a whole. Latest is by sequence: clocks
//! belong to their actors and cannot be compared. A hook that load refuses leaves the previous good
//! version in force and is reported (decision 5); one that is not enabled is good and not loaded.
//! A record that was erased is skipped, so that the version before it is current again.
//!
//! **Invariant:** load trusts no door. Every hook passes `Hook::check` here as well, and a record
//! that was imported, which no door has seen, is stored and reported and has no effect.
//!
//! **Invariant:** a version is compiled only if no later one is good, and once for as long as it
//! stays current: a long history costs no more than its end.
//!
//! **Invariant:** a state never changes under a reader, and what a record changes costs the same
//! however many hooks there are: states share whatever one of them does not change.

mod folding;
mod refusal;
mod row;
mod setting;
mod version;
mod versions;

pub use folding::Folding;
pub use refusal::Refusal;
pub use row::{HookRow, Source};
pub use setting::SettingKey;

use std::sync::Arc;

use rpds::{ListSync, RedBlackTreeMapSync, RedBlackTreeSetSync};

use crate::fold::{Fold, Watermark};
use crate::hook::{Builtin, HookSet, InForce};
use crate::predicate::ExpressionCache;
use crate::record::{Namespace, Received, RecordId};
use version::WrittenKey;
use versions::Versions;

/// The state of the configuration at a watermark. A copy shares everything until one of the two
/// changes.
#[derive(Debug, Clone, Default)]
pub struct ConfigState {
    watermark: Watermark,
    /// Where predicates are compiled.
    expressions: Arc<ExpressionCache>,
    /// Every hook that a record states, or was meant to state.
    stated: RedBlackTreeMapSync<WrittenKey, Versions>,
    /// Which of them a record is a version of.
    keys: RedBlackTreeMapSync<RecordId, WrittenKey>,
    /// Every version of every other setting, newest first.
    settings: RedBlackTreeMapSync<SettingKey, ListSync<RecordId>>,
    /// Records that are skipped, also before they arrive.
    erased: RedBlackTreeSetSync<RecordId>,
    /// The live set.
    hooks: HookSet,
}

impl Fold for ConfigState {
    /// Adds one record of the configuration. One that was seen before, or that stands on another
    /// thread, changes nothing.
    fn evolve(&mut self, received: &Received<'_>) {
        let mut folding = std::mem::take(self).folding();
        folding.add(received);
        *self = folding.done();
    }

    fn fold<'a>(self, records: impl IntoIterator<Item = Received<'a>>) -> Self {
        let mut folding = self.folding();
        for received in records {
            folding.add(&received);
        }
        folding.done()
    }
}

impl ConfigState {
    /// Returns the state before the first record, which compiles predicates by way of `expressions`.
    pub fn new(expressions: Arc<ExpressionCache>) -> Self {
        Self { expressions, ..Self::default() }
    }

    /// Returns how far this has come.
    pub const fn watermark(&self) -> Watermark {
        self.watermark
    }

    /// Begins to add records to this state.
    pub fn folding(self) -> Folding {
        Folding::onto(self)
    }

    /// Returns the live set.
    pub const fn hooks(&self) -> &HookSet {
        &self.hooks
    }

    /// Returns how many records are in force: enabled, and accepted at load (decision 6).
    pub const fn hooks_loaded(&self) -> usize {
        self.hooks.len()
    }

    /// Returns how many hooks are built in.
    pub const fn hooks_builtin(&self) -> usize {
        Builtin::ALL.len()
    }

    /// Returns the current version of a hook, which may be one that is not enabled.
    pub fn hook(&self, namespace: &Namespace, name: &str) -> Option<InForce> {
        let versions = self.stated.get(&WrittenKey::new(namespace.as_str(), name))?;
        versions.standing().current.clone()
    }

    /// Returns the record that a setting is currently read from.
    pub fn setting(&self, topic: &str, namespace: &Namespace, name: &str) -> Option<RecordId> {
        self.latest(self.settings.get(&SettingKey::new(topic, namespace, name))?)
    }

    /// Returns every setting with the record it is currently read from.
    pub fn settings(&self) -> impl Iterator<Item = (&SettingKey, RecordId)> {
        self.settings.iter().filter_map(|(key, versions)| Some((key, self.latest(versions)?)))
    }

    /// Returns one row for each hook that is built in, that a record states or that a record was
    /// meant to state, in the order of their words.
    pub fn rows(&self) -> Vec<HookRow> {
        let mut rows: Vec<HookRow> = Builtin::ALL.iter().copied().map(HookRow::builtin).collect();
        let mut stated = Vec::new();
        for (key, versions) in &self.stated {
            // A record that takes the name of a built-in one is reported on that one's row.
            if let Some(builtin) = rows.iter_mut().find(|row| row.is_of(key)) {
                builtin.refused = versions.standing().refused.as_deref().cloned();
            } else {
                stated.extend(HookRow::of(key, versions));
            }
        }
        stated.sort_by_cached_key(HookRow::place);
        rows.append(&mut stated);
        rows
    }

    fn latest(&self, versions: &ListSync<RecordId>) -> Option<RecordId> {
        versions.iter().copied().find(|id| !self.erased.contains(id))
    }
}
