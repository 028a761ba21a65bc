//! What a harness writes to a hook process, and what it gets back: bytes, whatever the locale.

use std::io::{self, IsTerminal as _};

use rustix::buffer::spare_capacity;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::stdio::{stdin, stdout};

use spl::session::Payload;

/// How much room there is for a payload at first. Most fit.
const ROOM: usize = 256 * 1024;

/// What was on standard input.
pub(super) enum Input {
    /// A payload.
    Whole(Vec<u8>),
    /// More than is taken; it was read to its end and let go.
    TooLong,
    /// Somebody at a keyboard, who is not waited for.
    Terminal,
}

/// Reads standard input to its end.
pub(super) fn read() -> io::Result<Input> {
    if io::stdin().is_terminal() {
        return Ok(Input::Terminal);
    }
    let mut bytes = Vec::with_capacity(ROOM);
    let mut too_long = false;
    loop {
        if bytes.len() == bytes.capacity() {
            bytes.reserve(bytes.len());
        }
        match rustix::io::read(stdin(), spare_capacity(&mut bytes)) {
            Ok(0) if too_long => return Ok(Input::TooLong),
            Ok(0) => return Ok(Input::Whole(bytes)),
            Ok(_) if too_long || bytes.len() > Payload::MAX_BYTES => {
                too_long = true;
                bytes.clear();
            }
            Ok(_) | Err(Errno::INTR) => {}
            // Whoever has the other end has made it so for both.
            Err(Errno::AGAIN) => wait()?,
            Err(error) => return Err(error.into()),
        }
    }
}

fn wait() -> io::Result<()> {
    let input = stdin();
    match poll(&mut [PollFd::new(&input, PollFlags::IN)], None) {
        Ok(_) | Err(Errno::INTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Prints the answer: its bytes and a line feed, in one write as far as the system takes it. A
/// harness that has left does not hear it.
pub(super) fn print(output: &str) {
    let line = format!("{output}\n");
    let mut rest = line.as_bytes();
    while !rest.is_empty() {
        match rustix::io::write(stdout(), rest) {
            Ok(written) => rest = rest.get(written..).unwrap_or_default(),
            Err(Errno::INTR) => {}
            Err(_) => return,
        }
    }
}
