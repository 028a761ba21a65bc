//! Which setting a record of the configuration states.

use super::author::BLUEPRINT_AUTHOR_TOPIC;
use super::origins::CORS_ORIGINS_TOPIC;
use super::tier::{ACTOR_TIER_TOPIC, TIER_KIND};
use super::transport::{MEMBERS_TRANSPORT_TOPIC, TRANSPORT_TOPIC};
use super::version::{WrittenKey, written};
use crate::canon::Value;
use crate::permission::{is_permission_rule, is_permission_switch};
use crate::record::{ActorId, Record};

/// The sorts of items that are read. The first is the one that a record may be near to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Topic {
    Hook,
    Rule,
    Switch,
    Tier,
    ActorTier,
    Transport,
    BlueprintAuthor,
    Origins,
}

impl Topic {
    /// Returns what a record states that states no hook, and what tells it from others.
    pub(super) fn of(record: &Record) -> Option<(Self, WrittenKey)> {
        let body = &record.body;
        if is_permission_rule(record) {
            return Some((Self::Rule, WrittenKey::of(body)));
        }
        if is_permission_switch(record) {
            return Some((Self::Switch, WrittenKey::single()));
        }
        if record.kind() == Some(TIER_KIND) {
            return Some((Self::Tier, WrittenKey::new("", &written(body, "tier", ""))));
        }
        match record.topic()? {
            ACTOR_TIER_TOPIC => {
                // Whole if it is an actor, which may be longer than what is cut.
                let actor = body.get("actor").and_then(Value::as_str);
                let actor = actor.and_then(|actor| ActorId::parse(actor).ok());
                let key = actor.map_or_else(
                    || WrittenKey::new("", &written(body, "actor", "")),
                    |actor| WrittenKey::new("", actor.as_str()),
                );
                Some((Self::ActorTier, key))
            }
            BLUEPRINT_AUTHOR_TOPIC => {
                Some((Self::BlueprintAuthor, WrittenKey::new("", &written(body, "name", ""))))
            }
            topic @ (TRANSPORT_TOPIC | MEMBERS_TRANSPORT_TOPIC) => {
                Some((Self::Transport, WrittenKey::new("", topic)))
            }
            CORS_ORIGINS_TOPIC => Some((Self::Origins, WrittenKey::single())),
            _ => None,
        }
    }
}
