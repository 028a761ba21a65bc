//! Records on the move: exported, imported, adopted, erased and purged, by the real command.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use serde_json::Value;

use crate::terminal::{Terminal, assert_session};

/// Envelopes that differ, one a line.
fn envelopes(count: usize) -> String {
    let line = |n: usize| {
        format!(
            "{{\"act\":\"KNOW\",\"actor\":\"did:sync:user:vera\",\"thread\":\"th_{}\",\
             \"clock\":{n},\"body\":{{\"n\":{n},\"text\":\"number {n}, grün\"}}}}\n",
            n % 7
        )
    };
    (0..count).map(line).collect()
}

/// Exports what stands on the threads of [`envelopes`]; an instance has records of its own.
const EXPORT: &str = "spl export --thread th_0 --thread th_1 --thread th_2 --thread th_3 \
                      --thread th_4 --thread th_5 --thread th_6";

/// The lines of an export, without what is each store's own.
fn records(text: &str) -> Vec<Value> {
    let line = |line: &str| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        let members = line.as_object_mut().expect("an object");
        for own in ["origin", "received_at", "sequence"] {
            members.remove(own).expect("a receipt");
        }
        line
    };
    text.lines().map(line).collect()
}

#[test]
fn what_is_exported_and_imported_and_exported_is_the_same() {
    const COUNT: usize = 10_000;
    let stores = [Terminal::with_instance(), Terminal::with_instance(), Terminal::with_instance()];
    stores[0].write("in.jsonl", &envelopes(COUNT));
    let mut exports = Vec::new();
    for (at, store) in stores.iter().enumerate() {
        let told: Value =
            serde_json::from_str(&store.does("spl -o json import in.jsonl")).expect("JSON");
        assert_eq!(told["new"], COUNT);
        store.does(&format!("{EXPORT} --out out.jsonl"));
        let text = fs::read_to_string(store.path("out.jsonl")).expect("an export");
        let mode = fs::metadata(store.path("out.jsonl")).expect("there").permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        exports.push(records(&text));
        if let Some(next) = stores.get(at + 1) {
            next.write("in.jsonl", &text);
        }
        let again = store.does("spl import in.jsonl");
        assert_eq!(again, format!("✓ 0 new, {COUNT} known\n"));
        store.does("spl verify");
    }
    assert_eq!(exports[0].len(), COUNT);
    assert!(exports[0] == exports[1], "the second store holds the same");
    assert!(exports[1] == exports[2], "and so does the third");
}

/// Killed by force at any point, and run again: nothing is there twice, and nothing is lost.
#[test]
fn an_import_that_was_killed_is_run_again() {
    const COUNT: usize = 6_000;
    let terminal = Terminal::with_instance();
    let text = envelopes(COUNT);
    terminal.write("in.jsonl", &text);
    let lines: Vec<&str> = text.lines().collect();
    let mut before = 0;
    for upto in [700, 1_900, 3_300, 5_100] {
        let mut import = terminal
            .spl(&["import", "-"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("started");
        let mut into = import.stdin.take().expect("a pipe");
        // The pipe holds little, so that by now most of it has been read and sent.
        for line in &lines[..upto] {
            writeln!(into, "{line}").expect("written");
        }
        import.kill().expect("killed");
        let output = import.wait_with_output().expect("dead");
        assert!(!output.status.success(), "it was still reading");
        drop(into);
        let found = terminal.does(EXPORT);
        let found = found.lines().count();
        assert!(found >= before && found <= upto, "{before} {found} {upto}");
        assert_eq!(found % 500, 0, "a batch is there whole or not at all");
        before = found;
    }
    assert!(before > 0, "something was taken before the last of them died");
    let told: Value =
        serde_json::from_str(&terminal.does("spl -o json import in.jsonl")).expect("JSON");
    assert_eq!((&told["known"], &told["new"]), (&before.into(), &(COUNT - before).into()));
    let all = records(&terminal.does(EXPORT));
    let ids: BTreeSet<&str> = all.iter().map(|it| it["id"].as_str().expect("an id")).collect();
    assert_eq!((all.len(), ids.len()), (COUNT, COUNT));
    terminal.does("spl verify");
}

#[test]
fn an_import_says_what_was_refused() {
    let mut terminal = Terminal::with_instance();
    let lines = envelopes(4).replace(
        "\"act\":\"KNOW\",\"actor\":\"did:sync:user:vera\",\"thread\":\"th_2\"",
        "\"act\":\"KNEW\",\"actor\":\"did:sync:user:vera\",\"thread\":\"th_2\"",
    );
    terminal.write("some.jsonl", &format!("{lines}\n{{\n"));
    terminal.session(&[
        "spl import some.jsonl",
        "spl import some.jsonl --strict",
        "spl -o json import some.jsonl",
        "spl import - < some.jsonl",
        "spl import nowhere.jsonl",
        "spl import",
        "spl import some.jsonl --adopt 1234",
        "spl export --out some.jsonl",
        "spl export --thread th_1 --since 0 | wc -l",
        "spl export --out nowhere/some.jsonl",
        "spl -o json export --thread th_1 --thread th_3 --out two.jsonl",
        "ls *.jsonl*",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_foreign_hook_is_adopted() {
    let theirs = Terminal::with_instance();
    theirs.does("spl hook add no-force --when 'record.body.tool == \"bash\"' --text 'look first.'");
    let export = theirs.does("spl export --thread th_engine_config");
    let id = serde_json::from_str::<Value>(export.lines().next().expect("a line")).expect("JSON");
    let id = id["id"].as_str().expect("an id").to_owned();
    let mut ours = Terminal::with_instance();
    ours.write("theirs.jsonl", &export);
    ours.session(&["spl import theirs.jsonl", "spl hook list"]);
    ours.session(&[&format!("spl import --adopt {id}"), "spl hook list"]);
    ours.session(&["spl import --adopt 0000", &format!("spl import --adopt {}", "0".repeat(64))]);
    assert_session!(ours);
}

#[test]
fn a_record_is_erased_and_purged() {
    let mut terminal = Terminal::with_instance();
    let known = terminal.does("spl -o json know 'the word is zanzibar' --thread th_a");
    let id = serde_json::from_str::<Value>(&known).expect("JSON");
    let id = id["id"].as_str().expect("an id").to_owned();
    terminal.does("spl know 'another' --thread th_a && spl backup copy.db");
    terminal.session(&[
        &format!("spl erase {id} --reason 'it names a place'"),
        &format!("spl record show {id}"),
        &format!("spl erase {id} --reason 'it names a place' --purge"),
        "cat .syncro/hub.db* | grep -q zanzibar && echo it is there",
        &format!("spl erase {id} --reason 'it names a place' --purge --yes"),
        &format!("spl record show {id}"),
        "cat .syncro/hub.db* | grep -c zanzibar",
        "grep -c zanzibar copy.db",
        "spl verify",
        "spl thread records th_a | cut -c 1-60",
        "spl export --thread th_a | wc -l",
        "spl erase 0000 --reason r",
        &format!("spl erase {id}"),
    ]);
    assert_session!(terminal);
}

/// Beside a server, which has the store open: the same.
#[test]
fn a_server_purges_too() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let known = terminal.does("spl -o json know 'the word is zanzibar' --thread th_a");
    let id = serde_json::from_str::<Value>(&known).expect("JSON");
    let id = id["id"].as_str().expect("an id").to_owned();
    let told = terminal.does(&format!("spl -o json erase {id} --reason r --purge --yes"));
    let told: Value = serde_json::from_str(&told).expect("JSON");
    assert_eq!(told["scrubbed"], true, "{told}");
    assert_eq!(terminal.does("cat .syncro/hub.db* | grep -c zanzibar || true"), "0\n");
    terminal.write("in.jsonl", &envelopes(1_200));
    assert_eq!(terminal.does("spl import in.jsonl"), "✓ 1200 new, 0 known\n");
    assert_eq!(terminal.does(EXPORT).lines().count(), 1_200);
    terminal.does("spl serve --stop && spl verify");
}
