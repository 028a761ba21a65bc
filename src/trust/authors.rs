//! Who wrote what: the one thing a verdict needs to know of other records.

use std::collections::HashMap;

use crate::record::{ActorId, Received, RecordId, Sequence};

/// Tells who wrote a record.
pub trait Authors {
    /// Returns the author of the record `id`, if it arrived before `before`.
    ///
    /// With the bound the answer depends on what the log held at that point and on nothing later:
    /// a fold that is resumed gets the answers that a fresh one gets.
    fn author_of(&self, id: &RecordId, before: Sequence) -> Option<ActorId>;
}

/// The authors of records that were handed in. For a log that is small or read in one go.
#[derive(Debug, Clone, Default)]
pub struct KnownAuthors(HashMap<RecordId, (Sequence, ActorId)>);

impl KnownAuthors {
    /// Remembers who wrote a record.
    pub fn learn(&mut self, received: &Received<'_>) {
        let author = || (received.sequence, received.record.actor.clone());
        self.0.entry(received.record.id()).or_insert_with(author);
    }
}

impl Authors for KnownAuthors {
    fn author_of(&self, id: &RecordId, before: Sequence) -> Option<ActorId> {
        let (sequence, author) = self.0.get(id)?;
        (*sequence < before).then(|| author.clone())
    }
}
