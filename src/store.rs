//! The store: one SQLite file of records that are added and never change.
//!
//! Comes in: sealed records, and small steps of bookkeeping that must be exact across processes
//! (claims, clocks, counters, tokens). Goes out: what was stored, in order of arrival.
//!
//! Any number of processes share one file (decisions 1 and 2). A write is a closure over a [`Tx`];
//! one thread takes whatever closures are queued into one transaction under the file lock
//! `hub.lock`, so that many writers share one sync of the disk, and each caller is answered when
//! its rows are durable. A closure that fails undoes itself and nothing else.
//!
//! **Invariant:** only this module names `rusqlite`. Rows of `records` are never deleted, and
//! change in one way alone: the words of one go, behind a tombstone. Triggers in the file hold
//! everyone else to that too. Text from a caller is always a bound parameter.

mod account;
mod actor_keys;
mod append;
mod backup;
mod charters;
mod checkpoint;
mod connection;
mod custody;
mod error;
mod export;
mod hook_index;
mod lock;
mod namespace;
#[cfg(test)]
mod plans;
mod proof;
mod query;
mod read;
mod runs;
mod sessions;
mod sight;
mod stage;
mod token;
mod tombstone;
mod tx;
mod unproven;
mod verify;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

pub use account::{Account, AccountId};
pub use actor_keys::{ActorKey, KEY_KIND, KeyStatement};
pub use append::{Appended, Prepared, Receipt, Signed};
pub use charters::{MovedThread, SessionCounts};
pub use checkpoint::{CHECKPOINT_EVERY, SignedLink};
pub use custody::SignedBy;
pub use error::{AppendError, OpenError, StoreError};
pub use export::ExportRange;
pub use hook_index::IndexedHook;
pub use namespace::{NamespaceRejected, NamespaceRow};
pub use proof::{MAX_PROOF_BYTES, Proof, ProofError};
pub use query::{Page, Query, QueryError};
pub use read::{
    HookCounters, HookFailures, Reader, Stored, ThreadClocks, ThreadRange, ThreadSummary,
};
pub use runs::{RunRange, Worked};
pub use sessions::{AnsweredEvent, SessionRow, SessionRows, WaitingWords};
pub use sight::Sight;
pub use stage::{Probe, Stage};
pub use token::{Token, TokenId};
pub use tombstone::{Erased, Tombstone};
pub use tx::{Counted, Tx};
pub use unproven::{Unproven, UnprovenReason};
pub use verify::{Fault, Verification};

use crate::code::Coded;
use crate::identity::{Keyring, Signature};
use crate::record::{Draft, Origin, Record, Sequence};
use crate::time::TimeSource;
use connection::Readers;
use lock::FileLock;
use writer::Writer;

/// Called with the newest sequence after each commit of this process. Must not block.
pub type Listener = Box<dyn Fn(Sequence) + Send + Sync>;

/// How to open a store.
pub struct StoreOptions {
    /// The keys that sign what is stored.
    pub keyring: Keyring,
    /// Where the time of arrival comes from.
    pub time: TimeSource,
    /// Whether to fold the write-ahead log into the file on close. A short-lived process leaves
    /// that to others, unless the log has grown long.
    pub checkpoint_on_close: bool,
    /// Whether this process does one thing and ends: it has one connection, to read and to write,
    /// and writes on the thread that asks for it.
    pub brief: bool,
    /// Told each stage of an append; for tests that stop a process there.
    pub probe: Option<Probe>,
    /// The most pages that the file may have; for tests of a full disk.
    pub max_pages: Option<u32>,
}

impl StoreOptions {
    /// Returns the options of a short-lived process.
    pub const fn new(keyring: Keyring, time: TimeSource) -> Self {
        let (checkpoint_on_close, brief) = (false, false);
        Self { keyring, time, checkpoint_on_close, brief, probe: None, max_pages: None }
    }
}

/// An open store. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Store {
    shared: Arc<Shared>,
    writer: Arc<Writer>,
    /// What is read through this handle.
    sight: Arc<Sight>,
}

/// What the writing thread and the readers have in common.
struct Shared {
    keyring: Keyring,
    time: TimeSource,
    readers: Readers,
    path: Option<PathBuf>,
    poisoned: AtomicBool,
    probe: Option<Probe>,
    listeners: std::sync::Mutex<Vec<Listener>>,
    custodians: custody::Custodians,
}

impl Store {
    /// Opens the store at `path`, creating or migrating it if needed.
    ///
    /// A file that is not a store, or that a newer version wrote, is reported and left as it is.
    pub fn open(path: &Path, options: StoreOptions) -> Result<Self, OpenError> {
        let lock = FileLock::beside(path)?;
        let connection = Arc::new(connection::open_file(path, &lock, &options)?.into());
        let one = options.brief.then(|| Arc::clone(&connection));
        let readers = Readers::of_file(path, options.checkpoint_on_close, one);
        Ok(Self::assemble(connection, readers, Some((path, lock)), options))
    }

    /// Opens a store in memory, which ends with the last clone.
    pub fn in_memory(options: StoreOptions) -> Result<Self, OpenError> {
        let connection = Arc::new(connection::open_memory(&options)?.into());
        let readers = Readers::of_memory(Arc::clone(&connection));
        Ok(Self::assemble(connection, readers, None, options))
    }

    fn assemble(
        connection: connection::Shared,
        readers: Readers,
        file: Option<(&Path, FileLock)>,
        options: StoreOptions,
    ) -> Self {
        let (path, lock) = file.unzip();
        let shared = Arc::new(Shared {
            keyring: options.keyring,
            time: options.time,
            readers,
            path: path.map(Path::to_owned),
            poisoned: AtomicBool::new(false),
            probe: options.probe,
            listeners: std::sync::Mutex::new(Vec::new()),
            custodians: custody::Custodians::default(),
        });
        let keep_log = !options.checkpoint_on_close;
        let writer = Writer::new(Arc::clone(&shared), connection, lock, keep_log, options.brief);
        Self { shared, writer: Arc::new(writer), sight: Arc::new(Sight::everything()) }
    }

    /// Returns a handle on the same store through which nothing is read but what `sight` shows: what
    /// is outside of it is not there. Writing is as it was.
    #[must_use]
    pub fn narrowed(&self, sight: Sight) -> Self {
        Self { sight: Arc::new(sight), ..self.clone() }
    }

    /// Returns whether there is more in the store than this handle reads.
    pub fn is_narrowed(&self) -> bool {
        !self.sight.is_everything()
    }

    /// Seals a draft and signs it with its actor's key, or with the instance's where the actor has
    /// none here. Done on the caller's thread: the expensive half of an append.
    pub fn prepare(&self, draft: Draft) -> Result<Prepared, AppendError> {
        let record = Record::seal(draft)?;
        let key = self.shared.keyring.signer_of(record.actor.as_str());
        Ok(Prepared::sign(record, key))
    }

    /// Seals a draft and signs it with the instance key, as custodian: for what somebody states in
    /// the name of an actor whose key is not theirs to use.
    pub fn prepare_in_custody(&self, draft: Draft) -> Result<Prepared, AppendError> {
        Ok(self.prepare_sealed(Record::seal(draft)?))
    }

    /// Runs `work` inside a transaction and returns when what it wrote is durable.
    ///
    /// `work` shares its transaction with others that are queued. If it fails, all that it wrote is
    /// undone, and nothing else. It must not wait for anything.
    pub fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Tx<'_>) -> Result<T, E> + Send + 'static,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<StoreError> + Coded + Send + 'static,
    {
        self.writer.submit(work)
    }

    /// Signs a record that is sealed with the instance key, as custodian.
    pub fn prepare_sealed(&self, record: Record) -> Prepared {
        Prepared::sign(record, self.shared.keyring.instance())
    }

    /// Takes a record as somebody else has signed it; `None` if the signature is not that key's
    /// over its bytes.
    pub fn prepare_signed(record: Record, signer: &str, signature: Signature) -> Option<Prepared> {
        let key = Keyring::public_key(signer)?;
        let signs = key.verifies(record.canonical().as_bytes(), &signature);
        signs.then(|| Prepared::proven(record, signer.to_owned(), signature))
    }

    /// Ends with the process, which closes nothing: the kernel does, for nothing. Only for a brief
    /// one, whose writes are durable when they have been answered.
    pub fn leave(self) {
        self.writer.leave();
        // As long as there is one handle, nothing is closed.
        std::mem::forget(self);
    }

    /// Appends one prepared record.
    pub fn append(&self, prepared: Prepared, origin: Origin) -> Result<Appended, AppendError> {
        self.write(move |tx| tx.append(&prepared, origin))
    }

    /// Reads, from one consistent state of the store.
    pub fn read<T>(
        &self,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.shared.readers.with(&self.sight, work)
    }

    /// Returns a number that moves whenever somebody has committed, in this process or another.
    pub fn data_version(&self) -> Result<i64, StoreError> {
        self.shared.readers.data_version()
    }

    /// Calls `listener` after each commit of this process.
    pub fn on_commit(&self, listener: Listener) {
        lock_of(&self.shared.listeners).push(listener);
    }

    /// Returns the time now, as this store was told to tell it.
    pub fn now(&self) -> crate::time::Timestamp {
        self.shared.time.now()
    }

    /// Returns the keys that sign what is stored.
    pub fn keyring(&self) -> &Keyring {
        &self.shared.keyring
    }

    /// Returns where the file is, unless the store is in memory.
    pub fn path(&self) -> Option<&Path> {
        self.shared.path.as_deref()
    }

    /// Returns whether a failed write has left this handle unusable for writing.
    pub fn is_poisoned(&self) -> bool {
        self.shared.poisoned.load(Ordering::Acquire)
    }
}

impl Shared {
    fn reach(&self, stage: Stage) {
        if let Some(probe) = &self.probe {
            probe(stage);
        }
    }
}

/// Locks a mutex whose data stays whole whatever its holder was doing when it panicked.
fn lock_of<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
