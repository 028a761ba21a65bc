//! One record that states a hook, or means to.

use std::sync::{Arc, OnceLock};

use super::Refusal;
use crate::canon::{Object, Value};
use crate::hook::{Hook, InForce, is_hook, looks_like_a_hook};
use crate::predicate::ExpressionCache;
use crate::record::{Draft, Origin, Received, RecordId, Sequence};

/// The namespace and the name of a hook as a record has them, right or wrong, so that a refused
/// record finds the row of the hook it was to replace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrittenKey {
    pub(super) namespace: Arc<str>,
    pub(super) name: Arc<str>,
}

impl WrittenKey {
    /// Longer than any namespace or name that is right, so that a cut one is equal to none.
    const MAX_CHARS: usize = 300;

    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    pub(super) fn of(body: &Object) -> Self {
        Self::new(&written(body, "namespace", "default"), &written(body, "name", ""))
    }
}

/// Returns a field as text: of a string its characters, of anything else its JSON.
pub(super) fn written(body: &Object, field: &str, absent: &str) -> String {
    match body.get(field) {
        None => absent.into(),
        Some(Value::String(text)) => text.chars().take(WrittenKey::MAX_CHARS).collect(),
        Some(other) => other.to_string().chars().take(WrittenKey::MAX_CHARS).collect(),
    }
}

/// One record that states a hook, or means to.
///
/// Compiled is only the version that is current, and that is kept where it is current: all others
/// are a text here, from which an erasure can bring one back.
#[derive(Debug)]
pub(super) struct Version {
    record_id: RecordId,
    sequence: Sequence,
    /// The canonical text; empty for what is refused without a look at it.
    text: Box<str>,
    /// Why it is refused, once somebody has found that out.
    refused: OnceLock<Arc<Refusal>>,
}

impl Version {
    /// Returns the version that a record is, if it has to do with hooks at all.
    pub(super) fn of(received: &Received<'_>) -> Option<Self> {
        let (record, record_id) = (received.record, received.record.id());
        let refusal = if let Some((field, message)) = looks_like_a_hook(record) {
            Some(Refusal::near_miss(record_id, field, message))
        } else if !is_hook(record) {
            return None;
        } else {
            (received.origin == Origin::Import).then(|| Refusal::imported(record_id))
        };
        let (text, refused) = match refusal {
            Some(refusal) => ("", OnceLock::from(Arc::new(refusal))),
            None => (record.canonical().as_str(), OnceLock::new()),
        };
        Some(Self { record_id, sequence: received.sequence, text: text.into(), refused })
    }

    pub(super) const fn record_id(&self) -> RecordId {
        self.record_id
    }

    pub(super) const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns the hook, or why it is refused. Compiles it, unless it is the one that was current.
    pub(super) fn check(
        &self,
        current: Option<&InForce>,
        expressions: &ExpressionCache,
    ) -> Result<InForce, Arc<Refusal>> {
        let record_id = Some(self.record_id);
        if let Some(current) = current.filter(|it| it.record_id == record_id) {
            return Ok(current.clone());
        }
        if let Some(refusal) = self.refused.get() {
            return Err(Arc::clone(refusal));
        }
        let check = |draft| Hook::check_with(&draft, expressions);
        match Draft::reread(&self.text).and_then(check) {
            Ok(hook) => Ok(InForce { hook: Arc::new(hook), record_id }),
            Err(error) => {
                let refusal = || Arc::new(Refusal::shape(self.record_id, error));
                Err(Arc::clone(self.refused.get_or_init(refusal)))
            }
        }
    }
}
