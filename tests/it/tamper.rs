//! A copy of a store, changed behind its back: the first row that is not what it was is named, every
//! time. `tests/tamper/run` does the same with the `sqlite3` tool and the command.

use proptest::prelude::*;
use rusqlite::Connection;
use spl::engine::{Caller, Engine, EngineOptions, Home};
use spl::record::{Act, Draft, Origin, ThreadId};
use spl::store::{CHECKPOINT_EVERY, Fault};

use crate::support::{body, note};

/// A home whose store has rows of every kind, and checkpoints.
struct Whole {
    dir: tempfile::TempDir,
    home: Home,
    rows: i64,
}

/// What is found in a copy that was changed.
struct Changed(Option<Fault>);

impl Whole {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        home.initialise("vera").expect("a home");
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        let operator = Caller::operator();
        let mut erased = None;
        for number in 0..12 {
            let judged = (number % 3 == 0).then(|| "judge".to_owned());
            let draft = Draft { judged_by: judged, ..note("th_a", number, "a note") };
            erased = Some(engine.ingest_draft(&operator, draft).expect("written").appended.id);
        }
        let verdict = r#"{"kind":"x.y.v1","verdict":"accept","domain":"ops","judged_by":"did:sync:agent:clerk"}"#;
        let verdict = Draft { body: body(verdict), ..note("th_b", 0, "") };
        engine.ingest_draft(&operator, verdict).expect("written");
        let stranger = spl::identity::KeyPair::from_seed(&[5; 32]).sign(b"anything").to_string();
        let unproven = format!(
            r#"{{"act":"DO","actor":"did:web:example.org","thread":"th_b","sig":"{stranger}"}}"#
        );
        engine.ingest(&operator, unproven.as_bytes()).expect("written");
        let clerk = spl::record::ActorId::parse("did:sync:agent:clerk").expect("an actor");
        engine.generate_identity(&clerk, false).expect("a key");
        engine.author(|author| author.write(note("th_run", 0, "of the engine"))).expect("written");
        // One whose words were taken out.
        let erased = erased.expect("one");
        let erasure = Draft {
            act: Act::Put,
            body: spl::object! { "kind": "core.erasure", "erases": vec![spl::canon::Value::from(erased)] },
            ..note("th_a", 100, "")
        };
        engine.ingest_draft(&operator, erasure).expect("written");
        let purged = engine.store().write(move |tx| tx.purge(erased));
        assert!(purged.expect("purged"));
        // Past a checkpoint.
        let written: Result<(), spl::store::AppendError> = engine.store().write(|tx| {
            let thread = ThreadId::parse("th_many").expect("a thread");
            for _ in 0..CHECKPOINT_EVERY {
                tx.append_next(
                    Draft { thread: thread.clone(), ..note("th_many", 0, "many") },
                    Origin::Import,
                )?;
            }
            Ok(())
        });
        written.expect("written");
        let verified = engine.store().verify(|_, _| {}).expect("verified");
        assert_eq!((verified.fault, verified.purged, verified.checkpoints), (None, 1, 1));
        let rows = i64::try_from(verified.records).expect("few");
        engine.store().backup(&dir.path().join("copy.db"), |_, _| {}).expect("copied");
        Self { dir, home, rows }
    }

    /// Does `sql` to a copy, without triggers and without checks, and returns what is found.
    fn after(&self, sql: &str) -> Option<Fault> {
        let Changed(fault) = self.after_change(sql).unwrap_or_else(|| panic!("{sql}: no change"));
        fault
    }

    /// The same; `None` if it changes no row.
    fn after_change(&self, sql: &str) -> Option<Changed> {
        let path = self.dir.path().join("tampered.db");
        std::fs::copy(self.dir.path().join("copy.db"), &path).expect("copied");
        let raw = Connection::open(&path).expect("opened");
        raw.execute_batch("PRAGMA ignore_check_constraints = ON").expect("set");
        let triggers: Vec<String> = raw
            .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
            .expect("prepared")
            .query_map([], |row| row.get(0))
            .expect("asked")
            .collect::<Result<_, _>>()
            .expect("read");
        for trigger in triggers {
            raw.execute_batch(&format!("DROP TRIGGER {trigger}")).expect("dropped");
        }
        let before = raw.total_changes();
        raw.execute_batch(sql).expect(sql);
        if raw.total_changes() == before {
            return None;
        }
        drop(raw);
        let options = EngineOptions { store_path: Some(path), ..EngineOptions::default() };
        let engine = Engine::open(&self.home, options).expect("an engine");
        Some(Changed(engine.store().verify(|_, _| {}).expect("verified").fault))
    }

    #[track_caller]
    fn names(&self, sql: &str, sequence: i64) {
        let fault = self.after(sql).unwrap_or_else(|| panic!("{sql}: nothing was found"));
        assert_eq!(fault.sequence, sequence, "{sql}: {}", fault.what);
    }
}

thread_local!(static WHOLE: Whole = Whole::new());

/// How each column of a row can be made another.
const COLUMNS: [(&str, &[&str]); 17] = [
    ("id", &["zeroblob(32)", "randomblob(32)", "x'00'"]),
    ("thread", &["thread || 'x'", "''"]),
    ("actor", &["actor || 'x'", "'did:sync:system:engine'"]),
    ("act", &["'DOUBT'", "lower(act)"]),
    ("clock", &["clock + 1000000", "-1"]),
    ("data_type", &["'VECTOR'", "''"]),
    ("namespace", &["'acme'", "''"]),
    ("kind", &["coalesce(kind, '') || 'x'"]),
    ("verdict", &["coalesce(verdict, '') || 'x'"]),
    (
        "canonical",
        &[
            "canonical || ' '",
            "'{}'",
            "'not JSON'",
            "replace(canonical, '\"clock\":', '\"clock\":1')",
        ],
    ),
    ("judged_by", &["coalesce(judged_by, '') || 'x'"]),
    ("received_at", &["received_at + 1", "0"]),
    ("origin", &["CASE origin WHEN 'door' THEN 'engine' ELSE 'door' END", "'nowhere'"]),
    ("signer", &["'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'", "''"]),
    ("sig", &["zeroblob(64)", "randomblob(64)", "x''"]),
    ("chain", &["zeroblob(32)", "randomblob(32)", "x''"]),
    ("unproven", &["coalesce(unproven, '') || ' '", "'{}'"]),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, ..ProptestConfig::default() })]

    #[test]
    fn any_column_of_any_row(
        row in any::<prop::sample::Index>(),
        // Those with something of their own stand first.
        among_first in any::<bool>(),
        column in prop::sample::select(&COLUMNS[..]),
        value in any::<prop::sample::Index>(),
    ) {
        WHOLE.with(|whole| {
            let among = if among_first { 18 } else { whole.rows };
            let row = i64::try_from(row.index(usize::try_from(among).expect("few"))).expect("few") + 1;
            let (column, values) = column;
            let value = values[value.index(values.len())];
            // What stands there already is no change of it.
            let sql = format!(
                "UPDATE records SET {column} = {value} WHERE seq = {row} AND {column} IS NOT {value}"
            );
            let Some(Changed(fault)) = whole.after_change(&sql) else {
                return Err(TestCaseError::reject("it is that already"));
            };
            let fault = fault.unwrap_or_else(|| panic!("{sql}: nothing was found"));
            assert_eq!(fault.sequence, row, "{sql}: {}", fault.what);
            Ok(())
        })?;
    }
}

proptest! {
    // Each case is five copies of the store.
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn a_row_that_is_dropped_moved_or_put_in_between(
        row in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        WHOLE.with(|whole| {
            let place = |index: prop::sample::Index| {
                i64::try_from(index.index(usize::try_from(whole.rows).expect("few"))).expect("few") + 1
            };
            let (row, other) = (place(row), place(other));
            let last = whole.rows;
            whole.names(&format!("DELETE FROM records WHERE seq = {row}"), row);
            whole.names(&format!("DELETE FROM records WHERE seq >= {row}"), row);
            whole.names(&format!("UPDATE records SET seq = {last} + 1 WHERE seq = {row}"), row);
            if row != other {
                let swap = format!(
                    "UPDATE records SET seq = -1 WHERE seq = {row};
                     UPDATE records SET seq = {row} WHERE seq = {other};
                     UPDATE records SET seq = {other} WHERE seq = -1"
                );
                whole.names(&swap, row.min(other));
            }
            let columns = COLUMNS.map(|(column, _)| column).join(", ");
            let forged = columns.replacen("id", "randomblob(32)", 1).replacen("clock", "clock + 7777777", 1);
            let insert = format!(
                "UPDATE records SET seq = -seq - 1 WHERE seq >= {row};
                 UPDATE records SET seq = -seq WHERE seq < 0;
                 INSERT INTO records (seq, {columns})
                 SELECT {row}, {forged} FROM records WHERE seq = {row} + 1"
            );
            whole.names(&insert, row);
        });
    }
}

#[test]
fn a_row_put_behind_the_last_one() {
    WHOLE.with(|whole| {
        let columns = COLUMNS.map(|(column, _)| column).join(", ");
        let forged =
            columns.replacen("id", "randomblob(32)", 1).replacen("clock", "clock + 7777777", 1);
        let last = whole.rows;
        let insert = format!(
            "INSERT INTO records (seq, {columns})
             SELECT {last} + 1, {forged} FROM records WHERE seq = {last}"
        );
        whole.names(&insert, last + 1);
    });
}

#[test]
fn what_is_signed_beside_the_rows() {
    WHOLE.with(|whole| {
        let last = whole.rows;
        for set in [
            "chain = zeroblob(32)",
            "sig = zeroblob(64)",
            "signer = 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK'",
        ] {
            whole.names(&format!("UPDATE head SET {set}"), last);
            whole.names(&format!("UPDATE checkpoints SET {set}"), CHECKPOINT_EVERY);
        }
        whole.names("DELETE FROM head", last);
        whole.names("UPDATE checkpoints SET at = at + 1", CHECKPOINT_EVERY);
        whole.names("UPDATE checkpoints SET seq = seq + 1", CHECKPOINT_EVERY + 1);
        whole.names("UPDATE checkpoints SET seq = 999999", last + 1);
        whole.names("UPDATE head SET seq = seq - 1", last);
        whole.names("UPDATE head SET seq = seq + 1", last + 1);
        // The tombstone stands for the twelfth note.
        for set in ["erasure = randomblob(32)", "at = at + 1", "sig = zeroblob(64)", "seq = 11"] {
            let named = if set == "seq = 11" { 11 } else { 12 };
            whole.names(&format!("UPDATE tombstones SET {set}"), named);
        }
        whole.names("DELETE FROM tombstones", 12);
        let clerk = 15;
        whole.names("UPDATE actor_keys SET key = key || 'x'", clerk);
        whole.names("UPDATE actor_keys SET until = 17", clerk);
        whole.names("DELETE FROM actor_keys", clerk);
        let insert =
            "INSERT INTO actor_keys (actor, key, since) VALUES ('did:sync:agent:x', 'k', 3)";
        whole.names(insert, 3);
    });
}
