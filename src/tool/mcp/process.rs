//! A server that is a process: its group, its environment, its last words.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::AsyncReadExt;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

use crate::time::Stopwatch;
use crate::tool::watcher::Watcher;

/// The most bytes of what a server has said to standard error that are kept.
const KEPT_BYTES: usize = 4096;

/// The last lines of them that an error shows.
const SHOWN_LINES: usize = 5;

/// How long a server may take to end by itself, and again after SIGTERM.
const GRACE: Duration = Duration::from_millis(500);

/// How often it is looked whether a process has ended.
const TICK: Duration = Duration::from_millis(5);

/// What to start.
pub(super) struct Program<'a> {
    /// The program.
    pub(super) command: &'a str,
    /// Its arguments.
    pub(super) args: &'a [String],
    /// All variables that it sees; later ones win.
    pub(super) environment: &'a [(String, String)],
    /// Those of its own settings.
    pub(super) env: &'a BTreeMap<String, String>,
    /// Where it starts.
    pub(super) cwd: Option<&'a PathBuf>,
}

/// A server's process. When it is dropped, its whole group is killed.
///
/// It is not reaped before that: as long as it is not, its id is nobody else's.
pub(super) struct ServerProcess {
    child: Child,
    group: Option<Pid>,
    said: Arc<Mutex<VecDeque<u8>>>,
    drain: JoinHandle<()>,
    watcher: Option<Watcher>,
}

impl ServerProcess {
    /// Starts it, and returns where it writes and reads.
    pub(super) fn start(program: &Program<'_>) -> Result<(Self, ChildStdout, ChildStdin), String> {
        let mut command = Command::new(program.command);
        command
            .args(program.args)
            .env_clear()
            .envs(program.environment.iter().map(|(name, value)| (name, value)))
            .envs(program.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        if let Some(cwd) = program.cwd {
            command.current_dir(cwd);
        }
        let cannot =
            |why: &dyn std::fmt::Display| format!("`{}` cannot be started: {why}", program.command);
        let mut child = command.spawn().map_err(|error| cannot(&error))?;
        let pipes = (child.stdout.take(), child.stdin.take(), child.stderr.take());
        let (Some(stdout), Some(stdin), Some(stderr)) = pipes else {
            return Err(cannot(&"it has no pipes"));
        };
        let raw = child.id().and_then(|id| i32::try_from(id).ok());
        let group = raw.and_then(Pid::from_raw);
        let said = Arc::default();
        let drain = tokio::spawn(drain(stderr, Arc::clone(&said)));
        let watcher = group.and_then(Watcher::over);
        Ok((Self { child, group, said, drain, watcher }, stdout, stdin))
    }

    /// Says how the process ended and what it said last. One that runs is given a moment to end.
    pub(super) async fn last_words(&mut self) -> String {
        self.ends_within(GRACE).await;
        let _ = timeout(GRACE, &mut self.drain).await;
        let mut words = match self.status() {
            None => "it still runs".to_owned(),
            Some((Some(code), _)) => format!("exit status {code}"),
            Some((None, Some(signal))) => format!("killed by signal {signal}"),
            Some((None, None)) => "it ended".to_owned(),
        };
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = said.iter().copied().collect();
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default();
        if !last.is_empty() {
            words.push_str(&format!("; its last words:\n{}", last.join("\n")));
        }
        words
    }

    /// Ends it with all it started: politely if it listens, else not.
    pub(super) async fn end(mut self) {
        if !self.ends_within(GRACE).await {
            self.signal(Signal::TERM);
            self.ends_within(GRACE).await;
        }
        self.kill();
        let _ = timeout(GRACE, self.child.wait()).await;
    }

    async fn ends_within(&self, at_most: Duration) -> bool {
        let watch = Stopwatch::start();
        while self.status().is_none() {
            if watch.elapsed() >= at_most {
                return false;
            }
            sleep(TICK).await;
        }
        true
    }

    /// Returns the exit status or the signal of a process that has ended.
    fn status(&self) -> Option<(Option<i32>, Option<i32>)> {
        let Some(group) = self.group else { return Some((None, None)) };
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        match waitid(WaitId::Pid(group), look) {
            Ok(status) => status.map(|status| (status.exit_status(), status.terminating_signal())),
            // An error means that someone else has reaped it.
            Err(_) => Some((None, None)),
        }
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // Fails if nobody is left, which is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }

    fn kill(&mut self) {
        drop(self.watcher.take());
        self.signal(Signal::KILL);
        // From here on the id may be another's.
        self.group = None;
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        self.kill();
        self.drain.abort();
    }
}

/// Reads what a server says to standard error, as much as it is, and keeps the end.
async fn drain(mut stderr: ChildStderr, said: Arc<Mutex<VecDeque<u8>>>) {
    let mut chunk = vec![0; 16 * 1024];
    while let Ok(len @ 1..) = stderr.read(&mut chunk).await {
        let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
        said.extend(chunk.get(..len).unwrap_or_default());
        let surplus = said.len().saturating_sub(KEPT_BYTES);
        said.drain(..surplus);
    }
}
