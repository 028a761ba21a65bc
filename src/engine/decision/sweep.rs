//! Lessons whose time is over.

use super::ledger::Policy;
use crate::engine::{Engine, EngineError};
use crate::object;
use crate::record::{Act, ActorId, Draft, Record, RecordId, Sequence, ThreadId};
use crate::time::Timestamp;

use super::DECISION_KIND;

/// How often the configuration may turn out to have moved before a policy is left to the next sweep.
const MAX_ATTEMPTS: usize = 8;

/// A lesson that was put out of force because its time was over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Swept {
    /// The newer version of the hook, which is not enabled.
    pub record: RecordId,
    /// The version that it supersedes.
    pub policy: RecordId,
    /// The answer that said when.
    pub decision: RecordId,
    /// Where the hook spoke.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// When its time was over.
    pub expires_at: Timestamp,
}

impl Engine {
    /// Supersedes every lesson whose time is over by a version that is not enabled, and returns what
    /// was done.
    ///
    /// A hook that somebody has written again is no longer that policy, and is left alone. A second
    /// sweep finds nothing to do.
    pub fn sweep(&self) -> Result<Vec<Swept>, EngineError> {
        let expired = self.ledger()?.expired(|| self.whole().now());
        let mut swept = Vec::new();
        for policy in expired {
            swept.extend(self.sweep_one(&policy)?);
        }
        Ok(swept)
    }

    fn sweep_one(&self, policy: &Policy) -> Result<Option<Swept>, EngineError> {
        for _ in 0..MAX_ATTEMPTS {
            let live = self.live()?;
            let current = live.config.hook(&policy.namespace, &policy.name);
            if current.and_then(|current| current.record_id) != Some(policy.hook) {
                return Ok(None);
            }
            let seen = live.config.watermark().sequence();
            let hook = self.whole().read(|reader| reader.record(policy.hook))?;
            let Some(hook) = hook.filter(|hook| hook.erased.is_none()) else {
                return Ok(None);
            };
            if let Some(record) = self.supersede(&hook.record, policy.decision, seen)? {
                self.fold_config()?;
                return Ok(Some(Swept {
                    record,
                    policy: policy.hook,
                    decision: policy.decision,
                    namespace: policy.namespace.to_string(),
                    name: policy.name.clone(),
                    expires_at: policy.expires_at,
                }));
            }
        }
        Ok(None)
    }

    /// Writes the version that is not enabled, unless somebody has configured anything since `seen`.
    fn supersede(
        &self,
        hook: &Record,
        decision: RecordId,
        seen: Sequence,
    ) -> Result<Option<RecordId>, EngineError> {
        let mut body = hook.body.clone();
        body.insert("enabled".into(), false.into());
        let why = object! { "id": decision, "kind": DECISION_KIND };
        body.insert("_refs".into(), vec![why].into());
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        self.author(move |author| {
            if author.last_of_thread(&ThreadId::config())? > seen {
                return Ok(None);
            }
            Ok(Some(author.write(draft)?.id()))
        })
    }
}
