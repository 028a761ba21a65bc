//! Work loops, and lessons that reach them while they run.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::terminal::{Terminal, assert_session};

const SCRIPT: &str = r#"{"turns":[
    {"text":"I try.","tool_calls":[{"name":"bash","args":{"command":"false"}}]},
    {"text":"I try again.","tool_calls":[{"name":"bash","args":{"command":"false x"}}],
     "wait_for":"go"},
    {"text":"I stop.","tool_calls":[{"name":"bash","args":{"command":"true"}}]},
    {"text":"That is all."}
]}"#;

/// Writes a hook from another process while a loop waits between two turns, and returns what the
/// loop says from there on.
fn taught_while_running(terminal: &Terminal) -> String {
    terminal.write("script.json", SCRIPT);
    let mut command = terminal.spl(&[
        "work-loop",
        "try",
        "--script",
        "script.json",
        "--workspace",
        ".",
        "-o",
        "stream-json",
    ]);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
    let mut lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let returned = |line: &String| line.contains("\"object\":\"tool_result\"");
    let before: Vec<String> =
        lines.by_ref().map(|line| line.expect("read")).take_while(|line| !returned(line)).collect();
    assert!(before.iter().any(|line| line.contains("I try.")), "{before:?}");
    terminal.does(
        "spl hook add shell-failed --when 'record.body.status != \"ok\"' --text 'read ${tool}'",
    );
    terminal.write("go", "");
    let after: Vec<String> = lines.map(|line| line.expect("read")).collect();
    assert!(child.wait().expect("ended").success(), "{after:?}");
    after.join("\n")
}

#[test]
fn a_running_loop_hears_another_process_without_a_server() {
    let terminal = Terminal::with_instance();
    let said = taught_while_running(&terminal);
    assert_eq!(said.matches("\"text\":\"read bash\"").count(), 1, "{said}");
    terminal.does("spl verify");
}

#[test]
fn a_running_loop_hears_another_process_with_a_server() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let said = taught_while_running(&terminal);
    assert_eq!(said.matches("\"text\":\"read bash\"").count(), 1, "{said}");
    assert!(terminal.does("spl hook show shell-failed").contains("spoke 1"));
    terminal.does("spl serve --stop && spl verify");
}

#[test]
fn a_loop_is_shown_as_it_happens() {
    let mut terminal = Terminal::with_instance();
    terminal.write("script.json", &SCRIPT.replace(",\n     \"wait_for\":\"go\"", ""));
    terminal.does("spl hook add quiet --when 'record.body.status == \"error\"' --text t --max 1");
    terminal.session(&[
        "spl work-loop 'try twice' --script script.json --workspace .",
        "spl work-loop 'say it' --echo --workspace .",
        "spl -o json work-loop 'say it' --echo --workspace .",
        "spl work-loop 'say it' --echo --workspace . --max-turns 0",
        "spl work-loop 'say it' --workspace .",
        "spl work-loop 'say it' --script missing.json --workspace .",
        "spl work-loop 'say it' --script script.json --workspace nowhere",
        "echo '{}' >empty.json; spl work-loop 'say it' --script empty.json --workspace .",
    ]);
    assert_session!(terminal);
}

/// What was told to end by anything but a key left its command running, and its run without an end.
#[test]
fn a_loop_that_is_told_to_end_ends_in_order() {
    for signal in ["INT", "TERM", "HUP"] {
        let terminal = Terminal::with_instance();
        terminal.write(
            "script.json",
            r#"{"turns":[{"tool_calls":[{"name":"bash","args":{"command":"echo $$ >pipe; sleep 600"}}]}]}"#,
        );
        terminal.does("mkfifo pipe");
        let mut command =
            terminal.spl(&["work-loop", "wait", "--script", "script.json", "--workspace", "."]);
        let child = command.stdout(Stdio::piped()).spawn().expect("started");
        let bash = std::fs::read_to_string(terminal.path("pipe")).expect("the command runs");
        terminal.does(&format!("kill -{signal} {}", child.id()));
        let output = child.wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(1), "{signal}");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(said.contains("cancelled"), "{signal}: {said}");
        assert_ne!(terminal.quietly(&format!("kill -0 {bash}")).status, 0, "{signal}");
        let thread = said.lines().next().and_then(|line| line.strip_prefix("loop "));
        let records = terminal.does(&format!("spl thread records {}", thread.expect("a thread")));
        assert!(records.contains("core.work.loop_outcome.v1: cancelled"), "{records}");
    }
}

/// Whoever starts a loop with `nohup` wants it to go on without a terminal.
#[test]
fn a_loop_under_nohup_outlives_its_terminal() {
    let terminal = Terminal::with_instance();
    terminal.write(
        "script.json",
        r#"{"turns":[{"tool_calls":[{"name":"bash","args":{"command":"echo $$ >pipe; cat pipe"}}]}]}"#,
    );
    terminal.does("mkfifo pipe");
    let mut command = terminal.program("nohup");
    command.args([env!("CARGO_BIN_EXE_spl"), "work-loop", "wait", "--script", "script.json"]);
    command.args(["--workspace", "."]).stdin(Stdio::null()).stderr(Stdio::null());
    let child = command.stdout(Stdio::piped()).spawn().expect("started");
    std::fs::read(terminal.path("pipe")).expect("the command runs");
    terminal.does(&format!("kill -HUP {}", child.id()));
    terminal.write("pipe", "go on");
    let output = child.wait_with_output().expect("ended");
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_demo_tells_the_whole_story() {
    let mut terminal = Terminal::new();
    terminal.write("README.md", "a project\n");
    let finished = terminal.run("spl demo");
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    let _ = terminal.run("ls -A");
    assert_session!(terminal);
}

/// As JSON, the demo printed the story before its answer, with the colours of a terminal in it.
#[test]
fn the_demo_is_one_object_or_lines_without_colours() {
    let terminal = Terminal::new();
    let answer = terminal.does("spl demo -o json");
    assert!(answer.starts_with("{\"object\":\"demo\""), "{answer}");
    assert_eq!(answer.lines().count(), 1, "{answer}");
    let story = terminal.does("spl demo -o stream-json");
    assert!(story.lines().count() > 10 && story.ends_with(&answer), "{story}");
    assert!(!story.contains("\\u001b"), "{story}");
}
