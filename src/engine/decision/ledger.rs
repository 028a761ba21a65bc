//! Every question and whether it is answered, kept up as records arrive.

use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};

use super::{DECISION_KIND, DECISION_REQUEST_KIND, Decided};
use crate::canon::Value;
use crate::engine::{Engine, EngineError};
use crate::record::{Namespace, RecordId, Sequence, ThreadId};
use crate::store::{Reader, StoreError, Stored};
use crate::time::Timestamp;

/// Every question and whether it is answered. A fold over what the engine wrote; what it has seen is
/// not read again.
#[derive(Debug, Default)]
pub(in crate::engine) struct Ledger {
    read_to: Sequence,
    /// How many records had been erased then.
    erasures: i64,
    /// The questions, oldest first.
    asked: BTreeMap<Sequence, RecordId>,
    /// Where each question stands.
    threads: BTreeMap<RecordId, ThreadId>,
    /// The answer of each question that has one.
    answered: BTreeMap<RecordId, RecordId>,
    /// Lessons that stop being in force at some time.
    policies: Vec<Policy>,
}

/// A hook that stands until a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Policy {
    /// The answer that made it one.
    pub(super) decision: RecordId,
    /// The record of the hook.
    pub(super) hook: RecordId,
    pub(super) namespace: Namespace,
    pub(super) name: String,
    pub(super) expires_at: Timestamp,
}

impl Ledger {
    /// Returns the ledger of what a reader sees.
    pub(super) fn over(reader: &Reader<'_>) -> Result<Self, StoreError> {
        let mut ledger = Self::default();
        ledger.catch_up(reader)?;
        Ok(ledger)
    }

    /// Adds what arrived since it was last looked.
    fn catch_up(&mut self, reader: &Reader<'_>) -> Result<(), StoreError> {
        let (last, erasures) = (reader.last()?, reader.erasures()?);
        if erasures != self.erasures {
            // What was erased may have been added before.
            *self = Self { erasures, ..Self::default() };
        }
        // A question stands before its answer.
        reader.each_engine_written(DECISION_REQUEST_KIND, None, self.read_to, |stored| {
            self.asked.insert(stored.sequence, stored.record.id());
            self.threads.insert(stored.record.id(), stored.record.thread.clone());
        })?;
        reader
            .each_engine_written(DECISION_KIND, None, self.read_to, |stored| self.answer(stored))?;
        self.read_to = last;
        Ok(())
    }

    fn answer(&mut self, stored: &Stored) {
        let Some(decided) = Decided::of(stored) else { return };
        if self.threads.get(&decided.request) != Some(&decided.thread)
            || self.answered.contains_key(&decided.request)
        {
            return;
        }
        self.answered.insert(decided.request, decided.record);
        self.policies.extend(Policy::of(&decided, stored));
    }

    /// Returns how many questions wait for an answer.
    pub(in crate::engine) fn pending(&self) -> usize {
        self.threads.len() - self.answered.len()
    }

    /// Returns questions with their answers, oldest first, from after `after` on.
    pub(super) fn after(
        &self,
        after: Sequence,
    ) -> impl Iterator<Item = (Sequence, RecordId, Option<RecordId>)> {
        use std::ops::Bound::{Excluded, Unbounded};
        let asked = self.asked.range((Excluded(after), Unbounded));
        asked.map(|(at, request)| (*at, *request, self.answered.get(request).copied()))
    }

    /// Returns the policies whose time has come. Nobody is asked for the time if there are none.
    pub(super) fn expired(&self, now: impl FnOnce() -> Timestamp) -> Vec<Policy> {
        if self.policies.is_empty() {
            return Vec::new();
        }
        let now = now();
        self.policies.iter().filter(|policy| policy.expires_at <= now).cloned().collect()
    }
}

impl Policy {
    fn of(decided: &Decided, stored: &Stored) -> Option<Self> {
        let text = |field: &str| stored.record.body.get(field).and_then(Value::as_str);
        Some(Self {
            decision: decided.record,
            hook: decided.policy?,
            namespace: Namespace::parse(text("policy_namespace")?).ok()?,
            name: text("policy_name")?.to_owned(),
            expires_at: decided.expires_at?,
        })
    }
}

impl Engine {
    /// Returns every question, up to now.
    pub(in crate::engine) fn ledger(&self) -> Result<MutexGuard<'_, Ledger>, EngineError> {
        let mut ledger = self.0.ledger.lock().unwrap_or_else(PoisonError::into_inner);
        self.whole().read(|reader| ledger.catch_up(reader))?;
        Ok(ledger)
    }
}
