//! What a write may do inside its transaction.

use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::{namespace_column, verdict_column};
use super::checkpoint::{CHECKPOINT_EVERY, Head};
use super::{AppendError, Appended, Prepared, Reader, Receipt, Signed, StoreError, Unproven};
use crate::identity::{KeyPair, Keyring};
use crate::predicate::FailureKind;
use crate::record::{ActorId, Clock, Draft, Namespace, Origin, Record, Sequence, ThreadId};
use crate::time::Timestamp;

/// An open transaction, as one write sees it.
pub struct Tx<'c> {
    pub(super) connection: &'c Connection,
    pub(super) keyring: &'c Keyring,
    pub(super) head: Head,
    /// The time of this transaction: every row of one commit arrived together.
    pub(super) now: Timestamp,
    /// The instance key from the end of this transaction on, where it changes.
    pub(super) heir: Option<Arc<KeyPair>>,
}

/// What came of asking one hook about one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counted {
    /// It held.
    pub held: bool,
    /// It spoke.
    pub spoke: bool,
    /// It failed.
    pub failed: Option<FailureKind>,
    /// What its evaluation took, if that was timed.
    pub nanos: Option<u64>,
}

impl Tx<'_> {
    /// Appends a prepared record. The same record again is a success that writes nothing.
    pub fn append(&mut self, prepared: &Prepared, origin: Origin) -> Result<Appended, AppendError> {
        let Prepared { record, signed: Signed { signer, signature, unproven } } = prepared;
        let id = record.id();
        let sequence = Sequence::new(self.head.sequence.get() + 1);
        let judged_by = record.judged_by.as_deref();
        let received_at = self.now;
        let receipt = Receipt {
            id,
            sequence,
            received_at,
            origin,
            signer,
            signature: *signature,
            judged_by,
            unproven: unproven.as_ref(),
        };
        let chain = receipt.chain(&self.head.chain);
        let namespace = namespace_column(record);
        let verdict = verdict_column(record);
        let inserted = self.connection.prepare_cached(INSERT)?.execute(params![
            sequence.get(),
            id.as_bytes(),
            record.thread.as_str(),
            record.actor.as_str(),
            record.act.as_str(),
            record.clock.get(),
            record.data_type.as_str(),
            namespace.as_str(),
            record.kind(),
            verdict,
            record.canonical().as_str(),
            judged_by,
            received_at.as_millis(),
            origin.as_str(),
            signer,
            signature.as_bytes(),
            chain,
            unproven.map(Unproven::to_column),
        ]);
        match inserted {
            Ok(_) => {
                if record.is_erasure() && origin != Origin::Import {
                    self.mark_erased(id, record.names("erases"))?;
                }
                self.head = Head { sequence, chain };
                if record.thread.is_namespace_registry() {
                    self.fold_namespace(record, origin, sequence)?;
                }
                if sequence.get() % CHECKPOINT_EVERY == 0 {
                    self.checkpoint()?;
                }
                Ok(Appended { id, sequence, received_at, fresh: true })
            }
            Err(error) if is_constraint(&error) => self.repeat(record, error),
            Err(error) => Err(error.into()),
        }
    }

    /// Tells an identical repeat from another record in the way.
    fn repeat(&self, record: &Record, error: rusqlite::Error) -> Result<Appended, AppendError> {
        let sql = "SELECT seq, received_at FROM records WHERE id = ?1";
        let there = self
            .connection
            .prepare_cached(sql)?
            .query_row([record.id().as_bytes()], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        if let Some((sequence, received_at)) = there {
            return Ok(Appended {
                id: record.id(),
                sequence: Sequence::new(sequence),
                received_at: Timestamp::from_millis(received_at),
                fresh: false,
            });
        }
        if self.reader().has_clock(&record.thread, &record.actor, record.clock)? {
            return Err(AppendError::DuplicateClock {
                thread: record.thread.clone(),
                actor: record.actor.clone(),
                clock: record.clock,
            });
        }
        Err(error.into())
    }

    /// Appends a draft at the next free clock of its thread and actor, resolved here so that it is
    /// exact among all processes.
    pub fn append_next(
        &mut self,
        draft: Draft,
        origin: Origin,
    ) -> Result<(Record, Appended), AppendError> {
        let key = self.keyring.signer_of(draft.actor.as_str());
        self.append_next_signed(draft, origin, key)
    }

    /// The same, signed with the instance key as custodian: for what somebody states in the name of
    /// an actor whose key is not theirs to use.
    pub fn append_next_in_custody(
        &mut self,
        draft: Draft,
        origin: Origin,
    ) -> Result<(Record, Appended), AppendError> {
        self.append_next_signed(draft, origin, self.keyring.instance())
    }

    fn append_next_signed(
        &mut self,
        draft: Draft,
        origin: Origin,
        key: &KeyPair,
    ) -> Result<(Record, Appended), AppendError> {
        let clock = self.next_clock(&draft.thread, &draft.actor)?;
        let record = Record::seal(draft.with_clock(clock))?;
        let prepared = Prepared::sign(record, key);
        let appended = self.append(&prepared, origin)?;
        Ok((prepared.record, appended))
    }

    /// Returns the clock after the highest one of this actor on this thread.
    pub fn next_clock(&self, thread: &ThreadId, actor: &ActorId) -> Result<Clock, StoreError> {
        self.reader().next_clock(thread, actor)
    }

    /// Claims the next fire of a hook in one life of a run, unless it has reached its cap.
    pub fn claim_fire(
        &mut self,
        run: &ThreadId,
        life: u32,
        namespace: &Namespace,
        name: &str,
        cap: u32,
    ) -> Result<Option<u32>, StoreError> {
        let highest = "SELECT coalesce(max(n), 0) FROM fires
                       WHERE run = ?1 AND life = ?2 AND namespace = ?3 AND name = ?4";
        let key = (run.as_str(), life, namespace.as_str(), name);
        let spoken: u32 =
            self.connection.prepare_cached(highest)?.query_row(key, |row| row.get(0))?;
        if spoken >= cap {
            return Ok(None);
        }
        let n = spoken + 1;
        let insert =
            "INSERT INTO fires (run, life, namespace, name, n) VALUES (?1, ?2, ?3, ?4, ?5)";
        self.connection.prepare_cached(insert)?.execute((key.0, key.1, key.2, key.3, n))?;
        Ok(Some(n))
    }

    /// Counts a call about which the hooks of a namespace, and those above it, were asked.
    pub fn count_call(
        &mut self,
        namespace: &Namespace,
        result: Sequence,
    ) -> Result<(), StoreError> {
        // Two plain statements are compiled in half the time of one that does both.
        let latest = "SELECT n FROM seam_calls WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1";
        let before: Option<i64> = self
            .connection
            .prepare_cached(latest)?
            .query_row([namespace.as_str()], |row| row.get(0))
            .optional()?;
        let insert = "INSERT INTO seam_calls (namespace, seq, n) VALUES (?1, ?2, ?3)";
        let row = params![namespace.as_str(), result.get(), before.unwrap_or(0) + 1];
        self.connection.prepare_cached(insert)?.execute(row)?;
        Ok(())
    }

    /// Adds to the counters of a hook.
    pub fn count_hook(
        &mut self,
        namespace: &Namespace,
        name: &str,
        counted: Counted,
    ) -> Result<(), StoreError> {
        let fired_at = counted.spoke.then_some(self.now.as_millis());
        if counted.failed.is_none() && counted.nanos.is_none() {
            let row = params![namespace.as_str(), name, counted.held, counted.spoke, fired_at];
            if self.connection.prepare_cached(COUNT_AGAIN)?.execute(row)? > 0 {
                return Ok(());
            }
        }
        let failed = |kind| counted.failed == Some(kind);
        self.connection.prepare_cached(COUNT_HOOK)?.execute(params![
            namespace.as_str(),
            name,
            counted.held,
            counted.spoke,
            failed(FailureKind::Error),
            failed(FailureKind::OverBudget),
            failed(FailureKind::TooLarge),
            failed(FailureKind::NotBoolean),
            failed(FailureKind::Panicked),
            counted.nanos.is_some(),
            counted.nanos.unwrap_or(0),
            fired_at,
        ])?;
        Ok(())
    }

    /// Returns a reader of this transaction's state, its own writes included.
    pub const fn reader(&self) -> Reader<'_> {
        Reader::new(self.connection)
    }

    /// Returns the time of this transaction.
    pub const fn now(&self) -> Timestamp {
        self.now
    }
}

fn is_constraint(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(rusqlite::ErrorCode::ConstraintViolation)
}

const INSERT: &str = "
    INSERT INTO records (seq, id, thread, actor, act, clock, data_type, namespace, kind, verdict,
                         canonical, judged_by, received_at, origin, signer, sig, chain, unproven)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18)";

/// What comes of nearly every call. The statement for everything takes four times longer to compile.
const COUNT_AGAIN: &str = "
    UPDATE hook_counters
    SET matched = matched + ?3, fires = fires + ?4, last_fire = coalesce(?5, last_fire)
    WHERE namespace = ?1 AND name = ?2";

const COUNT_HOOK: &str = "
    INSERT INTO hook_counters
        (namespace, name, matched, fires, errors, over_budget, too_large, not_boolean, panicked,
         samples, nanos, last_fire)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
    ON CONFLICT (namespace, name) DO UPDATE SET
        matched = matched + excluded.matched,
        fires = fires + excluded.fires,
        errors = errors + excluded.errors,
        over_budget = over_budget + excluded.over_budget,
        too_large = too_large + excluded.too_large,
        not_boolean = not_boolean + excluded.not_boolean,
        panicked = panicked + excluded.panicked,
        samples = samples + excluded.samples,
        nanos = nanos + excluded.nanos,
        last_fire = coalesce(excluded.last_fire, last_fire)";
