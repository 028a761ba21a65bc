//! The audit file of a run: what happened, one JSON object a line, for programs that collect such
//! files (contract-polyglot §10). Off unless the settings ask for it.
//!
//! Comes in: [`AuditSettings`], and an [`Entry`] for each thing that happens. Goes out: lines in
//! `<folder>/<session>.jsonl`. What a block leaves in the store, whether or not there is a file, is
//! [`Blocked::to_draft`].
//!
//! **Invariant:** the file never stands in the way. What cannot be written is logged and forgotten,
//! and a run goes on as if it had been.

mod block;
mod entry;
mod folder;

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::canon::Value;
use crate::object;
use crate::time::Timestamp;
pub use block::Blocked;
pub use entry::Entry;

/// What the settings say of the audit file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuditSettings {
    /// The folder in which the files are.
    pub folder: PathBuf,
    /// Whether arguments are hashed only, and do not stand in the file themselves.
    pub hash_args: bool,
    /// After how many days without a line a file is removed; never, if it is not said.
    pub retention_days: Option<u32>,
}

/// The audit file of one session.
#[derive(Debug)]
pub struct Audit {
    file: Option<File>,
    session: String,
    model: String,
    hash_args: bool,
    note: Option<String>,
}

impl Audit {
    /// Opens the file of a session that `model` plays. With the first of it, the files of others that
    /// are too old at `now` are removed. Without settings there is no file, and nothing is written.
    pub fn open(
        settings: Option<&AuditSettings>,
        session: &str,
        model: &str,
        now: Timestamp,
    ) -> Self {
        let (session, model) = (session.to_owned(), model.to_owned());
        let Some(settings) = settings else {
            return Self { file: None, session, model, hash_args: true, note: None };
        };
        let path = settings.folder.join(file_name(&session));
        let file = folder::make(&settings.folder).and_then(|()| open(&path));
        let file = file.inspect_err(|error| {
            tracing::warn!(path = %path.display(), %error, "the audit file cannot be written");
        });
        if let (Ok(file), Some(days)) = (&file, settings.retention_days)
            && file.metadata().is_ok_and(|found| found.len() == 0)
        {
            folder::prune(&settings.folder, days, now);
        }
        Self { file: file.ok(), session, model, hash_args: settings.hash_args, note: None }
    }

    /// Lets every line say this too: what is to be known of how it came about.
    #[must_use]
    pub fn noting(self, note: Option<String>) -> Self {
        Self { note, ..self }
    }

    /// Returns whether there is a file.
    pub const fn is_on(&self) -> bool {
        self.file.is_some()
    }

    /// Writes a line about what happened at `at`.
    pub fn write(&self, entry: &Entry<'_>, at: Timestamp) {
        let Some(mut file) = self.file.as_ref() else { return };
        let mut line = object! {
            "at": at.to_string(),
            "kind": entry.kind(),
            "model": self.model.as_str(),
            "sessionId": self.session.as_str(),
        };
        if let Some(note) = &self.note {
            line.insert("note".into(), note.as_str().into());
        }
        line.extend(entry.fields(self.hash_args));
        // In one piece: processes that append to one file write whole lines.
        let line = format!("{}\n", Value::from(line));
        if let Err(error) = file.write_all(line.as_bytes()) {
            tracing::warn!(session = self.session, %error, "the audit file cannot be written");
        }
    }
}

/// Returns the name of a session's file: of a name that came from elsewhere, what cannot lead out of
/// the folder.
fn file_name(session: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let name: String = session.chars().take(128).map(keep).collect();
    format!("{name}.jsonl")
}

/// Opens a file to append to, and makes it if there is none. A link is not followed, and a pipe is
/// not waited for.
fn open(path: &Path) -> io::Result<File> {
    let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK).bits().cast_signed();
    let file =
        OpenOptions::new().append(true).create(true).mode(0o600).custom_flags(flags).open(path)?;
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::other("it is not a regular file"))
    }
}

#[cfg(test)]
mod tests;
