//! Copies of the file, made while it is in use.

use std::path::Path;

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::{OpenError, Store, StoreError};

/// Pages copied between two looks at whoever else wants the file.
const PAGES_A_STEP: i32 = 1024;

impl Store {
    /// Copies the store to `target`, which must not exist yet. `progress` hears how many pages are
    /// left of how many. Nothing is left behind if it fails.
    pub fn backup(&self, target: &Path, progress: impl Fn(u64, u64)) -> Result<(), OpenError> {
        self.read(|reader| Ok(copy_whole(reader.connection, target, &progress)))?
    }
}

/// Copies one file to another, which must not exist yet.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), OpenError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let from = Connection::open_with_flags(from, flags).map_err(StoreError::from)?;
    copy_whole(&from, to, &|_, _| {})
}

/// Copies under another name first: whoever finds `target` finds all of it, on the disk.
fn copy_whole(
    from: &Connection,
    target: &Path,
    progress: &dyn Fn(u64, u64),
) -> Result<(), OpenError> {
    let file_error = |source| OpenError::File { path: target.into(), action: "written", source };
    if target.exists() {
        return Err(file_error(std::io::ErrorKind::AlreadyExists.into()));
    }
    let mut partial = target.as_os_str().to_owned();
    partial.push(".partial");
    let partial = Path::new(&partial);
    let _ = std::fs::remove_file(partial);
    if let Err(error) = copy_pages(from, partial, progress) {
        let _ = std::fs::remove_file(partial);
        return Err(error.into());
    }
    sync(partial).map_err(file_error)?;
    std::fs::rename(partial, target).map_err(file_error)?;
    // The new name is durable when its folder is.
    match target.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        Some(folder) => sync(folder).map_err(file_error),
        None => sync(Path::new(".")).map_err(file_error),
    }
}

fn sync(path: &Path) -> std::io::Result<()> {
    std::fs::File::open(path)?.sync_all()
}

fn copy_pages(from: &Connection, to: &Path, progress: &dyn Fn(u64, u64)) -> Result<(), StoreError> {
    create_private(to)?;
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
fn create_private(path: &Path) -> Result<(), StoreError> {
    use std::os::unix::fs::OpenOptionsExt as _;
    std::fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map(drop)
        .map_err(|_| {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
            rusqlite::Error::SqliteFailure(code, Some("the copy could not be created".into()))
                .into()
        })
}
