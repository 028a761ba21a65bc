//! The store: a real file, real locks, real damage.

use std::sync::Arc;

use rusqlite::Connection;
use spl::predicate::FailureKind;
use spl::record::{Namespace, Origin, Sequence, ThreadId};
use spl::store::{
    AppendError, Counted, HookCounters, HookFailures, OpenError, Store, StoreError, StoreOptions,
    ThreadRange, Tx,
};

use crate::support::{Folder, keyring, note, options, time};

fn append(store: &Store, thread: &str, clock: i64) -> Result<bool, AppendError> {
    let prepared = store.prepare(note(thread, clock, "text"))?;
    store.append(prepared, Origin::Door).map(|appended| appended.fresh)
}

fn clocks_of(store: &Store, thread: &str) -> Vec<i64> {
    let thread = ThreadId::parse(thread).expect("a thread");
    let stored = store
        .read(|reader| reader.thread(&thread, ThreadRange::default(), usize::MAX))
        .expect("read");
    stored.iter().map(|stored| stored.record.clock.get()).collect()
}

#[test]
fn what_is_appended_is_there_after_a_reopen() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(append(&store, "th_a", 0).expect("appended"));
    assert!(append(&store, "th_a", 7).expect("appended"));
    drop(store);
    let store = folder.open();
    assert_eq!(clocks_of(&store, "th_a"), [0, 7]);
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
}

/// Each process that commits once and ends left its part of the log to the next one, for ever. It is
/// begun anew by a commit that writes over it, which takes half the time of one that makes it longer.
#[test]
fn a_log_is_begun_anew_by_processes_that_commit_once() {
    let folder = Folder::new();
    let log = folder.path().with_extension("db-wal");
    let mut lengths = Vec::new();
    for brief in [false, true] {
        for number in 0..40 {
            let clock = number + if brief { 40 } else { 0 };
            let options = StoreOptions { brief, ..options() };
            let store = Store::open(&folder.path(), options).expect("a store");
            let prepared =
                store.prepare(note("th_a", clock, &"x".repeat(60_000))).expect("prepared");
            store.append(prepared, Origin::Door).expect("appended");
            assert_eq!(clocks_of(&store, "th_a").last(), Some(&clock));
            drop(store);
            lengths.push(log.metadata().expect("a log").len());
        }
    }
    assert!(lengths.is_sorted(), "{lengths:?}");
    let longest = lengths.last().copied().unwrap_or_default();
    assert!((150_000..400_000).contains(&longest), "{longest}");
    let verified = folder.open().verify(|_, _| {}).expect("verified");
    assert_eq!((verified.records, verified.fault), (80, None));
}

/// What was written at once may be long; nobody is to read it all each time.
#[test]
fn a_log_that_has_grown_very_long_is_cut_off() {
    let folder = Folder::new();
    let log = folder.path().with_extension("db-wal");
    let store = folder.open();
    let write = |tx: &mut Tx<'_>| -> Result<(), AppendError> {
        for clock in 0..5 {
            tx.append_next(note("th_a", clock, &"x".repeat(1_000_000)), Origin::Door)?;
        }
        Ok(())
    };
    store.write(write).expect("appended");
    let written = log.metadata().expect("a log").len();
    drop(store);
    let left = log.metadata().expect("a log").len();
    assert!(written > 5_000_000 && left == 0, "{written} {left}");
    let verified = folder.open().verify(|_, _| {}).expect("verified");
    assert_eq!((verified.records, verified.fault), (5, None));
}

#[test]
fn the_same_record_again_is_a_quiet_success() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(append(&store, "th_a", 3).expect("appended"));
    assert!(!append(&store, "th_a", 3).expect("a repeat"));
    assert_eq!(clocks_of(&store, "th_a"), [3]);
}

#[test]
fn another_record_at_a_taken_clock_is_refused_by_name() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(append(&store, "th_a", 3).expect("appended"));
    let other = store.prepare(note("th_a", 3, "something else")).expect("prepared");
    let error = store.append(other, Origin::Door).expect_err("refused");
    insta::assert_snapshot!(error, @"DuplicateClock: thread `th_a` already has a record of `did:sync:user:vera` at clock 3");
    assert!(append(&store, "th_a", 2).expect("a lower clock that is free"));
}

/// A refused write shares its transaction with others and takes none of them with it.
#[test]
fn a_refused_write_undoes_itself_alone() {
    let folder = Folder::new();
    let store = Arc::new(folder.open());
    append(&store, "th_a", 0).expect("appended");
    let writers: Vec<_> = (0..32)
        .map(|number| {
            let store = Arc::clone(&store);
            std::thread::spawn(move || {
                let taken = store.prepare(note("th_a", 0, &number.to_string())).expect("prepared");
                let result: Result<(), AppendError> = store.write(move |tx| {
                    tx.append_next(note("th_b", 0, "first half"), Origin::Door)?;
                    tx.append(&taken, Origin::Door)?;
                    Ok(())
                });
                assert!(matches!(result, Err(AppendError::DuplicateClock { .. })));
                append(&store, "th_c", number).expect("appended")
            })
        })
        .collect();
    for writer in writers {
        assert!(writer.join().expect("no panic"));
    }
    assert_eq!(clocks_of(&store, "th_b"), Vec::<i64>::new());
    assert_eq!(clocks_of(&store, "th_c").len(), 32);
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn a_panic_inside_a_write_reaches_its_caller_and_nobody_else() {
    let folder = Folder::new();
    let store = folder.open();
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        store.write(|tx| -> Result<(), StoreError> {
            let _ = tx.append_next(note("th_a", 0, "half"), Origin::Door);
            panic!("on purpose")
        })
    }));
    assert!(caught.is_err());
    assert!(append(&store, "th_a", 0).expect("the store goes on"));
    assert_eq!(clocks_of(&store, "th_a"), [0]);
}

#[test]
fn a_listener_that_panics_takes_no_answer_away() {
    let folder = Folder::new();
    let store = folder.open();
    store.on_commit(Box::new(|newest| panic!("on purpose, at {newest}")));
    assert!(append(&store, "th_a", 0).expect("an answer"));
    assert!(append(&store, "th_a", 1).expect("the store goes on"));
}

#[test]
fn next_clocks_are_exact_among_writers() {
    let folder = Folder::new();
    let stores: Vec<Arc<Store>> = (0..2).map(|_| Arc::new(folder.open())).collect();
    let writers: Vec<_> = (0..8)
        .map(|number| {
            let store = Arc::clone(&stores[number % 2]);
            std::thread::spawn(move || {
                for _ in 0..10 {
                    let text = number.to_string();
                    store
                        .write(move |tx| tx.append_next(note("th_a", 0, &text), Origin::Door))
                        .expect("appended");
                }
            })
        })
        .collect();
    for writer in writers {
        writer.join().expect("no panic");
    }
    assert_eq!(clocks_of(&stores[0], "th_a"), (0..80).collect::<Vec<i64>>());
}

#[test]
fn whoever_takes_the_last_clock_takes_nobody_s_turn() {
    let folder = Folder::new();
    let store = folder.open();
    for clock in [0, 5, i64::MAX - 1, i64::MAX] {
        append(&store, "th_a", clock).expect("appended");
    }
    for want in [i64::MAX - 2, i64::MAX - 3] {
        let written = store.write(|tx| tx.append_next(note("th_a", 0, "next"), Origin::Door));
        assert_eq!(written.expect("appended").0.clock.get(), want);
    }
}

#[test]
fn a_cap_is_exact_among_processes() {
    let folder = Folder::new();
    let stores: Vec<Arc<Store>> = (0..2).map(|_| Arc::new(folder.open())).collect();
    let claims: Vec<_> = (0..20)
        .map(|number| {
            let store = Arc::clone(&stores[number % 2]);
            std::thread::spawn(move || {
                store.write(|tx| {
                    let run = ThreadId::parse("th_run").expect("a thread");
                    tx.claim_fire(&run, 0, &Namespace::root(), "lesson", 3)
                })
            })
        })
        .collect();
    let mut claimed: Vec<u32> = claims
        .into_iter()
        .filter_map(|claim| claim.join().expect("no panic").expect("claimed"))
        .collect();
    claimed.sort_unstable();
    assert_eq!(claimed, [1, 2, 3]);
}

#[test]
fn counters_add_up() {
    let folder = Folder::new();
    let store = folder.open();
    let none = Counted::default();
    let failed = |kind| Counted { failed: Some(kind), ..none };
    for counted in [
        Counted { held: true, spoke: true, nanos: Some(700), ..none },
        Counted { held: true, ..none },
        Counted { nanos: Some(200), ..none },
        Counted { nanos: Some(0), ..failed(FailureKind::Error) },
        failed(FailureKind::OverBudget),
        failed(FailureKind::OverBudget),
        failed(FailureKind::TooLarge),
        failed(FailureKind::NotBoolean),
        failed(FailureKind::Panicked),
        failed(FailureKind::Panicked),
    ] {
        store
            .write(move |tx| tx.count_hook(&Namespace::root(), "lesson", counted))
            .expect("counted");
    }
    let counters = store.read(|reader| reader.hook_counters()).expect("read");
    let counters = &counters[&(Namespace::root(), "lesson".to_owned())];
    assert_eq!((counters.matched, counters.fires), (2, 1));
    assert!(counters.last_fire.is_some());
    let failed =
        HookFailures { error: 1, over_budget: 2, too_large: 1, not_boolean: 1, panicked: 2 };
    assert_eq!(counters.failed, failed);
    assert_eq!((failed.total(), failed.overruns()), (7, 3));
    assert_eq!((counters.samples, counters.nanos), (3, 900));
    assert_eq!(counters.mean_nanos(), Some(300));
    assert_eq!(HookCounters::default().mean_nanos(), None);
}

#[test]
fn calls_are_counted_since_a_sequence() {
    let folder = Folder::new();
    let store = folder.open();
    let acme = Namespace::parse("acme").expect("a namespace");
    for (namespace, sequence) in [(&acme, 3), (&Namespace::root(), 5), (&acme, 7), (&acme, 8)] {
        let namespace = namespace.clone();
        store.write(move |tx| tx.count_call(&namespace, Sequence::new(sequence))).expect("counted");
    }
    let since = |sequence| {
        store.read(|reader| reader.seam_calls(&acme, Sequence::new(sequence))).expect("read")
    };
    assert_eq!([0, 3, 6, 7, 8].map(since), [3, 2, 2, 1, 0]);
    let namespaces = store.read(|reader| reader.seam_namespaces()).expect("read");
    assert_eq!(namespaces, [acme, Namespace::root()]);
}

/// What `data_version` promises: it moves for the commits of others, whoever they are.
#[test]
fn the_data_version_moves_when_another_process_commits() {
    let folder = Folder::new();
    let (here, there) = (folder.open(), folder.open());
    let before = here.data_version().expect("a version");
    assert_eq!(here.data_version().expect("a version"), before);
    append(&there, "th_a", 0).expect("appended");
    assert_ne!(here.data_version().expect("a version"), before);
}

#[test]
fn rows_are_immutable_for_everyone() {
    let folder = Folder::new();
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    let foreign = Connection::open(folder.path()).expect("a connection");
    for sql in [
        "UPDATE records SET actor = 'x'",
        "DELETE FROM records",
        "INSERT OR REPLACE INTO records SELECT * FROM records",
        "INSERT OR REPLACE INTO records SELECT seq + 1, randomblob(32), thread, actor, act, clock,
             data_type, namespace, kind, verdict, canonical, judged_by, received_at, origin,
             signer, sig, chain, unproven FROM records",
    ] {
        let error = foreign.execute_batch(sql).expect_err(sql).to_string();
        assert!(error.contains("records are immutable"), "{sql}: {error}");
    }
}

/// Does `sql` to the file as someone would who first drops the triggers.
fn tamper(folder: &Folder, sql: &str) {
    let foreign = Connection::open(folder.path()).expect("a connection");
    foreign
        .execute_batch(
            "DROP TRIGGER records_no_update; DROP TRIGGER records_no_delete;
             DROP TRIGGER records_no_replace;",
        )
        .expect("dropped");
    foreign.execute_batch(sql).expect(sql);
}

#[test]
fn verify_names_the_first_row_that_was_touched() {
    #[track_caller]
    fn check(sql: &str, sequence: i64, what: &str) {
        let folder = Folder::new();
        let store = folder.open();
        for clock in 0..5 {
            append(&store, "th_a", clock).expect("appended");
        }
        drop(store);
        tamper(&folder, sql);
        let fault = folder.open().verify(|_, _| {}).expect("verified").fault.expect("a fault");
        assert_eq!((fault.sequence, fault.what.as_str()), (sequence, what), "{sql}");
    }
    let bytes = "UPDATE records SET canonical = replace(canonical, 'text', 'test') WHERE seq = 3";
    check(bytes, 3, "the bytes do not hash to the id");
    check(
        "UPDATE records SET actor = 'x' WHERE seq = 2",
        2,
        "a column does not say what the bytes say",
    );
    let chain = "the receipt does not continue the chain";
    check("UPDATE records SET received_at = 0 WHERE seq = 4", 4, chain);
    check("UPDATE records SET origin = 'engine' WHERE seq = 4", 4, chain);
    check("UPDATE records SET judged_by = 'x' WHERE seq = 1", 1, chain);
    check("DELETE FROM records WHERE seq = 2", 2, "the row is missing");
    check("DELETE FROM records WHERE seq = 5", 5, "rows are missing from here on");
    check("DELETE FROM head", 5, "the head is missing");
    check(
        "UPDATE records SET sig = zeroblob(64) WHERE seq = 2",
        2,
        "the signature is not the signer's over these bytes",
    );
    check("UPDATE head SET sig = zeroblob(64)", 5, "the head's signature is not this instance's");
}

/// Rows that read well may stand behind an index that does not find them.
#[test]
fn verify_sees_an_index_that_disagrees_with_its_table() {
    let folder = Folder::new();
    let store = folder.open();
    for clock in 0..5 {
        append(&store, "th_a", clock).expect("appended");
    }
    drop(store);
    let foreign = Connection::open(folder.path()).expect("a connection");
    foreign
        .execute_batch(
            "PRAGMA writable_schema = ON;
             UPDATE sqlite_schema SET sql = 'CREATE INDEX records_by_thread ON records (actor, seq)'
                 WHERE name = 'records_by_thread';",
        )
        .expect("bent");
    drop(foreign);
    let fault = folder.open().verify(|_, _| {}).expect("verified").fault.expect("a fault");
    assert!(fault.what.starts_with("the file is damaged: "), "{}", fault.what);
}

/// The next signature would pass for one over what somebody else has put there.
#[test]
fn nothing_is_added_to_a_chain_that_another_key_has_signed() {
    use spl::identity::{KeyPair, Keyring};
    let folder = Folder::new();
    append(&folder.open(), "th_a", 0).expect("appended");
    let other = StoreOptions::new(Keyring::new(KeyPair::from_seed(&[9; 32])), time());
    let store = Store::open(&folder.path(), other).expect("a store");
    let error = append(&store, "th_a", 1).expect_err("refused");
    assert!(matches!(error, AppendError::Store(StoreError::OtherKey { .. })), "{error}");
    drop(store);
    let store = folder.open();
    assert!(append(&store, "th_a", 1).expect("its own key goes on"));
    drop(store);
    tamper(&folder, "DELETE FROM head");
    let error = append(&folder.open(), "th_a", 2).expect_err("refused");
    assert!(
        matches!(error, AppendError::Store(StoreError::Damaged { sequence: 2, .. })),
        "{error}"
    );
}

#[test]
fn a_file_that_is_no_store_is_reported_and_left_alone() {
    #[track_caller]
    fn check(bytes: &[u8]) {
        let folder = Folder::new();
        std::fs::write(folder.path(), bytes).expect("written");
        let error = Store::open(&folder.path(), options()).err().expect("refused");
        assert!(matches!(error, OpenError::NotAStore { .. }), "{error}");
        assert_eq!(std::fs::read(folder.path()).expect("read"), bytes);
    }
    check(b"this is not a database, and it is longer than a hundred bytes so that nobody takes it for an empty one");
    let folder = Folder::new();
    let foreign = Connection::open(folder.path()).expect("a database");
    foreign.execute_batch("CREATE TABLE other (x)").expect("a table");
    drop(foreign);
    check(&std::fs::read(folder.path()).expect("read"));
}

#[test]
fn a_newer_format_is_reported_and_left_alone() {
    let folder = Folder::new();
    drop(folder.open());
    let foreign = Connection::open(folder.path()).expect("a connection");
    foreign.pragma_update(None, "user_version", 999).expect("set");
    drop(foreign);
    let before = std::fs::read(folder.path()).expect("read");
    let error = Store::open(&folder.path(), options()).err().expect("refused");
    assert!(matches!(error, OpenError::Newer { found: 999, .. }), "{error}");
    assert_eq!(std::fs::read(folder.path()).expect("read"), before);
}

#[test]
fn a_migration_under_a_running_process_stops_its_writes() {
    let folder = Folder::new();
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    let foreign = Connection::open(folder.path()).expect("a connection");
    foreign.pragma_update(None, "user_version", 999).expect("set");
    let error = append(&store, "th_a", 1).expect_err("refused");
    assert!(matches!(error, AppendError::Store(StoreError::Migrated { found: 999 })), "{error}");
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let folder = Folder::new();
    let options = StoreOptions { max_pages: Some(64), ..StoreOptions::new(keyring(), time()) };
    let store = Store::open(&folder.path(), options).expect("a store");
    let long = "x".repeat(8192);
    let mut stored = Vec::new();
    let refused = (0..100).find_map(|clock| {
        let prepared = store.prepare(note("th_a", clock, &long)).expect("prepared");
        match store.append(prepared, Origin::Door) {
            Ok(_) => {
                stored.push(clock);
                None
            }
            Err(error) => Some(error),
        }
    });
    let refused = refused.expect("the file is full at some point");
    assert!(matches!(refused, AppendError::Store(StoreError::Full)), "{refused}");
    assert!(!store.is_poisoned());
    drop(store);
    let store = folder.open();
    assert_eq!(clocks_of(&store, "th_a"), stored);
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
    assert!(append(&store, "th_a", 1000).expect("room again"));
}

#[test]
fn a_backup_is_a_store_that_verifies() {
    let folder = Folder::new();
    let store = folder.open();
    for clock in 0..50 {
        append(&store, "th_a", clock).expect("appended");
    }
    let target = folder.dir.path().join("copy.db");
    store.backup(&target, |_, _| {}).expect("copied");
    let copy = Store::open(&target, options()).expect("a store");
    assert_eq!(clocks_of(&copy, "th_a").len(), 50);
    assert_eq!(copy.verify(|_, _| {}).expect("verified").records, 50);
    assert!(store.backup(&target, |_, _| {}).is_err(), "a file that is there is not replaced");
}

/// Copies that were made at once wrote into one unfinished file.
#[test]
fn copies_at_once_are_whole_and_leave_nothing_behind() {
    let folder = Folder::new();
    let store = folder.open();
    assert!(append(&store, "th_a", 0).expect("appended"));
    let copies = folder.dir.path().join("copies");
    std::fs::create_dir(&copies).expect("a folder");
    let target = copies.join("copy.db");
    let made = std::thread::scope(|scope| {
        let threads: Vec<_> =
            (0..8).map(|_| scope.spawn(|| store.backup(&target, |_, _| {}).is_ok())).collect();
        threads.into_iter().map(|thread| thread.join().expect("ended")).filter(|made| *made).count()
    });
    assert!(made >= 1, "one of them was the first");
    assert_eq!(std::fs::read_dir(&copies).expect("listed").count(), 1);
    let copy = Store::open(&target, options()).expect("a store");
    assert_eq!(copy.verify(|_, _| {}).expect("verified").records, 1);
}

#[test]
fn a_copy_that_cannot_be_made_says_where() {
    let folder = Folder::new();
    let store = folder.open();
    let error = store.backup(&folder.dir.path().join("no/copy.db"), |_, _| {}).expect_err("none");
    assert!(error.to_string().ends_with("no/copy.db` could not be written"), "{error}");
}

/// A copy is of one moment: whoever writes meanwhile neither changes it nor makes it start over.
#[test]
fn a_backup_ends_while_others_write() {
    let folder = Folder::new();
    let (store, other) = (folder.open(), folder.open());
    let long = "x".repeat(4 * 1024 * 1024 - 1024);
    for clock in 0..3 {
        let prepared = store.prepare(note("th_a", clock, &long)).expect("prepared");
        store.append(prepared, Origin::Door).expect("appended");
    }
    let steps = std::cell::Cell::new(0);
    let target = folder.dir.path().join("copy.db");
    let copied = store.backup(&target, |_, _| {
        steps.set(steps.get() + 1);
        assert!(steps.get() < 100, "it starts over with each write");
        append(&other, "th_b", steps.get()).expect("appended");
    });
    copied.expect("copied");
    assert!(steps.get() > 1);
    let copy = Store::open(&target, options()).expect("a store");
    assert_eq!(copy.verify(|_, _| {}).expect("verified").records, 3);
    assert_eq!(clocks_of(&store, "th_b").len(), usize::try_from(steps.get()).expect("a count"));
}

#[test]
fn a_backup_that_cannot_be_put_in_its_place_leaves_nothing_behind() {
    let folder = Folder::new();
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    let target = folder.dir.path().join("copy.db");
    // Somebody puts a folder where the copy is to go while it is being made.
    let blocked = store.backup(&target, |_, _| {
        let _ = std::fs::create_dir(&target);
    });
    assert!(blocked.is_err());
    assert!(!folder.dir.path().join("copy.db.partial").exists());
}

/// The kernel drops a process's locks on a file as soon as it closes any handle of it. Without them
/// another process takes itself for the last one and removes the log that this one writes to.
#[cfg(target_os = "linux")]
#[test]
fn opening_a_store_again_leaves_its_locks_alone() {
    use std::os::unix::fs::MetadataExt as _;
    let folder = Folder::new();
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    let inode = format!(":{} ", std::fs::metadata(folder.path()).expect("a file").ino());
    let locks = || {
        let all = std::fs::read_to_string("/proc/locks").expect("the locks of this machine");
        all.lines().filter(|line| line.contains("POSIX") && line.contains(&inode)).count()
    };
    let before = locks();
    assert!(before > 0, "an open store is locked against being taken for an abandoned one");
    let again = folder.open();
    assert!(locks() >= before);
    drop(again);
    assert!(locks() >= before);
}

#[test]
fn a_store_that_was_taken_out_of_wal_mode_is_put_back() {
    let folder = Folder::new();
    drop(folder.open());
    let mode = |sql: &str| -> String {
        let foreign = Connection::open(folder.path()).expect("a connection");
        foreign.query_row(sql, [], |row| row.get(0)).expect("a mode")
    };
    assert_eq!(mode("PRAGMA journal_mode = DELETE"), "delete");
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    assert_eq!(mode("PRAGMA journal_mode"), "wal");
}

/// Who folds a store reads it in pages that fit into memory, whatever its writers have put there.
#[test]
fn large_records_come_in_pages() {
    let folder = Folder::new();
    let store = folder.open();
    let long = "x".repeat(4 * 1024 * 1024 - 1024);
    for clock in 0..9 {
        let mut draft = note("th_a", clock, &long);
        draft.body.insert("verdict".into(), "accept".into());
        let prepared = store.prepare(draft).expect("prepared");
        store.append(prepared, Origin::Door).expect("appended");
    }
    let thread = ThreadId::parse("th_a").expect("a thread");
    let (mut after, mut pages) = (Sequence::default(), Vec::new());
    loop {
        let (page, more) = store.read(|reader| reader.verdicts(after, 1000)).expect("read");
        let range = ThreadRange { since_clock: None, after };
        let (same, same_more) =
            store.read(|reader| reader.thread_page(&thread, range, 1000)).expect("read");
        assert_eq!((same.len(), same_more), (page.len(), more));
        after = page.last().expect("at least one").sequence;
        pages.push(page.len());
        if !more {
            break;
        }
    }
    assert_eq!(pages, [8, 1]);
}

#[test]
fn a_store_in_memory_does_all_the_same() {
    let store = Store::in_memory(options()).expect("a store");
    assert!(append(&store, "th_a", 0).expect("appended"));
    assert!(!append(&store, "th_a", 0).expect("a repeat"));
    assert_eq!(clocks_of(&store, "th_a"), [0]);
    assert_eq!(store.read(|reader| reader.last()).expect("read"), Sequence::new(1));
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn the_file_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new();
    let store = folder.open();
    append(&store, "th_a", 0).expect("appended");
    for entry in std::fs::read_dir(folder.dir.path()).expect("a folder") {
        let entry = entry.expect("an entry");
        let mode = entry.metadata().expect("metadata").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{:?}", entry.file_name());
    }
}
