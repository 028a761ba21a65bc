//! What went wrong, in one line for whoever reads the harness's log and for `spl session doctor`.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use spl::engine::Home;
use spl::session::{Event, Harness, Payload};

/// The most characters of a reason.
const MAX_CHARS: usize = 400;

/// The most bytes of the log. The lines in it are read when something is wrong, and then the last
/// ones count.
const MAX_BYTES: u64 = 1024 * 1024;

/// Where lines go, and which event they are about.
#[derive(Default)]
pub(super) struct Notice {
    log: Option<PathBuf>,
    event: Option<String>,
}

impl Notice {
    /// Keeps the lines in a home as well, which must be this user's own.
    pub(super) fn keep_in(&mut self, home: &Home) {
        self.log = Some(home.path().join("logs/session-hook.log"));
    }

    /// Names the event of a payload, as far as it says.
    pub(super) fn name(&mut self, payload: &[u8], harness: Option<Harness>) {
        let payload = Payload::read(payload).ok();
        let event = payload.and_then(|payload| Event::read(&payload, harness).ok());
        self.event = event.map(|event| event.name);
    }

    /// Says why nothing is answered.
    pub(super) fn say(&self, reason: &str) {
        let event = self.event.as_deref().unwrap_or("-");
        let line = format!("spl session hook: {}: {}\n", plain(event), plain(reason));
        // Whoever has closed it does not want to hear.
        let _ = io::stderr().write_all(line.as_bytes());
        if let Some(log) = &self.log {
            let _ = append(log, &line);
        }
    }
}

/// Returns a text without what would make it more than one line, or long.
fn plain(text: &str) -> String {
    let spaced = |c: char| if c.is_control() { ' ' } else { c };
    text.chars().take(MAX_CHARS).map(spaced).collect()
}

/// Adds a line, in one write: other processes add theirs. A folder that is not there is not made,
/// and a link is not followed.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let flags = rustix::fs::OFlags::NOFOLLOW.bits();
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .custom_flags(i32::try_from(flags).unwrap_or_default())
        .open(path)?;
    if file.metadata()?.len() >= MAX_BYTES {
        file.set_len(0)?;
    }
    file.write_all(line.as_bytes())
}
