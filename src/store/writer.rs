//! The writing thread: whatever is queued goes into one transaction.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::append::Head;
use super::connection::{self, FORMAT};
use super::lock::FileLock;
use super::{Shared, Stage, StoreError, Tx, lock_of};
use crate::record::Sequence;

/// The most writes that share one transaction, so that none waits for long.
const MAX_BATCH: usize = 512;

/// Hands writes to a thread of its own, which starts with the first of them.
pub(super) struct Writer {
    state: Mutex<State>,
}

enum State {
    Idle(Option<Committer>),
    Running { queue: Sender<Box<dyn Job>>, thread: JoinHandle<()> },
    Gone,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        connection: connection::Shared,
        lock: Option<FileLock>,
    ) -> Self {
        let committer = Committer { shared, connection, lock };
        Self { state: Mutex::new(State::Idle(Some(committer))) }
    }

    /// Queues `work` and waits for its answer.
    pub(super) fn submit<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Send + 'static,
    {
        let (answer, answered) = sync_channel(1);
        self.queue()?
            .send(Box::new(Write { work: Some(work), result: None, answer }))
            .map_err(|_| StoreError::WriterGone)?;
        match answered.recv() {
            Ok(Ok(result)) => result,
            // The work itself panicked: its panic belongs to whoever asked for it.
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(StoreError::WriterGone.into()),
        }
    }

    fn queue(&self) -> Result<Sender<Box<dyn Job>>, StoreError> {
        let mut state = lock_of(&self.state);
        if let State::Idle(committer) = &mut *state
            && let Some(committer) = committer.take()
        {
            let (queue, queued) = channel();
            let thread = std::thread::Builder::new()
                .name("spl-writer".into())
                .spawn(move || committer.run(&queued));
            *state = thread.map_or(State::Gone, |thread| State::Running { queue, thread });
        }
        match &*state {
            State::Running { queue, .. } => Ok(queue.clone()),
            State::Idle(_) | State::Gone => Err(StoreError::WriterGone),
        }
    }
}

impl Drop for Writer {
    /// Waits until everything queued is written and the connection is closed.
    fn drop(&mut self) {
        if let State::Running { queue, thread } =
            std::mem::replace(&mut *lock_of(&self.state), State::Gone)
        {
            drop(queue);
            let _ = thread.join();
        }
    }
}

/// One queued write.
trait Job: Send {
    /// Does the work; false if what it wrote is to be undone.
    fn run(&mut self, tx: &mut Tx<'_>) -> bool;

    /// Answers the caller: the work's own result if the transaction is durable.
    fn finish(self: Box<Self>, durable: Result<(), StoreError>);
}

type Panic = Box<dyn std::any::Any + Send>;

struct Write<T, E, F> {
    work: Option<F>,
    result: Option<Result<Result<T, E>, Panic>>,
    answer: SyncSender<Result<Result<T, E>, Panic>>,
}

impl<T, E, F> Job for Write<T, E, F>
where
    T: Send,
    E: From<StoreError> + Send,
    F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> bool {
        let Some(work) = self.work.take() else { return false };
        let result = catch_unwind(AssertUnwindSafe(|| work(tx)));
        let keep = matches!(result, Ok(Ok(_)));
        self.result = Some(result);
        keep
    }

    fn finish(self: Box<Self>, durable: Result<(), StoreError>) {
        let result = match (self.result, durable) {
            // A refusal of the work's own stands, whatever became of the rest.
            (Some(Ok(Ok(_))) | None, Err(error)) => Ok(Err(error.into())),
            (Some(result), _) => result,
            (None, Ok(())) => Ok(Err(StoreError::WriterGone.into())),
        };
        // The caller may be gone; what was written stays.
        let _ = self.answer.send(result);
    }
}

/// Owns the writing connection.
struct Committer {
    shared: Arc<Shared>,
    connection: connection::Shared,
    lock: Option<FileLock>,
}

impl Committer {
    fn run(self, queued: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = queued.recv() {
            let mut jobs = vec![first];
            jobs.extend(queued.try_iter().take(MAX_BATCH - 1));
            let durable = self.commit(&mut jobs);
            for job in jobs {
                job.finish(durable.clone());
            }
        }
    }

    fn commit(&self, jobs: &mut [Box<dyn Job>]) -> Result<(), StoreError> {
        if self.shared.poisoned.load(Ordering::Acquire) {
            return Err(StoreError::Poisoned);
        }
        let held = match &self.lock {
            Some(lock) => Some(lock.hold().map_err(|_| StoreError::Poisoned)?),
            None => None,
        };
        self.shared.reach(Stage::Locked);
        let connection = lock_of(&self.connection);
        let committed = self.transaction(&connection, jobs);
        if let Err(error) = &committed {
            self.undo(&connection, error);
        }
        drop(connection);
        drop(held);
        let newest = committed?;
        self.shared.reach(Stage::Committed);
        for listener in lock_of(&self.shared.listeners).iter() {
            listener(newest);
        }
        Ok(())
    }

    /// Returns the newest sequence once everything is durable.
    fn transaction(
        &self,
        connection: &Connection,
        jobs: &mut [Box<dyn Job>],
    ) -> Result<Sequence, StoreError> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        self.shared.reach(Stage::Begun);
        check_format(connection)?;
        let before = read_head(connection)?;
        let now = self.shared.time.now();
        let mut tx = Tx { connection, keyring: &self.shared.keyring, head: before, now };
        for job in jobs {
            run_alone(&mut tx, job.as_mut())?;
        }
        let head = tx.head;
        self.shared.reach(Stage::Inserted);
        if head != before {
            self.write_head(connection, head)?;
        }
        self.shared.reach(Stage::HeadSigned);
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(head.sequence)
    }

    fn write_head(&self, connection: &Connection, head: Head) -> Result<(), StoreError> {
        let key = self.shared.keyring.instance();
        let signature = key.sign(head.signed_bytes().as_bytes());
        let sql = "INSERT INTO head (one, seq, chain, signer, sig) VALUES (1, ?1, ?2, ?3, ?4)
                   ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, chain = excluded.chain,
                       signer = excluded.signer, sig = excluded.sig";
        let row = params![head.sequence.get(), head.chain, key.did(), signature.as_bytes()];
        connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Leaves no transaction open; a handle that is unsure of the file takes no more writes.
    fn undo(&self, connection: &Connection, error: &StoreError) {
        // SQLite has undone it already after the worst failures.
        let clean = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        let expected = matches!(error, StoreError::Full | StoreError::Migrated { .. })
            || matches!(error, StoreError::Failed(error) if error.is_busy());
        if !(clean && expected) {
            tracing::error!(%error, "a write failed; the store takes no more");
            self.shared.poisoned.store(true, Ordering::Release);
        }
    }
}

/// Runs one job so that it can be undone without the others.
fn run_alone(tx: &mut Tx<'_>, job: &mut dyn Job) -> Result<(), StoreError> {
    let before = tx.head;
    tx.connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let keep = job.run(tx);
    if tx.connection.is_autocommit() {
        // A failure such as a full disk made SQLite undo the whole transaction.
        return Err(StoreError::Full);
    }
    if !keep {
        tx.connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
        tx.head = before;
    }
    tx.connection.prepare_cached("RELEASE job")?.execute([])?;
    Ok(())
}

/// Stops if a newer version has migrated the file under this process.
fn check_format(connection: &Connection) -> Result<(), StoreError> {
    let found: i32 =
        connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
    if found > FORMAT { Err(StoreError::Migrated { found }) } else { Ok(()) }
}

fn read_head(connection: &Connection) -> Result<Head, StoreError> {
    let head = connection
        .prepare_cached("SELECT seq, chain FROM head")?
        .query_row([], |row| Ok(Head { sequence: Sequence::new(row.get(0)?), chain: row.get(1)? }))
        .optional()?;
    Ok(head.unwrap_or_default())
}
