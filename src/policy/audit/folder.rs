//! The folder of audit files.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::Path;

use crate::canon::{Limits, Value, parse};
use crate::time::Timestamp;

const DAY_SECS: i64 = 24 * 60 * 60;

/// The most bytes of a line that is looked at to tell whether a file is one of ours.
const LOOK_BYTES: u64 = 64 * 1024;

/// Makes the folder, and those above it that are missing.
pub(super) fn make(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Removes the audit files to which nothing was added for so many days. What cannot be removed stays.
pub(super) fn prune(folder: &Path, days: u32, now: Timestamp) {
    let oldest = now.as_secs().saturating_sub(i64::from(days) * DAY_SECS);
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    for path in entries.map(|entry| entry.path()) {
        let is_old = fs::symlink_metadata(&path)
            .is_ok_and(|metadata| metadata.is_file() && metadata.mtime() < oldest);
        if is_old
            && is_audit_file(&path)
            && let Err(error) = fs::remove_file(&path)
        {
            tracing::warn!(path = %path.display(), %error, "an old audit file stays");
        }
    }
}

/// Returns whether a file says of itself what it is. The folder is whatever the settings name, and
/// other things may be in it that end in `.jsonl`.
fn is_audit_file(path: &Path) -> bool {
    let named = path.file_stem().and_then(|stem| stem.to_str());
    let Some(named) = named.filter(|_| path.extension().is_some_and(|it| it == "jsonl")) else {
        return false;
    };
    let mut line = Vec::new();
    let read = File::open(path)
        .and_then(|file| BufReader::new(file.take(LOOK_BYTES)).read_until(b'\n', &mut line));
    let Ok(Value::Object(line)) = parse(&line, Limits::STORED) else { return false };
    let session = line.get("sessionId").and_then(Value::as_str);
    read.is_ok()
        && line.contains_key("kind")
        && session.is_some_and(|id| super::file_name(id) == format!("{named}.jsonl"))
}
