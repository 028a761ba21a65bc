//! Several records through the records door at once: all of them are stored, or none.

use std::sync::atomic::Ordering;

use super::namespace::enter;
use super::{Caller, Engine, IngestError};
use crate::record::{Draft, Origin, RecordId, Sequence, ThreadId};

/// What is to be stored together, and as of when.
pub(crate) struct Together {
    /// What the caller states, each at the next clock of its actor.
    pub(crate) drafts: Vec<Draft>,
    /// How far threads were read on which it rests what is stated.
    pub(crate) as_of: Vec<(ThreadId, Sequence)>,
}

impl Engine {
    /// Stores drafts in one commit, in their order, and behind them what the engine has to say of it:
    /// the draft that `closing` returns for their ids.
    ///
    /// Every draft passes every check of the records door, with this caller, before the first is
    /// stored. `None` if one of the threads of `as_of` has grown meanwhile; then nothing is stored.
    /// When it returns, what it stored is durable, and what is configuration is in force.
    pub(crate) fn ingest_together(
        &self,
        caller: &Caller,
        together: Together,
        closing: impl FnOnce(&[RecordId]) -> Draft + Send + 'static,
    ) -> Result<Option<(Vec<RecordId>, RecordId)>, IngestError> {
        let Together { drafts, as_of } = together;
        for draft in &drafts {
            self.admit(caller, draft)?;
        }
        let configures = drafts.iter().any(|draft| draft.thread.is_config());
        let stated = u64::try_from(drafts.len()).unwrap_or(u64::MAX);
        // The keys of actors are the operator's to use, as at the records door.
        let by_operator = caller.is_operator();
        let stored = self.whole().write(move |tx| {
            for (thread, sequence) in &as_of {
                if tx.reader().last_of_thread(thread.as_str())? != *sequence {
                    return Ok(None);
                }
            }
            let mut ids = Vec::with_capacity(drafts.len());
            for draft in drafts {
                enter(tx, &draft)?;
                let (record, _) = if by_operator {
                    tx.append_next(draft, Origin::Door)?
                } else {
                    tx.append_next_in_custody(draft, Origin::Door)?
                };
                ids.push(record.id());
            }
            let (closed, _) = tx.append_next(closing(&ids), Origin::Engine)?;
            Ok::<_, IngestError>(Some((ids, closed.id())))
        })?;
        if stored.is_some() {
            self.0.ingested.fetch_add(stated, Ordering::Relaxed);
            if configures {
                self.fold_config()?;
            }
        }
        Ok(stored)
    }
}
