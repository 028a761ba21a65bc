//! The writing thread: whatever is queued goes into one transaction.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rusqlite::{Connection, params};

use super::checkpoint::{Head, SignedLink, signed_head};
use super::connection::{self, FORMAT};
use super::lock::FileLock;
use super::{Reader, Shared, Stage, StoreError, Tx, lock_of};
use crate::code::{Class, Code, Coded};
use crate::identity::{KeyPair, Keyring};
use crate::record::Sequence;

/// The most writes that share one transaction, so that none waits for long.
const MAX_BATCH: usize = 512;

/// Hands writes to a thread of its own, which starts with the first of them; in a brief process,
/// does them where they are asked for.
pub(super) struct Writer {
    state: Mutex<State>,
}

enum State {
    Here(Committer),
    Idle(Option<Committer>),
    Running { queue: Sender<Box<dyn Job>>, thread: JoinHandle<()> },
    Gone,
}

impl Writer {
    pub(super) fn new(
        shared: Arc<Shared>,
        connection: connection::Shared,
        lock: Option<FileLock>,
        keep_log: bool,
        brief: bool,
    ) -> Self {
        let committer = Committer { shared, connection, lock, keep_log };
        let state = if brief { State::Here(committer) } else { State::Idle(Some(committer)) };
        Self { state: Mutex::new(state) }
    }

    /// Queues `work` and waits for its answer.
    pub(super) fn submit<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Coded + Send + 'static,
    {
        let (answer, answered) = sync_channel(1);
        let job: Box<dyn Job> = Box::new(Write { work: Some(work), result: None, answer });
        if let Some(job) = self.here(job) {
            self.queue()?.send(job).map_err(|_| StoreError::WriterGone)?;
        }
        match answered.recv() {
            Ok(Ok(result)) => result,
            // The work itself panicked: its panic belongs to whoever asked for it.
            Ok(Err(panic)) => resume_unwind(panic),
            Err(_) => Err(StoreError::WriterGone.into()),
        }
    }

    /// Does a write on this thread, or gives it back where there is another for it.
    fn here(&self, job: Box<dyn Job>) -> Option<Box<dyn Job>> {
        match &*lock_of(&self.state) {
            State::Here(committer) => {
                committer.commit_all(vec![job]);
                None
            }
            _ => Some(job),
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
            State::Here(_) | State::Idle(_) | State::Gone => Err(StoreError::WriterGone),
        }
    }
}

impl Writer {
    /// Leaves the file as it is to be found by whoever comes next, for a process that ends without
    /// closing it.
    pub(super) fn leave(&self) {
        if let State::Here(committer) = &*lock_of(&self.state) {
            committer.cut_log();
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
            // A write that held the last handle of its own store ends on that very thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}

/// One queued write.
trait Job: Send {
    /// Does the work.
    fn run(&mut self, tx: &mut Tx<'_>) -> Ended;

    /// Answers the caller: the work's own result if the transaction is durable.
    fn finish(self: Box<Self>, durable: Result<(), StoreError>);
}

/// How the work of a write ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ended {
    /// What it wrote is to be kept.
    Well,
    /// What it wrote is to be undone. It said why, unless it panicked.
    Badly(Option<Code>),
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
    E: From<StoreError> + Coded + Send,
    F: FnOnce(&mut Tx<'_>) -> Result<T, E> + Send,
{
    fn run(&mut self, tx: &mut Tx<'_>) -> Ended {
        let Some(work) = self.work.take() else { return Ended::Badly(None) };
        let result = catch_unwind(AssertUnwindSafe(|| work(tx)));
        let ended = match &result {
            Ok(Ok(_)) => Ended::Well,
            Ok(Err(error)) => Ended::Badly(Some(error.code())),
            Err(_) => Ended::Badly(None),
        };
        self.result = Some(result);
        ended
    }

    fn finish(self: Box<Self>, durable: Result<(), StoreError>) {
        let result = match (self.result, durable) {
            (Some(result), Ok(())) => result,
            (Some(Err(panic)), Err(_)) => Err(panic),
            // A failure is the work's own. A refusal may rest on what another write of the same
            // transaction has left there, and that is gone.
            (Some(Ok(Err(own))), Err(_)) if is_failure(&own) => Ok(Err(own)),
            (_, Err(error)) => Ok(Err(error.into())),
            (None, Ok(())) => Ok(Err(StoreError::WriterGone.into())),
        };
        // The caller may be gone; what was written stays.
        let _ = self.answer.send(result);
    }
}

/// Tells a failure of the store from a refusal.
fn is_failure(error: &impl Coded) -> bool {
    matches!(error.code().class(), Class::Internal | Class::Unavailable)
}

/// Owns the writing connection.
struct Committer {
    shared: Arc<Shared>,
    connection: connection::Shared,
    lock: Option<FileLock>,
    /// Whether the log stays beside the file when this process ends.
    keep_log: bool,
}

impl Drop for Committer {
    fn drop(&mut self) {
        self.cut_log();
    }
}

impl Committer {
    fn cut_log(&self) {
        if let (true, Some(path), Some(lock)) = (self.keep_log, &self.shared.path, &self.lock) {
            connection::cut_log(&lock_of(&self.connection), path, lock);
        }
    }

    fn run(self, queued: &Receiver<Box<dyn Job>>) {
        while let Ok(first) = queued.recv() {
            let mut jobs = vec![first];
            jobs.extend(queued.try_iter().take(MAX_BATCH - 1));
            self.commit_all(jobs);
        }
    }

    /// Commits these writes together, and answers those who wait for them.
    fn commit_all(&self, mut jobs: Vec<Box<dyn Job>>) {
        let durable = self.commit(&mut jobs);
        for job in jobs {
            job.finish(durable.clone());
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
        if let Some(path) = &self.shared.path {
            let length = connection::length_of_log(path);
            connection::name_log(path, length);
            if self.keep_log {
                connection::renew_log(&connection, length);
            }
        }
        let committed = self.transaction(&connection, jobs);
        if let Err(error) = &committed {
            self.undo(&connection, error);
        }
        drop(connection);
        drop(held);
        let newest = committed?;
        self.shared.reach(Stage::Committed);
        for listener in lock_of(&self.shared.listeners).iter() {
            // What is durable stays so, and nobody who waits for an answer is to pay for it.
            if catch_unwind(AssertUnwindSafe(|| listener(newest))).is_err() {
                tracing::error!("a listener for commits panicked");
            }
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
        let before = read_head(connection, &self.shared.keyring)?;
        let now = self.shared.time.now();
        let keyring = &self.shared.keyring;
        let mut tx = Tx { connection, keyring, head: before, now, heir: None };
        for job in jobs {
            run_alone(&mut tx, job.as_mut())?;
        }
        let head = tx.head;
        self.shared.reach(Stage::Inserted);
        if head != before {
            write_head(connection, head, tx.heir.as_deref().unwrap_or(keyring.instance()))?;
        }
        self.shared.reach(Stage::HeadSigned);
        connection.prepare_cached("COMMIT")?.execute([])?;
        Ok(head.sequence)
    }

    /// Leaves no transaction open; a handle that is unsure of the file takes no more writes.
    fn undo(&self, connection: &Connection, error: &StoreError) {
        // SQLite has undone it already after the worst failures.
        let clean = connection.is_autocommit() || connection.execute_batch("ROLLBACK").is_ok();
        let expected = matches!(
            error,
            StoreError::Full
                | StoreError::Migrated { .. }
                | StoreError::OtherKey { .. }
                | StoreError::Damaged { .. }
        ) || matches!(error, StoreError::Failed(error) if error.is_busy());
        if !(clean && expected) {
            tracing::error!(%error, "a write failed; the store takes no more");
            self.shared.poisoned.store(true, Ordering::Release);
        }
    }
}

fn write_head(connection: &Connection, head: Head, key: &KeyPair) -> Result<(), StoreError> {
    let SignedLink { link, signer, signature, .. } = SignedLink::head(head, key);
    let sql = "INSERT INTO head (one, seq, chain, signer, sig) VALUES (1, ?1, ?2, ?3, ?4)
               ON CONFLICT (one) DO UPDATE SET seq = excluded.seq, chain = excluded.chain,
                   signer = excluded.signer, sig = excluded.sig";
    let row = params![link.sequence.get(), link.chain, signer, signature.as_bytes()];
    connection.prepare_cached(sql)?.execute(row)?;
    Ok(())
}

/// Runs one job so that it can be undone without the others.
fn run_alone(tx: &mut Tx<'_>, job: &mut dyn Job) -> Result<(), StoreError> {
    let (before, heir) = (tx.head, tx.heir.clone());
    tx.connection.prepare_cached("SAVEPOINT job")?.execute([])?;
    let ended = job.run(tx);
    if tx.connection.is_autocommit() {
        // SQLite has undone the whole transaction. A full disk does no more harm than that; after
        // anything else nobody knows what the file holds.
        let full = ended == Ended::Badly(Some(Code::StoreFull));
        return Err(if full { StoreError::Full } else { StoreError::Poisoned });
    }
    if ended != Ended::Well {
        tx.connection.prepare_cached("ROLLBACK TO job")?.execute([])?;
        (tx.head, tx.heir) = (before, heir);
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

/// Returns the newest link. Nothing is added to a chain that this instance has not signed: the next
/// signature would pass for one over what somebody else has put there.
fn read_head(connection: &Connection, keyring: &Keyring) -> Result<Head, StoreError> {
    match signed_head(connection)? {
        Some(head) if head.signer() != keyring.instance().did() => {
            Err(StoreError::OtherKey { signer: head.signer })
        }
        Some(head) => Ok(head.link),
        None => {
            let last = Reader::new(connection).last()?;
            if last > Sequence::default() {
                let what = "the signed head is missing".into();
                return Err(StoreError::Damaged { sequence: last.get(), what });
            }
            Ok(Head::default())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{AppendError, Store, StoreOptions};
    use super::*;
    use crate::identity::{KeyPair, Keyring};
    use crate::object;
    use crate::record::{Act, ActorId, Draft, Origin, ThreadId};
    use crate::time::TimeSource;

    type Answer = Receiver<Result<Result<(), AppendError>, Panic>>;

    fn store() -> Store {
        let keyring = Keyring::new(KeyPair::from_seed(&[1; 32]));
        Store::in_memory(StoreOptions::new(keyring, TimeSource::system())).expect("a store")
    }

    fn draft(text: &str) -> Draft {
        let thread = ThreadId::parse("th_a").expect("a thread");
        Draft::new(thread, ActorId::engine(), Act::Know, object! { "text": text })
    }

    fn job(
        work: impl FnOnce(&mut Tx<'_>) -> Result<(), AppendError> + Send + 'static,
    ) -> (Box<dyn Job>, Answer) {
        let (answer, answered) = sync_channel(1);
        (Box::new(Write { work: Some(work), result: None, answer }), answered)
    }

    /// Writes a record, then another one at its clock, then what `last` does; all in one
    /// transaction. Returns the answers.
    fn together(
        store: &Store,
        last: impl FnOnce(&mut Tx<'_>) -> Result<(), AppendError> + Send + 'static,
    ) -> Vec<Result<(), AppendError>> {
        let State::Idle(Some(committer)) =
            std::mem::replace(&mut *lock_of(&store.writer.state), State::Gone)
        else {
            panic!("nothing was written yet");
        };
        let taken = store.prepare(draft("two")).expect("prepared");
        let (mut jobs, answers): (Vec<_>, Vec<_>) = [
            job(|tx| tx.append_next(draft("one"), Origin::Door).map(drop)),
            job(move |tx| tx.append(&taken, Origin::Door).map(drop)),
            job(last),
        ]
        .into_iter()
        .unzip();
        let durable = committer.commit(&mut jobs);
        for job in jobs {
            job.finish(durable.clone());
        }
        answers.iter().map(|it| it.recv().expect("an answer").expect("no panic")).collect()
    }

    fn roll_back(tx: &Tx<'_>) -> Result<(), AppendError> {
        Ok(tx.connection.execute_batch("ROLLBACK")?)
    }

    #[test]
    fn a_refusal_stands_if_the_rest_is_durable() {
        let answers = together(&store(), |_| Ok(()));
        assert!(answers[0].is_ok() && answers[2].is_ok());
        assert!(matches!(answers[1], Err(AppendError::DuplicateClock { .. })));
    }

    /// The record in its way was never stored.
    #[test]
    fn a_refusal_does_not_outlive_what_it_rests_on() {
        let store = store();
        for answer in together(&store, |tx| roll_back(tx).and(Err(StoreError::Full.into()))) {
            assert!(matches!(answer, Err(AppendError::Store(StoreError::Full))), "{answer:?}");
        }
        assert!(!store.is_poisoned());
        assert_eq!(store.read(|reader| reader.last()).expect("read").get(), 0);
    }

    #[test]
    fn a_transaction_that_is_gone_for_another_reason_than_a_full_disk_is_not_called_that() {
        let store = store();
        for answer in together(&store, |tx| roll_back(tx)) {
            assert!(matches!(answer, Err(AppendError::Store(StoreError::Poisoned))), "{answer:?}");
        }
        assert!(store.is_poisoned());
    }
}
