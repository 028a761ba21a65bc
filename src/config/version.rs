//! One record that states an item of the configuration, or means to.

use std::sync::{Arc, OnceLock};

use super::Refusal;
use super::item::Item;
use crate::canon::{Object, Value};
use crate::hook::{InForce, is_hook, looks_like_a_hook};
use crate::predicate::ExpressionCache;
use crate::record::{Draft, Origin, Received, RecordId, Sequence};

/// The namespace and the name of an item as a record has them, right or wrong, so that a refused
/// record finds the row of the item it was to replace.
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

    /// Returns the key of what there is one of.
    pub(super) fn single() -> Self {
        Self::new("", "")
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

/// One record that states an item, or means to.
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
    /// Returns the version of a hook that a record is, if it has to do with hooks at all.
    pub(super) fn of_hook(received: &Received<'_>) -> Option<Self> {
        let record = received.record;
        if let Some((field, message)) = looks_like_a_hook(record) {
            let refusal = Refusal::near_miss(record.id(), field, message);
            return Some(Self::new(received, Some(refusal)));
        }
        is_hook(record).then(|| Self::of::<InForce>(received))
    }

    /// Returns the version of an item that a record was meant to be.
    pub(super) fn near(received: &Received<'_>, field: &str, message: String) -> Self {
        Self::new(received, Some(Refusal::near_miss(received.record.id(), field, message)))
    }

    /// Returns the version of an item that a record is.
    pub(super) fn of<T: Item>(received: &Received<'_>) -> Self {
        let imported = received.origin == Origin::Import;
        let refusal = || Refusal::imported(received.record.id(), T::WHAT);
        Self::new(received, imported.then(refusal))
    }

    fn new(received: &Received<'_>, refusal: Option<Refusal>) -> Self {
        let (text, refused) = match refusal {
            Some(refusal) => ("", OnceLock::from(Arc::new(refusal))),
            None => (received.record.canonical().as_str(), OnceLock::new()),
        };
        let (record_id, sequence) = (received.record.id(), received.sequence);
        Self { record_id, sequence, text: text.into(), refused }
    }

    pub(super) const fn record_id(&self) -> RecordId {
        self.record_id
    }

    pub(super) const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns the item, or why it is refused. Compiles it, unless it is the one that was current.
    pub(super) fn check<T: Item>(
        &self,
        current: Option<&T>,
        expressions: &ExpressionCache,
    ) -> Result<T, Arc<Refusal>> {
        if let Some(current) = current.filter(|it| it.record_id() == Some(self.record_id)) {
            return Ok(current.clone());
        }
        if let Some(refusal) = self.refused.get() {
            return Err(Arc::clone(refusal));
        }
        let read = |draft: Draft| T::read(&draft, self.record_id, expressions);
        Draft::reread(&self.text).and_then(read).map_err(|error| {
            let refusal = || Arc::new(Refusal::shape(self.record_id, error));
            Arc::clone(self.refused.get_or_init(refusal))
        })
    }
}
