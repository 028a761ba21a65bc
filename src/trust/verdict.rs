//! One verdict: what a record says about somebody's work.

use std::collections::BTreeSet;

use super::{Authors, GENERAL};
use crate::canon::Value;
use crate::record::{Act, ActorId, Origin, Received, Record, RecordId};
use crate::time::Timestamp;

/// The days after which a verdict weighs half.
const HALF_LIFE_DAYS: f64 = 90.0;

/// What a verdict from another store weighs when it arrives (contract §8).
const IMPORTED_WEIGHT: f64 = 0.5;

/// Scopes of kinds that mean something only where the engine wrote them (decision 14).
const ENGINE_KINDS: [&str; 3] = ["core.work.", "core.session.", "core.policy."];

/// One counted verdict on an actor's work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The record that states it.
    pub record: RecordId,
    /// Who states it.
    pub evaluator: ActorId,
    /// Whether the work is accepted; else it is rejected.
    pub accepts: bool,
    /// When it arrived, from which it ages.
    pub received_at: Timestamp,
    /// Whether it was taken over from another store.
    pub imported: bool,
}

impl Verdict {
    /// Reads the verdict that a record states, if it states one.
    pub(super) fn read(received: &Received<'_>) -> Option<Self> {
        let record = received.record;
        if record.act != Act::Know || only_the_engine_may(received) {
            return None;
        }
        let accepts = match record.body.get("verdict")?.as_str()? {
            "accept" => true,
            "reject" => false,
            _ => return None,
        };
        Some(Self {
            record: record.id(),
            evaluator: record.actor.clone(),
            accepts,
            received_at: received.received_at,
            imported: received.origin == Origin::Import,
        })
    }

    /// Returns what this weighs at `at`: half after each half-life. `None` before it arrived.
    pub fn weight(&self, at: Timestamp) -> Option<f64> {
        const MILLIS_PER_DAY: f64 = 86_400_000.0;
        let age_millis = at.as_millis().checked_sub(self.received_at.as_millis())?;
        if age_millis < 0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "a weight is a matter of days")]
        let days = age_millis as f64 / MILLIS_PER_DAY;
        let arrived = if self.imported { IMPORTED_WEIGHT } else { 1.0 };
        Some(arrived * (-days / HALF_LIFE_DAYS).exp2())
    }
}

fn only_the_engine_may(received: &Received<'_>) -> bool {
    let reserved = |kind: &str| ENGINE_KINDS.iter().any(|scope| kind.starts_with(scope));
    received.origin != Origin::Engine && received.record.kind().is_some_and(reserved)
}

/// Returns the domain that a verdict is about.
pub(super) fn domain(record: &Record) -> &str {
    match record.body.get("domain").and_then(Value::as_str) {
        Some(domain) if !domain.is_empty() => domain,
        _ => GENERAL,
    }
}

/// Returns who is judged, without the evaluator himself.
pub(super) fn judged(received: &Received<'_>, authors: &impl Authors) -> BTreeSet<ActorId> {
    let record = received.record;
    let author_of = |id| authors.author_of(&id, received.sequence);
    let named = record.body.get("judged_by").filter(|named| **named != Value::Null);
    let mut judged: BTreeSet<ActorId> = match named {
        Some(named) => {
            named.as_str().and_then(|did| ActorId::parse(did).ok()).into_iter().collect()
        }
        None if record.body.contains_key("reviews") => {
            record.names("reviews").filter_map(author_of).collect()
        }
        None => record.names("fulfills").filter_map(author_of).collect(),
    };
    judged.remove(&record.actor);
    judged
}
