//! Copies of the file, made while it is in use.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{OpenError, Store, StoreError};
use crate::canon::hex;
use crate::identity::random_bytes;

/// Pages copied between two looks at whoever else wants the file.
const PAGES_A_STEP: i32 = 1024;

impl Store {
    /// Copies the store to `target`, which must not exist yet. `progress` hears how many pages are
    /// left of how many. Nothing is left behind if it fails.
    pub fn backup(&self, target: &Path, progress: impl Fn(u64, u64)) -> Result<(), OpenError> {
        let refused = |source| cannot_write(target, source);
        if target.exists() {
            return Err(refused(std::io::ErrorKind::AlreadyExists.into()));
        }
        // A name of its own, so that two copies at once do not write into one file.
        let name = random_bytes::<8>().map_err(|error| refused(std::io::Error::other(error)))?;
        let mut partial = target.as_os_str().to_owned();
        partial.push(format!(".{}.partial", hex(&name)));
        let partial = Path::new(&partial);
        create_private(partial).map_err(refused)?;
        let copied = self.read(|reader| copy_pages(reader.connection, partial, &progress));
        if let Err(error) = copied {
            let _ = std::fs::remove_file(partial);
            return Err(error.into());
        }
        sync(partial).map_err(refused)?;
        std::fs::rename(partial, target).map_err(refused)
    }
}

fn sync(path: &Path) -> std::io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}

/// Copies one file to another.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), OpenError> {
    create_private(to).map_err(|source| cannot_write(to, source))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let from = Connection::open_with_flags(from, flags).map_err(StoreError::from)?;
    Ok(copy_pages(&from, to, &|_, _| {})?)
}

fn cannot_write(path: &Path, source: std::io::Error) -> OpenError {
    OpenError::File { path: path.into(), action: "written", source }
}

fn copy_pages(from: &Connection, to: &Path, progress: &dyn Fn(u64, u64)) -> Result<(), StoreError> {
    let mut to = Connection::open(to)?;
    let backup = Backup::new(from, &mut to)?;
    loop {
        let step = backup.step(PAGES_A_STEP)?;
        let number = |pages: i32| u64::try_from(pages).unwrap_or(0);
        let state = backup.progress();
        progress(number(state.remaining), number(state.pagecount));
        if step == StepResult::Done {
            return Ok(());
        }
    }
}

/// Creates the file with nobody else allowed to read it; SQLite keeps the mode.
fn create_private(path: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path).map(drop)
}
