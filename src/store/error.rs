//! What can go wrong with a store.

use std::path::PathBuf;

use super::NamespaceRejected;
use crate::canon::TooLong;
use crate::code::{Code, Coded};
use crate::record::{ActorId, Clock, SealError, ThreadId};

/// Why a store could not be opened. The file is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The file is a database of something else, damaged, or no database at all.
    #[error("`{path}` is not a store of this program, or it is damaged: {what}")]
    NotAStore {
        /// The file.
        path: PathBuf,
        /// What was seen.
        what: String,
    },
    /// A newer version of this program wrote the file.
    #[error("`{path}` has format {found}, and this version knows formats up to {known}")]
    Newer {
        /// The file.
        path: PathBuf,
        /// The format of the file.
        found: i32,
        /// The newest format known here.
        known: i32,
    },
    /// A file could not be opened, locked or copied.
    #[error("`{path}` could not be {action}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        source: std::io::Error,
    },
    /// The database refused.
    #[error("the store could not be opened")]
    Failed(#[source] StoreError),
}

impl Coded for OpenError {
    fn code(&self) -> Code {
        Code::Internal
    }

    fn hint(&self) -> Option<String> {
        match self {
            // Another file would be read together with the log that is left.
            Self::NotAStore { .. } => Some(
                "Move it away, with its `-wal` and `-shm`, and put a backup in its place; \
                 nothing was changed."
                    .into(),
            ),
            Self::Newer { .. } => Some("Install the newer version that wrote it.".into()),
            Self::File { source, .. } if source.kind() == std::io::ErrorKind::AlreadyExists => {
                Some("Name a file that is not there yet; none is written over.".into())
            }
            Self::File { .. } | Self::Failed(_) => None,
        }
    }
}

/// A failure of the database itself.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct DatabaseError(#[from] rusqlite::Error);

impl DatabaseError {
    /// Returns whether another process held the file for too long.
    pub(super) fn is_busy(&self) -> bool {
        self.0.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy)
    }

    /// Returns whether a column holds what it never held.
    pub(super) const fn is_unreadable(&self) -> bool {
        use rusqlite::Error::{
            FromSqlConversionFailure, IntegralValueOutOfRange, InvalidColumnType, Utf8Error,
        };
        matches!(
            self.0,
            FromSqlConversionFailure(..)
                | IntegralValueOutOfRange(..)
                | InvalidColumnType(..)
                | Utf8Error(..)
        )
    }
}

/// Why the store could not be read or written.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The disk or the file is full. Nothing was written.
    #[error("the disk is full; nothing was written")]
    Full,
    /// An earlier write failed in a way that leaves this handle unsure of the file.
    #[error("an earlier write failed, so this store takes no more until it is opened again")]
    Poisoned,
    /// A newer version has migrated the file while it was open here.
    #[error("a newer version of this program has migrated the store (format {found})")]
    Migrated {
        /// The format of the file now.
        found: i32,
    },
    /// The newest row is signed by another key than this instance's. Nothing was written.
    #[error("the store's head is signed by `{signer}`, which is not this instance's key")]
    OtherKey {
        /// The `did:key` that signed it.
        signer: String,
    },
    /// A row does not read back as what was written.
    #[error("the record at sequence {sequence} does not read back: {what}")]
    Damaged {
        /// Where.
        sequence: i64,
        /// What was seen.
        what: String,
    },
    /// The writing thread could not be started, or stopped on the way.
    #[error("the writing thread is gone")]
    WriterGone,
    /// The database failed. The message is the database's own.
    #[error("the store failed: {0}")]
    Failed(std::sync::Arc<DatabaseError>),
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DiskFull) {
            return Self::Full;
        }
        Self::Failed(std::sync::Arc::new(DatabaseError(error)))
    }
}

impl From<StoreError> for OpenError {
    fn from(error: StoreError) -> Self {
        Self::Failed(error)
    }
}

impl Coded for StoreError {
    fn code(&self) -> Code {
        match self {
            Self::Full => Code::StoreFull,
            Self::Poisoned | Self::Migrated { .. } | Self::OtherKey { .. } => Code::StorePoisoned,
            Self::Damaged { .. } | Self::WriterGone | Self::Failed(_) => Code::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Full => Some("Free some space and try again.".into()),
            Self::Poisoned => Some("Restart the process, then run `spl verify`.".into()),
            Self::Migrated { .. } => Some("Restart with the newer version.".into()),
            Self::OtherKey { .. } => Some(
                "Put back the `keys/primary` that this store was written with; if the key was \
                     rotated meanwhile, start this program again."
                    .into(),
            ),
            Self::Damaged { .. } => Some("Run `spl verify` to see what is damaged.".into()),
            Self::WriterGone | Self::Failed(_) => None,
        }
    }
}

/// Why a record was not appended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppendError {
    /// Another record has this thread, actor and clock.
    #[error("DuplicateClock: thread `{thread}` already has a record of `{actor}` at clock {clock}")]
    DuplicateClock {
        /// The thread.
        thread: ThreadId,
        /// The actor.
        actor: ActorId,
        /// The clock.
        clock: Clock,
    },
    /// The canonical form is too long.
    #[error("the record is {0}")]
    TooLarge(#[source] TooLong),
    /// It could not be read back.
    #[error("the record is nested more than {limit} levels deep")]
    TooDeep {
        /// The most levels that are read back.
        limit: usize,
    },
    /// Its namespace takes no records.
    #[error(transparent)]
    Namespace(NamespaceRejected),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<SealError> for AppendError {
    fn from(error: SealError) -> Self {
        match error {
            SealError::TooLong(error) => Self::TooLarge(error),
            SealError::TooDeep { limit } => Self::TooDeep { limit },
        }
    }
}

impl From<rusqlite::Error> for AppendError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Store(error.into())
    }
}

impl Coded for AppendError {
    fn code(&self) -> Code {
        match self {
            Self::DuplicateClock { .. } | Self::TooDeep { .. } => Code::IngestFailed,
            Self::TooLarge(_) => Code::BodyTooLarge,
            Self::Namespace(_) => Code::NamespaceRejected,
            Self::Store(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::DuplicateClock { .. } => Some("clock"),
            Self::Namespace(_) => Some("namespace"),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::DuplicateClock { thread, .. } => {
                Some(format!("Read `GET /v1/threads/{thread}/state` and use a free clock."))
            }
            Self::TooLarge(_) | Self::TooDeep { .. } => None,
            Self::Namespace(rejected) => Some(format!("Run `{}`.", rejected.fix())),
            Self::Store(error) => error.hint(),
        }
    }
}
