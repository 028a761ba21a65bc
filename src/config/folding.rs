//! Adding records to the configuration.

use std::collections::BTreeSet;
use std::sync::Arc;

use rpds::RedBlackTreeSetSync;

use super::family::Family;
use super::item::{Setting, Stated};
use super::topic::Topic;
use super::version::{Version, WrittenKey};
use super::{ConfigState, SettingKey};
use crate::fold::Watermark;
use crate::hook::{HookSet, InForce};
use crate::permission::{NearMiss, looks_like_permissions};
use crate::predicate::ExpressionCache;
use crate::record::{Origin, Received, Record, RecordId};

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
    /// The items whose versions have changed.
    changed: BTreeSet<(Topic, WrittenKey)>,
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
        if let Some(version) = Version::of_hook(received) {
            let key = WrittenKey::of(&record.body);
            self.state.hooks_stated.push(key.clone(), version);
            self.note(record, Topic::Hook, key);
            return;
        }
        if let Some((topic, key)) = Topic::of(record) {
            self.state(received, topic, key.clone());
            self.note(record, topic, key);
        } else if let Some((what, field, message)) = looks_like_permissions(record) {
            self.state_near(record, what, Version::near(received, field, message));
        }
        if received.origin == Origin::Import {
            // Neither a setting nor an erasure: no door has asked who may write it.
        } else if record.is_erasure() {
            record.names("erases").for_each(|id| self.erase(id));
        } else if let Some(key) = SettingKey::of(record) {
            let versions = self.state.settings.get(&key).cloned().unwrap_or_default();
            self.state.settings.insert_mut(key, versions.push_front(record.id()));
        }
    }

    fn state(&mut self, received: &Received<'_>, topic: Topic, key: WrittenKey) {
        fn push<T: Setting>(
            family: &mut Family<Stated<T>>,
            received: &Received<'_>,
            key: WrittenKey,
        ) {
            family.push(key, Version::of::<Stated<T>>(received));
        }
        match topic {
            Topic::Hook => {}
            Topic::Rule => push(&mut self.state.rules_stated, received, key),
            Topic::Switch => push(&mut self.state.switches, received, key),
            Topic::Tier => push(&mut self.state.tiers, received, key),
            Topic::ActorTier => push(&mut self.state.actor_tiers, received, key),
            Topic::Transport => push(&mut self.state.transports, received, key),
            Topic::BlueprintAuthor => push(&mut self.state.blueprint_authors, received, key),
            Topic::Origins => push(&mut self.state.cors_origins, received, key),
        }
    }

    fn state_near(&mut self, record: &Record, what: NearMiss, version: Version) {
        let (topic, key) = match what {
            NearMiss::Rule => {
                let key = WrittenKey::of(&record.body);
                self.state.rules_stated.push(key.clone(), version);
                (Topic::Rule, key)
            }
            NearMiss::Switch => {
                let key = WrittenKey::single();
                self.state.switches.push(key.clone(), version);
                (Topic::Switch, key)
            }
        };
        self.note(record, topic, key);
    }

    fn note(&mut self, record: &Record, topic: Topic, key: WrittenKey) {
        self.state.keys.insert_mut(record.id(), (topic, key.clone()));
        self.changed.insert((topic, key));
    }

    fn erase(&mut self, id: RecordId) {
        self.changed.extend(self.state.keys.get(&id).cloned());
        self.state.erased.insert_mut(id);
    }

    /// Returns what everything adds up to.
    pub fn done(self) -> ConfigState {
        let Self { mut state, changed } = self;
        let of = |wanted: Topic| {
            changed.iter().filter(move |(topic, _)| *topic == wanted).map(|(_, key)| key)
        };
        let (erased, expressions) = (state.erased.clone(), Arc::clone(&state.expressions));
        let settling = Settling { erased: &erased, expressions: &expressions };
        settling.hooks(&mut state, &of(Topic::Hook).collect::<Vec<_>>());
        settling.rules(&mut state, &of(Topic::Rule).collect::<Vec<_>>());
        for key in of(Topic::Switch) {
            settling.one(&mut state.switches, key);
        }
        for key in of(Topic::Tier) {
            settling.one(&mut state.tiers, key);
        }
        for key in of(Topic::ActorTier) {
            settling.one(&mut state.actor_tiers, key);
        }
        for key in of(Topic::Transport) {
            settling.one(&mut state.transports, key);
        }
        for key in of(Topic::BlueprintAuthor) {
            settling.one(&mut state.blueprint_authors, key);
        }
        for key in of(Topic::Origins) {
            settling.one(&mut state.cors_origins, key);
        }
        state
    }
}

/// What is needed to work out which version of an item is current.
struct Settling<'a> {
    erased: &'a RedBlackTreeSetSync<RecordId>,
    expressions: &'a ExpressionCache,
}

impl Settling<'_> {
    fn hooks(&self, state: &mut ConfigState, changed: &[&WrittenKey]) {
        let few = is_few(changed.len(), state.hooks.len());
        for key in changed {
            let (before, now) = state.hooks_stated.settle(key, self.erased, self.expressions);
            if few {
                replace(&mut state.hooks, before.as_ref(), now.as_ref());
            }
        }
        if !few {
            state.hooks = HookSet::new(state.hooks_stated.all_current().cloned());
        }
    }

    fn rules(&self, state: &mut ConfigState, changed: &[&WrittenKey]) {
        for key in changed {
            let (before, now) = self.one(&mut state.rules_stated, key);
            if before.as_ref().map(|it| it.record_id) == now.as_ref().map(|it| it.record_id) {
                continue;
            }
            if let Some(before) = before {
                state.rules.remove(&before.value);
            }
            if let Some(now) = now {
                state.rules.insert(now.value);
            }
        }
    }

    /// Settles one item that is no hook, and says in the log if its newest record is skipped.
    fn one<T: Setting>(
        &self,
        family: &mut Family<Stated<T>>,
        key: &WrittenKey,
    ) -> (Option<Stated<T>>, Option<Stated<T>>) {
        let settled = family.settle(key, self.erased, self.expressions);
        if let Some(refused) = family.refused(key) {
            let (record, why) = (refused.record_id, refused.message.as_str());
            tracing::warn!(%record, name = &*key.name, why, "{} is skipped", T::WHAT);
        }
        settled
    }
}

/// Whether so many changed items are changed one by one.
fn is_few(changed: usize, of: usize) -> bool {
    changed <= FEW.max(of / 128)
}

fn replace(hooks: &mut HookSet, before: Option<&InForce>, now: Option<&InForce>) {
    match (before, now) {
        (Some(before), Some(now)) if before.record_id == now.record_id => {}
        (_, Some(now)) => hooks.insert(now.clone()),
        (Some(before), None) => hooks.remove(before.hook.key()),
        (None, None) => {}
    }
}
