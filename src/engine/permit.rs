//! What the permission rules say about a call that is about to be made (contract §3.3).

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use super::{Engine, EngineError, RunSeat};
use crate::canon::{Object, Value};
use crate::config::RuleRow;
use crate::object;
use crate::permission::{RuleKey, RuleSet, Ruled, Ruling, rule};
use crate::predicate::{BodyFacts, Facts, Failure, RecordFacts, System, SystemFacts, Trust};
use crate::record::{Act, ActorId, DataType, Namespace};

/// How often each rule failed since this engine was opened, and how it failed last.
#[derive(Default)]
pub(super) struct Skipped(Mutex<BTreeMap<RuleKey, (u64, String)>>);

impl Skipped {
    /// Counts a failure. The first of a rule is a warning in the log; a rule that fails at every
    /// call must not fill it.
    fn count(&self, key: RuleKey, failure: &Failure) {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let why = failure.to_string();
        if !counts.contains_key(&key) {
            tracing::warn!(rule = %key, why, "a permission rule failed and is skipped");
        }
        let (count, last) = counts.entry(key).or_default();
        *count += 1;
        *last = why;
    }

    fn of(&self, row: &RuleRow) -> (u64, Option<String>) {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = row.rule.as_ref().and_then(|rule| counts.get(rule.key()));
        counted.map_or((0, None), |(count, last)| (*count, Some(last.clone())))
    }
}

impl Engine {
    /// Returns what the permission rules say about a call that a run is about to make.
    ///
    /// `resource` is `tool:` and the tool's name; `record` is the call as it would be recorded,
    /// without parents. Rules written by any process up to now are asked. Where rules are not in
    /// force, nothing is looked at.
    pub fn rule_on_call(
        &self,
        seat: &RunSeat,
        tool: &str,
        args: &Object,
    ) -> Result<Ruling, EngineError> {
        let live = self.live()?;
        let Some(rules) = live.config.rules() else { return Ok(Ruling::Off) };
        if rules.is_empty() {
            return Ok(Ruling::Deny { rule: None });
        }
        let clock = self.whole().read(|reader| reader.next_clock(&seat.thread, &seat.actor))?;
        let body = object! { "args": args.clone(), "tool": tool };
        let record = RecordFacts {
            act: Act::Call.as_str(),
            actor: seat.actor.as_str(),
            thread: seat.thread.as_str(),
            data_type: DataType::Scalar.as_str(),
            clock: clock.get(),
            parents: &[],
            body: BodyFacts::Any(&body),
        };
        let asked = Asked { record, resource: &format!("tool:{tool}"), actor: &seat.actor };
        self.rule_on(rules, &asked, &seat.namespace)
    }

    /// Asks rules that are in force about something that is about to be done.
    fn rule_on(
        &self,
        rules: &RuleSet,
        asked: &Asked<'_>,
        namespace: &Namespace,
    ) -> Result<Ruling, EngineError> {
        let everybody =
            Everybody { engine: self, system: OnceLock::new(), failed: OnceLock::new() };
        let facts = Facts {
            record: asked.record,
            resource: asked.resource,
            actor: asked.actor.as_str(),
            namespace: namespace.as_str(),
            trust: &everybody,
            now_secs: self.whole().now().as_secs(),
            system: &everybody,
        };
        let Ruled { ruling, skipped } = rule(rules, namespace, &facts);
        for (key, failure) in skipped {
            self.0.skipped.count(key, &failure);
        }
        let Everybody { mut failed, .. } = everybody;
        failed.take().map_or(Ok(ruling), Err)
    }

    /// Returns the body of `GET /v1/config/permissions`: whether rules are in force, and a row for
    /// each that a record states or was meant to state.
    pub fn permissions(&self) -> Result<Object, EngineError> {
        let live = self.live()?;
        let rows: Vec<Object> =
            live.config.rule_rows().iter().map(|row| self.permission_row(row)).collect();
        let (switch, refused) = live.config.permission_switch();
        Ok(object! {
            "object": "list",
            "data": rows,
            "enabled": live.config.permissions_enabled(),
            "record_id": switch,
            "refused": refused.map(super::health::refusal),
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
            "refused": row.refused.as_ref().map(super::health::refusal),
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
            let refused = row.refused.as_ref().map(super::health::refusal);
            with(row.tier.to_object(), row.record_id.into(), refused.into())
        });
        let actors = live.config.actor_tier_rows().into_iter().map(|row| {
            let refused = row.refused.as_ref().map(super::health::refusal);
            let object = object! {
                "actor": row.actor.as_str(),
                "object": "actor_tier",
                "tier": row.tier.map(|tier| tier.as_str()),
            };
            with(object, row.record_id.into(), refused.into())
        });
        let unknown = live.config.unknown_tiers().map(|(name, refused)| {
            object! { "refused": super::health::refusal(refused), "tier": name }
        });
        Ok(object! {
            "object": "list",
            "data": tiers.collect::<Vec<_>>(),
            "actors": actors.collect::<Vec<_>>(),
            "unknown": unknown.collect::<Vec<_>>(),
        })
    }
}

/// Something that is about to be done.
struct Asked<'a> {
    record: RecordFacts<'a>,
    resource: &'a str,
    actor: &'a ActorId,
}

/// What a permission rule may look up: of every actor, since it is the operator's own.
struct Everybody<'a> {
    engine: &'a Engine,
    system: OnceLock<SystemFacts<'static>>,
    /// Why something could not be read. Whoever looked was told that there is nothing.
    failed: OnceLock<EngineError>,
}

impl Everybody<'_> {
    fn or_nothing<T: Default>(&self, read: Result<T, EngineError>) -> T {
        read.unwrap_or_else(|error| {
            // The first error says enough.
            let _ = self.failed.set(error);
            T::default()
        })
    }

    fn standing(&self, actor: &str, domain: &str) -> crate::trust::Standing {
        // What is no name of an actor has no verdicts.
        let Ok(actor) = ActorId::parse(actor) else { return crate::trust::Standing::default() };
        self.or_nothing(self.engine.whole_standing(&actor, domain))
    }
}

impl Trust for Everybody<'_> {
    fn score(&self, actor: &str, domain: &str) -> f64 {
        self.standing(actor, domain).score
    }

    fn count(&self, actor: &str, domain: &str) -> i64 {
        self.standing(actor, domain).count(actor, domain)
    }
}

impl System for Everybody<'_> {
    fn read(&self) -> SystemFacts<'_> {
        *self.system.get_or_init(|| self.or_nothing(self.engine.system()))
    }
}
