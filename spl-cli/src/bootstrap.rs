//! `SPL_BOOTSTRAP_TOKEN`: read once, and gone before anything else runs.
//!
//! Whatever stood in the environment when a program began can be read off its process for as long as
//! that lives (`/proc/<pid>/environ`), and everything that it starts inherits it; to take a variable
//! out changes neither what is shown nor is it safe beside threads. So the program becomes itself once
//! more, without the variable. A server is handed the value by a pipe, which is its standard input
//! until it has read it; every other command goes without.
//!
//! What has started this program still has the variable in its own environment.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};

use spl::http::BootstrapToken;

use crate::failure::Failure;
use crate::output;

const VARIABLE: &str = "SPL_BOOTSTRAP_TOKEN";

/// The flag of a server that finds the token on its standard input.
pub(crate) const FLAG: &str = "--bootstrap-on-stdin";

/// The token as it is handed on: it has been checked, and is not shown.
#[derive(Clone)]
pub(crate) struct Secret(String);

impl Secret {
    /// Returns what a server needs of it.
    pub(crate) fn token(&self) -> Option<BootstrapToken> {
        BootstrapToken::parse(&self.0)
    }

    /// Returns a standard input with it.
    pub(crate) fn as_input(&self) -> std::io::Result<Stdio> {
        let (reader, mut writer) = std::io::pipe()?;
        // It is shorter than any pipe holds.
        writer.write_all(self.0.as_bytes())?;
        Ok(reader.into())
    }
}

/// Makes this process one without the variable, if it has it. Does not return then, unless it fails.
///
/// `serves` says whether the command line runs or starts a server.
pub(crate) fn shed(serves: bool) -> Result<(), Failure> {
    let Some(value) = std::env::var_os(VARIABLE) else { return Ok(()) };
    let failed =
        |error: std::io::Error| Failure::local(format!("{VARIABLE} could not be put away"), &error);
    let mut again = Command::new(std::env::current_exe().map_err(failed)?);
    let mut line = std::env::args_os();
    if let Some(name) = line.next() {
        again.arg0(name);
    }
    again.args(line).env_remove(VARIABLE);
    if serves && !value.is_empty() {
        match value.into_string().ok().filter(|token| BootstrapToken::parse(token).is_some()) {
            Some(token) => {
                again.arg(FLAG).stdin(Secret(token).as_input().map_err(failed)?);
            }
            None => output::warn(&format!(
                "{VARIABLE} must be 16 to 256 printable ASCII characters; it is not used"
            )),
        }
    }
    Err(failed(again.exec()))
}

/// Reads the token from the standard input, which is empty from then on.
pub(crate) fn taken() -> Result<Secret, Failure> {
    let failed =
        |error: std::io::Error| Failure::local("the bootstrap token could not be read", &error);
    let mut token = String::new();
    std::io::stdin().take(1024).read_to_string(&mut token).map_err(failed)?;
    let nothing = File::open("/dev/null").map_err(failed)?;
    rustix::stdio::dup2_stdin(nothing).map_err(|error| failed(error.into()))?;
    if BootstrapToken::parse(&token).is_none() {
        return Err(Failure::usage(format!("{FLAG} is for this program itself"))
            .with_hint(format!("Set {VARIABLE} instead.")));
    }
    Ok(Secret(token))
}
