//! Servers that are processes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use spl::object;
use spl::time::Stopwatch;
use spl::tool::{Cancel, SHOWN_BYTES, Status};
use tempfile::TempDir;

use crate::{Started, error_with, ok, table};

struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        Self { folder: TempDir::new().expect("a folder") }
    }

    fn notes(&self) -> PathBuf {
        self.folder.path().join("notes")
    }

    fn start(&self, modes: &[&str], more: &str) -> Started {
        Started::of(&table("faulty", modes, &self.notes(), more))
    }
}

/// Waits until `holds`, or fails after a long while.
#[track_caller]
fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let watch = Stopwatch::start();
    while !holds() {
        assert!(watch.elapsed() < Duration::from_mins(1), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn runs(pid: &str) -> bool {
    let stat = fs::read_to_string(Path::new("/proc").join(pid).join("stat")).unwrap_or_default();
    !stat.is_empty() && !stat.contains(") Z ")
}

#[test]
fn a_tool_is_listed_called_and_checked() {
    let desk = Desk::new();
    let started = desk.start(&[], "");
    assert!(started.reports.first().expect("a report").refused.is_empty());
    let spec = started.tools.specs().next().expect("a tool");
    assert_eq!(
        (spec.name.as_str(), spec.description.as_str()),
        ("mcp__faulty__echo", "It is echo.")
    );
    ok(&started.call("mcp__faulty__echo", &object! { "text": "hello" }), "hello");
    error_with(
        &started.bare("mcp__faulty__echo"),
        "`mcp__faulty__echo` needs `text`; it takes `text` (string)",
    );
    error_with(
        &started.call("mcp__faulty__echo", &object! { "text": "NO" }),
        "cannot take /text: \"NO\" does not match",
    );
    error_with(&started.bare("mcp__faulty__fail"), "it cannot be done");
    let picture = started.bare("mcp__faulty__picture");
    ok(&picture, "[an image, image/png, 3 bytes, not shown]");
    assert_eq!(picture.data.expect("data").to_string(), "{\"width\":1}");
    error_with(&started.bare("mcp__faulty__none"), "there is no tool `mcp__faulty__none`");
    error_with(&started.bare("mcp__faulty__refuse"), "refuses the call: no such tool");
}

#[test]
fn a_server_sees_what_commands_see_and_its_own_variables() {
    let desk = Desk::new();
    let shown = desk.start(&[], "").bare("mcp__faulty__env").shown;
    let names: Vec<&str> =
        shown.lines().filter_map(|line| line.split_once('=')).map(|(name, _)| name).collect();
    for wanted in ["API_KEY", "LANG", "NOTES", "PATH"] {
        assert!(names.contains(&wanted), "{names:?}");
    }
    for secret in ["SPL_TOKEN", "ANTHROPIC_API_KEY", "BEARER", "CARGO"] {
        assert!(!names.contains(&secret), "{names:?}");
    }
}

#[test]
fn a_server_that_dies_says_so_and_is_started_again_by_the_next_call() {
    let desk = Desk::new();
    let started = desk.start(&[], "");
    for _ in 0..2 {
        let answer = started.bare("mcp__faulty__die");
        error_with(&answer, "the MCP server `faulty` ended before it answered");
        error_with(&answer, "(exit status 3; its last words:\nabout to die)");
        ok(&started.call("mcp__faulty__echo", &object! { "text": "again" }), "again");
    }
    // It dies four times without an answer, and is left alone then.
    for _ in 0..4 {
        error_with(&started.bare("mcp__faulty__die"), "ended before it answered");
    }
    error_with(&started.bare("mcp__faulty__die"), "was started again 3 times to no avail");
    error_with(
        &started.call("mcp__faulty__echo", &object! { "text": "again" }),
        "was started again 3 times to no avail",
    );
}

#[test]
fn a_server_that_never_answers_is_not_waited_for_and_told() {
    let desk = Desk::new();
    let started = desk.start(&[], "timeout_secs = 1");
    error_with(&started.bare("mcp__faulty__hang"), "did not answer within 1 s");
    ok(&started.call("mcp__faulty__echo", &object! { "text": "still" }), "still");
    let told = fs::read_to_string(desk.notes()).expect("it was told");
    assert_eq!(told, "hanging\ncancelled\n");
}

#[test]
fn a_cancelled_call_ends_at_once_and_the_server_is_told() {
    let desk = Desk::new();
    let started = desk.start(&[], "timeout_secs = 3600");
    let cancel = Cancel::new();
    let hang = || started.tools.call("mcp__faulty__hang", &object! {}, &cancel);
    let answer = std::thread::scope(|scope| {
        let hanging = scope.spawn(hang);
        eventually("it hangs", || desk.notes().exists());
        cancel.cancel();
        hanging.join().expect("an answer")
    });
    assert_eq!((answer.status, answer.shown.as_str()), (Status::Error, "[cancelled]"));
    ok(&started.call("mcp__faulty__echo", &object! { "text": "on" }), "on");
    let told = || fs::read_to_string(desk.notes()).expect("notes");
    assert_eq!(told(), "hanging\ncancelled\n");
    // And one that is cancelled beforehand is not made.
    assert_eq!(hang().shown, "[cancelled]");
    ok(&started.call("mcp__faulty__echo", &object! { "text": "on" }), "on");
    assert_eq!(told(), "hanging\ncancelled\n");
}

#[test]
fn floods_garbage_and_huge_answers_are_survived() {
    let started = Desk::new().start(&[], "");
    ok(&started.bare("mcp__faulty__flood"), "flooded");
    ok(&started.bare("mcp__faulty__garbage"), "after garbage");
    let huge = started.bare("mcp__faulty__huge");
    assert!(huge.shown.len() <= SHOWN_BYTES);
    assert!(huge.shown.starts_with("starty") && huge.shown.ends_with("yend"));
    ok(&started.call("mcp__faulty__echo", &object! { "text": "on" }), "on");
}

#[test]
fn a_tool_that_has_vanished_says_so_and_a_new_one_is_not_added() {
    for rename in ["mcp__faulty__rename", "mcp__faulty__lying"] {
        let started = Desk::new().start(&[], "");
        assert_eq!(started.bare(rename).status, Status::Ok);
        error_with(
            &started.call("mcp__faulty__echo", &object! { "text": "a" }),
            "the server `faulty` no longer has `echo`",
        );
        error_with(&started.bare("mcp__faulty__shout"), "there is no tool `mcp__faulty__shout`");
    }
}

#[test]
fn a_name_that_is_taken_and_a_schema_that_is_none_are_refused() {
    let started = Desk::new().start(&["twice"], "");
    let report = started.reports.first().expect("a report");
    assert_eq!(report.tools, ["mcp__faulty__a_b"]);
    let refused: Vec<String> =
        report.refused.iter().map(|refused| format!("{}: {}", refused.tool, refused.why)).collect();
    assert_eq!(refused.len(), 4, "{refused:?}");
    assert_eq!(refused[0], "a_b: there is a tool `mcp__faulty__a_b` already");
    assert_eq!(refused[1], "a b: there is a tool `mcp__faulty__a_b` already");
    assert!(refused[2].starts_with("remote: its schema is none: "), "{refused:?}");
    assert!(refused[3].starts_with("odd: its schema is none: "), "{refused:?}");
}

#[test]
fn a_server_that_does_not_start_is_reported_with_its_last_words_but_no_secret() {
    let desk = Desk::new();
    let started = desk.start(&["broken"], "");
    let why = started.failed();
    assert!(why.contains("exit status 7; its last words:\ncannot read my settings"), "{why}");
    assert!(!why.contains("s3cret"), "{why}");
    for mode in ["slow", "mute"] {
        let started = desk.start(&[mode], "start_timeout_secs = 1");
        assert!(started.failed().starts_with("it did not answer within 1 s"), "{mode}");
    }
    let started = desk.start(&["endless"], "");
    assert!(started.failed().contains("its tools cannot be listed"), "{}", started.failed());
    let missing = Started::of("[mcp.x]\ncommand = \"there-is-no-such-program\"\n");
    assert!(missing.failed().contains("`there-is-no-such-program` cannot be started"));
}

#[test]
fn one_server_that_does_not_start_keeps_no_other_from_it() {
    let desk = Desk::new();
    let notes = desk.notes();
    let two = table("bad", &["broken"], &notes, "") + &table("good", &[], &notes, "");
    let started = Started::of(&two);
    assert_eq!(started.reports.len(), 2);
    ok(&started.call("mcp__good__echo", &object! { "text": "here" }), "here");
}

#[test]
fn nothing_of_a_server_is_left_behind() {
    let desk = Desk::new();
    let started = desk.start(&["stubborn"], "");
    let pids = fs::read_to_string(desk.notes()).expect("pids");
    let pids: Vec<&str> = pids.split_whitespace().collect();
    assert!(pids.len() == 2 && pids.iter().all(|pid| runs(pid)), "{pids:?}");
    drop(started);
    for pid in pids {
        eventually("it is killed", || !runs(pid));
    }
}
