//! Erasure: who may, what folds make of it, and that nothing is left of what was purged.

use std::fs;
use std::path::Path;

use proptest::prelude::*;
use rusqlite::Connection;
use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, EngineOptions, Erasure, ErasureRequest, Home, Scopes};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Origin, RecordId, ThreadId};
use spl::run::rows;
use spl::store::{Query, RunRange, StoreOptions, ThreadRange};
use spl::time::{TimeSource, Timestamp};

use crate::lab::{Lab, SHELL_FAILED, bash, spec, teach, turns};
use crate::support::{json, keyring};

/// A word that stands nowhere by chance.
const CANARY: &str = "zanzibar-tangerine-4711";

fn vera() -> ActorId {
    ActorId::parse("did:sync:user:vera").expect("an actor")
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).expect("a thread")
}

fn state(engine: &Engine, on: &str, clock: i64, act: Act, body: Object) -> RecordId {
    let clock = Clock::new(clock).expect("a clock");
    let draft = Draft::new(thread(on), vera(), act, body).with_clock(clock);
    engine.ingest_draft(&Caller::operator(), draft).expect("stored").record.id()
}

fn erase(engine: &Engine, ids: &[RecordId], purge: bool) -> Erasure {
    let request = ErasureRequest {
        erases: ids.to_vec(),
        reason: "a test".into(),
        authorized_by: None,
        actor: vera(),
        purge,
    };
    engine.erase(&Caller::operator(), &request).expect("erased")
}

fn bearer(scopes: &str) -> Caller {
    Caller::bearer(Scopes::parse(scopes).expect("scopes"))
}

/// What comes of an erasure that a caller posts to the records door.
fn posted(engine: &Engine, caller: &Caller, on: &str, erases: Value) -> Result<RecordId, Code> {
    let body = object! { "kind": "core.erasure", "erases": erases, "reason": "r" };
    let clock = engine.store().read(|it| it.next_clock(&thread(on), &vera())).expect("read");
    let draft = Draft::new(thread(on), vera(), Act::Put, body).with_clock(clock);
    engine
        .ingest_draft(caller, draft)
        .map(|ingested| ingested.record.id())
        .map_err(|error| error.code())
}

/// Returns which of the files beside a store, it included, hold some bytes.
fn files_with(folder: &Path, needle: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        let bytes = fs::read(entry.path()).unwrap_or_default();
        if bytes.windows(needle.len()).any(|window| window == needle.as_bytes()) {
            found.push(name);
        }
    }
    found.sort();
    found
}

#[test]
fn to_erase_a_record_takes_what_writing_it_takes() {
    let lab = Lab::new();
    let engine = &lab.engine;
    teach(engine, 0, SHELL_FAILED);
    let played = lab.play(&turns(&[bash("true")]));
    let hook = engine.live().expect("live").config.rows().into_iter().find_map(|it| it.record_id);
    let hook = hook.expect("a hook");
    let note = state(engine, "th_a", 0, Act::Know, object! { "text": "mine" });
    let writer = bearer("records:write,config:write");
    let of_engine = played.records.iter().find(|it| it.origin == Origin::Engine).expect("one");
    let config = "th_engine_config";
    for (on, target, code) in [
        (config, Value::from(hook), Code::ConfigWriteDenied),
        ("th_a", hook.into(), Code::ConfigWriteDenied),
        ("th_a", of_engine.record.id().into(), Code::ScopeForbidden),
        ("th_a", RecordId::from_bytes([7; 32]).into(), Code::InvalidBody),
        ("th_a", Value::from("no id"), Code::InvalidBody),
        ("th_a", Vec::<Value>::new().into(), Code::InvalidBody),
    ] {
        assert_eq!(posted(engine, &writer, on, target.clone()), Err(code), "{on} {target}");
    }
    assert_eq!(
        posted(engine, &bearer("records:read"), "th_a", note.into()),
        Err(Code::ScopeForbidden)
    );
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
    let erasure = posted(engine, &writer, "th_a", note.into()).expect("one's own");
    // What was purged cannot be asked about any more, so nobody but the operator erases it again.
    erase(engine, &[note], true);
    assert_eq!(posted(engine, &writer, "th_a", note.into()), Err(Code::ScopeForbidden));

    let operator = Caller::operator();
    assert_eq!(posted(engine, &operator, "th_a", erasure.into()), Err(Code::InvalidBody));
    assert_eq!(posted(engine, &operator, "th_a", hook.into()), Err(Code::InvalidBody));
    posted(engine, &operator, config, hook.into()).expect("the operator's");
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 0);
    let request = ErasureRequest {
        erases: vec![note],
        reason: "r".into(),
        authorized_by: None,
        actor: vera(),
        purge: true,
    };
    let refused = engine.erase(&writer, &request).expect_err("refused");
    assert_eq!(refused.code(), Code::ScopeForbidden);
    let known = json(r#"{"kind":"core.erasure","erases":"x"}"#);
    let body = known.as_object().expect("an object").clone();
    let draft = Draft::new(thread("th_a"), vera(), Act::Know, body)
        .with_clock(Clock::new(1000).expect("a clock"));
    let refused = engine.ingest_draft(&operator, draft).expect_err("no PUT");
    assert_eq!(refused.field(), Some("act"));
}

#[test]
fn a_mark_is_shown_and_the_words_stay() {
    let engine = Engine::in_memory().expect("an engine");
    let id = state(&engine, "th_a", 0, Act::Know, object! { "text": CANARY });
    let erased = erase(&engine, &[id], false);
    assert_eq!((erased.scrubbed, erased.records.len()), (None, 1));
    let shown = erased.records.first().expect("one").to_object();
    assert_eq!(shown.get("erased"), Some(&true.into()));
    assert_eq!(shown.get("purged"), None);
    let body = shown.get("body").and_then(Value::as_object).expect("a body");
    assert_eq!(body.get("text").and_then(Value::as_str), Some(CANARY));
    let by = shown.get("erased_by").and_then(Value::as_str).and_then(RecordId::parse);
    let erasure = engine.store().read(|it| it.record(by.expect("an id"))).expect("read");
    let erasure = erasure.expect("the erasure");
    assert!(erasure.record.is_erasure() && erasure.record.names("erases").eq([id]));
    for field in ["reason", "authorized_by", "effective_at"] {
        assert!(erasure.record.body.contains_key(field), "{field}");
    }
    // Once is enough.
    let last = engine.store().read(|it| it.last()).expect("read");
    erase(&engine, &[id], false);
    assert_eq!(engine.store().read(|it| it.last()).expect("read"), last);
}

#[test]
fn nothing_is_left_of_what_was_purged() {
    let lab = Lab::new();
    let engine = &lab.engine;
    let folder = lab.dir.path().join("home");
    let mut ids = Vec::new();
    // Long ones too, which have pages of their own.
    for clock in 0..40 {
        let text = format!("{CANARY} {}", "x".repeat(usize::try_from(clock).unwrap_or(0) * 400));
        ids.push(state(engine, "th_a", clock, Act::Know, object! { "text": text }));
        state(engine, "th_b", clock, Act::Know, object! { "text": "y".repeat(900) });
    }
    let verdict = object! {
        "kind": format!("x.{CANARY}.note"), "verdict": CANARY, "judged_by": "did:sync:agent:clerk",
    };
    ids.push(state(engine, "th_a", 40, Act::Know, verdict));
    teach(
        engine,
        0,
        &format!(
            r#""name":"{CANARY}","text":"{CANARY}",
                "when":"record.body.tool == \"bash\" || record.body.tool == \"{CANARY}\"""#
        ),
    );
    let hook = engine.live().expect("live").config.rows().into_iter().find_map(|it| it.record_id);
    ids.push(hook.expect("a hook"));
    let played = lab.play(&turns(&[bash(&format!("echo {CANARY}"))]));
    let spoken = played.records.iter().filter(|it| it.record.canonical().as_str().contains(CANARY));
    ids.extend(spoken.map(|it| it.record.id()));
    assert!(!files_with(&folder, CANARY).is_empty());
    // What is free space in the file itself is looked at too.
    engine.store().scrub().expect("folded in");
    assert_eq!(files_with(&folder, CANARY), ["hub.db"]);
    let copy = folder.join("hub.db.before-v5");
    engine.store().backup(&copy, |_, _| {}).expect("copied");

    let before = engine.store().read(|it| it.last()).expect("read");
    let erased = erase(engine, &ids, true);
    assert_eq!(erased.scrubbed, Some(true));
    assert_eq!(erased.remains, [copy]);
    assert!(erased.records.iter().all(|it| it.is_purged() && it.record.body.is_empty()));
    assert_eq!(files_with(&folder, CANARY), ["hub.db.before-v5"], "copies are named and left");

    // What is left is proved, by this process and by another.
    for engine in [engine, &lab.another()] {
        let verified = engine.store().verify(|_, _| {}).expect("verified");
        assert_eq!((verified.fault, verified.purged), (None, ids.len() as u64));
        assert!(i64::try_from(verified.records).expect("few") > before.get());
    }
    let stored = engine.store().read(|it| it.record(ids[0])).expect("read").expect("there");
    let tombstone = stored.erased.as_ref().and_then(|it| it.tombstone.as_ref()).expect("one");
    assert!(tombstone.scrubbed);
    let shown = stored.to_object();
    assert_eq!(shown.get("purged"), Some(&true.into()));
    assert!(shown.get("tombstone").and_then(|it| it.get("sig")).is_some());
    assert_eq!(shown.get("id"), Some(&ids[0].into()));
    // It goes on.
    state(engine, "th_a", 99, Act::Know, object! { "text": "after" });
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

/// Behind the back of the engine, with the triggers out of the way.
fn tampered(path: &Path, sql: &str, at: i64) {
    let connection = Connection::open(path).expect("opened");
    let drop = "DROP TRIGGER records_no_update; DROP TRIGGER tombstones_no_update;
                DROP TRIGGER tombstones_no_delete;";
    connection.execute_batch(drop).expect("dropped");
    let changed = connection.execute(sql, rusqlite::named_params! { ":at": at });
    assert_eq!(changed.expect("executed"), 1, "{sql}");
}

#[test]
fn a_tombstone_vouches_for_what_is_left_and_for_no_other_row() {
    const CHANGES: [(&str, i64); 9] = [
        ("UPDATE records SET canonical = replace(canonical, 'vera', 'else') WHERE seq = :at", 0),
        ("UPDATE records SET actor = 'did:sync:user:else' WHERE seq = :at", 0),
        ("UPDATE records SET namespace = 'acme' WHERE seq = :at", 0),
        ("UPDATE records SET kind = 'x.note.text' WHERE seq = :at", 0),
        ("UPDATE records SET canonical = json_set(canonical, '$.body.a', 1) WHERE seq = :at", 0),
        (
            "UPDATE records SET canonical = json_set(canonical, '$.body', json('{}'))
             WHERE seq = :at + 1",
            1,
        ),
        ("UPDATE tombstones SET at = at + 1 WHERE seq = :at", 0),
        ("UPDATE tombstones SET seq = :at + 1", 0),
        ("DELETE FROM tombstones WHERE seq = :at", 0),
    ];
    for (sql, beyond) in CHANGES {
        let lab = Lab::new();
        let ids: Vec<RecordId> = (0..4)
            .map(|at| state(&lab.engine, "th_a", at, Act::Know, object! { "n": at }))
            .collect();
        let erased = erase(&lab.engine, &[ids[1]], true);
        let at = erased.records.first().expect("one").sequence.get();
        assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
        tampered(&lab.dir.path().join("home/hub.db"), sql, at);
        let fault = lab.engine.store().verify(|_, _| {}).expect("verified").fault;
        assert_eq!(fault.map(|it| it.sequence), Some(at + beyond), "{sql}");
    }
}

/// The file itself lets through no other change of a row than the one.
#[test]
fn the_file_lets_one_change_through() {
    let lab = Lab::new();
    let id = state(&lab.engine, "th_a", 0, Act::Know, object! { "kind": "x.note.text", "n": 1 });
    let connection = Connection::open(lab.dir.path().join("home/hub.db")).expect("opened");
    let refused = |sql: &str| {
        let error = connection.execute_batch(sql).expect_err(sql).to_string();
        assert!(error.contains("immutable") || error.contains("stay"), "{sql}: {error}");
    };
    refused(
        "UPDATE records SET canonical = json_set(canonical, '$.body', json('{}')), kind = NULL",
    );
    refused("UPDATE records SET kind = NULL");
    erase(&lab.engine, &[id], true);
    refused("UPDATE records SET canonical = '{}'");
    refused("UPDATE records SET actor = 'x'");
    refused("UPDATE tombstones SET at = 1");
    refused("DELETE FROM tombstones");
    refused("INSERT OR REPLACE INTO tombstones SELECT * FROM tombstones");
    refused("DELETE FROM records");
}

#[test]
fn a_purge_that_somebody_reads_over_says_so_and_is_done_again() {
    let lab = Lab::new();
    let folder = lab.dir.path().join("home");
    let id = state(&lab.engine, "th_a", 0, Act::Know, object! { "text": CANARY });
    let reader = Connection::open(folder.join("hub.db")).expect("opened");
    reader.execute_batch("BEGIN; SELECT count(*) FROM records").expect("reading");
    let erased = erase(&lab.engine, &[id], true);
    assert_eq!(erased.scrubbed, Some(false));
    assert_eq!(lab.engine.store().read(|it| it.unscrubbed()).expect("read"), 1);
    drop(reader);
    assert_eq!(erase(&lab.engine, &[id], true).scrubbed, Some(true));
    assert_eq!(lab.engine.store().read(|it| it.unscrubbed()).expect("read"), 0);
    assert!(files_with(&folder, CANARY).is_empty());
}

/// Each record of a run goes, one after another. Nothing fails; the run is not taken up.
#[test]
fn a_run_with_holes_is_shown_and_not_taken_up() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let script = turns(&[bash("false"), bash("true")]);
    let played = lab.play(&script);
    let listed =
        |engine: &Engine| rows(engine, &RunRange::default(), None, 10).expect("rows").0.len();
    assert_eq!(listed(&lab.engine), 1);
    for stored in played.records.iter().filter(|it| it.origin == Origin::Engine) {
        erase(&lab.engine, &[stored.record.id()], true);
        let engine = lab.another();
        listed(&engine);
        engine.health().expect("health");
        engine.hook_rows().expect("rows");
        engine.trust_rows(None, None).expect("rows");
        let refused = lab.resume(&script, &spec().thread).err().expect("not taken up");
        assert!(
            matches!(refused.code(), Code::RunNotLive | Code::NotFound),
            "{}: {refused}",
            stored.record.id()
        );
    }
    assert_eq!(listed(&lab.engine), 0);
    assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn what_a_run_looks_for_is_not_found_once_erased() {
    let engine = Engine::in_memory().expect("an engine");
    let id = state(&engine, "th_a", 0, Act::Know, object! { "text": CANARY });
    let query = Query::parse(&json(r#"{"filter":{}}"#)).expect("a query").without_erased();
    let found = || {
        let read = engine.store().read(|it| {
            Ok((it.containing(CANARY, None, 10)?.len(), it.query(&query)?.records.len()))
        });
        read.expect("read")
    };
    assert_eq!(found(), (1, 1));
    erase(&engine, &[id], false);
    // The erasure itself is there.
    assert_eq!(found(), (0, 1));
}

#[test]
fn a_store_of_before_knows_what_was_erased_in_its_configuration() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let hook =
        lab.engine.live().expect("live").config.rows().into_iter().find_map(|it| it.record_id);
    let hook = hook.expect("a hook");
    erase(&lab.engine, &[hook], false);
    // What the migration reads is what the transaction wrote.
    let path = lab.dir.path().join("home/hub.db");
    let connection = Connection::open(&path).expect("opened");
    let kept = |connection: &Connection| -> Vec<(i64, Vec<u8>, Vec<u8>)> {
        let mut statement = connection.prepare("SELECT n, id, erasure FROM erased").expect("read");
        let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)));
        rows.expect("rows").collect::<Result<_, _>>().expect("rows")
    };
    let before = kept(&connection);
    assert_eq!(before.len(), 1);
    connection.execute_batch("DELETE FROM erased").expect("deleted");
    let sql = fs::read_to_string("schema/sqlite/0005_authority.sql").expect("the change");
    let begin = sql.find("INSERT OR IGNORE INTO erased").expect("a statement");
    let end = begin + sql[begin..].find(';').expect("its end");
    connection.execute_batch(&sql[begin..end]).expect("migrated");
    assert_eq!(kept(&connection), before);
}

#[derive(Debug, Clone)]
enum Step {
    Verdict { of: usize, accepts: bool },
    Hook { name: usize, text: u8, enabled: bool },
    Goal(u8),
    Closing(prop::sample::Index),
    Note(u8),
}

fn arb_step() -> impl Strategy<Value = (Step, bool, bool)> {
    let step = prop_oneof![
        3 => (0..2_usize, any::<bool>()).prop_map(|(of, accepts)| Step::Verdict { of, accepts }),
        3 => (0..2_usize, 0..3_u8, prop::bool::weighted(0.8))
            .prop_map(|(name, text, enabled)| Step::Hook { name, text, enabled }),
        2 => (0..3_u8).prop_map(Step::Goal),
        2 => any::<prop::sample::Index>().prop_map(Step::Closing),
        1 => (0..3_u8).prop_map(Step::Note),
    ];
    (step, prop::bool::weighted(0.3), any::<bool>())
}

/// An engine whose time stands still, so that the age of a verdict says nothing.
fn still() -> Engine {
    let time = TimeSource::stepped(Timestamp::from_millis(1_796_000_000_000), 0);
    Engine::in_memory_with(StoreOptions::new(keyring(), time)).expect("an engine")
}

/// What all folds say.
#[derive(Debug, PartialEq)]
struct Folded {
    trust: Vec<Object>,
    hooks: Vec<Object>,
    goals: Vec<RecordId>,
    notes: Vec<String>,
}

fn folded(engine: &Engine) -> Folded {
    let read = engine.store().read(|it| {
        let goals = it.goals_and_answers(&thread("th_goals"))?;
        let range = ThreadRange::default();
        let notes = it.thread(&thread("th_goals"), range, usize::MAX)?;
        Ok((goals, notes))
    });
    let (goals, notes) = read.expect("read");
    let mut state = spl::fold::ThreadState::default();
    for stored in notes.iter().filter(|it| it.erased.is_none() && !it.record.is_erasure()) {
        spl::fold::Fold::evolve(&mut state, &stored.received());
    }
    Folded {
        trust: engine.trust_rows(None, None).expect("rows"),
        hooks: engine.hook_rows().expect("rows"),
        goals: goals.iter().map(|it| it.record.id()).collect(),
        notes: vec![state.status().as_str().to_owned()],
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    /// Folds say the same of a log with erased records as of one that never had them, whether they
    /// were kept up or begin anew, and whether the words are gone or not.
    #[test]
    fn folds_pass_over_what_was_erased(steps in prop::collection::vec(arb_step(), 1..24)) {
        let (whole, without) = (still(), still());
        let mut goals: Vec<(RecordId, bool)> = Vec::new();
        let mut gone: Vec<(RecordId, bool)> = Vec::new();
        for (clock, (step, erased, purged)) in (0..).zip(&steps) {
            let (on, act, body) = match step {
                Step::Verdict { of, accepts } => ("th_work", Act::Know, object! {
                    "judged_by": ["did:sync:agent:one", "did:sync:agent:two"][*of],
                    "verdict": if *accepts { "accept" } else { "reject" },
                }),
                Step::Hook { name, text, enabled } => ("th_engine_config", Act::Learn, object! {
                    "enabled": *enabled,
                    "kind": "core.hook.v1",
                    "name": ["one", "two"][*name],
                    "text": format!("text {text}"),
                    "topic": "hook",
                    "when": "true",
                }),
                Step::Goal(n) => ("th_goals", Act::Intend, object! { "goal": format!("goal {n}") }),
                Step::Closing(index) if !goals.is_empty() => {
                    let (goal, _) = index.get(&goals);
                    ("th_goals", Act::Know, object! { "fulfills": *goal })
                }
                Step::Closing(_) => continue,
                Step::Note(n) => ("th_goals", Act::Know, object! { "text": format!("note {n}") }),
            };
            let id = state(&whole, on, clock, act, body.clone());
            if *erased {
                gone.push((id, *purged));
            } else {
                state(&without, on, clock, act, body);
            }
            if matches!(step, Step::Goal(_)) {
                goals.push((id, *erased));
            }
            // Kept up all the while.
            folded(&whole);
        }
        for (id, purged) in &gone {
            erase(&whole, &[*id], *purged);
        }
        prop_assert_eq!(folded(&whole), folded(&without));
        let verified = whole.store().verify(|_, _| {}).expect("verified");
        prop_assert_eq!(verified.fault, None);
    }
}

/// A process that begins anew says what one says that was there all the while.
#[test]
fn a_fold_that_begins_anew_says_the_same() {
    let lab = Lab::new();
    let mut ids = Vec::new();
    for clock in 0..6 {
        let body = object! { "judged_by": "did:sync:agent:one", "verdict": "accept" };
        ids.push(state(&lab.engine, "th_work", clock, Act::Know, body));
        teach(
            &lab.engine,
            clock,
            &format!(r#""name":"lesson","when":"true","text":"version {clock}""#),
        );
    }
    let newest = lab.row("lesson");
    let newest = newest.get("record_id").and_then(Value::as_str).and_then(RecordId::parse);
    let trust = |engine: &Engine| {
        let rows = engine.trust_rows(None, None).expect("rows");
        rows.iter().map(|row| row.get("samples").cloned()).collect::<Vec<_>>()
    };
    assert_eq!(trust(&lab.engine), [Some(Value::from(6_i64))]);
    erase(&lab.engine, &[ids[1], newest.expect("a record")], true);
    erase(&lab.engine, &[ids[2]], false);
    let another = Engine::open(&Home::at(lab.dir.path().join("home")), EngineOptions::default());
    let another = another.expect("an engine");
    for engine in [&lab.engine, &another] {
        assert_eq!(trust(engine), [Some(Value::from(4_i64))]);
        let rows = engine.hook_rows().expect("rows");
        let ids: Vec<&Value> = rows.iter().filter_map(|row| row.get("record_id")).collect();
        assert!(!ids.iter().any(|it| it.as_str() == newest.map(|id| id.to_string()).as_deref()));
        assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
    }
}
