//! Policy hooks that mean harm: each ends as it should, and the next one is asked all the same.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use spl::cancel::Cancel;
use spl::canon::Object;
use spl::object;
use spl::policy::{Policy, Question, Ran, Reply};
use spl::time::Stopwatch;

use crate::desk::Desk;
use crate::group::{nobody_is_left, not_waited};

/// Enough for a hook to have begun.
const SHORT_MS: u64 = 1000;

/// A desk, and a policy hook that means harm.
struct Hostile(Desk);

impl Hostile {
    fn new() -> Self {
        Self(Desk::new(false))
    }

    fn note(&self, name: &str) -> PathBuf {
        self.0.home.join(name)
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.note(name)).expect(name).trim().to_owned()
    }

    /// Returns the policy of a user who has set up `commands`, each with its time.
    fn policy(&self, commands: &[(&str, Option<u64>)]) -> Policy {
        let hooks = commands.iter().map(|(command, timeout_ms)| match timeout_ms {
            Some(timeout_ms) => json!({ "command": command, "timeoutMs": timeout_ms }),
            None => json!({ "command": command }),
        });
        let settings = json!({ "hooks": { "preToolUse": hooks.collect::<Vec<_>>() } });
        Desk::set(&self.0.home, Some(&settings));
        let home = self.0.home.to_string_lossy().into_owned();
        let policy = self.0.load(&BTreeMap::new()).expect("a policy");
        self.0.policy(policy, &BTreeMap::from([("HOME".to_owned(), home)]))
    }

    /// Asks a hook about a call, and after it one that always blocks. Returns what became of the
    /// first.
    #[track_caller]
    fn ask(&self, command: &str, timeout_ms: Option<u64>, input: &Object) -> Ran {
        let noted = format!("echo $$ >\"$HOME/group\"; {command}");
        let policy = self.policy(&[(&noted, timeout_ms), ("echo second >&2; exit 2", None)]);
        let watch = Stopwatch::start();
        let question = Question::Before { tool: "bash", input };
        let mut verdict = policy.ask(&question, &Cancel::new());
        not_waited(watch);
        let first = verdict.ran.remove(0);
        let (told, ms) = (format!("{:?}", first.reply), first.took_ms);
        println!("{told:.100} after {ms} ms: {command:.100}");
        let reason = verdict.block().map(|block| block.reason.as_str());
        match &first.reply {
            Reply::Block { reason: own } => assert_eq!(reason, Some(own.as_str())),
            _ => assert_eq!(reason, Some("second")),
        }
        first
    }

    #[track_caller]
    fn fails(&self, command: &str, how: &str, detail: &str) {
        let ran = self.ask(command, None, &input());
        assert_eq!(ran.reply, Reply::Failed { how: how.to_owned(), detail: detail.to_owned() });
    }

    #[track_caller]
    fn times_out(&self, command: &str) {
        let ran = self.ask(command, Some(SHORT_MS), &input());
        let how = format!("timed out after {SHORT_MS} ms");
        assert_eq!(ran.reply, Reply::Failed { how, detail: String::new() });
        assert_eq!(ran.exit, None);
        nobody_is_left(&self.read("group"));
    }

    #[track_caller]
    fn blocks(&self, command: &str, why: &str) {
        let ran = self.ask(command, None, &input());
        assert_eq!(ran.reply, Reply::Block { reason: why.to_owned() });
        assert_eq!(ran.exit, Some(2));
    }
}

fn input() -> Object {
    object! { "command": "ls" }
}

#[test]
fn a_hook_that_does_not_end_is_killed_and_is_no_answer() {
    let commands = [
        "sleep 60; exit 2",
        "trap '' TERM; while :; do sleep 60; done",
        "trap 'exit 2' TERM; sleep 60 & wait; exit 2",
        "echo '{\"decision\":\"block\"}'; sleep 60",
        "exec >&- 2>&-; sleep 60",
        "sleep 60 & sleep 60 & wait",
        "kill -STOP $$",
    ];
    std::thread::scope(|scope| {
        for command in commands {
            scope.spawn(move || Hostile::new().times_out(command));
        }
    });
}

/// As a user of its own who may have few processes, the first of a machine that ends with it.
#[test]
fn a_fork_bomb_is_killed_with_all_its_pieces() {
    const CELL: &str = "exec unshare --pid --fork --kill-child --mount-proc \
        setpriv --reuid 61235 --regid 61235 --clear-groups prlimit --nproc=100";
    let tried = Command::new("/bin/bash").args(["-c", &format!("{CELL} true")]).output();
    let tried = tried.expect("bash");
    if !tried.status.success() {
        let why = String::from_utf8_lossy(&tried.stderr).into_owned();
        return println!("not tried: no user and process namespace of its own here: {why}");
    }
    let desk = Hostile::new();
    for bomb in ["b() { b | b; }; b", "b() { b & b; }; b"] {
        desk.times_out(&format!("{CELL} bash -c '{bomb}' 2>/dev/null"));
    }
}

#[test]
fn a_child_that_holds_the_output_does_not_hold_the_answer() {
    let desk = Hostile::new();
    desk.blocks("sleep 60 & echo $! >\"$HOME/left\"; echo no >&2; exit 2", "no");
    // It was left alone.
    let pid = Pid::from_raw(desk.read("left").parse().expect("a process id")).expect("an id");
    kill_process(pid, Signal::KILL).expect("it was left alone");
}

#[test]
fn a_hook_that_says_too_much_is_killed_and_is_no_answer() {
    let desk = Hostile::new();
    let zeros = "\0".repeat(200);
    desk.fails("head -c 1000000000 /dev/zero; exit 2", "wrote more than it may", "");
    nobody_is_left(&desk.read("group"));
    desk.fails("head -c 1000000000 /dev/zero >&2; exit 2", "wrote more than it may", &zeros);
    nobody_is_left(&desk.read("group"));
}

#[test]
fn bytes_that_are_not_text_are_replaced() {
    let desk = Hostile::new();
    desk.blocks(r"printf 'a\xff\xf0\x9f\xa6\x80\xf0\x9f' >&2; exit 2", "a\u{fffd}🦀\u{fffd}");
    desk.blocks(r#"printf '{"reason":"a\xff"}'; exit 2"#, "a\u{fffd}");
    desk.fails(r"printf '\xc3(' >&2; exit 1", "exit status 1", "\u{fffd}(");
}

#[test]
fn a_status_is_its_lowest_eight_bits() {
    let desk = Hostile::new();
    desk.blocks("echo no >&2; exit 258", "no");
    desk.fails("exit 257", "exit status 1", "");
    desk.fails("exit -1", "exit status 255", "");
}

#[test]
fn a_hook_that_dies_is_no_answer() {
    let desk = Hostile::new();
    desk.fails("echo '{\"decision\":\"block\"}'; kill -SEGV $$", "ended by signal 11", "");
    desk.fails("echo why >&2; kill -KILL -- -$$", "ended by signal 9", "why");
    desk.fails("no-such-hook 2>/dev/null", "exit status 127", "");
}

#[test]
fn where_the_folder_is_deleted_the_next_hook_cannot_be_started() {
    let desk = Hostile::new();
    let policy = desk.policy(&[("rm -rf \"$PWD\"", None), ("exit 2", None)]);
    let question = Question::Before { tool: "bash", input: &input() };
    let verdict = policy.ask(&question, &Cancel::new());
    let replies: Vec<&Reply> = verdict.ran.iter().map(|ran| &ran.reply).collect();
    let folder = desk.0.work.display();
    let detail = format!("the working directory `{folder}` is not there");
    let failed = Reply::Failed { how: "could not be started".to_owned(), detail };
    assert_eq!(replies, [&Reply::Proceed { context: None }, &failed]);
    assert_eq!(verdict.block(), None);
}

#[test]
fn a_hook_that_reads_nothing_is_not_waited_for() {
    let desk = Hostile::new();
    let large = object! { "command": "x".repeat(4 << 20) };
    assert_eq!(desk.ask("exit 0", None, &large).reply, Reply::Proceed { context: None });
    let ran = desk.ask("exec <&-; echo no >&2; exit 2", None, &large);
    assert_eq!(ran.reply, Reply::Block { reason: "no".to_owned() });
    // And one that does, reads all of it.
    let ran = desk.ask("wc -c >&2; exit 2", None, &large);
    let Reply::Block { reason } = ran.reply else { panic!("{ran:?}") };
    assert!(reason.parse::<usize>().expect("a count") > 4 << 20, "{reason}");
}

#[test]
fn a_run_that_is_cancelled_hears_no_more_of_its_hooks() {
    let desk = Hostile::new();
    let begun = desk.note("begun");
    assert!(Command::new("mkfifo").arg(&begun).status().expect("mkfifo").success());
    let first = "echo $$ >\"$HOME/group\"; echo >\"$HOME/begun\"; sleep 60; exit 2";
    let policy = desk.policy(&[(first, Some(60_000)), ("touch \"$HOME/second\"; exit 2", None)]);
    let cancel = Cancel::new();
    let watch = Stopwatch::start();
    let verdict = std::thread::scope(|scope| {
        let input = input();
        let (policy, cancel) = (&policy, &cancel);
        let asked = scope
            .spawn(move || policy.ask(&Question::Before { tool: "bash", input: &input }, cancel));
        fs::read(&begun).expect("it has begun");
        cancel.cancel();
        asked.join().expect("a verdict")
    });
    not_waited(watch);
    let replies: Vec<&Reply> = verdict.ran.iter().map(|ran| &ran.reply).collect();
    assert_eq!(replies, [&Reply::Cancelled]);
    assert_eq!((verdict.block(), verdict.warnings().count()), (None, 0));
    assert!(!desk.note("second").exists());
    nobody_is_left(&desk.read("group"));
}
