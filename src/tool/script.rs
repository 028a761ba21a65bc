//! A shell command that is asked something: a text goes in, two streams and a status come out.
//!
//! What it is for has to be cheap and has to end: it stands before a call that waits for it. So it
//! is started as it is, with no guard beside it; if this process is killed, a script that runs goes
//! on to its own end, with nobody who listens.
//!
//! A process that a script has left behind is not hunted when the script ends by itself. One that
//! is no longer of its group is not found at all.

mod pipes;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::Duration;

use self::pipes::Pipes;
use super::Cancel;
use super::leader::{Leader, wait_for};
use crate::time::Stopwatch;

/// How long after the script has ended what it wrote is read, when a process that it has left
/// behind still holds a pipe.
const SETTLE: Duration = Duration::from_millis(100);

/// How long it is waited for the end of a group that was killed. Whoever is dead, and has not been
/// collected by whoever inherited it, cannot be told from one that is about to die.
const KILLED: Duration = Duration::from_millis(50);

/// How often it is looked whether nobody wants to know any more.
const TICK: Duration = Duration::from_millis(20);

/// A command to start once, in a process group of its own.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// What runs it, by its path.
    pub program: &'a Path,
    /// The arguments.
    pub arguments: &'a [&'a OsStr],
    /// Where it starts.
    pub dir: &'a Path,
    /// All variables that it sees; later ones win.
    pub environment: &'a [(OsString, OsString)],
    /// What it reads. It need not.
    pub input: &'a [u8],
    /// How long it may take, before it is killed with its whole group.
    pub timeout: Duration,
    /// How much it may write, to each of its streams. One that writes more is killed likewise.
    pub most_bytes: usize,
}

/// What came of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptEnd {
    /// How it ended.
    pub ending: Ending,
    /// What it wrote, at most as much as it may.
    pub stdout: Vec<u8>,
    /// What it wrote to standard error, at most as much as it may.
    pub stderr: Vec<u8>,
    /// How long that took.
    pub took: Duration,
}

/// How a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// With an exit status, of which the system passes on the lowest eight bits. It is -1 where
    /// somebody else was told, and not this.
    Exited(i32),
    /// By a signal that did not come from here.
    Signalled(i32),
    /// Not in time, so it was killed. Whatever it says after that is no answer.
    TimedOut,
    /// It wrote too much, so it was killed.
    Overflowed,
    /// It did not begin, for this reason.
    NotStarted(String),
    /// Nobody wanted to know any more, so it was killed, or not begun.
    Cancelled,
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Signalled(signal),
            (None, None) => Self::Exited(-1),
        }
    }
}

impl<'a> Script<'a> {
    /// Runs it, and returns when it has ended, when its time is up, or soon after `cancel` is
    /// raised. In the last two cases nobody of its group is left.
    pub fn run(&self, cancel: &Cancel) -> ScriptEnd {
        let watch = Stopwatch::start();
        let (ending, stdout, stderr) = if cancel.is_cancelled() {
            (Ending::Cancelled, Vec::new(), Vec::new())
        } else {
            match self.start() {
                Ok((leader, mut pipes)) => {
                    let ending = self.follow(leader, &mut pipes, watch, cancel);
                    let (stdout, stderr) = pipes.into_captured();
                    (ending, stdout, stderr)
                }
                Err(error) => (Ending::NotStarted(self.why(&error)), Vec::new(), Vec::new()),
            }
        };
        ScriptEnd { ending, stdout, stderr, took: watch.elapsed() }
    }

    fn start(&self) -> io::Result<(Leader, Pipes<'a>)> {
        // Nothing here needs code of ours between fork and exec, so that nothing of this process is
        // copied for it, however large it is.
        let mut child = Command::new(self.program)
            .args(self.arguments)
            .current_dir(self.dir)
            .env_clear()
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let pipes = Pipes::of(&mut child, self.input, self.most_bytes);
        Ok((Leader::of(child), pipes))
    }

    /// Passes on what is written until it has ended, and kills it where it does not by itself.
    fn follow(
        &self,
        leader: Leader,
        pipes: &mut Pipes<'_>,
        watch: Stopwatch,
        cancel: &Cancel,
    ) -> Ending {
        let stops = |pipes: &Pipes<'_>| {
            let overflowed = pipes.have_overflowed().then_some(Ending::Overflowed);
            overflowed.or_else(|| cancel.is_cancelled().then_some(Ending::Cancelled))
        };
        pipes.pass();
        let cut = loop {
            if let Some(cut) = stops(pipes) {
                break Some(cut);
            }
            if leader.has_ended() {
                break settle(pipes, stops);
            }
            let left = self.timeout.saturating_sub(watch.elapsed());
            if left.is_zero() {
                break Some(Ending::TimedOut);
            }
            leader.wait(pipes.wakes(), left.min(TICK));
            pipes.pass();
        };
        let Some(cut) = cut else {
            return leader.reap().map_or(Ending::Exited(-1), Ending::from);
        };
        leader.kill(KILLED);
        // What it said last is in the pipes still.
        pipes.pass();
        cut
    }

    /// Says why it could not be started.
    fn why(&self, error: &io::Error) -> String {
        // The system says the same of a program and of a folder that are not there.
        if self.dir.is_dir() {
            format!("`{}` cannot be started: {error}", self.program.display())
        } else {
            format!("the working directory `{}` is not there", self.dir.display())
        }
    }
}

/// Reads what is written until nobody can write any more, but not for long: the script itself has
/// ended. Returns what else ended that.
fn settle(pipes: &mut Pipes<'_>, stops: impl Fn(&Pipes<'_>) -> Option<Ending>) -> Option<Ending> {
    let watch = Stopwatch::start();
    loop {
        // All that the script itself wrote is there by now, however late we are.
        pipes.pass();
        let cut = stops(pipes);
        if cut.is_some() || !pipes.can_say_more() {
            return cut;
        }
        let left = SETTLE.checked_sub(watch.elapsed())?;
        wait_for(pipes.wakes(), left.min(TICK));
    }
}
