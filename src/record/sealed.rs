//! A record: a draft that has its bytes and its id.

use super::{Draft, Reason, RecordId, ShapeError};
use crate::canon::{Canonical, Limits, Object, TooLong, Value};
use crate::object;

/// The most canonical bytes of a record (decision 21).
pub const MAX_CANONICAL_BYTES: usize = 4 * 1024 * 1024;

/// An immutable statement, named by its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    draft: Draft,
    id: RecordId,
    canonical: Canonical,
}

/// Why a draft cannot become a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SealError {
    /// Its canonical form is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// It nests so deep that it could not be read back.
    #[error("nested more than {limit} levels deep")]
    TooDeep {
        /// The most levels that are read back.
        limit: usize,
    },
}

impl Record {
    /// Seals a draft: sorts its parents, writes its canonical bytes and hashes them. What is sealed
    /// can be read back.
    pub fn seal(mut draft: Draft) -> Result<Self, SealError> {
        const DEPTH: usize = Limits::STORED.depth;
        if !draft.nests_within(DEPTH) {
            return Err(SealError::TooDeep { limit: DEPTH });
        }
        draft.parents.sort_unstable();
        let canonical = canonical_of(&mut draft, MAX_CANONICAL_BYTES)?;
        Ok(Self { id: RecordId::of(&canonical), draft, canonical })
    }

    /// Reads a record from its canonical text, and writes and hashes it again.
    pub fn from_canonical(text: &str, judged_by: Option<String>) -> Result<Self, ShapeError> {
        let mut draft = Draft { judged_by, ..Draft::reread(text)? };
        let canonical = canonical_of(&mut draft, usize::MAX).map_err(|error| {
            ShapeError::new("record", Reason::BadValue, format!("the record is {error}"))
        })?;
        Ok(Self { id: RecordId::of(&canonical), draft, canonical })
    }

    /// Reads back a record that the store holds, trusting that its text hashes to its id.
    pub(crate) fn reread(
        id: RecordId,
        text: String,
        judged_by: Option<String>,
    ) -> Result<Self, ShapeError> {
        let draft = Draft { judged_by, ..Draft::reread(&text)? };
        Ok(Self { draft, id, canonical: Canonical::reread(text) })
    }

    /// Returns the name of this record.
    pub const fn id(&self) -> RecordId {
        self.id
    }

    /// Returns the bytes that are hashed and signed.
    pub const fn canonical(&self) -> &Canonical {
        &self.canonical
    }

    /// Returns what the record says.
    pub const fn draft(&self) -> &Draft {
        &self.draft
    }

    /// Returns the canonical text of what is left of this record when its words are taken out: the
    /// envelope, with an empty body.
    pub(crate) fn without_body(&self) -> Canonical {
        Canonical::of_object(&hashed(&self.draft, Object::new()))
    }

    /// Returns the record as the object that every answer shows (contract §2.3).
    pub fn to_object(&self) -> Object {
        let mut object = hashed(&self.draft, self.draft.body.clone());
        object.insert("object".into(), "record".into());
        object.insert("id".into(), self.id.into());
        if let Some(judged_by) = &self.draft.judged_by {
            object.insert("judged_by".into(), judged_by.as_str().into());
        }
        object
    }
}

impl std::ops::Deref for Record {
    type Target = Draft;

    fn deref(&self) -> &Draft {
        &self.draft
    }
}

/// Writes the canonical text of a draft. The body is lent to it and not copied: it may be long.
fn canonical_of(draft: &mut Draft, limit: usize) -> Result<Canonical, TooLong> {
    let body = std::mem::take(&mut draft.body);
    let mut hashed = hashed(draft, body);
    let canonical = Canonical::of_object_within(&hashed, limit);
    if let Some(Value::Object(body)) = hashed.remove("body") {
        draft.body = body;
    }
    canonical
}

/// The seven hashed fields (contract §1.4).
fn hashed(draft: &Draft, body: Object) -> Object {
    let parents: Vec<Value> = draft.parents.iter().map(|id| (*id).into()).collect();
    object! {
        "act": draft.act.as_str(),
        "actor": &draft.actor,
        "body": body,
        "clock": draft.clock.get(),
        "data_type": draft.data_type.as_str(),
        "parents": parents,
        "thread": &draft.thread,
    }
}
