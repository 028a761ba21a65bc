//! One record that states a hook, or means to.

use std::sync::{Arc, OnceLock};

use super::{Hook, Origin, Received, RecordId, Refusal, is_hook, looks_like_a_hook};
use crate::canon::{Object, Value};
use crate::predicate::ExpressionCache;
use crate::record::{Draft, Sequence};

/// The namespace and the name of a hook as a record has them, right or wrong, so that a refused
/// record finds the row of the hook it was to replace.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct WrittenKey {
    pub(super) namespace: String,
    pub(super) name: String,
}

impl WrittenKey {
    /// Longer than any namespace or name that is right, so that a cut one is equal to none.
    const MAX_CHARS: usize = 300;

    pub(super) fn new(namespace: &str, name: &str) -> Self {
        Self { namespace: namespace.into(), name: name.into() }
    }

    pub(super) fn of(body: &Object) -> Self {
        Self { namespace: written(body, "namespace", "default"), name: written(body, "name", "") }
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
#[derive(Debug, Clone)]
pub(super) struct Version {
    record_id: RecordId,
    sequence: Sequence,
    content: Content,
}

#[derive(Debug, Clone)]
enum Content {
    /// To be checked when somebody asks.
    Hook(Arc<Unchecked>),
    /// Refused without a look at its predicate.
    Refused(Arc<Refusal>),
}

#[derive(Debug)]
struct Unchecked {
    draft: Draft,
    checked: OnceLock<Result<Arc<Hook>, Arc<Refusal>>>,
}

impl Version {
    /// Returns the version that a record is, if it has to do with hooks at all.
    pub(super) fn of(received: &Received<'_>) -> Option<Self> {
        let (record, record_id) = (received.record, received.record.id());
        let content = if let Some((field, message)) = looks_like_a_hook(record) {
            Content::Refused(Arc::new(Refusal::near_miss(record_id, field, message)))
        } else if !is_hook(record) {
            return None;
        } else if received.origin == Origin::Import {
            Content::Refused(Arc::new(Refusal::imported(record_id)))
        } else {
            let draft = record.draft().clone();
            Content::Hook(Arc::new(Unchecked { draft, checked: OnceLock::new() }))
        };
        Some(Self { record_id, sequence: received.sequence, content })
    }

    pub(super) const fn record_id(&self) -> RecordId {
        self.record_id
    }

    pub(super) const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns the hook, or why it is refused. Compiles it the first time.
    pub(super) fn check(&self, expressions: &ExpressionCache) -> Result<&Arc<Hook>, &Refusal> {
        match &self.content {
            Content::Refused(refusal) => Err(refusal),
            Content::Hook(unchecked) => {
                let check = || self.compile(&unchecked.draft, expressions);
                let checked = unchecked.checked.get_or_init(check);
                checked.as_ref().map_err(AsRef::as_ref)
            }
        }
    }

    fn compile(
        &self,
        draft: &Draft,
        expressions: &ExpressionCache,
    ) -> Result<Arc<Hook>, Arc<Refusal>> {
        let refused = |error| Arc::new(Refusal::shape(self.record_id, error));
        Hook::check_with(draft, expressions).map(Arc::new).map_err(refused)
    }
}
