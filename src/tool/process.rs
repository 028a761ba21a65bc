//! A command in a process group of its own, and what it writes.

use std::io::{self, PipeReader, Read, Write as _};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::Signal;

use super::leader::Leader;
use super::watcher::Watcher;
use super::{Cancel, Clip};
use crate::time::Stopwatch;

/// How long after the shell has ended its output is waited for, when a process that it has left
/// behind still holds the pipe.
const SETTLE: Duration = Duration::from_millis(400);

/// How long a group may take to end after SIGTERM before it gets SIGKILL.
const GRACE: Duration = Duration::from_millis(250);

/// How long silence is listened to before looking up whether something else has happened.
const TICK: Duration = Duration::from_millis(20);

const CHUNK: usize = 64 * 1024;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// With an exit status; 0 is success.
    Exited(i32),
    /// By a signal that did not come from here.
    Signalled(i32),
    /// Not in time.
    TimedOut,
    /// Because its run was cancelled.
    Cancelled,
}

impl From<ExitStatus> for End {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(code), _) => Self::Exited(code),
            (None, Some(signal)) => Self::Signalled(signal),
            (None, None) => Self::Exited(-1),
        }
    }
}

/// A command that runs.
pub(super) struct Running {
    leader: Leader,
    /// Until everyone who could write has closed it.
    output: Option<PipeReader>,
    chunk: Vec<u8>,
    /// Ended before the child is reaped: until then the group's id is nobody else's.
    watcher: Option<Watcher>,
}

impl Running {
    /// Takes over a `child` that leads its own group and writes to `output`.
    /// One that waits on its input to be let begins now.
    pub(super) fn new(mut child: Child, output: PipeReader) -> Self {
        let gate = child.stdin.take();
        let leader = Leader::of(child);
        let watcher = Watcher::over(leader.id());
        if let Some(mut gate) = gate {
            // A command that is gone already says so itself.
            let _ = gate.write_all(b"\n");
        }
        Self { leader, output: Some(output), chunk: vec![0; CHUNK], watcher }
    }

    /// Gathers output until the command ends, `timeout` has passed, or `cancel` is raised. In the
    /// last two cases its whole group is killed.
    pub(super) fn finish(mut self, timeout: Duration, cancel: &Cancel, clip: &mut Clip) -> End {
        let watch = Stopwatch::start();
        let cut = loop {
            if cancel.is_cancelled() {
                break Some(End::Cancelled);
            }
            if self.leader.has_ended() {
                break None;
            }
            if watch.elapsed() >= timeout {
                break Some(End::TimedOut);
            }
            self.listen(TICK, clip);
        };
        if cut.is_some() {
            self.leader.signal(Signal::TERM);
            self.gather_for(GRACE, clip);
            self.leader.signal(Signal::KILL);
        }
        self.gather_for(SETTLE, clip);
        drop(self.watcher.take());
        let status = self.leader.reap();
        cut.unwrap_or_else(|| status.map_or(End::Exited(-1), End::from))
    }

    /// Gathers output until there will be no more, or for as long as `at_most`.
    fn gather_for(&mut self, at_most: Duration, clip: &mut Clip) {
        let watch = Stopwatch::start();
        while !(self.output.is_none() && self.leader.has_ended()) {
            let Some(left) = at_most.checked_sub(watch.elapsed()) else { return };
            self.listen(left.min(TICK), clip);
        }
    }

    /// Waits for output, but not longer than `at_most`, and takes what there is.
    fn listen(&mut self, at_most: Duration, clip: &mut Clip) {
        let Some(output) = &mut self.output else {
            return self.leader.wait([], at_most);
        };
        let timeout = Timespec::try_from(at_most).unwrap_or_default();
        let mut fds = [PollFd::new(output, PollFlags::IN)];
        match poll(&mut fds, Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return,
            Ok(_) => {}
            Err(_) => return self.output = None,
        }
        match output.read(&mut self.chunk) {
            Ok(0) => self.output = None,
            Ok(len) => clip.push_bytes(self.chunk.get(..len).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.output = None,
        }
    }
}
