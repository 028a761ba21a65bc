//! What a change of format does to a file, with a change that is made up.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use super::*;
use crate::canon::Object;
use crate::identity::{KeyPair, Keyring};
use crate::record::{Act, ActorId, Draft, Origin, ThreadId};
use crate::store::{HookCounters, HookFailures, Store};
use crate::time::{TimeSource, Timestamp};

/// The schema is a promise: a diff here is a new migration, never an edit of an old one.
#[test]
fn the_newest_format_has_these_objects() {
    let connection = Connection::open_in_memory().expect("a database");
    migrate(&connection, MIGRATIONS, 0).expect("migrated");
    let mut statement = connection
        .prepare("SELECT type || ' ' || name FROM sqlite_schema ORDER BY type, name")
        .expect("a statement");
    let objects: Vec<String> = statement
        .query_map([], |row| row.get(0))
        .expect("rows")
        .collect::<Result<_, _>>()
        .expect("names");
    insta::assert_snapshot!(objects.join("\n"));
}

#[test]
fn failures_counted_before_they_had_kinds_are_divided() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hub.db");
    let first = Connection::open(&path).expect("a database");
    migrate(&first, MIGRATIONS.split_at(1).0, 0).expect("the first format");
    let row = "INSERT INTO hook_counters VALUES ('default', 'lesson', 4, 3, 7, 2, 1000)";
    first.execute(row, []).expect("a row");
    drop(first);
    let counters = Store::open(&path, options())
        .expect("migrated")
        .read(|reader| reader.hook_counters())
        .expect("counters");
    let lesson = HookCounters {
        matched: 4,
        fires: 3,
        failed: HookFailures { error: 5, over_budget: 2, ..HookFailures::default() },
        last_fire: Some(Timestamp::from_millis(1000)),
        ..HookCounters::default()
    };
    let counters: Vec<HookCounters> = counters.into_values().collect();
    assert_eq!((counters.as_slice(), lesson.failed.total()), ([lesson].as_slice(), 7));
}

const NEXT: &str = "CREATE TABLE notes (text TEXT) STRICT; INSERT INTO notes VALUES ('a');";

/// Fails in its second statement.
const BROKEN: &str = "CREATE TABLE notes (text TEXT) STRICT; INSERT INTO nowhere VALUES ('a');";

/// A store of today's format with a record in it, about to be opened by a later version.
struct Older {
    dir: tempfile::TempDir,
}

impl Older {
    fn new() -> Self {
        let older = Self { dir: tempfile::tempdir().expect("a folder") };
        let store = Store::open(&older.path(), options()).expect("a store");
        let thread = ThreadId::parse("th_a").expect("a thread");
        let draft = Draft::new(thread, ActorId::engine(), Act::Know, Object::new());
        let prepared = store.prepare(draft).expect("prepared");
        store.append(prepared, Origin::Engine).expect("appended");
        older
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("hub.db")
    }

    fn copy(&self) -> PathBuf {
        self.dir.path().join(format!("hub.db.before-v{}", FORMAT + 1))
    }

    fn migrate(&self, next: &str) -> Result<Connection, OpenError> {
        let lock = FileLock::beside(&self.path()).expect("a lock");
        open_with(&[MIGRATIONS, &[next]].concat(), &self.path(), &lock, &options())
    }

    /// The file is what it was before anyone wanted to migrate it.
    #[track_caller]
    fn is_untouched(&self) {
        whole(&self.path());
    }
}

fn options() -> StoreOptions {
    StoreOptions::new(Keyring::new(KeyPair::from_seed(&[1; 32])), TimeSource::system())
}

/// Opens with today's version: the record is there, and everything verifies.
#[track_caller]
fn whole(path: &Path) {
    let store = Store::open(path, options()).expect("a store of today's format");
    let verification = store.verify(|_, _| {}).expect("verified");
    assert_eq!((verification.records, verification.fault), (1, None));
}

fn format_in(connection: &Connection) -> i32 {
    connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a format")
}

fn notes_in(connection: &Connection) -> rusqlite::Result<i64> {
    connection.query_row("SELECT count(*) FROM notes", [], |row| row.get(0))
}

#[test]
fn an_older_store_is_copied_and_then_migrated() {
    let older = Older::new();
    let connection = older.migrate(NEXT).expect("migrated");
    assert_eq!((format_in(&connection), notes_in(&connection)), (FORMAT + 1, Ok(1)));
    whole(&older.copy());
    let mode = std::fs::metadata(older.copy()).expect("a copy").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let error = Store::open(&older.path(), options()).err().expect("newer than this version");
    assert!(matches!(error, OpenError::Newer { .. }), "{error}");
}

#[test]
fn a_store_is_migrated_once() {
    let older = Older::new();
    drop(older.migrate(NEXT).expect("migrated"));
    std::fs::remove_file(older.copy()).expect("removed");
    let again = older.migrate(NEXT).expect("opened");
    assert_eq!(notes_in(&again), Ok(1));
    assert!(!older.copy().exists(), "there was nothing to copy");
}

#[test]
fn processes_that_open_at_once_migrate_once() {
    let older = Older::new();
    std::thread::scope(|scope| {
        let opening: Vec<_> = (0..4).map(|_| scope.spawn(|| older.migrate(NEXT))).collect();
        for opened in opening {
            let connection = opened.join().expect("no panic").expect("opened");
            assert_eq!((format_in(&connection), notes_in(&connection)), (FORMAT + 1, Ok(1)));
        }
    });
    whole(&older.copy());
}

#[test]
fn a_new_store_is_not_copied() {
    let dir = tempfile::tempdir().expect("a folder");
    drop(Store::open(&dir.path().join("hub.db"), options()).expect("a store"));
    for entry in std::fs::read_dir(dir.path()).expect("a folder") {
        let name = entry.expect("an entry").file_name().into_string().expect("a name");
        assert!(!name.contains("before"), "{name}");
    }
}

#[test]
fn a_copy_that_is_there_is_never_replaced() {
    let older = Older::new();
    std::fs::write(older.copy(), b"what somebody kept").expect("written");
    let connection = older.migrate(NEXT).expect("migrated");
    assert_eq!(format_in(&connection), FORMAT + 1);
    assert_eq!(std::fs::read(older.copy()).expect("read"), b"what somebody kept");
}

#[test]
fn a_change_that_fails_is_undone_whole() {
    let older = Older::new();
    let error = older.migrate(BROKEN).expect_err("refused");
    assert!(matches!(error, OpenError::Failed(_)), "{error}");
    let raw = Connection::open(older.path()).expect("a connection");
    assert_eq!(format_in(&raw), FORMAT);
    assert!(notes_in(&raw).is_err(), "the first half is undone too");
    older.is_untouched();
    whole(&older.copy());
    let connection = older.migrate(NEXT).expect("a version without the mistake");
    assert_eq!(notes_in(&connection), Ok(1));
}

/// A process was killed while it copied: what it left must not pass for a copy.
#[test]
fn a_copy_that_was_cut_off_is_made_again() {
    let older = Older::new();
    let mut partial = older.copy().into_os_string();
    partial.push(".0123456789abcdef.partial");
    std::fs::write(&partial, b"half").expect("written");
    drop(older.migrate(NEXT).expect("migrated"));
    whole(&older.copy());
}

#[test]
fn without_a_copy_nothing_is_migrated() {
    let older = Older::new();
    std::fs::create_dir(older.copy()).expect("something in the way");
    older.migrate(NEXT).expect_err("refused");
    older.is_untouched();
}

/// That somebody else holds the file does not make it one of another program.
#[test]
fn a_file_that_is_busy_is_not_called_damaged() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hub.db");
    let holder = Connection::open(&path).expect("a database");
    migrate(&holder, MIGRATIONS, 0).expect("migrated");
    holder.execute_batch("BEGIN EXCLUSIVE").expect("held");
    let connection = connect(&path).expect("connected");
    connection.busy_timeout(Duration::ZERO).expect("set");
    let error = format_of(&connection, &path, FORMAT).expect_err("busy");
    assert!(matches!(error, OpenError::Failed(_)), "{error}");
}

#[test]
fn a_crowd_of_readers_does_not_stay() {
    fn at_once(readers: &Readers, count: usize) {
        let read = |_: &Reader<'_>| {
            if count > 1 {
                at_once(readers, count - 1);
            }
            Ok(())
        };
        readers.with(&Sight::everything(), read).expect("read");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hub.db");
    migrate(&Connection::open(&path).expect("a database"), MIGRATIONS, 0).expect("migrated");
    let readers = Readers::of_file(&path, false, None);
    at_once(&readers, 2 * MAX_IDLE);
    let Kind::File { idle, .. } = &readers.0 else { panic!("a file") };
    assert_eq!(lock_of(idle).len(), MAX_IDLE);
}

/// Namespaces that were in use before there was a registry go on as they are.
#[test]
fn namespaces_in_use_are_registered_with_those_above_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("hub.db");
    let before = MIGRATIONS.split_at(4).0;
    let old = Connection::open(&path).expect("a database");
    migrate(&old, before, 0).expect("the format before the registry");
    let spaces = ["default", "acme/site/prod", "acme", "other", "acme/site/prod", "default/shop"];
    for (n, namespace) in (1_u8..).zip(spaces) {
        let row = rusqlite::params![n, [n; 32], namespace, [n; 64], [n; 32]];
        let sql = "INSERT INTO records VALUES (?1, ?2, 'th_a', 'a', 'KNOW', ?1, 'SCALAR', ?3, NULL,
                   NULL, '{}', NULL, 0, 'door', 'did:key:z', ?4, ?5)";
        old.execute(sql, row).expect("a row");
    }
    drop(old);
    let store = Store::open(&path, options()).expect("migrated");
    let rows = store.read(|reader| reader.namespaces()).expect("read");
    let rows: Vec<String> = rows
        .iter()
        .map(|row| {
            assert!(row.open && row.entry.is_none(), "{row:?}");
            format!("{} {}", row.namespace, row.status)
        })
        .collect();
    let wanted = ["acme", "acme/site", "acme/site/prod", "default/shop", "other"];
    assert_eq!(rows, wanted.map(|path| format!("{path} active")));
    let rejects = |path: &str| {
        let namespace = crate::record::Namespace::parse(path).expect("a namespace");
        store.read(|reader| reader.rejects(&namespace)).expect("read").map(|it| it.failing)
    };
    assert_eq!(rejects("acme/site/prod"), None);
    assert_eq!(rejects("acme/new").expect("rejected").as_str(), "acme/new");
}
