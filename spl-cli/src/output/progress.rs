//! How far something long has come, for a person who waits.

use std::cell::Cell;
use std::io::{self, IsTerminal as _, Write as _};

/// Shows a percentage on standard error, if that is a terminal, and wipes it at the end.
pub(crate) struct Progress {
    what: &'static str,
    shown: Cell<Option<u64>>,
    to_terminal: bool,
}

impl Progress {
    /// Starts to show the progress of `what`.
    pub(crate) fn of(what: &'static str) -> Self {
        Self { what, shown: Cell::new(None), to_terminal: io::stderr().is_terminal() }
    }

    /// Shows that `done` of `total` is behind us.
    pub(crate) fn at(&self, done: u64, total: u64) {
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100);
        if self.to_terminal && self.shown.replace(Some(percent)) != Some(percent) {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r{}: {percent}%", self.what).and_then(|()| stderr.flush());
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if self.to_terminal && self.shown.get().is_some() {
            let mut stderr = io::stderr().lock();
            let _ = write!(stderr, "\r\x1b[K").and_then(|()| stderr.flush());
        }
    }
}
