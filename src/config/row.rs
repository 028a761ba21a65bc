//! What is to be said about each hook (decision 5), permission rule and tier.

use std::sync::Arc;

use super::item::Stated;
use super::tier::Assigned;
use super::version::WrittenKey;
use super::versions::{Standing, Versions};
use super::{Refusal, Tier, TierName};
use crate::hook::{Builtin, InForce};
use crate::permission::PermissionRule;
use crate::record::{Namespace, RecordId, Sequence};

/// Where a hook comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Source {
    /// A record states it.
    Record,
    /// It is built in.
    Builtin,
}

impl Source {
    /// Returns the word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Builtin => "builtin",
        }
    }
}

/// One hook, loaded or not, without its counters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRow {
    /// The name; as written, if it is no name.
    pub name: String,
    /// The namespace; as written, if it is no namespace.
    pub namespace: String,
    /// Where it comes from.
    pub source: Source,
    /// Whether it is meant to be loaded.
    pub enabled: bool,
    /// Whether it is in force.
    pub loaded: bool,
    /// Whether there is a version that passed the validator, predicate included.
    pub compiled: bool,
    /// The record of that version; `None` if there is none, and for what is built in.
    pub record_id: Option<RecordId>,
    /// The newest record of this name, if it is newer than that version and was refused.
    pub refused: Option<Refusal>,
    /// Where its first record stands: since then it could be asked. 0 for what is built in.
    pub since: Sequence,
}

impl HookRow {
    /// Returns the row of a hook that is built in.
    pub(super) fn builtin(builtin: Builtin) -> Self {
        Self {
            name: builtin.name().into(),
            namespace: Namespace::root().as_str().into(),
            source: Source::Builtin,
            enabled: true,
            loaded: true,
            compiled: true,
            record_id: None,
            refused: None,
            since: Sequence::default(),
        }
    }

    /// Returns the row of the versions of one key; `None` if all of them were erased.
    pub(super) fn of(key: &WrittenKey, versions: &Versions<InForce>) -> Option<Self> {
        let Standing { current, refused } = versions.standing();
        if current.is_none() && refused.is_none() {
            return None;
        }
        let enabled = current.as_ref().is_none_or(|current| current.hook.enabled());
        Some(Self {
            name: (*key.name).to_owned(),
            namespace: (*key.namespace).to_owned(),
            source: Source::Record,
            enabled,
            loaded: current.is_some() && enabled,
            compiled: current.is_some(),
            record_id: current.as_ref().and_then(|current| current.record_id),
            refused: refused.as_deref().cloned(),
            since: versions.since(),
        })
    }

    /// Returns whether this is the row of that key.
    pub(super) fn is_of(&self, key: &WrittenKey) -> bool {
        *self.namespace == *key.namespace && *self.name == *key.name
    }

    /// Returns where the row stands among others that records state: where its words do, and last
    /// if it has no namespace to speak in.
    pub(super) fn place(&self) -> (usize, String, String) {
        place(&self.namespace, &self.name)
    }
}

fn place(namespace: &str, name: &str) -> (usize, String, String) {
    let depth = Namespace::parse(namespace).map_or(usize::MAX, |space| space.depth());
    (depth, name.to_owned(), namespace.to_owned())
}

/// One permission rule, loaded or not.
#[derive(Debug, Clone)]
pub struct RuleRow {
    /// The name; as written, if it is no name.
    pub name: String,
    /// The namespace; as written, if it is no namespace.
    pub namespace: String,
    /// The newest good version, if there is one.
    pub rule: Option<Arc<PermissionRule>>,
    /// The record of that version.
    pub record_id: Option<RecordId>,
    /// The newest record of this name, if it is newer than that version and was refused.
    pub refused: Option<Refusal>,
}

impl RuleRow {
    pub(super) fn of(
        key: &WrittenKey,
        standing: &Standing<Stated<Arc<PermissionRule>>>,
    ) -> Option<Self> {
        let Standing { current, refused } = standing;
        if current.is_none() && refused.is_none() {
            return None;
        }
        Some(Self {
            name: (*key.name).to_owned(),
            namespace: (*key.namespace).to_owned(),
            rule: current.as_ref().map(|current| Arc::clone(&current.value)),
            record_id: current.as_ref().map(|current| current.record_id),
            refused: refused.as_deref().cloned(),
        })
    }

    /// Returns whether the rule is asked where rules are in force.
    pub fn loaded(&self) -> bool {
        self.rule.as_ref().is_some_and(|rule| rule.enabled())
    }

    pub(super) fn place(&self) -> (usize, String, String) {
        place(&self.namespace, &self.name)
    }
}

/// One tier, with the record that changes it, if one does.
#[derive(Debug, Clone)]
pub struct TierRow {
    /// The tier as it holds.
    pub tier: Tier,
    /// The record that changes it.
    pub record_id: Option<RecordId>,
    /// The newest record about it, if it is newer than that one and was refused.
    pub refused: Option<Refusal>,
}

/// The tier of one actor.
#[derive(Debug, Clone)]
pub struct ActorTierRow {
    /// The actor; as written, if it is none.
    pub actor: String,
    /// The tier that a record gives it; `None` if the latest takes it back.
    pub tier: Option<TierName>,
    /// The record.
    pub record_id: Option<RecordId>,
    /// The newest record about it, if it is newer than that one and was refused.
    pub refused: Option<Refusal>,
}

impl ActorTierRow {
    pub(super) fn of(key: &WrittenKey, standing: &Standing<Stated<Assigned>>) -> Option<Self> {
        let Standing { current, refused } = standing;
        if current.is_none() && refused.is_none() {
            return None;
        }
        Some(Self {
            actor: (*key.name).to_owned(),
            tier: current.as_ref().and_then(|current| current.value.0),
            record_id: current.as_ref().map(|current| current.record_id),
            refused: refused.as_deref().cloned(),
        })
    }
}
