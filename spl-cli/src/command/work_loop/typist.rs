//! Whoever sits at the terminal of this process, if somebody does.

use std::cell::RefCell;
use std::io::{self, IsTerminal as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use spl::cancel::Cancel;

use super::play::cancel_when_told;

/// How often it is looked whether a question was interrupted.
const TICK: Duration = Duration::from_millis(50);

/// Whoever types lines. All who ask share one, since only one can read.
pub(crate) struct Typist {
    /// Whether nobody is asked here: the shell is an agent's, and who asks does not answer.
    silent: bool,
    lines: RefCell<Option<Receiver<String>>>,
    interrupted: Cancel,
}

impl Typist {
    /// Returns whoever types at this terminal; in the shell of an agent nobody does.
    pub(crate) fn new(silent: bool) -> Self {
        Self { silent, lines: RefCell::default(), interrupted: Cancel::new() }
    }

    /// Returns whether there is somebody to ask.
    pub(super) fn is_there(&self) -> bool {
        !self.silent && io::stdin().is_terminal() && io::stderr().is_terminal()
    }

    /// Returns the next line that somebody types, unless they leave or interrupt it.
    pub(super) fn line(&self) -> Option<String> {
        let mut lines = self.lines.borrow_mut();
        if lines.is_none() {
            cancel_when_told(&self.interrupted).ok()?;
        }
        let lines = lines.get_or_insert_with(typed);
        loop {
            match lines.recv_timeout(TICK) {
                Ok(line) => return Some(line),
                Err(RecvTimeoutError::Timeout) if self.interrupted.is_cancelled() => return None,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return None,
            }
        }
    }
}

/// Reads lines on a thread of its own: a read cannot be interrupted.
fn typed() -> Receiver<String> {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in io::stdin().lines() {
            let Ok(line) = line else { return };
            if send.send(line).is_err() {
                return;
            }
        }
    });
    lines
}
