//! Configuration: what the records of `th_engine_config` add up to (contract §3).
//!
//! Comes in: the records of that thread, in the order of their sequence, each with its receipt.
//! Goes out: the live [`HookSet`], the permission rules in force, the tiers, the transports, one row
//! for each of them that anybody tried to write, and the latest record of every other setting.
//!
//! The latest record of a key replaces the earlier ones as a whole. Latest is by sequence: clocks
//! belong to their actors and cannot be compared. One that load refuses leaves the previous good
//! version in force and is reported (decision 5); one that is not enabled is good and not loaded.
//! A record that was erased is skipped, so that the version before it is current again.
//!
//! **Invariant:** load trusts no door. Every item passes its validator here as well, and a record
//! that was imported, which no door has seen, is stored and reported and has no effect.
//!
//! **Invariant:** a version is compiled only if no later one is good, and once for as long as it
//! stays current: a long history costs no more than its end.
//!
//! **Invariant:** a state never changes under a reader, and what a record changes costs the same
//! however many hooks there are: states share whatever one of them does not change.

mod author;
mod family;
mod folding;
mod item;
mod origins;
mod refusal;
mod row;
mod setting;
mod tier;
mod topic;
mod transport;
mod usd;
mod version;
mod versions;

pub use author::{BLUEPRINT_AUTHOR_TOPIC, BlueprintAuthor, is_blueprint_author};
pub use folding::Folding;
pub use origins::{CORS_ORIGINS_TOPIC, CorsOrigins};
pub(crate) use origins::{is_host, split_port};
pub use refusal::Refusal;
pub use row::{ActorTierRow, HookRow, RuleRow, Source, TierRow};
pub use setting::SettingKey;
pub use tier::{ACTOR_TIER_TOPIC, TIER_KIND, Tier, TierName};
pub use transport::{MEMBERS_TRANSPORT_TOPIC, TRANSPORT_TOPIC, Transport};
pub use usd::{MICROS_PER_USD, UsdError, parse_usd, show_usd, usd_of, usd_value};

use std::sync::Arc;

use rpds::{ListSync, RedBlackTreeMapSync, RedBlackTreeSetSync};

use crate::fold::{Fold, Watermark};
use crate::hook::{Builtin, HookSet, InForce};
use crate::permission::{PermissionRule, RuleSet};
use crate::predicate::ExpressionCache;
use crate::record::{ActorId, Namespace, Received, RecordId};
use family::Family;
use item::{Stated, Switch};
use tier::Assigned;
use topic::Topic;
use version::WrittenKey;

/// The state of the configuration at a watermark. A copy shares everything until one of the two
/// changes.
#[derive(Debug, Clone, Default)]
pub struct ConfigState {
    watermark: Watermark,
    /// Where predicates are compiled.
    expressions: Arc<ExpressionCache>,
    /// Every hook that a record states, or was meant to state.
    hooks_stated: Family<InForce>,
    /// Every permission rule.
    rules_stated: Family<Stated<Arc<PermissionRule>>>,
    /// Whether permission rules are in force.
    switches: Family<Stated<Switch>>,
    /// The tiers that differ from the built-in ones.
    tiers: Family<Stated<Arc<Tier>>>,
    /// The tiers of actors.
    actor_tiers: Family<Stated<Assigned>>,
    /// Where runs take place, by topic.
    transports: Family<Stated<Transport>>,
    /// The authors whose blueprints are trusted, and those that no longer are.
    blueprint_authors: Family<Stated<Arc<BlueprintAuthor>>>,
    /// Which web pages may ask.
    cors_origins: Family<Stated<CorsOrigins>>,
    /// Which of all these a record is a version of.
    keys: RedBlackTreeMapSync<RecordId, (Topic, WrittenKey)>,
    /// Every version of every other setting, newest first.
    settings: RedBlackTreeMapSync<SettingKey, ListSync<RecordId>>,
    /// Records that are skipped, also before they arrive.
    erased: RedBlackTreeSetSync<RecordId>,
    /// The live set.
    hooks: HookSet,
    /// The permission rules that are asked, once they are in force.
    rules: RuleSet,
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
        self.hooks_stated.current(&WrittenKey::new(namespace.as_str(), name)).cloned()
    }

    /// Returns the permission rules, if they are in force. They are not unless a record says so.
    pub fn rules(&self) -> Option<&RuleSet> {
        self.permissions_enabled().then_some(&self.rules)
    }

    /// Returns the permission rules that are loaded, in force or not.
    pub const fn loaded_rules(&self) -> &RuleSet {
        &self.rules
    }

    /// Returns whether permission rules are in force.
    pub fn permissions_enabled(&self) -> bool {
        self.switches.current(&WrittenKey::single()).is_some_and(|switch| switch.value.0)
    }

    /// Returns the record that puts permission rules in force or out of it, and why a newer one is
    /// skipped, if one is.
    pub fn permission_switch(&self) -> (Option<RecordId>, Option<&Refusal>) {
        let key = WrittenKey::single();
        let current = self.switches.current(&key).map(|switch| switch.record_id);
        (current, self.switches.refused(&key))
    }

    /// Returns a tier: as it is built in, or as the latest good record makes it.
    pub fn tier(&self, name: TierName) -> &Tier {
        let stated = self.tiers.current(&WrittenKey::new("", name.as_str()));
        stated.map_or_else(|| Tier::built_in(name), |stated| &stated.value)
    }

    /// Returns the tier of an actor: the one that a record gives it, else [`TierName::Trial`].
    ///
    /// It is never [`TierName::Operator`]: whether a run is the operator's own is decided by who
    /// is authenticated, not by the actor that it names.
    pub fn tier_of(&self, actor: &ActorId) -> &Tier {
        let assigned = self.actor_tiers.current(&WrittenKey::new("", actor.as_str()));
        self.tier(assigned.and_then(|assigned| assigned.value.0).unwrap_or(TierName::Trial))
    }

    /// Returns where the operator's runs take place.
    pub fn transport(&self) -> Transport {
        self.transport_of(TRANSPORT_TOPIC)
    }

    /// Returns where everybody else's runs take place.
    pub fn members_transport(&self) -> Transport {
        self.transport_of(MEMBERS_TRANSPORT_TOPIC)
    }

    fn transport_of(&self, topic: &str) -> Transport {
        let stated = self.transports.current(&WrittenKey::new("", topic));
        stated.map_or_else(|| Transport::default_of(topic), |stated| stated.value)
    }

    /// Returns what is known of an author of blueprints.
    pub fn blueprint_author(&self, author: &ActorId) -> Option<&BlueprintAuthor> {
        let stated = self.blueprint_authors.current(&WrittenKey::new("", author.as_str()));
        stated.map(|stated| &*stated.value)
    }

    /// Returns the current version of a permission rule, and the record that states it.
    pub fn permission_rule(
        &self,
        namespace: &Namespace,
        name: &str,
    ) -> Option<(&PermissionRule, RecordId)> {
        let stated = self.rules_stated.current(&WrittenKey::new(namespace.as_str(), name))?;
        Some((&*stated.value, stated.record_id))
    }

    /// Returns the web pages that may ask a server which asks for bearers; none unless a record
    /// says so.
    pub fn cors_origins(&self) -> CorsOrigins {
        let stated = self.cors_origins.current(&WrittenKey::single());
        stated.map(|stated| stated.value.clone()).unwrap_or_default()
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
        for (key, versions) in self.hooks_stated.iter() {
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

    /// Returns one row for each permission rule that a record states, or was meant to state: by
    /// namespace from the root down, then by name.
    pub fn rule_rows(&self) -> Vec<RuleRow> {
        let mut rows: Vec<RuleRow> = self
            .rules_stated
            .iter()
            .filter_map(|(key, versions)| RuleRow::of(key, versions.standing()))
            .collect();
        rows.sort_by_cached_key(RuleRow::place);
        rows
    }

    /// Returns one row for each tier there is, from the narrowest to the widest.
    pub fn tier_rows(&self) -> Vec<TierRow> {
        let row = |name: &TierName| {
            let key = WrittenKey::new("", name.as_str());
            TierRow {
                tier: self.tier(*name).clone(),
                record_id: self.tiers.current(&key).map(|stated| stated.record_id),
                refused: self.tiers.refused(&key).cloned(),
            }
        };
        TierName::ALL.iter().map(row).collect()
    }

    /// Returns what is wrong with records about tiers that are not there, by the name they give.
    pub fn unknown_tiers(&self) -> impl Iterator<Item = (&str, &Refusal)> {
        let unknown = self.tiers.iter().filter(|(key, _)| TierName::parse(&key.name).is_none());
        unknown.filter_map(|(key, _)| Some((&*key.name, self.tiers.refused(key)?)))
    }

    /// Returns one row for each actor that a record gives a tier, or was meant to.
    pub fn actor_tier_rows(&self) -> Vec<ActorTierRow> {
        let rows = self.actor_tiers.iter();
        rows.filter_map(|(key, versions)| ActorTierRow::of(key, versions.standing())).collect()
    }

    fn latest(&self, versions: &ListSync<RecordId>) -> Option<RecordId> {
        versions.iter().copied().find(|id| !self.erased.contains(id))
    }
}
