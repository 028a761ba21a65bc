//! The file lock under which one process at a time writes.
//!
//! SQLite lets writers poll for its own lock, which starves some of them; the kernel hands this
//! one over as soon as it is free.

use std::fs::{File, OpenOptions};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::OpenError;

/// A lock file beside the store.
pub(super) struct FileLock {
    file: File,
}

/// Holds the lock until it is dropped.
pub(super) struct Held<'a>(&'a FileLock);

impl FileLock {
    /// Opens the lock file of the store at `path`: `hub.db` has `hub.lock`.
    pub(super) fn beside(path: &Path) -> Result<Self, OpenError> {
        let path: PathBuf = path.with_extension("lock");
        let file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| OpenError::File { path, action: "opened", source })?;
        Ok(Self { file })
    }

    /// Waits for the lock.
    pub(super) fn hold(&self) -> std::io::Result<Held<'_>> {
        loop {
            match flock(&self.file, FlockOperation::LockExclusive) {
                Ok(()) => return Ok(Held(self)),
                Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }
}

impl FileLock {
    /// Takes the lock if nobody has it.
    pub(super) fn try_hold(&self) -> Option<Held<'_>> {
        flock(&self.file, FlockOperation::NonBlockingLockExclusive).ok().map(|()| Held(self))
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        // The kernel frees it at the latest when the file closes.
        let _ = flock(&self.0.file, FlockOperation::Unlock);
    }
}
