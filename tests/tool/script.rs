//! Scripts that are asked something, most of which mean harm.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use spl::time::Stopwatch;
use spl::tool::{Cancel, Ending, Script, ScriptEnd};
use tempfile::TempDir;

use crate::group::{NOT_WAITED, members, not_waited};

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// More than any script needs here that ends by itself.
const LONG: Duration = Duration::from_mins(1);

/// Enough for a script to have begun.
const SHORT: Duration = Duration::from_secs(1);

/// A folder to run scripts in, and how they are run there.
struct Desk {
    dir: TempDir,
    input: Vec<u8>,
    timeout: Duration,
    most_bytes: usize,
}

impl Desk {
    fn new() -> Self {
        let dir = TempDir::new().expect("a directory");
        Self {
            dir,
            input: b"{\"event\":\"preToolUse\"}\n".to_vec(),
            timeout: LONG,
            most_bytes: 64_000,
        }
    }

    fn within(timeout: Duration) -> Self {
        Self { timeout, ..Self::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Runs a command. The shell writes down its group, and what came of it is printed.
    #[track_caller]
    fn run(&self, command: &str) -> ScriptEnd {
        self.run_until(command, &Cancel::new())
    }

    #[track_caller]
    fn run_until(&self, command: &str, cancel: &Cancel) -> ScriptEnd {
        let watch = Stopwatch::start();
        let command = format!("echo $$ >group; {command}");
        let arguments = ["-c".as_ref(), OsStr::new(&command)];
        let environment = [("PATH".into(), PATH.into())];
        let end = self.script("/bin/bash", &arguments, &environment).run(cancel);
        not_waited(watch);
        println!("{:?} after {:?} of {:?}: {command:.100}", end.ending, end.took, self.timeout);
        end
    }

    fn script<'a>(
        &'a self,
        program: &'a str,
        arguments: &'a [&'a OsStr],
        environment: &'a [(OsString, OsString)],
    ) -> Script<'a> {
        Script {
            program: Path::new(program),
            arguments,
            dir: self.dir.path(),
            environment,
            input: &self.input,
            timeout: self.timeout,
            most_bytes: self.most_bytes,
        }
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect(name).trim().to_owned()
    }

    /// Holds that nobody of the group of the last script is left.
    #[track_caller]
    fn nobody_is_left(&self) {
        let (watch, group) = (Stopwatch::start(), self.read("group"));
        // A busy machine may take its time to let them die.
        while !members(&group).is_empty() {
            assert!(watch.elapsed() < NOT_WAITED, "{:?}", members(&group));
            std::thread::yield_now();
        }
    }

    /// Ends a process that a script has left behind and written down, and holds that it was there.
    #[track_caller]
    fn end(&self, name: &str) {
        let pid = Pid::from_raw(self.read(name).parse().expect("a process id")).expect("an id");
        kill_process(pid, Signal::KILL).expect("it was left alone");
    }
}

#[track_caller]
fn exited(end: &ScriptEnd, status: i32, stdout: impl AsRef<[u8]>, stderr: impl AsRef<[u8]>) {
    let text = |bytes: &[u8]| bytes.escape_ascii().to_string();
    let got = (&end.ending, text(&end.stdout), text(&end.stderr));
    assert_eq!(got, (&Ending::Exited(status), text(stdout.as_ref()), text(stderr.as_ref())));
}

#[track_caller]
fn not_started(end: &ScriptEnd, part: &str) {
    match &end.ending {
        Ending::NotStarted(why) => assert!(why.contains(part), "{why}"),
        other => panic!("{other:?}"),
    }
}

// What goes in and what comes out

#[test]
fn a_script_reads_its_input_and_answers_on_two_streams() {
    let desk = Desk::new();
    exited(
        &desk.run("read -r line; echo \"got $line\"; echo why >&2; pwd; exit 2"),
        2,
        format!(
            "got {{\"event\":\"preToolUse\"}}\n{}\n",
            desk.dir.path().canonicalize().expect("a path").display()
        ),
        "why\n",
    );
}

#[test]
fn a_script_sees_the_variables_it_is_handed_and_no_others() {
    let desk = Desk::new();
    let variable = |name: &str, value: &str| (name.into(), value.into());
    let environment = [variable("A", "1"), variable("B", "two\nlines"), variable("A", "3")];
    let end = desk.script("/usr/bin/env", &["-0".as_ref()], &environment).run(&Cancel::new());
    exited(&end, 0, "A=3\0B=two\nlines\0", "");
}

#[test]
fn bytes_that_are_not_text_arrive_as_they_are() {
    let desk = Desk { input: b"\xff\0\xc3\n".to_vec(), ..Desk::new() };
    let end = desk.run(r"cat; printf '\xf0\x9f\x00' >&2");
    exited(&end, 0, b"\xff\0\xc3\n", b"\xf0\x9f\0");
}

#[test]
fn an_input_larger_than_any_pipe_arrives_whole() {
    for len in [0, 1 << 20, 32 << 20] {
        let desk = Desk { input: vec![b'x'; len], ..Desk::new() };
        exited(&desk.run("wc -c"), 0, format!("{len}\n"), "");
    }
}

#[test]
fn whoever_writes_before_reading_does_not_deadlock() {
    let input = vec![b'i'; 1 << 20];
    let desk = Desk { input: input.clone(), most_bytes: 8 << 20, ..Desk::new() };
    let spill = "head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2";
    let zeros = vec![0; 1_000_000];
    exited(&desk.run(&format!("{spill}; cat >input; exit 7")), 7, &zeros, &zeros);
    assert!(fs::read(desk.path("input")).expect("what it read") == input);
    // Nor does one that reads as it writes.
    exited(&desk.run("tee /dev/stderr"), 0, &input, &input);
}

#[test]
fn whoever_reads_nothing_is_not_waited_for() {
    let desk = Desk { input: vec![b'x'; 32 << 20], ..Desk::new() };
    exited(&desk.run("echo none; exit 2"), 2, "none\n", "");
    exited(&desk.run("exec <&-; echo closed; exit 3"), 3, "closed\n", "");
    exited(&desk.run("head -c 70000 >/dev/null; echo some"), 0, "some\n", "");
}

#[test]
fn a_script_that_closes_its_streams_is_waited_for() {
    let desk = Desk { input: vec![b'x'; 1 << 20], ..Desk::new() };
    exited(&desk.run("echo first; exec >&- 2>&-; wc -c >count; exit 5"), 5, "first\n", "");
    assert_eq!(desk.read("count"), (1 << 20).to_string());
}

/// Its own ends of the pipes let a script take back what it wrote, and fill up what it reads.
#[test]
fn a_script_that_meddles_with_the_pipes_keeps_nobody_waiting() {
    let desk = Desk { input: vec![b'x'; 1 << 20], ..Desk::within(SHORT) };
    let take = "while :; do echo x; read -r _; done </proc/self/fd/1 &";
    let fill = "cat /dev/zero >/proc/self/fd/0 &";
    assert_eq!(desk.run(&format!("{take} {fill} sleep 60")).ending, Ending::TimedOut);
    desk.nobody_is_left();
}

// How it ends

#[test]
fn a_script_ends_with_a_status_or_by_a_signal() {
    let desk = Desk::new();
    assert_eq!(desk.run("exit 258").ending, Ending::Exited(2));
    assert_eq!(desk.run("exit 255").ending, Ending::Exited(255));
    assert_eq!(desk.run("no-such-command").ending, Ending::Exited(127));
    assert_eq!(desk.run("kill -SEGV $$").ending, Ending::Signalled(11));
    assert_eq!(desk.run("kill -KILL -- -$$").ending, Ending::Signalled(9));
}

#[test]
fn what_cannot_be_started_says_why() {
    let desk = Desk::new();
    let run = |program, environment: &[_]| {
        desk.script(program, &["x".as_ref()], environment).run(&Cancel::new())
    };
    not_started(
        &run("/no/such/program", &[]),
        "`/no/such/program` cannot be started: No such file",
    );
    not_started(&run("/etc/passwd", &[]), "`/etc/passwd` cannot be started: Permission denied");
    let large = [(OsString::from("A"), OsString::from("x".repeat(8 << 20)))];
    not_started(&run("/bin/bash", &large), "Argument list too long");
    let end = desk.script("/bin/bash", &["a\0b".as_ref()], &[]).run(&Cancel::new());
    not_started(&end, "nul byte");
}

#[test]
fn a_script_may_delete_where_it_runs_and_the_next_one_does_not_start() {
    let desk = Desk::new();
    exited(&desk.run("rm -rf \"$PWD\"; echo gone"), 0, "gone\n", "");
    let end = desk.run("exit 2");
    not_started(
        &end,
        &format!("the working directory `{}` is not there", desk.dir.path().display()),
    );
}

#[test]
fn each_stream_may_say_so_much_and_not_a_byte_more() {
    let desk = Desk::new();
    let most = vec![0; 64_000];
    let full = "head -c 64000 /dev/zero; head -c 64000 /dev/zero >&2";
    exited(&desk.run(&format!("{full}; exit 2")), 2, &most, &most);
    for more in ["head -c 1 /dev/zero", "head -c 1 /dev/zero >&2"] {
        let end = desk.run(&format!("{full}; {more}; exit 2"));
        assert_eq!(end.ending, Ending::Overflowed);
        assert!(end.stdout == most && end.stderr == most);
    }
}

#[test]
fn a_flood_of_output_is_cut_off_with_all_who_write() {
    let desk = Desk::new();
    for flood in [
        "head -c 1000000000 /dev/zero; sleep 60",
        "head -c 1000000000 /dev/zero >&2; sleep 60",
        "trap '' TERM PIPE; for n in 1 2 3 4; do (cat /dev/zero; sleep 60) & done; wait",
        // Its own end does not hide it.
        "(yes; sleep 60) & exit 2",
    ] {
        let end = desk.run(flood);
        assert_eq!(end.ending, Ending::Overflowed);
        assert!(end.stdout.len() + end.stderr.len() <= 128_000);
        desk.nobody_is_left();
    }
}

// When its time is up

#[test]
fn a_script_is_killed_with_its_group_when_its_time_is_up() {
    let slow = [
        "echo begun; sleep 60",
        "echo begun; sleep 60 & sleep 60 & wait",
        "trap '' TERM INT HUP; echo begun; while :; do sleep 60; done",
        "echo begun; exec >&- 2>&-; sleep 60",
        "echo begun; kill -STOP $$",
        "echo begun; (trap '' TERM; cat /dev/zero >/dev/null) & while :; do :; done",
    ];
    std::thread::scope(|scope| {
        for command in slow {
            scope.spawn(move || {
                let desk = Desk::within(SHORT);
                let end = desk.run(command);
                let got = (end.ending, end.stdout.as_slice());
                assert_eq!(got, (Ending::TimedOut, b"begun\n".as_slice()));
                desk.nobody_is_left();
            });
        }
    });
}

#[test]
fn an_answer_that_is_late_is_none() {
    let desk = Desk::within(SHORT);
    let late = "trap 'echo late; exit 2' TERM; sleep 60 & wait; echo late; exit 2";
    let end = desk.run(late);
    assert_eq!((end.ending, end.stdout), (Ending::TimedOut, Vec::new()));
}

#[test]
fn whoever_has_left_the_group_does_not_delay_the_end() {
    let desk = Desk::within(SHORT);
    let end = desk.run("setsid bash -c 'echo $$ >left; exec sleep 60' & sleep 60");
    assert_eq!(end.ending, Ending::TimedOut);
    desk.nobody_is_left();
    desk.end("left");
}

/// It leads a group, and joins another: that of whoever started it.
#[test]
fn a_script_that_leaves_its_own_group_is_killed_all_the_same() {
    let desk = Desk::within(SHORT);
    let end = desk.run(
        "exec perl -e 'setpgrp(0, getpgrp(getppid())) or die; \
         open(my $f, q(>), q(left)); close($f); sleep 60'",
    );
    assert_eq!(end.ending, Ending::TimedOut);
    if !desk.path("left").exists() {
        println!("not tried: there is no perl, or it did not begin in time");
    }
    assert!(!Path::new("/proc").join(desk.read("group")).exists());
}

// Who stays behind

#[test]
fn a_descendant_that_holds_a_stream_delays_the_answer_by_a_moment() {
    let desk = Desk::new();
    exited(&desk.run("sleep 60 & echo $! >left; echo no; exit 2"), 2, "no\n", "");
    // It was left alone.
    desk.end("left");
    // Nor does one of another group delay it more.
    let left =
        "setsid bash -c 'echo $$ >another; exec sleep 60' & until [ -s another ]; do :; done";
    exited(&desk.run(&format!("{left}; echo no; exit 2")), 2, "no\n", "");
    desk.end("another");
}

#[test]
fn what_a_descendant_writes_right_after_the_script_is_read() {
    exited(&Desk::new().run("echo late | tee >(cat >&2) >/dev/null"), 0, "", "late\n");
}

// Who does not want to know any more

#[test]
fn a_cancelled_script_is_killed_with_its_group() {
    let desk = Desk::new();
    let cancel = Cancel::new();
    let fifo = desk.path("begun");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let end = std::thread::scope(|scope| {
        let run = scope.spawn(|| desk.run_until("echo $$ >begun; sleep 60 & wait", &cancel));
        let mut begun = String::new();
        fs::File::open(&fifo).expect("begun").read_to_string(&mut begun).expect("its group");
        cancel.cancel();
        run.join().expect("an end")
    });
    assert_eq!(end.ending, Ending::Cancelled);
    desk.nobody_is_left();
    // And one that is cancelled beforehand does not begin.
    assert_eq!(desk.run_until("touch again", &cancel).ending, Ending::Cancelled);
    assert!(!desk.path("again").exists());
}

// A fork bomb

/// Runs what follows as a user of its own who may have few processes, the first of a machine that
/// ends with it.
const CELL: &str = "exec unshare --pid --fork --kill-child --mount-proc \
    setpriv --reuid 61234 --regid 61234 --clear-groups prlimit --nproc=100";

#[test]
fn a_fork_bomb_ends_when_its_time_is_up() {
    let can = Command::new("/bin/bash").args(["-c", &format!("{CELL} true")]).output();
    match can.expect("bash") {
        tried if tried.status.success() => {}
        tried => {
            let why = String::from_utf8_lossy(&tried.stderr).into_owned();
            return println!("not tried: no user and process namespace of its own here: {why}");
        }
    }
    let desk = Desk::within(SHORT);
    for bomb in ["b() { b | b; }; b", "b() { b & b; }; b", "b() { (b) & (b) & wait; }; b"] {
        let end = desk.run(&format!("{CELL} bash -c '{bomb}' 2>/dev/null"));
        assert_eq!(end.ending, Ending::TimedOut);
        desk.nobody_is_left();
    }
    // One whose first process ends leaves nobody who could go on.
    let end = desk.run(&format!("{CELL} bash -c 'b() {{ b & b & }}; b; exit 2' 2>/dev/null"));
    assert_eq!(end.ending, Ending::Exited(2));
    desk.nobody_is_left();
}
