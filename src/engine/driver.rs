//! Who drives a run: one process at a time, told by a lock that its death sets free.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::PoisonError;

use rustix::fs::{FlockOperation, flock};

use super::home::make_folder;
use super::{Engine, EngineError, HomeError};
use crate::canon::{hash_of, hex};
use crate::code::{Code, Coded};
use crate::record::ThreadId;

/// The right to drive a run, until it is dropped.
pub struct DriverLock {
    held: Held,
    engine: Engine,
    thread: ThreadId,
}

enum Held {
    /// The lock of a file, which is removed with it.
    File { path: PathBuf, _file: File },
    /// An instance in memory is one process.
    Memory,
}

/// A run that somebody drives already.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Driven {
    /// A process drives it.
    #[error("the run {thread} is driven by the process {pid}")]
    By {
        /// The run.
        thread: ThreadId,
        /// The process id.
        pid: u32,
    },
    /// Whether somebody does could not be found out.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Coded for Driven {
    fn code(&self) -> Code {
        match self {
            Self::By { .. } => Code::RunDriven,
            Self::Engine(error) => error.code(),
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::By { .. } => Some("Stop it with `spl runs stop`, or wait for it.".into()),
            Self::Engine(error) => error.hint(),
        }
    }
}

impl Engine {
    /// Takes the right to drive a run, unless somebody has it.
    pub fn lock_driver(&self, thread: &ThreadId) -> Result<DriverLock, Driven> {
        let held = match self.0.drivers.folder() {
            Some(folder) => lock_file(folder, thread)?,
            None if self.0.drivers.begin(thread) => Held::Memory,
            None => {
                let (thread, pid) = (thread.clone(), own_pid());
                return Err(Driven::By { thread, pid });
            }
        };
        Ok(DriverLock { held, engine: self.clone(), thread: thread.clone() })
    }

    /// Returns whether somebody drives a run.
    pub fn is_driven(&self, thread: &ThreadId) -> Result<bool, EngineError> {
        match self.lock_driver(thread) {
            Ok(_) => Ok(false),
            Err(Driven::By { .. }) => Ok(true),
            Err(Driven::Engine(error)) => Err(error),
        }
    }
}

impl Drop for DriverLock {
    fn drop(&mut self) {
        match &self.held {
            // Whoever opened it meanwhile finds that it is not the file of this name any more.
            Held::File { path, .. } => drop(fs::remove_file(path)),
            Held::Memory => self.engine.0.drivers.end(&self.thread),
        }
    }
}

/// Where the locks of drivers are.
#[derive(Default)]
pub(super) struct Drivers {
    folder: Option<PathBuf>,
    /// The runs that are driven, of an instance without a home.
    driven: std::sync::Mutex<std::collections::BTreeSet<ThreadId>>,
}

impl Drivers {
    /// Returns drivers whose locks are files of a folder.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self { folder: Some(folder), ..Self::default() }
    }

    fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    fn begin(&self, thread: &ThreadId) -> bool {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner).insert(thread.clone())
    }

    fn end(&self, thread: &ThreadId) {
        self.driven.lock().unwrap_or_else(PoisonError::into_inner).remove(thread);
    }
}

fn lock_file(folder: &Path, thread: &ThreadId) -> Result<Held, Driven> {
    let path = folder.join(format!("{}.lock", hex(&hash_of(&[thread.as_str().as_bytes()]))));
    let failed = |action| {
        let path = path.clone();
        move |source| EngineError::from(HomeError::File { path, action, source })
    };
    make_folder(folder).map_err(EngineError::from)?;
    loop {
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(failed("opened"))?;
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(rustix::io::Errno::WOULDBLOCK) => {
                let mut pid = String::new();
                file.read_to_string(&mut pid).map_err(failed("read"))?;
                let pid = pid.trim().parse().unwrap_or_default();
                return Err(Driven::By { thread: thread.clone(), pid });
            }
            Err(error) => return Err(failed("locked")(error.into()).into()),
        }
        // The driver before may have removed the file that was opened here.
        if is_at(&file, &path) {
            note_pid(&mut file).map_err(failed("written"))?;
            return Ok(Held::File { path, _file: file });
        }
    }
}

fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(named)) = (file.metadata(), fs::metadata(path)) else { return false };
    (open.dev(), open.ino()) == (named.dev(), named.ino())
}

fn note_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{}", own_pid())
}

fn own_pid() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().unsigned_abs()
}
