//! The tools of a run: real commands, real files.

#[path = "tool/group.rs"]
mod group;
#[path = "tool/script.rs"]
mod script;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use spl::canon::{Object, Value};
use spl::hook::CONTENT_CHARS;
use spl::object;
use spl::time::Stopwatch;
use spl::tool::{
    Answer, BashTool, Cancel, Grants, SHOWN_BYTES, Status, Surroundings, Tool, ToolSpec, Toolbox,
    Workspace,
};
use tempfile::TempDir;

use crate::group::{NOT_WAITED, members, not_waited};

/// A workspace beside a file that is not in it.
struct Desk {
    outside: TempDir,
    toolbox: Toolbox,
}

impl Desk {
    fn new() -> Self {
        Self::with_environment(&[])
    }

    fn with_environment(environment: &[(&str, &str)]) -> Self {
        let outside = TempDir::new().expect("a directory");
        fs::create_dir(outside.path().join("work")).expect("a workspace");
        fs::write(outside.path().join("secret.txt"), "not yours").expect("a file");
        let workspace = Workspace::open(outside.path().join("work")).expect("a workspace");
        let environment = [("PATH", "/usr/local/bin:/usr/bin:/bin")].iter().chain(environment);
        let environment = environment.map(|(name, value)| ((*name).into(), (*value).into()));
        let environment: Vec<(String, String)> = environment.collect();
        Self { toolbox: Toolbox::of_workspace(&workspace, environment), outside }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.outside.path().join("work").join(name)
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::create_dir_all(self.path(name).parent().expect("a parent")).expect("directories");
        fs::write(self.path(name), content).expect("a file");
    }

    fn call(&self, tool: &str, arguments: &Object) -> Answer {
        self.toolbox.call(tool, arguments, &Cancel::new())
    }

    fn bash(&self, command: &str) -> Answer {
        self.call("bash", &object! { "command": command })
    }

    fn bash_for(&self, command: &str, timeout_secs: u64) -> Answer {
        self.call("bash", &object! { "command": command, "timeout_secs": timeout_secs })
    }

    fn read(&self, path: &str) -> Answer {
        self.call("read_file", &object! { "path": path })
    }

    fn list(&self, path: &str) -> Answer {
        self.call("list_dir", &object! { "path": path })
    }

    fn search(&self, pattern: &str) -> Answer {
        self.call("search", &object! { "pattern": pattern })
    }
}

#[track_caller]
fn ok(answer: &Answer, shown: &str) {
    assert_eq!((answer.status, answer.shown.as_str()), (Status::Ok, shown));
}

#[track_caller]
fn error(answer: &Answer, shown: &str) {
    assert_eq!((answer.status, answer.shown.as_str()), (Status::Error, shown));
}

#[track_caller]
fn error_with(answer: &Answer, part: &str) {
    assert_eq!(answer.status, Status::Error, "{}", answer.shown);
    assert!(answer.shown.contains(part), "{}", answer.shown);
}

fn member(answer: &Answer, name: &str) -> Value {
    answer.data.as_ref().and_then(|data| data.get(name)).expect(name).clone()
}

// The toolbox

#[test]
fn a_box_keeps_what_was_granted() {
    let mut toolbox = Desk::new().toolbox;
    let grants = |text| Grants::parse(text).expect("grants");
    let error = toolbox.grant(&grants("bash,read")).expect_err("no such tool");
    assert_eq!(
        error.to_string(),
        "there is no tool `read`; \
         there are `bash`, `read_file`, `write_file`, `list_dir`, `search`"
    );
    assert_eq!(toolbox.specs().count(), 5);
    toolbox.grant(&grants("search, read_*")).expect("granted");
    let names: Vec<&str> = toolbox.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["read_file", "search"]);
}

#[test]
fn tools_stand_in_the_order_of_their_introduction() {
    let desk = Desk::new();
    let names: Vec<&str> = desk.toolbox.specs().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["bash", "read_file", "write_file", "list_dir", "search"]);
    let bash = desk.toolbox.specs().next().expect("bash").parameters.to_string();
    assert!(bash.contains(r#""required":["command"]"#), "{bash}");
}

#[test]
fn a_tool_that_is_not_there_is_an_answer() {
    error(
        &Desk::new().call("grep", &Object::new()),
        "there is no tool `grep`; \
         there are `bash`, `read_file`, `write_file`, `list_dir`, `search`",
    );
    error(
        &Toolbox::new().call(&"x\n".repeat(100), &Object::new(), &Cancel::new()),
        &format!("there is no tool `{}`, nor any other", r"x\n".repeat(32)),
    );
}

#[test]
fn arguments_that_do_not_fit_are_named_with_those_that_would() {
    let desk = Desk::new();
    let takes = "it takes `command` (string), `timeout_secs` (integer, optional)";
    for (arguments, what) in [
        (object! { "cmd": "ls" }, "`bash` does not take `cmd`"),
        (object! { "command": "ls", "cwd": "/" }, "`bash` does not take `cwd`"),
        (object! {}, "`bash` needs `command`"),
        (object! { "command": 7 }, "`command` must be string, not number"),
        (
            object! { "command": "ls", "timeout_secs": "9" },
            "`timeout_secs` must be integer, not string",
        ),
        (
            object! { "command": "ls", "timeout_secs": Value::from_float(1.5) },
            "`timeout_secs` must be integer, not number",
        ),
        (object! { "command": "ls", "timeout_secs": 0 }, "`timeout_secs` must be at least 1"),
        (object! { "command": "ls", "timeout_secs": 601 }, "`timeout_secs` must be at most 600"),
    ] {
        error(&desk.call("bash", &arguments), &format!("{what}; {takes}"));
    }
}

struct Chosen(ToolSpec);

impl Tool for Chosen {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    fn call(&self, arguments: &Object, _: &Cancel) -> Answer {
        Answer::ok(Value::Object(arguments.clone()).to_string())
    }
}

fn chosen(name: &str) -> Box<dyn Tool> {
    let way =
        object! { "type": vec!["string", "null"], "enum": vec![Value::from("up"), Value::Null] };
    Box::new(Chosen(ToolSpec::new(name, "Goes up.", object! { "way": way }, &["way"])))
}

#[test]
fn tools_of_others_are_checked_like_ours_and_cannot_take_a_name() {
    let mut desk = Desk::new();
    assert_eq!(
        desk.toolbox.add(chosen("bash")).map_err(|taken| taken.to_string()),
        Err("there is a tool `bash` already".to_owned())
    );
    desk.toolbox.add(chosen("go")).expect("a free name");
    ok(&desk.call("go", &object! { "way": "up" }), r#"{"way":"up"}"#);
    ok(&desk.call("go", &object! { "way": Value::Null }), r#"{"way":null}"#);
    error(
        &desk.call("go", &object! { "way": "down" }),
        r#"`way` must be one of "up", null; it takes `way` (string or null)"#,
    );
    desk.toolbox.retain(|name| name == "go");
    error_with(&desk.bash("true"), "there is no tool `bash`; there are `go`");
}

// bash

#[test]
fn a_command_runs_in_the_workspace_and_both_streams_arrive_in_order() {
    let desk = Desk::new();
    let answer = desk.bash("pwd; echo one; echo two >&2; echo three; cat");
    let path = desk.path("").canonicalize().expect("the workspace");
    ok(&answer, &format!("{}\none\ntwo\nthree\n", path.display()));
    assert_eq!(answer.head, answer.shown);
    assert_eq!(member(&answer, "exit_status"), Value::from(0));
    assert!(!answer.empty);
    ok(&desk.bash("true"), "");
    ok(&desk.bash("[[ a == a* ]] && echo it is bash"), "it is bash\n");
}

#[test]
fn a_command_that_fails_says_how_on_its_last_line() {
    let desk = Desk::new();
    error(&desk.bash("exit 2"), "[exit status 2]");
    error(&desk.bash("echo out; false"), "out\n[exit status 1]");
    error(&desk.bash("printf out; exit 255"), "out\n[exit status 255]");
    error(&desk.bash("kill -9 $$"), "[killed by signal 9]");
    error_with(&desk.bash("no-such-command-here"), "[exit status 127]");
    error_with(&desk.bash("a\0b"), "the command cannot be started");
    error_with(&desk.bash(&"x".repeat(4 * 1024 * 1024)), "the command cannot be started");
}

#[test]
fn a_workspace_that_is_gone_is_an_answer() {
    let desk = Desk::new();
    fs::remove_dir(desk.path("")).expect("no workspace");
    error_with(&desk.bash("true"), "the command cannot be started");
}

#[test]
fn nothing_but_the_allowed_environment_reaches_a_command() {
    let desk = Desk::with_environment(&[
        ("HOME", "/nowhere"),
        ("LC_ALL", "C"),
        ("SPL_TOKEN", "leak"),
        ("SYNCROPEL_HOME", "leak"),
        ("ANTHROPIC_API_KEY", "leak"),
        ("OPENAI_API_KEY", "leak"),
        ("BASH_ENV", "/leak"),
        ("LD_PRELOAD", "/leak"),
    ]);
    let shown = desk.bash("env | sort").shown;
    let names: Vec<&str> = shown.lines().filter_map(|line| line.split('=').next()).collect();
    // PWD, SHLVL and _ are the shell's own.
    assert_eq!(names, ["HOME", "LC_ALL", "PATH", "PWD", "SHLVL", "_"]);
}

#[test]
fn a_command_that_takes_too_long_is_killed_with_all_it_started() {
    let desk = Desk::new();
    let watch = Stopwatch::start();
    let answer = desk.bash_for("sleep 60 & echo $!; echo started; wait", 1);
    not_waited(watch);
    error_with(&answer, "started\n[killed after 1 s]");
    assert_eq!(member(&answer, "timed_out"), Value::Bool(true));
    // It is gone, or dead and not yet collected by whoever inherited it; a signal that is sent may
    // take a moment to be delivered.
    let pid = answer.shown.lines().next().expect("a process id");
    let status = || fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let gone = |status: &str| status.is_empty() || status.contains("State:\tZ");
    while !gone(&status()) {
        assert!(watch.elapsed() < NOT_WAITED, "{}", status());
        std::thread::yield_now();
    }
}

#[test]
fn a_command_that_ignores_the_polite_signal_is_killed_too() {
    let watch = Stopwatch::start();
    let answer = Desk::new().bash_for("trap '' TERM; echo deaf; while :; do sleep 60; done", 1);
    not_waited(watch);
    error(&answer, "deaf\n[killed after 1 s]");
}

/// To close its output is not to end, neither when it goes on to end by itself nor when it does not.
#[test]
fn a_command_that_closes_its_output_is_waited_for() {
    let desk = Desk::new();
    let answer = desk.bash("echo first; exec >&- 2>&-; touch went-on; exit 3");
    error(&answer, "first\n[exit status 3]");
    assert!(desk.path("went-on").exists());
    let watch = Stopwatch::start();
    error(&desk.bash_for("exec >&- 2>&-; trap '' TERM; sleep 60", 1), "[killed after 1 s]");
    not_waited(watch);
}

#[test]
fn a_process_left_behind_does_not_delay_the_answer() {
    let desk = Desk::new();
    let watch = Stopwatch::start();
    ok(&desk.bash_for("sleep 60 & echo done", 1), "done\n");
    // Nor does one that never stops writing; it ends as soon as nobody listens.
    let flooded = desk.bash_for("yes & true", 1);
    assert_eq!(flooded.status, Status::Ok);
    assert!(flooded.head.starts_with("y\ny\n"));
    not_waited(watch);
}

#[test]
fn a_process_that_left_the_group_does_not_delay_the_answer() {
    let watch = Stopwatch::start();
    let answer = Desk::new().bash_for("setsid sleep 60 & echo started; wait", 1);
    not_waited(watch);
    error(&answer, "started\n[killed after 1 s]");
}

#[test]
fn what_a_process_writes_soon_after_the_shell_is_shown() {
    ok(&Desk::new().bash("echo late | tee >(cat >&2) > /dev/null"), "late\n");
}

#[test]
fn a_cancelled_command_ends_at_once() {
    let desk = Desk::new();
    let cancel = Cancel::new();
    let watch = Stopwatch::start();
    let answer = std::thread::scope(|scope| {
        let run = scope.spawn(|| {
            let command = object! { "command": "touch started; sleep 60 & wait" };
            desk.toolbox.call("bash", &command, &cancel)
        });
        while !desk.path("started").exists() {
            std::thread::yield_now();
        }
        cancel.cancel();
        run.join().expect("an answer")
    });
    not_waited(watch);
    error(&answer, "[cancelled]");
    // And one that is cancelled beforehand does not start.
    let command = object! { "command": "touch again" };
    error(&desk.toolbox.call("bash", &command, &cancel), "[cancelled]");
    assert!(!desk.path("again").exists());
}

#[test]
fn a_hundred_megabytes_of_nothing_are_cut_to_what_is_shown() {
    let answer = Desk::new().bash("head -c 100000000 /dev/zero; echo end");
    assert_eq!(answer.status, Status::Ok);
    assert!(answer.shown.len() <= SHOWN_BYTES);
    assert_eq!(answer.head, "\0".repeat(CONTENT_CHARS));
    assert!(answer.shown.ends_with("\0end\n"));
    let left_out = 100_000_004 - (answer.shown.len() - "\n[99737908 bytes left out]\n".len());
    assert!(answer.shown.contains(&format!("\n[{left_out} bytes left out]\n")));
    assert_eq!(member(&answer, "bytes"), Value::from(100_000_004));
}

#[test]
fn a_flood_of_deaf_children_is_bounded_and_ends() {
    let watch = Stopwatch::start();
    let flood = "trap '' TERM; for n in 1 2 3 4; do \
        (trap '' TERM; (cat /dev/zero) & cat /dev/zero) & done; echo $$ >shell; wait";
    let desk = Desk::new();
    let answer = desk.bash_for(flood, 1);
    not_waited(watch);
    error_with(&answer, "[killed after 1 s]");
    assert!(answer.shown.len() <= SHOWN_BYTES);
    // Nobody of the group is left.
    let group = fs::read_to_string(desk.path("shell")).expect("a process id");
    while !members(group.trim()).is_empty() {
        assert!(watch.elapsed() < NOT_WAITED, "{:?}", members(group.trim()));
        std::thread::yield_now();
    }
}

#[test]
fn the_exit_status_survives_the_cut() {
    // Whole lines of five bytes, and half an emoji.
    let answer = Desk::new().bash("yes 🦀 | head -c 1000002; exit 3");
    assert!(answer.shown.len() <= SHOWN_BYTES);
    assert!(answer.shown.ends_with("🦀\n\u{fffd}\n[exit status 3]"));
    assert_eq!(answer.head.chars().count(), CONTENT_CHARS);
    assert!(answer.head.starts_with("🦀\n🦀\n"));
}

#[test]
fn output_that_is_not_text_is_shown_as_far_as_it_is() {
    ok(&Desk::new().bash(r"printf 'a\xff\xf0\x9f\xa6\x80\xf0\x9f'"), "a\u{fffd}🦀\u{fffd}");
}

#[test]
fn a_command_reads_what_the_other_tools_wrote() {
    let desk = Desk::new();
    desk.call("write_file", &object! { "path": "a.txt", "content": "hello" });
    ok(&desk.bash("cat a.txt"), "hello");
}

// Files

#[test]
fn a_file_is_written_and_read() {
    let desk = Desk::new();
    let write = |path: &str, content: &str| {
        desk.call("write_file", &object! { "path": path, "content": content })
    };
    ok(&write("new/deep/a.txt", "größer"), "created `new/deep/a.txt`: 8 bytes");
    ok(&desk.read("new/deep/a.txt"), "größer");
    ok(&write("new/deep/../deep/a.txt", "less"), "replaced `new/deep/../deep/a.txt`: 4 bytes");
    ok(&desk.read("./new//deep/a.txt"), "less");
    let absolute = desk.path("new/deep/a.txt");
    ok(&desk.read(absolute.to_str().expect("a path")), "less");
    error(&write("new/deep", "x"), "`new/deep` is a directory");
    error(&write("new/", "x"), "`new/` does not name a file");
    error(&write("new/deep/a.txt/b", "x"), "a part of `new/deep/a.txt/b` is not a directory");
    assert_eq!(fs::read_to_string(absolute).expect("the file"), "less");
}

#[test]
fn reading_what_cannot_be_read_says_why() {
    let desk = Desk::new();
    desk.write("a.txt", "");
    error(&desk.read("b.txt"), "`b.txt` does not exist");
    error(&desk.read("a.txt/b"), "a part of `a.txt/b` is not a directory");
    error(&desk.read(""), "`` is a directory");
    error_with(&desk.read("a\0b"), "cannot be used");
    let empty = desk.read("a.txt");
    ok(&empty, "");
    assert!(empty.empty);
}

#[test]
fn a_long_file_is_read_at_its_two_ends() {
    let desk = Desk::new();
    desk.write("just.txt", "é".repeat(SHOWN_BYTES / 2));
    ok(&desk.read("just.txt"), &"é".repeat(SHOWN_BYTES / 2));
    // A terabyte, of which the disk has only the ends.
    desk.write("long.txt", "start 🦀");
    let file = fs::OpenOptions::new().write(true).open(desk.path("long.txt")).expect("the file");
    file.set_len(1 << 40).expect("a hole");
    drop(file);
    desk.bash("printf '🦀 end' >> long.txt");
    let answer = desk.read("long.txt");
    assert!(answer.shown.len() <= SHOWN_BYTES);
    assert!(answer.shown.starts_with("start 🦀\0") && answer.shown.ends_with("\0🦀 end"));
    assert_eq!(member(&answer, "bytes"), Value::from((1_u64 << 40) + 8));
    let left_out =
        (1_usize << 40) + 8 - (answer.shown.len() - "\n[1099511365696 bytes left out]\n".len());
    assert!(answer.shown.contains(&format!("\n[{left_out} bytes left out]\n")));
}

#[test]
fn the_middle_of_a_long_file_begins_and_ends_at_whole_characters() {
    let desk = Desk::new();
    for before in ["", "a", "ab", "abc"] {
        desk.write("long.txt", format!("{before}{}", "🦀".repeat(200_000)));
        let shown = desk.read("long.txt").shown;
        assert!(!shown.contains('\u{fffd}'), "after {before:?}");
        let (head, rest) = shown.split_once("\n[").expect("a mark");
        let (count, tail) = rest.split_once(" bytes left out]\n").expect("a mark");
        let count: usize = count.parse().expect("a number");
        assert_eq!(head.len() + count + tail.len(), before.len() + 800_000);
    }
}

#[test]
fn nothing_outside_of_the_workspace_is_reached() {
    let desk = Desk::new();
    symlink("../secret.txt", desk.path("file")).expect("a link");
    symlink("..", desk.path("dir")).expect("a link");
    symlink(desk.outside.path(), desk.path("absolute")).expect("a link");
    symlink("dir", desk.path("twice")).expect("a link");
    symlink("loop", desk.path("loop")).expect("a link");
    let outside = desk.outside.path().join("secret.txt");
    let outside = outside.to_str().expect("a path");
    for (path, why) in [
        ("../secret.txt", "leads out of the workspace"),
        ("a/../../secret.txt", "leads out of the workspace"),
        (outside, "is outside of the workspace"),
        ("/etc/passwd", "is outside of the workspace"),
        ("file", "leads out of the workspace"),
        ("dir/secret.txt", "leads out of the workspace"),
        ("absolute/secret.txt", "leads out of the workspace by the link `absolute`"),
        ("twice/secret.txt", "leads out of the workspace"),
        ("loop", "goes through too many links"),
    ] {
        error_with(&desk.read(path), why);
        error_with(&desk.list(path), why);
        error_with(&desk.call("search", &object! { "pattern": "x", "path": path }), why);
        error_with(&desk.call("write_file", &object! { "path": path, "content": "mine" }), why);
    }
    assert_eq!(fs::read_to_string(outside).expect("the file"), "not yours");
    assert_eq!(fs::read_dir(desk.outside.path()).expect("a directory").count(), 2);
}

#[test]
fn a_link_that_turns_outside_while_it_is_followed_leads_nowhere() {
    let desk = Desk::new();
    desk.write("inside.txt", "yours");
    let targets = [desk.path("inside.txt"), desk.outside.path().join("secret.txt")];
    let done = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for target in targets.iter().cycle() {
                if done.load(std::sync::atomic::Ordering::Relaxed) {
                    return;
                }
                symlink(target, desk.path("next")).expect("a link");
                fs::rename(desk.path("next"), desk.path("link")).expect("turned");
            }
        });
        let (mut read, mut written, mut asked) = (0, 0, 0);
        let watch = Stopwatch::start();
        // On a busy machine it may be a while before the link leads inside at all.
        while asked < 300 || (read + written == 0 && watch.elapsed() < NOT_WAITED) {
            asked += 1;
            let answer = desk.read("link");
            assert!(!answer.shown.contains("not yours"), "{}", answer.shown);
            read += u32::from(answer.status == Status::Ok);
            let answer = desk.call("write_file", &object! { "path": "link", "content": "yours" });
            written += u32::from(answer.status == Status::Ok);
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(read + written > 0, "the link was never seen inside");
    });
    let secret = fs::read_to_string(desk.outside.path().join("secret.txt")).expect("a file");
    assert_eq!(secret, "not yours");
}

#[test]
fn links_that_stay_inside_are_followed() {
    let desk = Desk::new();
    desk.write("real/a.txt", "inside");
    symlink("real", desk.path("relative")).expect("a link");
    symlink(desk.path("real"), desk.path("absolute")).expect("a link");
    symlink("../work/real/a.txt", desk.path("around")).expect("a link");
    symlink("../relative/../real/a.txt", desk.path("real/back")).expect("a link");
    symlink("real/new.txt", desk.path("dangling")).expect("a link");
    ok(&desk.read("relative/a.txt"), "inside");
    ok(&desk.read("absolute/a.txt"), "inside");
    ok(&desk.read("real/back"), "inside");
    ok(&desk.list("absolute"), "a.txt\nback -> ../relative/../real/a.txt\n");
    // It comes back, but by way of what is outside.
    error_with(&desk.read("around"), "leads out of the workspace");
    desk.call("write_file", &object! { "path": "dangling", "content": "through" });
    ok(&desk.read("real/new.txt"), "through");
}

#[test]
fn a_workspace_that_is_reached_by_a_link_has_both_names() {
    let desk = Desk::new();
    desk.write("a.txt", "inside");
    let link = desk.outside.path().join("link");
    symlink(desk.path(""), &link).expect("a link");
    let workspace = Workspace::open(&link).expect("a workspace");
    let toolbox = Toolbox::of_workspace(&workspace, Vec::new());
    for path in [link.join("a.txt"), desk.path("").canonicalize().expect("it").join("a.txt")] {
        let path = object! { "path": path.to_str().expect("a path") };
        ok(&toolbox.call("read_file", &path, &Cancel::new()), "inside");
    }
}

#[test]
fn a_workspace_that_is_not_there_is_an_error() {
    let error = Workspace::open(Path::new("/no/such/place")).expect_err("no directory");
    assert_eq!(error.to_string(), "the workspace `/no/such/place` cannot be opened");
    let desk = Desk::new();
    desk.write("a.txt", "");
    assert!(Workspace::open(desk.path("a.txt")).is_err());
}

#[test]
fn pipes_and_devices_do_not_hold_a_run() {
    let desk = Desk::new();
    ok(&desk.bash("mkfifo pipe"), "");
    error(&desk.read("pipe"), "`pipe` is not a regular file");
    error_with(&desk.call("write_file", &object! { "path": "pipe", "content": "x" }), "`pipe`");
    error_with(
        &desk.call("search", &object! { "pattern": "x", "path": "pipe" }),
        "`pipe` is neither",
    );
    desk.write("a.txt", "x");
    ok(&desk.search("x"), "a.txt:1: x\n");
    ok(&desk.list("."), "a.txt\npipe\n");
}

#[test]
fn a_directory_is_listed_in_order() {
    let desk = Desk::new();
    for name in ["b.txt", "a/x", "a-b", "B", ".hidden", "ä"] {
        desk.write(name, "");
    }
    desk.write("two\nlines", "");
    symlink("a", desk.path("link")).expect("a link");
    let answer = desk.call("list_dir", &Object::new());
    ok(&answer, ".hidden\nB\na/\na-b\nb.txt\nlink -> a\ntwo\u{fffd}lines\nä\n");
    assert_eq!(member(&answer, "entries"), Value::from(8));
    ok(&desk.list("a/"), "x\n");
    error(&desk.list("b.txt"), "a part of `b.txt` is not a directory");
    error(&desk.list("c"), "`c` does not exist");
    fs::create_dir(desk.path("void")).expect("a directory");
    let empty = desk.list("void");
    ok(&empty, "[no entries]");
    assert!(empty.empty);
}

#[test]
fn lines_are_found_in_order_and_without_what_is_not_text() {
    let desk = Desk::new();
    desk.write("b/one.rs", "fn a() {}\r\n\nfn b() {}");
    desk.write("a.rs", "let fn_x = 1;\nfn größe() {}\n");
    desk.write("c.bin", b"fn \0 binary");
    desk.write("d.latin1", b"fn caf\xe9\n");
    desk.write(".git/config", "fn hidden\n");
    desk.write("b/.git", "fn hidden\n");
    symlink("a.rs", desk.path("link.rs")).expect("a link");
    let answer = desk.search(r"^fn \w+");
    ok(
        &answer,
        "a.rs:2: fn größe() {}\nb/one.rs:1: fn a() {}\nb/one.rs:3: fn b() {}\n\
         d.latin1:1: fn caf\u{fffd}\n",
    );
    assert_eq!(member(&answer, "hits"), Value::from(4));
    ok(
        &desk.call("search", &object! { "pattern": "b", "path": "b/one.rs" }),
        "b/one.rs:3: fn b() {}\n",
    );
    let none = desk.search("no such thing");
    ok(&none, "[no line matches]\n");
    assert!(none.empty);
    error_with(&desk.search("("), "`pattern` cannot be used");
    error_with(&desk.search("(a{1000}){1000}"), "`pattern` cannot be used");
    error(&desk.call("search", &object! { "pattern": "a", "path": "x" }), "`x` does not exist");
}

#[test]
fn a_search_is_bounded_in_hits_and_in_lines() {
    let desk = Desk::new();
    desk.write("many.txt", "hit\n".repeat(1000));
    let answer = desk.search("hit");
    assert_eq!(answer.shown.lines().count(), 201);
    assert!(answer.shown.ends_with(
        "many.txt:200: hit\n[the first 200 hits; a narrower pattern or path shows others]\n"
    ));
    assert_eq!(member(&answer, "truncated"), Value::Bool(true));
    fs::remove_file(desk.path("many.txt")).expect("no file");
    // One line of 20 MB, on which a search that goes back and forth would not end.
    desk.write("long.txt", format!("{}needle\nafter needle", "a".repeat(20_000_000)));
    let answer = desk.search("(a*)*needle");
    let lines: Vec<&str> = answer.shown.lines().collect();
    assert_eq!(lines.len(), 2, "{}", answer.shown.len());
    assert!(lines[0].starts_with("long.txt:1: aaa") && lines[0].ends_with(" …"));
    assert_eq!(lines[1], "long.txt:2: after needle");
}

#[test]
fn a_cancelled_search_ends() {
    let desk = Desk::new();
    desk.write("a.txt", "x");
    let cancel = Cancel::new();
    cancel.cancel();
    error(&desk.toolbox.call("search", &object! { "pattern": "x" }, &cancel), "[cancelled]");
}

#[test]
fn a_tool_that_is_called_without_a_check_does_not_fail() {
    let desk = Desk::new();
    let workspace = Workspace::open(desk.path("")).expect("a workspace");
    let bash = BashTool::new(workspace, Surroundings::default());
    error(&bash.call(&Object::new(), &Cancel::new()), "`command` must be a string");
}
