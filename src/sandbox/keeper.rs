//! The process that stands outside and sees to it that nothing is left inside.

use std::fs;
use std::io::{self, Read as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::error::Step;
use super::hold::KILLED;
use super::plan::Plan;
use super::{Refusal, Way, bubblewrap, namespaces};
use crate::canon::{Limits, parse};

/// What `bwrap` says on its standard output is some hundred bytes.
const MOST_INFO: u64 = 4096;

/// Starts the inside, and stays until it has ended or the engine is gone. Returns the exit status
/// of the program.
pub(super) fn keep(plan: &Plan) -> Result<u8, Refusal> {
    close_what_was_inherited();
    let (command, says_id) = match plan.way {
        Way::Bubblewrap => (bubblewrap::command(plan)?, true),
        Way::Namespaces => (namespaces::command(plan)?, false),
    };
    let (mut child, first) = begin(command, says_id)?;
    let Some(first) = first else {
        // It did not come to a first process; why stands in its errors.
        let _ = child.wait();
        return Ok(1);
    };
    watch(&first).step("watch the inside")?;
    let status = child.wait().step("wait for the inside")?;
    Ok(status.code().map_or(KILLED, |code| u8::try_from(code).unwrap_or(KILLED)))
}

/// A descriptor that somebody forgot in this process, a folder for instance, would be a way out.
fn close_what_was_inherited() {
    let Ok(entries) = fs::read_dir("/proc/self/fd") else { return };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let inherited: Vec<i32> = numbers.filter(|number| *number > 2).collect();
    for number in inherited {
        // The one that this list was read from is closed by now.
        let _ = nix::unistd::close(number);
    }
}

/// Starts `command`, and returns a handle of the first process inside.
fn begin(mut command: Command, says_id: bool) -> Result<(Child, Option<OwnedFd>), Refusal> {
    if says_id {
        command.stdout(Stdio::piped());
    }
    let mut child = command.spawn().step("start the inside")?;
    let id = match child.stdout.take() {
        Some(stdout) => first_process(stdout),
        None => Some(Pid::from_child(&child)),
    };
    let opened = id.map(|id| pidfd_open(id, PidfdFlags::empty()));
    let first = opened.transpose().step("watch the inside");
    match first {
        Ok(first) => Ok((child, first)),
        Err(refusal) => {
            let _ = child.kill();
            let _ = child.wait();
            Err(refusal)
        }
    }
}

/// Reads the id of the first process from what `bwrap` says about it.
fn first_process(stdout: ChildStdout) -> Option<Pid> {
    let (mut said, mut stdout) = (Vec::new(), stdout.take(MOST_INFO));
    let mut byte = [0];
    while !said.ends_with(b"}") && stdout.read(&mut byte).is_ok_and(|len| len == 1) {
        said.extend(byte);
    }
    let id = parse(&said, Limits::DOOR).ok()?.get("child-pid")?.as_i64()?;
    Pid::from_raw(i32::try_from(id).ok()?)
}

/// Waits until the first process inside has ended, and ends it if the engine goes before. A first
/// process ends last: the kernel has ended every other one by then.
fn watch(first: &OwnedFd) -> io::Result<()> {
    let life = io::stdout();
    let mut alive = true;
    loop {
        let mut fds = vec![PollFd::new(first, PollFlags::IN)];
        if alive {
            // Nobody reads from this pipe. That it breaks is what is waited for.
            fds.push(PollFd::from_borrowed_fd(life.as_fd(), PollFlags::empty()));
        }
        match poll(&mut fds, None) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let happened: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        if happened.first() == Some(&true) {
            return Ok(());
        }
        if happened.get(1) == Some(&true) {
            alive = false;
            pidfd_send_signal(first, Signal::KILL)?;
        }
    }
}
