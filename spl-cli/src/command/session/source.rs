//! Reading the file in which a harness keeps a session.
//!
//! The path may come from a payload, which is nobody's word: it is only taken for a hint. What is
//! opened lies below the folder where that harness keeps its sessions, is a regular file of this
//! user, and is reached without following a link.

use std::fs::File;
use std::io::Read as _;
use std::path::{Component, Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{FileType, Mode, OFlags, fstat, open, openat};
use rustix::io::Errno;
use spl::session::MAX_TRANSCRIPT_BYTES;

use super::harness::Harness;
use crate::failure::{Exit, Failure};

/// The code of a file that is not read.
const REFUSED: &str = "SOURCE_REFUSED";

/// Reads the file of a session of this harness.
pub(super) fn read(harness: &str, file: &Path) -> Result<Vec<u8>, Failure> {
    let folder = folder_of(harness)?;
    let file = std::path::absolute(file)
        .map_err(|error| Failure::local(format!("`{}` is not a path", file.display()), &error))?;
    read_below(&folder, &file)
}

/// Returns the folder where a harness keeps its sessions.
fn folder_of(harness: &str) -> Result<PathBuf, Failure> {
    let known = Harness::ALL.into_iter().find(|known| known.name() == harness);
    let below = match known {
        Some(Harness::Claude | Harness::Qwen) => Some("projects"),
        Some(Harness::Codex) => Some("sessions"),
        Some(Harness::Gemini) => Some("tmp"),
        Some(Harness::Opencode) | None => None,
    };
    let folder = known.zip(below).and_then(|(known, below)| Some(known.folder()?.join(below)));
    folder.ok_or_else(|| {
        refused(format!("`{harness}` keeps no transcripts in a folder that is known here"))
    })
}

fn read_below(folder: &Path, file: &Path) -> Result<Vec<u8>, Failure> {
    let steps = steps_below(folder, file)?;
    let failed = |error: Errno| {
        let what = format!("`{}` could not be opened", file.display());
        match error {
            Errno::NOENT => Failure::missing(format!("there is no `{}`", file.display())),
            // What is a link is not followed; what is none and no folder, not entered.
            Errno::LOOP | Errno::NOTDIR => {
                refused(format!("`{}` is behind a link, or is none of a folder", file.display()))
            }
            _ => Failure::local(what, &std::io::Error::from(error)),
        }
    };
    let place = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut at: OwnedFd = open(folder, place, Mode::empty()).map_err(failed)?;
    let Some((last, between)) = steps.split_last() else {
        return Err(refused(format!("`{}` is a folder", file.display())));
    };
    for step in between {
        at = openat(&at, *step, place | OFlags::NOFOLLOW, Mode::empty()).map_err(failed)?;
    }
    // Without NONBLOCK a pipe would be waited for.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let opened = openat(&at, *last, flags, Mode::empty()).map_err(failed)?;
    let found = fstat(&opened).map_err(failed)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(refused(format!("`{}` is no regular file", file.display())));
    }
    if found.st_uid != rustix::process::geteuid().as_raw() {
        return Err(refused(format!("`{}` belongs to another user", file.display())));
    }
    let too_long =
        || refused(format!("`{}` is longer than {MAX_TRANSCRIPT_BYTES} bytes", file.display()));
    if usize::try_from(found.st_size).unwrap_or(usize::MAX) > MAX_TRANSCRIPT_BYTES {
        return Err(too_long());
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    File::from(opened).take(MAX_TRANSCRIPT_BYTES as u64 + 1).read_to_end(&mut bytes).map_err(
        |error| Failure::local(format!("`{}` could not be read", file.display()), &error),
    )?;
    if bytes.len() > MAX_TRANSCRIPT_BYTES {
        return Err(too_long());
    }
    Ok(bytes)
}

/// Returns the names from a folder down to a file, none of which leads up again.
fn steps_below<'f>(folder: &Path, file: &'f Path) -> Result<Vec<&'f std::ffi::OsStr>, Failure> {
    let resolved = folder.canonicalize().ok();
    let below = file
        .strip_prefix(folder)
        .ok()
        .or_else(|| file.strip_prefix(resolved.as_deref()?).ok())
        .ok_or_else(|| {
            refused(format!("`{}` is not below `{}`", file.display(), folder.display()))
                .with_hint("Only what a harness keeps of its sessions is taken.")
        })?;
    let name = |step| match step {
        Component::Normal(name) => Ok(name),
        _ => Err(refused(format!("`{}` leads up again", file.display()))),
    };
    below.components().map(name).collect()
}

fn refused(message: String) -> Failure {
    Failure::new(Exit::Invalid, REFUSED, message)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn only_a_regular_file_below_the_folder_is_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let root = dir.path().join("projects");
        fs::create_dir_all(root.join("shop")).expect("made");
        fs::write(root.join("shop/s.jsonl"), b"{}\n").expect("written");
        fs::write(dir.path().join("secret"), b"no").expect("written");
        fs::create_dir(dir.path().join("elsewhere")).expect("made");
        fs::write(dir.path().join("elsewhere/s.jsonl"), b"no").expect("written");
        symlink(dir.path().join("secret"), root.join("shop/link.jsonl")).expect("linked");
        symlink(dir.path().join("elsewhere"), root.join("moved")).expect("linked");
        rustix::fs::mknodat(
            rustix::fs::CWD,
            root.join("pipe"),
            FileType::Fifo,
            Mode::from_raw_mode(0o600),
            0,
        )
        .expect("a pipe");
        assert_eq!(read_below(&root, &root.join("shop/s.jsonl")).expect("read"), b"{}\n");
        for (path, code) in [
            ("shop/link.jsonl", REFUSED),
            ("moved/s.jsonl", REFUSED),
            ("shop/../../secret", REFUSED),
            ("../secret", REFUSED),
            ("shop", REFUSED),
            ("", REFUSED),
            ("pipe", REFUSED),
            ("shop/s.jsonl/x", REFUSED),
            ("shop/none.jsonl", "NOT_FOUND"),
        ] {
            let refused = read_below(&root, &root.join(path)).expect_err(path);
            assert_eq!(refused.code(), code, "{path}: {}", refused.message());
        }
        let refused = read_below(&root, Path::new("/etc/passwd")).expect_err("outside");
        assert_eq!(refused.code(), REFUSED);
    }

    /// The user's folder may itself be reached by a link.
    #[test]
    fn the_folder_may_be_spelled_in_two_ways() {
        let dir = tempfile::tempdir().expect("a folder");
        fs::create_dir(dir.path().join("real")).expect("made");
        fs::write(dir.path().join("real/s.jsonl"), b"{}").expect("written");
        symlink(dir.path().join("real"), dir.path().join("projects")).expect("linked");
        let root = dir.path().join("projects");
        let real = dir.path().join("real").canonicalize().expect("resolved");
        for file in [root.join("s.jsonl"), real.join("s.jsonl")] {
            assert_eq!(read_below(&root, &file).expect("read"), b"{}", "{}", file.display());
        }
    }

    #[test]
    fn a_file_that_is_too_long_is_not_read() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("s.jsonl");
        let file = fs::File::create(&path).expect("made");
        file.set_len(MAX_TRANSCRIPT_BYTES as u64 + 1).expect("grown");
        assert_eq!(read_below(dir.path(), &path).expect_err("long").code(), REFUSED);
    }
}
