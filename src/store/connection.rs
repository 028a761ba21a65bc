//! Opening the file: what it is, which format it has, how SQLite is set.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};
use rustix::fs::{Access, access};

use super::lock::FileLock;
use super::sight::Covered;
use super::{OpenError, Reader, Sight, StoreError, StoreOptions, lock_of};

/// `spl1`, in the header of every store.
const APPLICATION_ID: i32 = 0x7370_6c31;

/// The changes of format, oldest first. The format of a file is how many of them it has.
const MIGRATIONS: &[&str] = &[
    include_str!("../../schema/sqlite/0001_records.sql"),
    include_str!("../../schema/sqlite/0002_hook_statistics.sql"),
    include_str!("../../schema/sqlite/0003_runs.sql"),
    include_str!("../../schema/sqlite/0004_sessions.sql"),
    include_str!("../../schema/sqlite/0005_authority.sql"),
];

/// The newest format known here.
pub(super) const FORMAT: i32 = newest(MIGRATIONS);

#[expect(clippy::cast_possible_truncation, clippy::cast_possible_wrap, reason = "a short list")]
const fn newest(migrations: &[&str]) -> i32 {
    migrations.len() as i32
}

/// A connection that several parts of a store take turns with.
pub(super) type Shared = Arc<Mutex<Connection>>;

/// Opens the writing connection, creating or migrating the file under the lock if needed.
pub(super) fn open_file(
    path: &Path,
    lock: &FileLock,
    options: &StoreOptions,
) -> Result<Connection, OpenError> {
    open_with(MIGRATIONS, path, lock, options)
}

/// The same for a version that knows these changes of format.
fn open_with(
    migrations: &[&str],
    path: &Path,
    lock: &FileLock,
    options: &StoreOptions,
) -> Result<Connection, OpenError> {
    let newest = newest(migrations);
    let file_error = |action| move |source| OpenError::File { path: path.into(), action, source };
    create(path, lock).map_err(file_error("opened"))?;
    let connection = connect(path)?;
    if format_of(&connection, path, newest)? < newest || !is_wal(&connection)? {
        let _held = lock.hold().map_err(file_error("locked"))?;
        // Another process may have been faster.
        let format = format_of(&connection, path, newest)?;
        if format > 0 && format < newest {
            copy_before_migration(path, format)?;
        }
        set_wal(&connection)?;
        // Whoever reads first makes the log.
        format_of(&connection, path, newest)?;
        name_log(path, length_of_log(path));
        if format < newest {
            migrate(&connection, migrations, format)?;
        }
    }
    set(&connection, options.checkpoint_on_close)?;
    // What else can be set is of use to whoever stays.
    if !options.brief {
        set_memory(&connection)?;
    }
    set_max_pages(&connection, options)?;
    Ok(connection)
}

/// Makes the file, readable by its owner alone, unless it is there.
///
/// What is there is looked at and not opened: the kernel drops the locks that this process holds on
/// a file, those of another connection too, when it closes any handle of it. The lock keeps
/// everybody else from connecting before the new file is closed.
fn create(path: &Path, lock: &FileLock) -> io::Result<()> {
    if !path.exists() {
        let _held = lock.hold()?;
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(drop),
        }
    }
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(access(path, Access::READ_OK | Access::WRITE_OK)?)
}

/// Opens a database in memory with the newest format.
pub(super) fn open_memory(options: &StoreOptions) -> Result<Connection, OpenError> {
    let connection = Connection::open_in_memory().map_err(StoreError::from)?;
    migrate(&connection, MIGRATIONS, 0)?;
    set(&connection, false)?;
    set_memory(&connection)?;
    set_max_pages(&connection, options)?;
    Ok(connection)
}

pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

/// Returns the format of the file, which is at most `newest`: 0 for a new one.
fn format_of(connection: &Connection, path: &Path, newest: i32) -> Result<i32, OpenError> {
    let read = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i32>(0));
    let not_a_store = |what: String| OpenError::NotAStore { path: path.into(), what };
    let refused = |error: rusqlite::Error| match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            not_a_store(error.to_string())
        }
        _ => StoreError::from(error).into(),
    };
    // A stranger, or a store that another process is making right now: what is there and what it says
    // that it is are looked at as of one moment.
    if read("application_id").map_err(refused)? != APPLICATION_ID {
        let _moment = connection.unchecked_transaction().map_err(refused)?;
        if read("application_id").map_err(refused)? != APPLICATION_ID {
            let format = read("user_version").map_err(refused)?;
            let sql = "SELECT count(*) FROM sqlite_schema";
            let tables: i64 = connection.query_row(sql, [], |row| row.get(0)).map_err(refused)?;
            if tables > 0 || format != 0 {
                return Err(not_a_store("it belongs to another program".into()));
            }
            return Ok(0);
        }
    }
    let format = read("user_version").map_err(refused)?;
    if format > newest {
        return Err(OpenError::Newer { path: path.into(), found: format, known: newest });
    }
    Ok(format)
}

/// Applies the changes that a file of `format` lacks, all or none.
fn migrate(connection: &Connection, migrations: &[&str], format: i32) -> Result<(), StoreError> {
    connection.execute_batch("BEGIN IMMEDIATE")?;
    let apply = || -> Result<(), rusqlite::Error> {
        for sql in migrations.iter().skip(usize::try_from(format).unwrap_or(0)) {
            connection.execute_batch(sql)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.pragma_update(None, "user_version", newest(migrations))?;
        connection.execute_batch("COMMIT")
    };
    apply().map_err(|error| {
        let _ = connection.execute_batch("ROLLBACK");
        error.into()
    })
}

/// Keeps the file as it was: `hub.db.before-v2`. A copy that is there already is never replaced.
fn copy_before_migration(path: &Path, format: i32) -> Result<(), OpenError> {
    let mut copy = path.as_os_str().to_owned();
    copy.push(format!(".before-v{}", format + 1));
    if Path::new(&copy).is_file() {
        return Ok(());
    }
    super::backup::copy(path, Path::new(&copy))
}

const WAL: &str = "wal";

fn is_wal(connection: &Connection) -> Result<bool, StoreError> {
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0))?;
    Ok(mode == WAL)
}

/// Sets the journal so that readers and writers do not wait for each other. The file remembers.
fn set_wal(connection: &Connection) -> Result<(), StoreError> {
    let mode: String =
        connection.pragma_update_and_check(None, "journal_mode", WAL, |row| row.get(0))?;
    if mode == WAL {
        return Ok(());
    }
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CANTOPEN);
    let message = "the file system cannot hold a write-ahead log".to_owned();
    Err(rusqlite::Error::SqliteFailure(code, Some(message)).into())
}

fn set(connection: &Connection, checkpoint_on_close: bool) -> Result<(), StoreError> {
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    // Else a statement is compiled again when a value is bound that could make another plan better.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // What a savepoint may have to undo would go to a file of its own.
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    let keep_log = !checkpoint_on_close;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keep_log)?;
    connection.set_prepared_statement_cache_capacity(64);
    Ok(())
}

fn set_memory(connection: &Connection) -> Result<(), StoreError> {
    connection.pragma_update(None, "cache_size", -16_384)?;
    // A log that a long reader made grow is cut back once it could be folded in.
    connection.pragma_update(None, "journal_size_limit", 64 * 1024 * 1024)?;
    Ok(())
}

fn set_max_pages(connection: &Connection, options: &StoreOptions) -> Result<(), StoreError> {
    if let Some(pages) = options.max_pages {
        connection.pragma_update(None, "max_page_count", pages)?;
    }
    Ok(())
}

/// After how many pages the next commit begins the log anew. Whoever comes first, when nobody has the
/// store open, reads it to its end before anything else; folding it in takes as long as a commit.
const MAX_LOG_PAGES: i64 = 72;

/// The length of a log of so many pages. One that is no longer than that need not be looked into.
const SHORT_LOG: u64 = MAX_LOG_PAGES.unsigned_abs() * (4096 + 24);

/// The most bytes of a log that a process leaves behind, which it must have written at once.
const MAX_LOG_BYTES: u64 = 4 * 1024 * 1024;

/// Folds a log that has grown long into the file before a commit, under the lock, so that the commit
/// writes over it from its beginning.
///
/// What has been folded in is known to the processes that have the store open, and to nobody after
/// them. Where each commits once and ends, the log would never be begun anew. It keeps its length:
/// what is written over is durable in half the time of what makes a file longer.
pub(super) fn renew_log(connection: &Connection, length: u64) {
    if length > SHORT_LOG && pages_in_log(connection) > MAX_LOG_PAGES {
        // Whoever reads keeps the log as it is, and the next commit tries again.
        let _ = connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }
}

/// Returns how much of the log counts. Behind that stands what is to be written over.
fn pages_in_log(connection: &Connection) -> i64 {
    let pages = connection.query_row("PRAGMA wal_checkpoint(NOOP)", [], |row| row.get(1));
    pages.unwrap_or_default()
}

/// Makes the name of the log durable before the first that is written to it, under the lock, so that
/// nobody after that has to.
///
/// SQLite does it in every process that commits, whether it has made the log or not; it is compiled
/// without that.
pub(super) fn name_log(path: &Path, length: u64) {
    if length == 0 {
        sync_folder_of(path);
    }
}

/// Makes the names durable that stand beside a file. Not every file system has such a thing.
pub(super) fn sync_folder_of(path: &Path) {
    if let Ok(folder) = File::open(path.with_file_name(".")) {
        let _ = folder.sync_all();
    }
}

/// Returns how long the log of the store at `path` is; nothing, if there is none.
pub(super) fn length_of_log(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    Path::new(&log).metadata().map_or(0, |log| log.len())
}

/// Cuts a log off that has grown very long, unless somebody else works with the store.
pub(super) fn cut_log(connection: &Connection, path: &Path, lock: &FileLock) {
    if length_of_log(path) <= MAX_LOG_BYTES {
        return;
    }
    let Some(_held) = lock.try_hold() else { return };
    if connection.busy_timeout(Duration::ZERO).is_ok() {
        // Whoever reads keeps the log as it is, and the next process tries again.
        let _ = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
    }
}

/// The connections that read.
pub(super) struct Readers(Kind);

/// The most connections that are kept open for the next reader. Each may keep 16 MiB of pages.
const MAX_IDLE: usize = 16;

enum Kind {
    File {
        path: std::path::PathBuf,
        checkpoint_on_close: bool,
        /// The one that a brief process has for everything.
        one: Option<Shared>,
        idle: Mutex<Vec<Connection>>,
        /// Opened when it is first asked.
        watch: Mutex<Option<Connection>>,
    },
    Memory(Shared),
}

impl Readers {
    pub(super) fn of_file(path: &Path, checkpoint_on_close: bool, one: Option<Shared>) -> Self {
        let (idle, watch) = (Mutex::default(), Mutex::default());
        Self(Kind::File { path: path.into(), checkpoint_on_close, one, idle, watch })
    }

    pub(super) const fn of_memory(connection: Shared) -> Self {
        Self(Kind::Memory(connection))
    }

    /// Runs `work` on a connection of its own, inside one read transaction, which sees what `sight`
    /// shows.
    pub(super) fn with<T>(
        &self,
        sight: &Sight,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        if !sight.is_everything() {
            return self.within(sight, work);
        }
        match &self.0 {
            Kind::Memory(connection) => work(&Reader::new(&lock_of(connection))),
            Kind::File { one: Some(one), .. } => {
                let connection = lock_of(one);
                connection.execute_batch("BEGIN")?;
                let result = work(&Reader::new(&connection));
                connection.execute_batch("COMMIT")?;
                result
            }
            Kind::File { path, checkpoint_on_close, idle, .. } => {
                let waiting = lock_of(idle).pop();
                let connection = match waiting {
                    Some(connection) => connection,
                    None => reading(path, *checkpoint_on_close)?,
                };
                connection.execute_batch("BEGIN")?;
                let result = work(&Reader::new(&connection));
                // Ends the read; a connection that cannot is closed instead of kept.
                if connection.execute_batch("COMMIT").is_ok() {
                    let mut idle = lock_of(idle);
                    if idle.len() < MAX_IDLE {
                        idle.push(connection);
                    }
                }
                result
            }
        }
    }

    /// The same for whoever sees a part: on a connection for this one time, so that no view is left
    /// over for the next who asks.
    fn within<T>(
        &self,
        sight: &Sight,
        work: impl FnOnce(&Reader<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        match &self.0 {
            Kind::Memory(connection) => {
                let connection = lock_of(connection);
                let covered = Covered::by(&connection, sight)?;
                work(&Reader::new(covered.connection))
            }
            Kind::File { path, .. } => {
                let connection = connect(path)?;
                set(&connection, false)?;
                let covered = Covered::by(&connection, sight)?;
                connection.pragma_update(None, "query_only", true)?;
                connection.execute_batch("BEGIN")?;
                work(&Reader::new(covered.connection))
            }
        }
    }

    /// Asks on a connection that never writes and holds no transaction, as SQLite demands.
    pub(super) fn data_version(&self) -> Result<i64, StoreError> {
        match &self.0 {
            Kind::Memory(connection) => {
                let sql = "SELECT total_changes()";
                Ok(lock_of(connection).prepare_cached(sql)?.query_row([], |row| row.get(0))?)
            }
            Kind::File { path, checkpoint_on_close, watch, .. } => {
                let mut watch = lock_of(watch);
                let connection = match &mut *watch {
                    Some(connection) => connection,
                    none => none.insert(reading(path, *checkpoint_on_close)?),
                };
                let mut statement = connection.prepare_cached("PRAGMA data_version")?;
                Ok(statement.query_row([], |row| row.get(0))?)
            }
        }
    }
}

fn reading(path: &Path, checkpoint_on_close: bool) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    set(&connection, checkpoint_on_close)?;
    set_memory(&connection)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

#[cfg(test)]
mod tests;
