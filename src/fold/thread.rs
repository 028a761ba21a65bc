//! The state of one thread (contract §2.5).

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use super::Fold;
use crate::record::{Act, ActorId, Clock, Received, RecordId};

/// Whether something that a thread set out to do is still to be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ThreadStatus {
    /// At least one INTEND has neither been fulfilled nor cancelled.
    Open,
    /// No INTEND waits for an answer; a thread without any INTEND is closed too.
    Closed,
}

impl ThreadStatus {
    /// Returns the word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

impl fmt::Display for ThreadStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What the records of one thread add up to.
///
/// The default is the state of a thread that nobody has written to: all zeros, so that a writer can
/// ask for the next clock before the first record.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadState {
    /// How many records the thread has.
    pub record_count: u64,
    /// The highest clock of any actor; 0 on an empty thread.
    pub last_clock: Clock,
    /// The highest clock of each actor that has written here.
    pub actor_clocks: BTreeMap<ActorId, Clock>,
    /// The record that arrived last.
    pub head: Option<RecordId>,
    /// The INTEND that arrived first: what the thread is about.
    pub opening_intend: Option<RecordId>,
    /// INTENDs that wait for an answer.
    open: BTreeSet<RecordId>,
    /// What was answered, kept because an answer taken over from another store may arrive before
    /// what it answers.
    answered: BTreeSet<RecordId>,
}

impl ThreadState {
    /// Returns whether an INTEND waits for an answer.
    pub fn status(&self) -> ThreadStatus {
        if self.open.is_empty() { ThreadStatus::Closed } else { ThreadStatus::Open }
    }

    /// Returns everyone who has written here, by name.
    pub fn participants(&self) -> impl Iterator<Item = &ActorId> {
        self.actor_clocks.keys()
    }

    /// Returns the INTENDs that wait for an answer, by id.
    pub fn open_intends(&self) -> impl Iterator<Item = &RecordId> {
        self.open.iter()
    }

    fn intend(&mut self, id: RecordId) {
        self.opening_intend.get_or_insert(id);
        if !self.answered.contains(&id) {
            self.open.insert(id);
        }
    }

    fn answer(&mut self, id: RecordId) {
        self.open.remove(&id);
        self.answered.insert(id);
    }
}

impl Fold for ThreadState {
    fn evolve(&mut self, received: &Received<'_>) {
        let record = received.record;
        self.record_count += 1;
        self.last_clock = self.last_clock.max(record.clock);
        let clock = self.actor_clocks.entry(record.actor.clone()).or_default();
        *clock = record.clock.max(*clock);
        self.head = Some(record.id());
        match record.act {
            Act::Intend => self.intend(record.id()),
            Act::Know => record.names("fulfills").for_each(|id| self.answer(id)),
            Act::Do => record.names("cancels").for_each(|id| self.answer(id)),
            _ => {}
        }
    }
}
