//! A guard that kills a command when this process is killed.
//!
//! Whoever is killed by SIGKILL can clean up nothing. So beside each command stands a shell that
//! reads from a pipe whose other end only this process has. When the pipe closes, whatever closed
//! it, the shell kills the command's group.

use std::io::PipeWriter;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// Waits for the end of its input, and then kills the group that is its argument.
const SCRIPT: &str = "read -r _; kill -s KILL -- \"-$1\"";

/// The guard of one command.
pub(super) struct Watcher {
    shell: Child,
    /// Held open for as long as this process lives.
    _pipe: PipeWriter,
}

impl Watcher {
    /// Sets a guard over `group`. Without one, for example when there can be no more processes,
    /// a command still runs.
    pub(super) fn over(group: Pid) -> Option<Self> {
        let (input, pipe) = std::io::pipe().ok()?;
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "sh", &group.as_raw_nonzero().to_string()])
            .env_clear()
            .current_dir("/")
            .stdin(input)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            // What a terminal sends to the group of this process must not end the guard before it.
            .process_group(0)
            .spawn()
            .ok()?;
        Some(Self { shell, _pipe: pipe })
    }
}

/// Ends the guard before its pipe is closed, so that it kills nobody.
impl Drop for Watcher {
    fn drop(&mut self) {
        let _ = self.shell.kill();
        let _ = self.shell.wait();
    }
}
