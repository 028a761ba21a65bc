//! `bash`

use std::ffi::{OsStr, OsString};
use std::io::{self, PipeReader, pipe};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::arguments::text;
use super::process::{End, Running};
use super::{Answer, Cancel, Clip, Status, Surroundings, Tool, ToolSpec, Workspace};
use crate::canon::{Object, Value};
use crate::object;

/// What runs a command, the first of them that is there.
const SHELLS: [&str; 2] = ["/bin/bash", "/bin/sh"];

/// Waits to be let, and becomes the shell that runs the command; there is no more input then.
const GATE: &str = "read -r _ || exit 125; exec \"$0\" -c \"$1\" </dev/null";

const DEFAULT_SECS: u64 = 120;
const MOST_SECS: u64 = 600;

/// Runs a command in the workspace, with the rights of this process.
///
/// A command may start something that outlives it; that is left alone unless the command is killed.
/// Then its whole group is.
#[derive(Debug)]
pub struct BashTool {
    workspace: Workspace,
    surroundings: Surroundings,
    spec: ToolSpec,
}

impl BashTool {
    /// Returns the tool for commands that start in `workspace`, with these surroundings.
    pub fn new(workspace: Workspace, surroundings: Surroundings) -> Self {
        let spec = ToolSpec::new(
            "bash",
            "Runs a command in the workspace and shows what it writes to stdout and stderr. There \
             is no stdin. Of more than 256 KiB of output the middle is left out.",
            object! {
                "command": object! { "type": "string", "description": "The command, for bash -c." },
                "timeout_secs": object! {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": MOST_SECS,
                    "description": "The seconds after which it is killed; 120 if absent.",
                },
            },
            &["command"],
        );
        Self { workspace, surroundings, spec }
    }

    fn answer(&self, arguments: &Object, cancel: &Cancel) -> Result<Answer, String> {
        let command = text(arguments, "command")?;
        let secs = arguments.get("timeout_secs").and_then(Value::as_u64).unwrap_or(DEFAULT_SECS);
        if cancel.is_cancelled() {
            return Err("[cancelled]".to_owned());
        }
        let started = self.start(command);
        let (child, output) =
            started.map_err(|error| format!("the command cannot be started: {error}"))?;
        let mut clip = Clip::new();
        let timeout = Duration::from_secs(secs.min(MOST_SECS));
        let end = Running::new(child, output).finish(timeout, cancel, &mut clip);
        Ok(rendered(clip, end, secs))
    }

    /// Starts a command that begins once it is let, by a line on its input: not before somebody
    /// watches over it. Whoever dies before that lets it end instead.
    fn start(&self, command: &str) -> io::Result<(Child, PipeReader)> {
        let shell = SHELLS.iter().find(|shell| Path::new(shell).exists()).unwrap_or(&"/bin/sh");
        let (output, input) = pipe()?;
        let words = ["/bin/sh", "-c", GATE, shell, command];
        let mut words =
            self.surroundings.through.iter().map(OsString::as_os_str).chain(words.map(OsStr::new));
        let child = Command::new(words.next().unwrap_or_default())
            .args(words)
            .current_dir(self.workspace.path())
            .env_clear()
            .envs(self.surroundings.variables.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            // One pipe for both, so that they arrive in the order in which they were written.
            .stdout(input.try_clone()?)
            .stderr(input)
            .process_group(0)
            .spawn()?;
        Ok((child, output))
    }
}

impl Tool for BashTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn call(&self, arguments: &Object, cancel: &Cancel) -> Answer {
        self.answer(arguments, cancel).unwrap_or_else(Answer::error)
    }
}

fn rendered(mut clip: Clip, end: End, secs: u64) -> Answer {
    let data = object! {
        "bytes": clip.len(),
        "exit_status": match end { End::Exited(code) => Some(code), _ => None },
        "signal": match end { End::Signalled(signal) => Some(signal), _ => None },
        "timed_out": end == End::TimedOut,
    };
    let last_line = match end {
        End::Exited(0) => return clip.into_answer(Status::Ok).with_data(data),
        End::Exited(code) => format!("[exit status {code}]"),
        End::Signalled(signal) => format!("[killed by signal {signal}]"),
        End::TimedOut => format!("[killed after {secs} s]"),
        End::Cancelled => "[cancelled]".to_owned(),
    };
    clip.end_line();
    clip.push(&last_line);
    clip.into_answer(Status::Error).with_data(data)
}
