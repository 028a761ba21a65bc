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

/// The authors of records that were handed in: of a log that is small or read in one go, or of
/// those alone that some verdicts name.
#[derive(Debug, Clone, Default)]
pub struct KnownAuthors(HashMap<RecordId, (Sequence, ActorId)>);

impl KnownAuthors {
    /// Remembers who wrote a record.
    pub fn learn(&mut self, received: &Received<'_>) {
        self.add(received.record.id(), received.sequence, received.record.actor.clone());
    }

    /// Remembers who wrote the record `id`, which stands at `sequence`.
    pub fn add(&mut self, id: RecordId, sequence: Sequence, author: ActorId) {
        self.0.entry(id).or_insert((sequence, author));
    }
}

impl Authors for KnownAuthors {
    fn author_of(&self, id: &RecordId, before: Sequence) -> Option<ActorId> {
        let (sequence, author) = self.0.get(id)?;
        (*sequence < before).then(|| author.clone())
    }
}
