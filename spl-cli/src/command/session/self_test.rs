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
use spl::session::{self, Event, Payload, refusal};
use spl::time::Stopwatch;

use super::super::doctor::Check;
use super::command_line::{HOME, decides, quoted};
use super::harness::Harness;
use super::history::History;
use crate::home;
use crate::output::cut;

const NAME: &str = "self-test";

/// How long the command may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// What a policy hook says that refuses the sample.
const REASON: &str = "a sample call, refused by a sample policy hook";

/// Feeds a sample event through a command line: a call that has gone well, or where policy hooks
/// decide, one that is to be made and that a hook of the test's own refuses.
pub(super) fn self_test(harness: Harness, command: &str) -> Check {
    let tried = if decides(command) {
        Tried::with(harness, command, before(harness)).map(|tried| tried.and_then(Tried::refused))
    } else {
        Tried::with(harness, command, after(harness)).map(|tried| tried.and_then(Tried::recorded))
    };
    match tried {
        Ok(Ok(check) | Err(check)) => check,
        Err(error) => Check::warn(NAME, format!("it could not be tried: {error}")),
    }
}

/// A command line that was tried, in a folder of its own, and ended well.
struct Tried {
    harness: Harness,
    event: Object,
    home: Home,
    printed: Vec<u8>,
    took: u128,
    _folder: tempfile::TempDir,
}

impl Tried {
    /// Feeds an event through a command line. What is wrong with how that goes is a check.
    fn with(harness: Harness, command: &str, mut event: Object) -> io::Result<Result<Self, Check>> {
        let folder = tempfile::tempdir()?;
        let place = folder.path();
        let home = Home::at(place.join("home"));
        home.initialise(&home::login()).map_err(io::Error::other)?;
        let settings = place.join(".polyglot/settings.json");
        fs::create_dir(place.join(".polyglot"))?;
        let hook = object! { "command": format!("echo '{REASON}' >&2; exit 2") };
        let hooks = object! { "preToolUse": vec![hook] };
        fs::write(settings, Value::from(object! { "hooks": hooks }).to_string())?;
        event.insert("cwd".into(), place.display().to_string().into());
        fs::write(place.join("event"), Value::from(event.clone()).to_string())?;
        let instance = quoted(&home.path().display().to_string());
        let user = quoted(&place.display().to_string());
        let line = format!("{command} --env {HOME}={instance} --env HOME={user}");
        let took = Stopwatch::start();
        let Some(status) = run(&line, place)? else {
            let seconds = PATIENCE.as_secs();
            return Ok(Err(Check::fail(NAME, format!("no answer within {seconds} s"))
                .hint("The harness waits no longer either, and goes on without the lessons.")));
        };
        let took = took.elapsed().as_millis();
        let said = String::from_utf8_lossy(&fs::read(place.join("stderr"))?).into_owned();
        let said =
            said.lines().find(|line| !line.trim().is_empty()).map(|line| cut(line.trim(), 300));
        if !status.success() {
            let said = said.map(|said| format!(": {said}")).unwrap_or_default();
            return Ok(Err(Check::fail(NAME, format!("the command ended with {status}{said}"))
                .hint("Run `spl session install-hooks` again if the program has moved.")));
        }
        let printed = fs::read(place.join("stdout"))?;
        let blank = printed.iter().all(u8::is_ascii_whitespace);
        if !blank && !matches!(parse(&printed, Limits::DOOR), Ok(Value::Object(_))) {
            let message = "the command printed something else than one JSON object";
            return Ok(Err(Check::fail(NAME, message)
                .hint("A harness takes that for nothing, or shows it to the person.")));
        }
        if let Some(said) = said {
            return Ok(Err(Check::warn(NAME, format!("the command complained: {said}"))));
        }
        Ok(Ok(Self { harness, event, home, printed, took, _folder: folder }))
    }

    fn recorded(self) -> Result<Check, Check> {
        let Self { harness, home, took, .. } = self;
        match History::of(&home, harness, None) {
            Ok(history) if history.since > 0 => Ok(Check::pass(
                NAME,
                format!("a sample event was recorded and answered in {took} ms"),
            )),
            _ => {
                Err(Check::warn(NAME, "the command answered a sample event, and recorded nothing")
                    .hint("Look whether the command starts the `spl` that you mean."))
            }
        }
    }

    fn refused(self) -> Result<Check, Check> {
        let event =
            Event::read(&Payload::of(self.event), session::Harness::parse(self.harness.name()));
        let wanted = event.ok().and_then(|event| refusal(&event, REASON));
        let printed = String::from_utf8_lossy(&self.printed);
        if wanted.is_some_and(|wanted| wanted == printed.trim_end()) {
            let took = self.took;
            let message = format!("a sample call was refused by a sample policy hook in {took} ms");
            return Ok(Check::pass(NAME, message));
        }
        Err(Check::fail(NAME, "a sample call was not refused, though a policy hook said so")
            .hint("Look whether the command starts the `spl` that you mean."))
    }
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

/// An event as the harness sends it: a call of a shell that is to be made.
fn before(harness: Harness) -> Object {
    let [_, name] = harness.decided();
    let mut event = after(harness);
    event.remove("tool_response");
    event.insert("hook_event_name".into(), name.into());
    event
}

/// An event as the harness sends it: a call of a shell that has gone well.
fn after(harness: Harness) -> Object {
    let mut event = object! {
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
