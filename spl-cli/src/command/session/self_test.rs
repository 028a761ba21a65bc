//! A sample event, fed through the installed command line as a harness does it.
//!
//! The command is the one in the settings with one more variable at its end, a home of its own, so
//! that nothing of it comes into the store.

use std::fs::{self, File};
use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use spl::canon::{Limits, Object, Value, parse};
use spl::engine::Home;
use spl::object;
use spl::time::Stopwatch;

use super::super::doctor::Check;
use super::command_line::{HOME, quoted};
use super::harness::Harness;
use super::history::History;
use crate::home;
use crate::output::cut;

const NAME: &str = "self-test";

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Feeds a sample event through a command line.
pub(super) fn self_test(harness: Harness, command: &str) -> Check {
    match tried(harness, command) {
        Ok(check) => check,
        Err(error) => Check::warn(NAME, format!("it could not be tried: {error}")),
    }
}

fn tried(harness: Harness, command: &str) -> io::Result<Check> {
    let folder = tempfile::tempdir()?;
    let place = folder.path();
    let home = Home::at(place.join("home"));
    home.initialise(&home::login()).map_err(io::Error::other)?;
    let line = format!("{command} --env {HOME}={}", quoted(&home.path().display().to_string()));
    fs::write(place.join("event"), Value::from(sample(harness, place)).to_string())?;
    let took = Stopwatch::start();
    let Some(status) = run(&line, place)? else {
        let seconds = PATIENCE.as_secs();
        return Ok(Check::fail(NAME, format!("no answer within {seconds} s"))
            .hint("The harness waits no longer either, and goes on without the lessons."));
    };
    let took = took.elapsed().as_millis();
    let said = String::from_utf8_lossy(&fs::read(place.join("stderr"))?).into_owned();
    let said = said.lines().find(|line| !line.trim().is_empty()).map(|line| cut(line.trim(), 300));
    if !status.success() {
        let said = said.map(|said| format!(": {said}")).unwrap_or_default();
        return Ok(Check::fail(NAME, format!("the command ended with {status}{said}"))
            .hint("Run `spl session install-hooks` again if the program has moved."));
    }
    let printed = fs::read(place.join("stdout"))?;
    let blank = printed.iter().all(u8::is_ascii_whitespace);
    if !blank && !matches!(parse(&printed, Limits::DOOR), Ok(Value::Object(_))) {
        return Ok(Check::fail(NAME, "the command printed something else than one JSON object")
            .hint("A harness takes that for nothing, or shows it to the person."));
    }
    if let Some(said) = said {
        return Ok(Check::warn(NAME, format!("the command complained: {said}")));
    }
    Ok(match History::of(&home, harness, None) {
        Ok(history) if history.since > 0 => {
            Check::pass(NAME, format!("a sample event was recorded and answered in {took} ms"))
        }
        _ => Check::warn(NAME, "the command answered a sample event, and recorded nothing")
            .hint("Look whether the command starts the `spl` that you mean."),
    })
}

/// Runs a line in a shell. Returns nothing if it takes too long; then it is ended.
fn run(line: &str, place: &Path) -> io::Result<Option<ExitStatus>> {
    let mut child = Command::new("/bin/sh")
        .args(["-c", line])
        .current_dir(place)
        .process_group(0)
        .stdin(Stdio::from(File::open(place.join("event"))?))
        .stdout(Stdio::from(File::create(place.join("stdout"))?))
        .stderr(Stdio::from(File::create(place.join("stderr"))?))
        .spawn()?;
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let (ended, end) = mpsc::channel();
    let waiter = thread::spawn(move || ended.send(child.wait()));
    let status = end.recv_timeout(PATIENCE).ok().transpose()?;
    if status.is_none()
        && let Some(group) = group
    {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = waiter.join();
    Ok(status)
}

/// An event as the harness sends it: a call of a shell that has gone well.
fn sample(harness: Harness, place: &Path) -> Object {
    let mut event = object! {
        "cwd": place.display().to_string(),
        "hook_event_name": if harness == Harness::Gemini { "AfterTool" } else { "PostToolUse" },
        "session_id": "spl-session-doctor",
        "tool_input": object! { "command": "true" },
        "tool_name": "Bash",
        "tool_response": "",
        "tool_use_id": "call_1",
    };
    let more = match harness {
        Harness::Claude => object! {
            "tool_response": object! { "interrupted": false, "stderr": "", "stdout": "" },
        },
        Harness::Codex => object! { "turn_id": "turn_1" },
        Harness::Gemini | Harness::Qwen => object! {
            "timestamp": "2026-11-30T09:00:00.000Z",
            "tool_name": "run_shell_command",
            "tool_response": object! { "llmContent": "Output: (empty)", "returnDisplay": "" },
        },
        Harness::Opencode => object! {
            "hook_event_name": "tool.execute.after",
            "tool_name": "bash",
            "tool_response": object! { "metadata": object! { "exit": 0 }, "output": "" },
        },
    };
    event.extend(more);
    event
}
