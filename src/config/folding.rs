//! Adding records to the configuration.

use std::collections::BTreeSet;

use super::version::{Version, WrittenKey};
use super::{ConfigState, SettingKey, Versions};
use crate::fold::Watermark;
use crate::hook::{HookSet, InForce};
use crate::record::{Act, Origin, Received, Record, RecordId};

/// The kind of a record that erases others.
const ERASURE_KIND: &str = "core.erasure";

/// So many changed hooks at most are changed in the live set one by one; of a large set one in 128.
/// More build it anew: each change indexes the changes before it once more.
const FEW: usize = 8;

/// A configuration that records are being added to.
///
/// What they add up to is worked out once all of them are there, so that of many versions of a hook
/// the last good one alone is compiled.
#[derive(Debug)]
pub struct Folding {
    state: ConfigState,
    /// The hooks whose versions have changed.
    changed: BTreeSet<WrittenKey>,
}

impl Folding {
    pub(super) const fn onto(state: ConfigState) -> Self {
        Self { state, changed: BTreeSet::new() }
    }

    /// Returns how far this has come.
    pub const fn watermark(&self) -> Watermark {
        self.state.watermark
    }

    /// Adds one record, the next in the order of arrival. One that was seen before, or that stands
    /// on another thread, changes nothing.
    pub fn add(&mut self, received: &Received<'_>) {
        let record = received.record;
        if !record.thread.is_config() || !self.state.watermark.rise(received.sequence) {
            return;
        }
        if let Some(version) = Version::of(received) {
            self.state(record, version);
        } else if received.origin == Origin::Import {
            // Neither a setting nor an erasure: no door has asked who may write it.
        } else if record.act == Act::Put && record.kind() == Some(ERASURE_KIND) {
            record.names("erases").for_each(|id| self.erase(id));
        } else if let Some(key) = SettingKey::of(record) {
            let versions = self.state.settings.get(&key).cloned().unwrap_or_default();
            self.state.settings.insert_mut(key, versions.push_front(record.id()));
        }
    }

    /// Returns what everything adds up to.
    pub fn done(self) -> ConfigState {
        let Self { mut state, changed } = self;
        let few = changed.len() <= FEW.max(state.hooks.len() / 128);
        for key in &changed {
            let Some(versions) = state.stated.get_mut(key) else { continue };
            let before = versions.settle(&state.erased, &state.expressions);
            if few {
                replace(&mut state.hooks, before.as_ref(), versions.standing().current.as_ref());
            }
        }
        if !few {
            let current = |versions: &Versions| versions.standing().current.clone();
            state.hooks = HookSet::new(state.stated.values().filter_map(current));
        }
        state
    }

    fn state(&mut self, record: &Record, version: Version) {
        let key = WrittenKey::of(&record.body);
        let mut versions = self.state.stated.get(&key).cloned().unwrap_or_default();
        versions.push(version);
        self.state.stated.insert_mut(key.clone(), versions);
        self.state.keys.insert_mut(record.id(), key.clone());
        self.changed.insert(key);
    }

    fn erase(&mut self, id: RecordId) {
        self.changed.extend(self.state.keys.get(&id).cloned());
        self.state.erased.insert_mut(id);
    }
}

fn replace(hooks: &mut HookSet, before: Option<&InForce>, now: Option<&InForce>) {
    match (before, now) {
        (Some(before), Some(now)) if before.record_id == now.record_id => {}
        (_, Some(now)) => hooks.insert(now.clone()),
        (Some(before), None) => hooks.remove(before.hook.key()),
        (None, None) => {}
    }
}
