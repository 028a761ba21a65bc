//! The rows of permission rules and tiers, as answers show them.

use super::Engine;
use crate::canon::{Object, Value};
use crate::config::RuleRow;
use crate::engine::EngineError;
use crate::engine::health::refusal;
use crate::object;

impl Engine {
    /// Returns the body of `GET /v1/config/permission-rules`: whether rules are in force, what they
    /// leave to the operator, and a row for each that a record states or was meant to state.
    pub fn permissions(&self) -> Result<Object, EngineError> {
        let live = self.live()?;
        let rows: Vec<Object> =
            live.config.rule_rows().iter().map(|row| self.permission_row(row)).collect();
        let (switch, refused) = live.config.permission_switch();
        Ok(object! {
            "object": "list",
            "data": rows,
            "enabled": live.config.permissions_enabled(),
            "preflight": self.preflight_of(live.config.loaded_rules())?.to_object(),
            "record_id": switch,
            "refused": refused.map(refusal),
        })
    }

    fn permission_row(&self, row: &RuleRow) -> Object {
        let (errors, last_error) = self.0.skipped.of(row);
        let rule = row.rule.as_ref();
        object! {
            "action": rule.map(|rule| rule.action().as_str()),
            "compiled": rule.is_some(),
            "enabled": rule.is_none_or(|rule| rule.enabled()),
            "errors": errors,
            "expression": rule.map(|rule| rule.expression().source()),
            "last_error": last_error,
            "loaded": row.loaded(),
            "name": row.name.as_str(),
            "namespace": row.namespace.as_str(),
            "object": "permission_rule",
            "priority": rule.map(|rule| rule.priority()),
            "record_id": row.record_id,
            "refused": row.refused.as_ref().map(refusal),
        }
    }

    /// Returns the body of `GET /v1/config/tiers`: the tiers as they hold, and who was given one.
    pub fn tiers(&self) -> Result<Object, EngineError> {
        let live = self.live()?;
        let with = |mut object: Object, record_id: Value, refused: Value| {
            object.insert("record_id".into(), record_id);
            object.insert("refused".into(), refused);
            object
        };
        let tiers = live.config.tier_rows().into_iter().map(|row| {
            let refused = row.refused.as_ref().map(refusal);
            with(row.tier.to_object(), row.record_id.into(), refused.into())
        });
        let actors = live.config.actor_tier_rows().into_iter().map(|row| {
            let refused = row.refused.as_ref().map(refusal);
            let object = object! {
                "actor": row.actor.as_str(),
                "object": "actor_tier",
                "tier": row.tier.map(|tier| tier.as_str()),
            };
            with(object, row.record_id.into(), refused.into())
        });
        let unknown = live.config.unknown_tiers().map(|(name, refused)| {
            object! { "refused": refusal(refused), "tier": name }
        });
        Ok(object! {
            "object": "list",
            "data": tiers.collect::<Vec<_>>(),
            "actors": actors.collect::<Vec<_>>(),
            "unknown": unknown.collect::<Vec<_>>(),
        })
    }
}
