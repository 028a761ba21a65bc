//! How SQLite answers what is asked all the time: a lost index is a diff here.

use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use rusqlite::trace::{TraceEvent, TraceEventCodes};

use super::checkpoint::Head;
use super::{Reader, Store, StoreError, StoreOptions, ThreadRange, TokenId, Tx, lock_of};
use crate::canon::Object;
use crate::identity::{KeyPair, Keyring};
use crate::record::{Act, ActorId, Clock, Draft, Namespace, Origin, RecordId, Sequence, ThreadId};
use crate::time::{TimeSource, Timestamp};

/// A connection to a real file that writes down each statement it is asked to run.
struct Traced {
    connection: Connection,
    seen: Arc<Mutex<Vec<String>>>,
    plans: String,
}

impl Traced {
    fn open(path: &std::path::Path) -> Self {
        let mut connection = Connection::open(path).expect("a connection");
        let seen: Arc<Mutex<Vec<String>>> = Arc::default();
        let sink = Arc::clone(&seen);
        let note = move |event: TraceEvent<'_>| {
            // A comment says that a trigger began.
            if let TraceEvent::Stmt(_, sql) = event
                && !sql.starts_with("--")
            {
                lock_of(&sink).push(sql.to_owned());
            }
        };
        connection.trace_v2(TraceEventCodes::SQLITE_TRACE_STMT, Some(note)).expect("traced");
        Self { connection, seen, plans: String::new() }
    }

    /// Asks, and adds how each statement that this took is answered.
    #[track_caller]
    fn read<T>(&mut self, name: &str, ask: impl Fn(&Reader<'_>) -> Result<T, StoreError>) {
        ask(&Reader::new(&self.connection)).expect(name);
        self.explain(name);
    }

    #[track_caller]
    fn write<T>(&mut self, name: &str, work: impl Fn(&mut Tx<'_>) -> Result<T, StoreError>) {
        let keyring = keyring();
        let now = Timestamp::default();
        let (head, heir) = (Head::default(), None);
        let connection = &self.connection;
        work(&mut Tx { connection, keyring: &keyring, head, now, heir }).expect(name);
        self.explain(name);
    }

    #[track_caller]
    fn explain(&mut self, name: &str) {
        let statements = std::mem::take(&mut *lock_of(&self.seen));
        assert!(!statements.is_empty(), "{name} asked nothing");
        self.plans.push_str(&format!("{name}\n"));
        for sql in statements {
            for step in plan_of(&self.connection, &sql) {
                assert!(!step.starts_with("SCAN records"), "{name}: {step}: {sql}");
                self.plans.push_str(&format!("    {step}\n"));
            }
        }
        lock_of(&self.seen).clear();
    }
}

fn plan_of(connection: &Connection, sql: &str) -> Vec<String> {
    let mut statement = connection.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect(sql);
    // Parameters that nobody has bound are null, which no plan depends on.
    let mut rows = statement.raw_query();
    let mut steps = Vec::new();
    while let Some(row) = rows.next().expect("a row") {
        steps.push(row.get("detail").expect("a step"));
    }
    steps
}

fn keyring() -> Keyring {
    Keyring::new(KeyPair::from_seed(&[1; 32]))
}

#[test]
fn hot_questions_are_answered_by_an_index() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("hub.db");
    let thread = ThreadId::parse("th_a").expect("a thread");
    let actor = ActorId::engine();
    let store = Store::open(&path, StoreOptions::new(keyring(), TimeSource::system()));
    let store = store.expect("a store");
    let draft = Draft::new(thread.clone(), actor.clone(), Act::Know, Object::new());
    let prepared = store.prepare(draft).expect("prepared");
    store.append(prepared, Origin::Engine).expect("appended");
    drop(store);

    let mut traced = Traced::open(&path);
    let (root, clock, range) = (Namespace::root(), Clock::default(), ThreadRange::default());
    let acme = Namespace::parse("acme").expect("a namespace");
    let id = RecordId::from_bytes([7; 32]);
    traced.read("next_clock", |reader| reader.next_clock(&thread, &actor));
    traced.read("has_clock", |reader| reader.has_clock(&thread, &actor, clock));
    traced.read("record", |reader| reader.record(id));
    traced.read("by_prefix", |reader| reader.by_prefix("07"));
    traced.read("thread", |reader| reader.thread(&thread, range, 10));
    traced.read("at_clock", |reader| reader.at_clock(&thread, clock));
    traced.read("matching a thread", |reader| reader.matching(Some("th_a"), None, None, 10));
    traced.read("last", |reader| reader.last());
    traced.read("last_of_thread", |reader| reader.last_of_thread("th_a"));
    traced.read("verdicts", |reader| reader.verdicts(Sequence::default(), 10));
    traced.read("engine_written", |reader| {
        reader.engine_written("core.work.loop.v1", None, Sequence::default(), 10)
    });
    traced.read("engine_written on a thread", |reader| {
        reader.engine_written("core.work.loop.v1", Some(&thread), Sequence::default(), 10)
    });
    traced.read("author", |reader| reader.author(id));
    let runs = super::RunRange::default();
    traced.read("run_openings", |reader| reader.run_openings(&runs, 10));
    traced.read("run_marks", |reader| reader.run_marks(&thread));
    traced.read("worked", |reader| reader.worked(&actor, Timestamp::default()));
    traced.read("admissions", |reader| reader.admissions());
    traced.read("has_permission_switch", |reader| reader.has_permission_switch());
    traced.read("clocks", |reader| reader.clocks(&thread));
    traced.read("has_intent", |reader| reader.has_intent(&thread));
    traced.read("threads", |reader| reader.threads("", 10));
    traced.read("seam_calls", |reader| reader.seam_calls(&root, Sequence::default()));
    traced.read("session_charters", |reader| reader.session_charters(false, None, 10));
    traced.read("session_counts", |reader| reader.session_counts(&thread));
    traced.read("checkpoints", |reader| reader.checkpoints(Some(&thread), None, 10));
    traced.read("goals_and_answers", |reader| reader.goals_and_answers(&thread));
    traced.read("newest_of_thread", |reader| reader.newest_of_thread(&thread, 10));
    traced.read("hooks_since", |reader| reader.hooks_since(Sequence::default(), 10));
    traced.read("token", |reader| reader.token(&TokenId::of_secret("s")));
    traced.read("rejects", |reader| reader.rejects(&acme));
    traced.write("claim_fire", |tx| tx.claim_fire(&thread, 0, &root, "lesson", 3));
    traced.write("count_call", |tx| tx.count_call(&root, Sequence::new(1)));
    insta::assert_snapshot!(traced.plans);
}
