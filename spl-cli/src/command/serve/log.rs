//! The log of a server in the background: written, bounded, and shown.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

use super::super::WELL;
use crate::failure::Failure;
use crate::home;
use crate::session::Session;

/// The most bytes of a log before another is begun (contract §2.12).
const MAX_BYTES: u64 = 10 * 1024 * 1024;

/// How many old logs are kept.
const KEPT: u32 = 3;

/// How often a log that is followed is looked at.
const TICK: Duration = Duration::from_millis(200);

/// A log that begins anew when it is long enough.
pub(super) struct LogFile {
    path: PathBuf,
    open: Mutex<File>,
}

impl LogFile {
    /// Opens the log at `path`.
    pub(super) fn open(path: PathBuf) -> Result<Self, Failure> {
        let file = append_to(&path).map_err(|error| {
            Failure::local(format!("the log `{}` could not be opened", path.display()), &error)
        })?;
        Ok(Self { path, open: Mutex::new(file) })
    }
}

/// One line at a time.
pub(super) struct Line<'a> {
    path: &'a Path,
    file: MutexGuard<'a, File>,
}

impl<'a> MakeWriter<'a> for LogFile {
    type Writer = Line<'a>;

    fn make_writer(&'a self) -> Line<'a> {
        let file = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        Line { path: &self.path, file }
    }
}

impl Write for Line<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.file.metadata()?.len() >= MAX_BYTES {
            *self.file = begin_anew(self.path)?;
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

fn begin_anew(path: &Path) -> io::Result<File> {
    let old = |number: u32| path.with_extension(format!("log.{number}"));
    for number in (1..KEPT).rev() {
        // What is not there need not move.
        let _ = fs::rename(old(number), old(number + 1));
    }
    fs::rename(path, old(1))?;
    append_to(path)
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).create(true).mode(0o600).open(path)
}

/// Shows the last lines of the log, and what follows if that is wanted.
pub(super) fn show(session: &mut Session, lines: usize, follow: bool) -> Result<u8, Failure> {
    let path = home::find()?.log_path();
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => {
            Failure::missing(format!("there is no log at `{}`", path.display()))
                .with_hint("A server in the background has one: `spl serve --daemon`.")
        }
        _ => Failure::local(format!("the log `{}` could not be read", path.display()), &error),
    };
    let mut file = File::open(&path).map_err(failed)?;
    let start = start_of_last(&mut file, lines).map_err(failed)?;
    file.seek(SeekFrom::Start(start)).map_err(failed)?;
    loop {
        let mut news = Vec::new();
        file.read_to_end(&mut news).map_err(failed)?;
        session.out.raw(&news)?;
        if !follow {
            return Ok(WELL);
        }
        std::thread::sleep(TICK);
        // The log may have begun anew; the old one was read to its end above.
        if news.is_empty()
            && let Ok(newer) = File::open(&path)
            && newer.metadata().map_err(failed)?.ino() != file.metadata().map_err(failed)?.ino()
        {
            file = newer;
        }
    }
}

/// Returns where the last `lines` lines begin.
fn start_of_last(file: &mut File, lines: usize) -> io::Result<u64> {
    const BLOCK: u64 = 64 * 1024;
    let len = file.seek(SeekFrom::End(0))?;
    if lines == 0 {
        return Ok(len);
    }
    let (mut end, mut left) = (len, lines);
    while end > 0 {
        let start = end.saturating_sub(BLOCK);
        file.seek(SeekFrom::Start(start))?;
        let mut block = Vec::new();
        (&mut *file).take(end - start).read_to_end(&mut block)?;
        for (offset, _) in block.iter().enumerate().rev().filter(|(_, byte)| **byte == b'\n') {
            let next_line = start + offset as u64 + 1;
            // The end of the last line begins no other.
            left -= usize::from(next_line < len);
            if left == 0 {
                return Ok(next_line);
            }
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, lines: usize, wanted: &str) {
        let mut file = tempfile::tempfile().expect("a file");
        file.write_all(text.as_bytes()).expect("written");
        let start = start_of_last(&mut file, lines).expect("read");
        assert_eq!(&text[usize::try_from(start).expect("small")..], wanted);
    }

    #[test]
    fn the_last_lines_are_found() {
        check("a\nb\nc\n", 2, "b\nc\n");
        check("a\nb\nc", 2, "b\nc");
        check("a\nb\n", 5, "a\nb\n");
        check("a\nb\n", 0, "");
        check("", 3, "");
        check("a\n\n\n", 2, "\n\n");
        let long = format!("{}\n{}\nend\n", "x".repeat(100_000), "y".repeat(100_000));
        check(&long, 2, &long[100_001..]);
    }

    #[test]
    fn a_long_log_begins_anew_and_the_old_one_is_kept() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("spl.log");
        let log = LogFile::open(path.clone()).expect("opened");
        log.open.lock().expect("free").set_len(MAX_BYTES).expect("grown");
        log.make_writer().write_all(b"new\n").expect("written");
        assert_eq!(fs::read(&path).expect("read"), b"new\n");
        let old = fs::metadata(folder.path().join("spl.log.1")).expect("kept");
        assert_eq!(old.len(), MAX_BYTES);
    }
}
