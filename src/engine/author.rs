//! Records that the engine writes about its own doing.

use super::namespace::enter;
use super::{Engine, EngineError};
use crate::record::{Clock, Draft, Namespace, Origin, Record, Sequence, ThreadId};
use crate::store::{Counted, Prepared, SessionRows, Tx};
use crate::time::Timestamp;

/// Writes records with origin `engine`, several in one commit.
pub struct Author<'a, 'c>(&'a mut Tx<'c>);

impl<'a, 'c> Author<'a, 'c> {
    /// Writes inside a transaction that is open.
    pub(super) const fn over(tx: &'a mut Tx<'c>) -> Self {
        Self(tx)
    }
}

impl Author<'_, '_> {
    /// Appends a draft at the next free clock of its thread and actor, and returns the record so
    /// that the next one can name it.
    pub fn write(&mut self, draft: Draft) -> Result<Record, EngineError> {
        Ok(self.write_at(draft)?.0)
    }

    /// The same, and returns where the record stands.
    pub(crate) fn write_at(&mut self, draft: Draft) -> Result<(Record, Sequence), EngineError> {
        let (record, appended) = self.0.append_next(draft, Origin::Engine)?;
        Ok((record, appended.sequence))
    }

    /// Appends the record with which a run, a session or a new life of one begins, as
    /// [`Author::write`] does, unless its namespace takes no records. What has begun goes on to its
    /// end, whatever becomes of the namespace meanwhile.
    pub fn begin(&mut self, draft: Draft) -> Result<Record, EngineError> {
        self.enter(&draft.namespace().unwrap_or_else(|_| Namespace::root()))?;
        self.write(draft)
    }

    /// Refuses a namespace that takes no records.
    pub(crate) fn enter(&self, namespace: &Namespace) -> Result<(), EngineError> {
        Ok(self.0.enter(namespace)?)
    }

    /// Appends what somebody states by way of the engine, at their next free clock. They are the
    /// operator, and have passed the checks of the records door.
    pub(super) fn state(&mut self, draft: Draft) -> Result<Record, EngineError> {
        enter(self.0, &draft)?;
        Ok(self.0.append_next(draft, Origin::Door)?.0)
    }

    /// Appends a prepared record of this origin, and returns where it stands.
    pub(super) fn append(
        &mut self,
        prepared: &Prepared,
        origin: Origin,
    ) -> Result<Sequence, EngineError> {
        Ok(self.0.append(prepared, origin)?.sequence)
    }

    /// Returns the highest sequence of a thread.
    pub(crate) fn last_of_thread(&self, thread: &ThreadId) -> Result<Sequence, EngineError> {
        Ok(self.0.reader().last_of_thread(thread.as_str())?)
    }

    /// Counts a call about which hooks were asked.
    pub(super) fn count_call(
        &mut self,
        namespace: &Namespace,
        result: Sequence,
    ) -> Result<(), EngineError> {
        Ok(self.0.count_call(namespace, result)?)
    }

    /// Returns the clock that [`Author::write`] would use next.
    pub(crate) fn next_clock(&self, draft: &Draft) -> Result<Clock, EngineError> {
        Ok(self.0.next_clock(&draft.thread, &draft.actor)?)
    }

    /// Claims the next fire of a hook, unless it has reached its cap.
    pub(crate) fn claim_fire(
        &mut self,
        run: &ThreadId,
        life: u32,
        key: (&Namespace, &str),
        cap: u32,
    ) -> Result<Option<u32>, EngineError> {
        Ok(self.0.claim_fire(run, life, key.0, key.1, cap)?)
    }

    /// Returns the tables of captured sessions.
    pub(crate) const fn sessions(&self) -> SessionRows<'_> {
        self.0.sessions()
    }

    /// Returns the time of this commit.
    pub(crate) const fn now(&self) -> Timestamp {
        self.0.now()
    }

    /// Adds to the counters of a hook.
    pub(super) fn count(
        &mut self,
        key: (&Namespace, &str),
        counted: Counted,
    ) -> Result<(), EngineError> {
        Ok(self.0.count_hook(key.0, key.1, counted)?)
    }
}

impl Engine {
    /// Runs `work`, which writes records of the engine's own, in one commit: all of them are
    /// durable when it returns, or none. `work` must not wait for anything.
    pub fn author<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Author<'_, '_>) -> Result<T, EngineError> + Send + 'static,
    ) -> Result<T, EngineError> {
        self.whole().write(move |tx| work(&mut Author::over(tx)))
    }
}
