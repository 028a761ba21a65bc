//! The three pipes to a process. None of them is ever waited on alone: a process that reads before
//! it writes, one that writes before it reads, and one that does neither are all the same here.

use std::os::fd::{AsFd, OwnedFd};
use std::process::Child;

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags};
use rustix::io::{Errno, ioctl_fionbio, read, write};

/// How much is read at once, at least.
const CHUNK: usize = 4096;

/// What goes in, and what comes out.
pub(super) struct Pipes<'a> {
    /// Until everything is written, or nobody reads.
    input: Option<OwnedFd>,
    /// What is still to be written.
    unwritten: &'a [u8],
    stdout: Capture,
    stderr: Capture,
}

/// One stream, and what came out of it.
struct Capture {
    /// Until everyone who could write has closed it, or too much was written.
    pipe: Option<OwnedFd>,
    bytes: Vec<u8>,
    most_bytes: usize,
    overflowed: bool,
}

impl<'a> Pipes<'a> {
    /// Takes the pipes of a child that is to read `input`, and to write at most `most_bytes` to each
    /// stream.
    pub(super) fn of(child: &mut Child, input: &'a [u8], most_bytes: usize) -> Self {
        let stdout = child.stdout.take().map(OwnedFd::from);
        let stderr = child.stderr.take().map(OwnedFd::from);
        Self {
            input: child.stdin.take().map(OwnedFd::from).and_then(without_waiting),
            unwritten: input,
            stdout: Capture::of(stdout, most_bytes),
            stderr: Capture::of(stderr, most_bytes),
        }
    }

    /// Returns what to wait for before there is something to pass on.
    pub(super) fn wakes(&self) -> impl Iterator<Item = PollFd<'_>> {
        let streams = [&self.stdout, &self.stderr].into_iter().flat_map(|stream| &stream.pipe);
        let streams = streams.map(|pipe| PollFd::new(pipe, PollFlags::IN));
        streams.chain(self.input.iter().map(|pipe| PollFd::new(pipe, PollFlags::OUT)))
    }

    /// Passes on what can be at this moment, both ways.
    pub(super) fn pass(&mut self) {
        self.write();
        self.stdout.read();
        self.stderr.read();
    }

    fn write(&mut self) {
        let Some(pipe) = &self.input else { return };
        while !self.unwritten.is_empty() {
            match write(pipe, self.unwritten) {
                Ok(len) => self.unwritten = self.unwritten.get(len..).unwrap_or_default(),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                // Nobody reads, which is up to them.
                Err(_) => break,
            }
        }
        self.input = None;
    }

    /// Tells whether a stream had more to say than it may.
    pub(super) fn have_overflowed(&self) -> bool {
        self.stdout.overflowed || self.stderr.overflowed
    }

    /// Tells whether somebody still holds a stream.
    pub(super) fn can_say_more(&self) -> bool {
        self.stdout.pipe.is_some() || self.stderr.pipe.is_some()
    }

    /// Returns what was written to either stream.
    pub(super) fn into_captured(self) -> (Vec<u8>, Vec<u8>) {
        (self.stdout.bytes, self.stderr.bytes)
    }
}

impl Capture {
    fn of(pipe: Option<OwnedFd>, most_bytes: usize) -> Self {
        let pipe = pipe.and_then(without_waiting);
        Self { pipe, bytes: Vec::new(), most_bytes, overflowed: false }
    }

    /// Takes what there is.
    fn read(&mut self) {
        while let Some(pipe) = &self.pipe {
            self.bytes.reserve(CHUNK);
            match read(pipe, spare_capacity(&mut self.bytes)) {
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return,
                Ok(0) | Err(_) => self.pipe = None,
                Ok(_) if self.bytes.len() > self.most_bytes => {
                    self.bytes.truncate(self.most_bytes);
                    self.overflowed = true;
                    self.pipe = None;
                }
                Ok(_) => {}
            }
        }
    }
}

/// Returns a pipe that says so where one would have to wait. Somebody who has been handed the other
/// end may open this one too, and take or fill in what was found here.
fn without_waiting(pipe: OwnedFd) -> Option<OwnedFd> {
    ioctl_fionbio(pipe.as_fd(), true).is_ok().then_some(pipe)
}
