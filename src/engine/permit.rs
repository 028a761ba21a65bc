//! What the permission rules say about something that is about to be done (contract §3.3): a call
//! of a run, a request of a caller, a record that somebody states.
//!
//! Comes in: what is to be done, as facts. Goes out: a ruling on a call, which the run records; a
//! request that is not allowed is refused. The operator's requests are judged like anybody's. What
//! the engine writes by itself is not: it passes no door.
//!
//! **Invariant:** where the rules are not in force nothing is looked at, and where no record has
//! ever put them in force the configuration is not even folded.

mod everybody;
mod lockout;
mod request;
mod rows;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::{Engine, EngineError, Live, RunSeat};
use crate::canon::Object;
use crate::config::RuleRow;
use crate::object;
use crate::permission::{RuleKey, RuleSet, Ruled, Ruling, rule};
use crate::predicate::{BodyFacts, Facts, Failure, RecordFacts};
use crate::record::{Act, ActorId, DataType, Namespace};
use everybody::Everybody;
pub use lockout::{LockoutError, Preflight};
pub use request::Request;

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
    ///
    /// The ruling holds for these arguments. Whoever changes them afterwards asks again.
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

    /// Returns whether the permission rules are in force, by what any process has written up to
    /// now.
    pub fn permissions_in_force(&self) -> Result<bool, EngineError> {
        Ok(self.ruled()?.is_some())
    }

    /// Returns the configuration, if permission rules are in force.
    ///
    /// A process that lives for one command need not fold it to learn that they never were.
    fn ruled(&self) -> Result<Option<Arc<Live>>, EngineError> {
        if !self.is_live() && !self.whole().read(|reader| reader.has_permission_switch())? {
            return Ok(None);
        }
        let live = self.live()?;
        Ok(live.config.permissions_enabled().then_some(live))
    }

    /// Asks rules about something that is about to be done.
    fn rule_on(
        &self,
        rules: &RuleSet,
        asked: &Asked<'_>,
        namespace: &Namespace,
    ) -> Result<Ruling, EngineError> {
        let everybody = Everybody::of(self);
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
        everybody.vouch(ruling)
    }
}

/// Something that is about to be done.
struct Asked<'a> {
    record: RecordFacts<'a>,
    resource: &'a str,
    actor: &'a ActorId,
}

/// Who the operator is, once somebody has asked.
#[derive(Default)]
pub(super) struct Operator(OnceLock<ActorId>);

impl Engine {
    /// Returns the actor that the operator is (`identity.actor`); of an instance without a home, the
    /// engine's own.
    pub fn operator(&self) -> Result<ActorId, EngineError> {
        if let Some(known) = self.0.operator.0.get() {
            return Ok(known.clone());
        }
        let named = match self.home() {
            // Settings are checked when they are read, so what they name is an actor.
            Some(home) => ActorId::parse(&home.settings()?.identity.actor).ok(),
            None => None,
        };
        Ok(self.0.operator.0.get_or_init(|| named.unwrap_or_else(ActorId::engine)).clone())
    }
}
