//! Copies of the file, made while it is in use.

use std::path::Path;
use std::{fs, io};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};

use super::connection::sync_folder_of;
use super::{OpenError, Store, StoreError};
use crate::canon::hex;
use crate::identity::random_bytes;

/// Pages copied between two looks at whoever else wants the file.
const PAGES_A_STEP: i32 = 1024;

impl Store {
    /// Copies the store to `target`, which must not exist yet. `progress` hears how many pages are
    /// left of how many. The copy is of one moment, however long it takes and whoever writes
    /// meanwhile. Nothing is left behind if it fails.
    pub fn backup(&self, target: &Path, progress: impl Fn(u64, u64)) -> Result<(), OpenError> {
        if target.exists() {
            return Err(not_written(target)(io::ErrorKind::AlreadyExists.into()));
        }
        put(target, |partial| self.read(|reader| copy_pages(reader.connection, partial, &progress)))
    }
}

/// Copies one file to another, which is there whole or not at all.
pub(super) fn copy(from: &Path, to: &Path) -> Result<(), OpenError> {
    put(to, |partial| {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let from = Connection::open_with_flags(from, flags)?;
        from.execute_batch("BEGIN")?;
        copy_pages(&from, partial, &|_, _| {})
    })
}

/// Makes a file under another name, and gives it its own once it is whole and durable.
fn put(target: &Path, fill: impl FnOnce(&Path) -> Result<(), StoreError>) -> Result<(), OpenError> {
    let refused = not_written(target);
    // A name that nobody else has, so that two copies at once do not write into one file.
    let name = random_bytes::<8>().map_err(|error| refused(io::Error::other(error)))?;
    let mut partial = target.as_os_str().to_owned();
    partial.push(format!(".{}.partial", hex(&name)));
    let partial = Path::new(&partial);
    create_private(partial).map_err(&refused)?;
    let put = fill(partial)
        .map_err(OpenError::from)
        .and_then(|()| settle(partial, target).map_err(&refused));
    if put.is_err() {
        let _ = fs::remove_file(partial);
    }
    put
}

fn not_written(path: &Path) -> impl Fn(io::Error) -> OpenError {
    move |source| OpenError::File { path: path.into(), action: "written", source }
}

fn settle(partial: &Path, target: &Path) -> io::Result<()> {
    fs::File::open(partial)?.sync_all()?;
    fs::rename(partial, target)?;
    sync_folder_of(target);
    Ok(())
}

/// Copies what `from`, in an open transaction, sees.
fn copy_pages(from: &Connection, to: &Path, progress: &dyn Fn(u64, u64)) -> Result<(), StoreError> {
    let mut to = Connection::open(to)?;
    // A transaction sees one moment from its first look on. Without that look each step would have
    // one of its own, and start over whenever somebody has written in between.
    from.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
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
fn create_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true).mode(0o600).open(path).map(drop)
}
