//! Reports: what they say, and when one is due.

use spl::canon::{Object, Value};
use spl::engine::Engine;
use spl::fold::Fold as _;
use spl::record::{Record, Sequence, ThreadId};
use spl::session::{
    Account, Harness, IDLE_MILLIS, Moment, SessionRange, account_of, report, report_body,
    report_idle, session, sessions,
};
use spl::store::ThreadRange;
use spl::time::Timestamp;

use crate::support::{START, Told, follows_its_schema, in_memory, shown, teaches};

fn through(record: &Record) -> i64 {
    record.body.get("through").and_then(Value::as_i64).expect("a sequence")
}

/// A day with most of what a session can have.
fn day(engine: &Engine) -> Told<'_> {
    teaches(
        engine,
        "shell-failed",
        "record.body.status == 'error'",
        "${tool} failed; read stderr.",
    );
    let told = Told::of(engine, Harness::Claude, "s1");
    told.starts("startup").asks("why does checkout time out?");
    told.calls("Bash", "c1", true, "src/pay.rs:41");
    told.calls("Bash", "c2", false, "Exit code 101\nerror: test failed");
    told.calls("Bash", "c3", false, "Exit code 1\nerror: no such file");
    told.calls("Read", "c4", true, "use std;");
    let agent = told.inside("a1");
    agent.event("SubagentStart", Moment::AgentStarted);
    agent.calls("Read", "c5", false, "File not found");
    told.answers("Raised the timeout to 30 s.");
    told
}

#[test]
fn a_report_says_what_was_asked_done_and_failed() {
    let engine = in_memory();
    let told = day(&engine);
    told.inside("a2").event("SubagentStop", Moment::AgentStopped { text: Some("Done.".into()) });
    told.ends("prompt_input_exit");
    let record = report(&engine, &told.thread()).expect("reported").expect("a report");
    assert_eq!(record.actor.as_str(), "did:sync:system:engine");
    follows_its_schema(&record.body);
    insta::assert_snapshot!("report", shown(&record.body.clone().into()));
    // A subagent has one of its own, and ends with its session.
    let (account, _) = account_of(&engine, &told.inside("a1").thread()).expect("read");
    let own = account.report.expect("a report of the subagent");
    let own = engine.store().read(|reader| reader.record(own.id)).expect("read").expect("there");
    follows_its_schema(&own.record.body);
    insta::assert_snapshot!("report_of_a_subagent", shown(&own.record.body.clone().into()));
}

#[test]
fn a_report_is_written_once_and_a_newer_one_covers_what_came_later() {
    let engine = in_memory();
    let told = day(&engine);
    told.ends("other");
    let first = report(&engine, &told.thread()).expect("reported").expect("a report");
    assert_eq!(report(&engine, &told.thread()).expect("asked"), None);
    assert_eq!(first.body.get("reason"), Some(&"ended".into()));
    told.calls("Bash", "late", true, "ok");
    let second = report(&engine, &told.thread()).expect("reported").expect("a newer report");
    assert!(through(&second) > through(&first), "{second:?}");
    // A straggler does not take a session up again, and a prompt does.
    assert_eq!(second.body.get("reason"), Some(&"ended".into()));
    told.starts("resume").asks("and now?");
    let third = report(&engine, &told.thread()).expect("reported").expect("a third report");
    assert_eq!(third.body.get("reason"), Some(&"idle".into()));
    assert_eq!(third.body.get("lives"), Some(&2.into()));
    assert_eq!(third.names("fulfills").collect::<Vec<_>>(), first.parents);
}

#[test]
fn a_session_in_which_nothing_was_asked_has_no_report() {
    let engine = in_memory();
    let told = Told::of(&engine, Harness::Claude, "s1");
    told.starts("startup").ends("clear");
    assert_eq!(report(&engine, &told.thread()).expect("asked"), None);
    assert_eq!(report(&engine, &ThreadId::config()).expect("asked"), None);
    // Nor is it looked at again and again.
    let late = Timestamp::from_millis(START + 10 * IDLE_MILLIS);
    let waiting = || engine.store().read(|reader| reader.unreported_sessions(late, 10));
    assert_eq!(waiting().expect("read"), []);
}

#[test]
fn a_silent_session_is_reported_after_half_an_hour() {
    let engine = in_memory();
    let told = Told::of(&engine, Harness::Qwen, "q1");
    told.asks("list files").calls("run_shell_command", "c1", true, "a.txt");
    let last = account_of(&engine, &told.thread()).expect("read").0.last_at.as_millis();
    let at = |after: i64| report_idle(&engine, Timestamp::from_millis(last + after));
    assert_eq!(at(IDLE_MILLIS).expect("looked"), 0);
    assert_eq!(at(IDLE_MILLIS + 1).expect("looked"), 1);
    assert_eq!(at(IDLE_MILLIS + 1).expect("looked"), 0);
    let listed = |state: Option<spl::session::SessionState>| {
        let range = SessionRange { state, ..SessionRange::default() };
        sessions(&engine, &range, 10).expect("listed").0
    };
    assert_eq!(listed(None)[0].get("state"), Some(&"idle".into()));
    told.calls("run_shell_command", "c2", true, "b.txt");
    assert_eq!(listed(None)[0].get("state"), Some(&"open".into()));
    assert_eq!(listed(Some(spl::session::SessionState::Idle)), Vec::<Object>::new());
}

/// Folding in two steps is folding in one, at every cut.
#[test]
fn an_account_is_the_same_however_it_is_folded() {
    let engine = in_memory();
    let told = day(&engine);
    told.ends("other");
    report(&engine, &told.thread()).expect("reported");
    let records = engine
        .store()
        .read(|reader| reader.thread(&told.thread(), ThreadRange::default(), 1000))
        .expect("read");
    let whole = Account::default().fold(records.iter().map(|stored| stored.received()));
    assert_eq!(whole, account_of(&engine, &told.thread()).expect("read").0);
    for cut in 0..=records.len() {
        let (head, tail) = records.split_at(cut);
        let head = Account::default().fold(head.iter().map(|stored| stored.received()));
        let both = head.clone().fold(tail.iter().map(|stored| stored.received()));
        assert_eq!(both, whole, "cut at {cut}");
        // What is folded twice says the same, and reports only ever reach further.
        assert_eq!(report_body(&head, true), report_body(&head.clone(), true));
        assert!(head.through <= whole.through);
    }
}

/// What others than the engine say of a session is no part of it.
#[test]
fn a_session_is_what_the_engine_recorded() {
    let engine = in_memory();
    let told = day(&engine);
    let before = account_of(&engine, &told.thread()).expect("read").0;
    let forged = format!(
        r#"{{"act":"DO","actor":"did:sync:agent:claude","thread":"{}","clock":77,"body":
            {{"kind":"core.session.tool.v1","tool":"Bash","status":"error","content":"x"}}}}"#,
        told.thread()
    );
    crate::support::writes(&engine, &forged);
    assert_eq!(account_of(&engine, &told.thread()).expect("read").0, before);
}

/// A row is counted by an index, and says what the fold says.
#[test]
fn a_row_in_the_list_says_what_the_session_says() {
    let engine = in_memory();
    let told = day(&engine);
    Told::of(&engine, Harness::Codex, "x1").asks("hello");
    let same = |wanted: usize| {
        let range = SessionRange { agents: true, ..SessionRange::default() };
        let (rows, next) = sessions(&engine, &range, 10).expect("listed");
        assert_eq!((rows.len(), next), (wanted, None));
        for row in rows {
            let thread = row.get("thread").and_then(Value::as_str).expect("a thread");
            let thread = ThreadId::parse(thread).expect("a thread");
            let whole = session(&engine, &thread).expect("read").expect("a session");
            for (name, value) in &row {
                assert_eq!(whole.get(name), Some(value), "{name}");
            }
        }
    };
    same(3);
    told.ends("other");
    same(3);
    report(&engine, &told.thread()).expect("reported");
    same(3);
    told.asks("again");
    same(3);
}

#[test]
fn the_list_is_read_page_by_page_the_newest_first() {
    let engine = in_memory();
    for id in ["s1", "s2", "s3"] {
        Told::of(&engine, Harness::Claude, id).asks("hello");
    }
    Told::of(&engine, Harness::Codex, "x1").asks("hello");
    let ids = |rows: Vec<Object>| -> Vec<String> {
        let id = |row: &Object| row.get("session_id")?.as_str().map(str::to_owned);
        rows.iter().filter_map(id).collect()
    };
    let range =
        |before| SessionRange { before, harness: Some("claude".into()), ..SessionRange::default() };
    let (first, next) = sessions(&engine, &range(None), 2).expect("listed");
    assert_eq!(ids(first), ["s3", "s2"]);
    let (second, end) = sessions(&engine, &range(next), 2).expect("listed");
    assert_eq!((ids(second), end), (vec!["s1".to_owned()], None::<Sequence>));
}

#[test]
fn however_many_report_at_once_there_is_one_report() {
    let engine = in_memory();
    let told = day(&engine);
    told.ends("other");
    let thread = told.thread();
    let written: usize = std::thread::scope(|scope| {
        let report = || report(&engine, &thread).expect("reported").is_some();
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(report)).collect();
        threads.into_iter().map(|thread| usize::from(thread.join().expect("no panic"))).sum()
    });
    assert_eq!(written, 1);
}
