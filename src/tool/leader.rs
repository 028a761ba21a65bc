//! A process that leads a group of its own, from its start until it is reaped.

use std::os::fd::OwnedFd;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, test_kill_process_group,
    waitid,
};

use crate::time::Stopwatch;

/// How soon it is looked again where nothing can wake us.
const SOON: Duration = Duration::from_millis(1);

/// How long it is waited for the end of one that was killed.
const DIES: Duration = Duration::from_millis(150);

/// How long after that it is waited for the others of its group. Whoever is dead, and has not been
/// collected by whoever inherited it, cannot be told from one that is about to die.
const OTHERS_DIE: Duration = Duration::from_millis(50);

/// A process that leads a group of its own.
///
/// It is not reaped before the end: as long as it is not, its id cannot be given to another
/// process, and a signal to the group reaches nobody else.
pub(super) struct Leader {
    child: Child,
    id: Pid,
    /// Becomes readable when it ends. Not every system has one.
    handle: Option<OwnedFd>,
}

impl Leader {
    /// Takes over a `child` that was started as the leader of a new group.
    pub(super) fn of(child: Child) -> Self {
        let id = Pid::from_child(&child);
        Self { child, id, handle: handle(id) }
    }

    /// Returns its id, which is its group's as well.
    pub(super) const fn id(&self) -> Pid {
        self.id
    }

    /// Tells whether it has ended, whatever has become of those that it started.
    pub(super) fn has_ended(&self) -> bool {
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        // An error means that someone else has reaped it.
        waitid(WaitId::Pid(self.id), look).map_or(true, |status| status.is_some())
    }

    /// Waits until it ends or one of `others` is ready, but not longer than `at_most`, and perhaps
    /// less.
    pub(super) fn wait<'a>(
        &'a self,
        others: impl IntoIterator<Item = PollFd<'a>>,
        at_most: Duration,
    ) {
        let handle = self.handle.as_ref().map(|handle| PollFd::new(handle, PollFlags::IN));
        let at_most = if handle.is_some() { at_most } else { at_most.min(SOON) };
        wait_for(others.into_iter().chain(handle), at_most);
    }

    /// Sends a signal to its whole group.
    pub(super) fn signal(&self, signal: Signal) {
        // Fails if nobody is left, which is what was wanted.
        let _ = kill_process_group(self.id, signal);
    }

    /// Kills it and its whole group, and returns when nobody of them is left, or not long after:
    /// whoever is held up in the kernel dies when it comes back.
    pub(super) fn kill(self) {
        self.signal(Signal::KILL);
        // It may have left the group that it led.
        let _ = kill_process(self.id, Signal::KILL);
        let watch = Stopwatch::start();
        while !self.has_ended() {
            let Some(left) = DIES.checked_sub(watch.elapsed()) else { break };
            self.wait([], left);
        }
        // The id is not given to another process while one is of its group. And if it is later, no
        // harm is done: this asks, and sends nothing.
        let group = self.id;
        self.reap();
        let watch = Stopwatch::start();
        while watch.elapsed() < OTHERS_DIE && test_kill_process_group(group).is_ok() {
            thread::sleep(SOON);
        }
    }

    /// Returns how it ended, if it has.
    pub(super) fn reap(mut self) -> Option<ExitStatus> {
        if self.has_ended() {
            return self.child.wait().ok();
        }
        // Killed, and held up in the kernel, by a dead network drive for example.
        let _ = thread::Builder::new().spawn(move || self.child.wait());
        None
    }
}

/// Waits until one of `fds` is ready, but not longer than `at_most`, and perhaps less.
pub(super) fn wait_for<'a>(fds: impl IntoIterator<Item = PollFd<'a>>, at_most: Duration) {
    let timeout = Timespec::try_from(at_most).unwrap_or_default();
    let mut fds: Vec<PollFd<'_>> = fds.into_iter().collect();
    match poll(&mut fds, Some(&timeout)) {
        Ok(_) | Err(Errno::INTR) => {}
        // Out of memory, or of whatever else: whoever waits looks, and comes again.
        Err(_) => thread::sleep(SOON),
    }
}

/// Returns what becomes readable when a child of this process ends.
#[cfg(target_os = "linux")]
fn handle(id: Pid) -> Option<OwnedFd> {
    use rustix::process::{PidfdFlags, pidfd_open};

    // Without one, for example when no more files can be opened, it is looked for again and again.
    pidfd_open(id, PidfdFlags::empty()).ok()
}

#[cfg(not(target_os = "linux"))]
fn handle(_: Pid) -> Option<OwnedFd> {
    None
}
