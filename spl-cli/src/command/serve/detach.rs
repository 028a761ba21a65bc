//! A server in the background.
//!
//! The command starts itself again, and reads what the new process prints: the one JSON object of a
//! server that answers, or of a failure. The new process closes its output right after that, so
//! waiting for its end is waiting until the server answers, and no time is guessed.

use std::fs::{File, OpenOptions};
use std::io::{Read as _, Write};
use std::os::unix::fs::OpenOptionsExt as _;
use std::process::{Command, Stdio};

use spl::canon::{Limits, Object, Value, parse};

use super::super::WELL;
use super::ServeArgs;
use crate::bootstrap::{self, Secret};
use crate::failure::{Exit, Failure};
use crate::output::GOOD;
use crate::session::Session;

/// Starts a server in the background, and returns when it answers.
pub(super) fn start(
    session: &mut Session,
    args: &ServeArgs,
    secret: Option<&Secret>,
) -> Result<u8, Failure> {
    let home = super::made(secret)?;
    let failed = |what: &'static str| move |error: std::io::Error| Failure::local(what, &error);
    let log = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(home.log_path())
        .map_err(failed("the log could not be opened"))?;
    let program = std::env::current_exe().map_err(failed("this program could not be found"))?;
    let mut command = Command::new(program);
    command
        .args(["serve", "--detached", "--output", "json"])
        .args(passed_on(args)?)
        .env("SYNCROPEL_HOME", home.path())
        .current_dir(home.path())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log);
    if let Some(secret) = secret {
        let input =
            secret.as_input().map_err(failed("the bootstrap token could not be handed on"))?;
        command.arg(bootstrap::FLAG).stdin(input);
    }
    let mut child = command.spawn().map_err(failed("the server could not be started"))?;
    let mut said = Vec::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_end(&mut said).map_err(failed("the server could not be heard"))?;
    }
    match parse(said.trim_ascii(), Limits::STORED) {
        Ok(Value::Object(server)) if is_server(&server) => {
            session.out.answer(&server, |out| show(&server, out))?;
            if server.get("socket").is_none_or(|socket| *socket == Value::Null) {
                super::warn_of_missing_socket(&home);
            }
            Ok(WELL)
        }
        said => {
            let _ = child.wait();
            Err(match said {
                Ok(said @ Value::Object(_)) => Failure::sent(500, said),
                _ => {
                    Failure::new(Exit::Error, "NOT_STARTED", "the server ended before it answered")
                        .with_hint("See `spl serve --logs --no-follow`.")
                }
            })
        }
    }
}

fn is_server(said: &Object) -> bool {
    said.get("object").and_then(Value::as_str) == Some("server")
}

fn show(server: &Object, out: &mut dyn Write) -> std::io::Result<()> {
    let url = server.get("url").and_then(Value::as_str).unwrap_or_default();
    let pid = server.get("pid").and_then(Value::as_u64).unwrap_or_default();
    writeln!(out, "{GOOD}✓{GOOD:#} listening at {url} (pid {pid})")
}

/// Returns the arguments that the process in the background is given too.
fn passed_on(args: &ServeArgs) -> Result<Vec<String>, Failure> {
    let mut passed = Vec::new();
    if let Some(host) = &args.host {
        passed.extend(["--host".into(), host.clone()]);
    }
    if let Some(port) = args.port {
        passed.extend(["--port".into(), port.to_string()]);
    }
    if let Some(store) = &args.store {
        // It works in another folder.
        let path = std::path::absolute(super::path_of(store))
            .map_err(|error| Failure::local(format!("`{store}` is not a path"), &error))?;
        passed.extend(["--store".into(), path.to_string_lossy().into_owned()]);
    }
    if args.insecure_localhost {
        passed.push("--insecure-localhost".into());
    }
    passed.extend(args.runs.passed_on()?);
    Ok(passed)
}

/// Leaves the terminal: its signals and its end are nothing to this process from now on.
pub(super) fn leave_terminal() -> Result<(), Failure> {
    rustix::process::setsid()
        .map(drop)
        .map_err(|error| Failure::local("the terminal could not be left", &error))
}

/// Closes the output, on which the starting process waits.
pub(super) fn let_go() -> Result<(), Failure> {
    let nothing = File::options().write(true).open("/dev/null");
    nothing
        .and_then(|nothing| Ok(rustix::stdio::dup2_stdout(nothing)?))
        .map_err(|error| Failure::local("the output could not be closed", &error))
}
