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
//! **Invariant:** a version is compiled at most once, and only if no later one is good: a long
//! history costs no more than its end.

mod refusal;
mod row;
mod setting;
mod version;

pub use refusal::Refusal;
pub use row::{HookRow, Source};
pub use setting::SettingKey;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::fold::{Fold, Watermark};
use crate::hook::{Builtin, Hook, HookSet, InForce, is_hook, looks_like_a_hook};
use crate::predicate::ExpressionCache;
use crate::record::{Act, Namespace, Origin, Received, Record, RecordId};
use version::{Version, WrittenKey};

/// The kind of a record that erases others.
const ERASURE_KIND: &str = "core.erasure";

/// The state of the configuration at a watermark.
#[derive(Debug, Clone, Default)]
pub struct ConfigState {
    watermark: Watermark,
    /// Where predicates are compiled.
    expressions: Arc<ExpressionCache>,
    /// Every version of every hook, and of what looks like one, oldest first.
    hooks: BTreeMap<WrittenKey, Vec<Version>>,
    /// Every version of every other setting, oldest first.
    settings: BTreeMap<SettingKey, Vec<RecordId>>,
    /// Records that are skipped, also before they arrive.
    erased: BTreeSet<RecordId>,
}

impl Fold for ConfigState {
    /// Adds one record of the configuration. One that was seen before, or that stands on another
    /// thread, changes nothing.
    fn evolve(&mut self, received: &Received<'_>) {
        let record = received.record;
        if !record.thread.is_config() || !self.watermark.rise(received.sequence) {
            return;
        }
        if let Some(version) = Version::of(received) {
            self.hooks.entry(WrittenKey::of(&record.body)).or_default().push(version);
        } else if received.origin == Origin::Import {
            // Neither a setting nor an erasure: no door has asked who may write it.
        } else if record.act == Act::Put && record.kind() == Some(ERASURE_KIND) {
            self.erased.extend(record.names("erases"));
        } else if let Some(key) = SettingKey::of(record) {
            self.settings.entry(key).or_default().push(record.id());
        }
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

    /// Returns the live set. Compiles what has become current since this was last asked.
    pub fn hooks(&self) -> HookSet {
        HookSet::new(self.in_force())
    }

    /// Returns how many records are in force: enabled, and accepted at load (decision 6).
    pub fn hooks_loaded(&self) -> usize {
        self.in_force().count()
    }

    /// Returns how many hooks are built in.
    pub const fn hooks_builtin(&self) -> usize {
        Builtin::ALL.len()
    }

    /// Returns the current version of a hook, which may be one that is not enabled.
    pub fn hook(&self, namespace: &Namespace, name: &str) -> Option<InForce> {
        let versions = self.hooks.get(&WrittenKey::new(namespace.as_str(), name))?;
        self.standing(versions).current
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
        for (key, versions) in &self.hooks {
            let standing = self.standing(versions);
            // A record that takes the name of a built-in one is reported on that one's row.
            if let Some(builtin) = rows.iter_mut().find(|row| row.is_of(key)) {
                builtin.refused = standing.refused;
            } else {
                let since = versions.first().map(Version::sequence).unwrap_or_default();
                stated.extend(HookRow::of(key, since, standing));
            }
        }
        stated.sort_by_cached_key(HookRow::place);
        rows.append(&mut stated);
        rows
    }

    fn in_force(&self) -> impl Iterator<Item = InForce> + '_ {
        self.hooks
            .values()
            .filter_map(|versions| self.standing(versions).current)
            .filter(|current| current.hook.enabled())
    }

    /// Returns what the versions of one key add up to. Looks from the newest back, and no further
    /// than the first good one.
    fn standing(&self, versions: &[Version]) -> Standing {
        let mut standing = Standing::default();
        for version in versions.iter().rev().filter(|it| !self.erased.contains(&it.record_id())) {
            match version.check(&self.expressions) {
                Ok(hook) => {
                    let record_id = Some(version.record_id());
                    standing.current = Some(InForce { hook: Arc::clone(hook), record_id });
                    break;
                }
                Err(refusal) => {
                    standing.refused.get_or_insert_with(|| refusal.clone());
                }
            }
        }
        standing
    }

    fn latest(&self, versions: &[RecordId]) -> Option<RecordId> {
        versions.iter().rev().copied().find(|id| !self.erased.contains(id))
    }
}

/// What the versions of one hook add up to.
#[derive(Debug, Default)]
struct Standing {
    /// The newest good version.
    current: Option<InForce>,
    /// The newest version, if it is newer than that and was refused.
    refused: Option<Refusal>,
}
