//! A settings file on disk: read with what stands in the way of writing it, and replaced at once.
//!
//! **Invariant:** a reader sees the old file or the new one, whole. A link stays a link, and the file
//! behind it keeps its mode and its owner.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Component, Path, PathBuf};

use crate::failure::{Exit, Failure};

/// The most links that lead to one file.
const MAX_LINKS: usize = 40;

/// The mode of a file that is made here, and of a folder.
const NEW_FILE: u32 = 0o600;
const NEW_FOLDER: u32 = 0o700;

/// A settings file, or the place for one.
pub(super) struct SettingsFile {
    /// Its path, as the harness names it.
    pub(super) path: PathBuf,
    /// The file that the path leads to.
    target: PathBuf,
    /// What is there.
    found: Option<Found>,
}

struct Found {
    bytes: Vec<u8>,
    metadata: fs::Metadata,
}

impl SettingsFile {
    /// Reads the file at `path`.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let path = whole(path)?;
        let target = behind(&path)?;
        let unreadable = |error: &io::Error| {
            Failure::local(format!("`{}` could not be read", path.display()), error)
        };
        let found = match fs::metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(unreadable(&error)),
            Ok(metadata) if !metadata.is_file() => {
                return Err(refused(format!("`{}` is not a file", path.display()))
                    .with_hint("Name the settings file with --settings."));
            }
            Ok(metadata) => {
                let bytes = fs::read(&target).map_err(|error| unreadable(&error))?;
                Some(Found { bytes, metadata })
            }
        };
        Ok(Self { path, target, found })
    }

    /// Returns what is in it, if it is there.
    pub(super) fn bytes(&self) -> Option<&[u8]> {
        self.found.as_ref().map(|found| found.bytes.as_slice())
    }

    /// Returns the file by the one name that it has whichever way leads to it, also before it is
    /// there.
    pub(super) fn real_path(&self) -> PathBuf {
        let real = self.target.ancestors().skip(1).find_map(|folder| {
            let rest = self.target.strip_prefix(folder).ok()?;
            Some(fs::canonicalize(folder).ok()?.join(rest))
        });
        real.unwrap_or_else(|| self.target.clone())
    }

    /// Refuses a file that its owner has made read-only, or that is not ours to write. The mode
    /// decides, also for whoever may ignore it.
    pub(super) fn check_writable(&self) -> Result<(), Failure> {
        let read_only = |what: &str, path: &Path| {
            refused(format!("{what} `{}` is read-only, and is left as it is", path.display()))
                .with_hint(format!("Run `chmod u+w {}` first.", path.display()))
        };
        if let Some(found) = &self.found
            && found.metadata.permissions().mode() & 0o200 == 0
        {
            return Err(read_only("the file", &self.path));
        }
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        match fs::metadata(folder) {
            Ok(found) if found.permissions().mode() & 0o200 == 0 => {
                Err(read_only("the folder", folder))
            }
            _ => Ok(()),
        }
    }

    /// Puts `text` in the place of the file. Returns the folders that were made for it, the
    /// outermost first.
    pub(super) fn write(&self, text: &str) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error: &io::Error| {
            Failure::local(format!("`{}` could not be written", self.path.display()), error)
        };
        let folder = self.target.parent().unwrap_or(Path::new("/"));
        let made = make_folders(folder).map_err(|error| failed(&error))?;
        if self.is_changed() {
            let message =
                format!("`{}` was changed by another program meanwhile", self.path.display());
            return Err(refused(message).with_hint("Try again."));
        }
        replace(&self.target, text.as_bytes(), self.found.as_ref().map(|found| &found.metadata))
            .map_err(|error| failed(&error))?;
        Ok(made)
    }

    /// Removes the file, and those of `folders` that are empty then.
    pub(super) fn remove(&self, folders: &[PathBuf]) -> Result<(), Failure> {
        fs::remove_file(&self.target).map_err(|error| {
            Failure::local(format!("`{}` could not be removed", self.path.display()), &error)
        })?;
        // One that holds something else by now stays.
        folders.iter().rev().take_while(|folder| fs::remove_dir(folder).is_ok()).count();
        Ok(())
    }

    fn is_changed(&self) -> bool {
        match (&self.found, fs::read(&self.target)) {
            (Some(found), Ok(now)) => found.bytes != now,
            (None, Err(error)) => error.kind() != io::ErrorKind::NotFound,
            _ => true,
        }
    }
}

/// The failure of a file that is left as it is.
pub(super) fn refused(message: impl Into<String>) -> Failure {
    Failure::new(Exit::Invalid, "SETTINGS_REFUSED", message)
}

/// Replaces a file, with the mode and the owner that it had.
pub(super) fn replace(target: &Path, bytes: &[u8], old: Option<&fs::Metadata>) -> io::Result<()> {
    let folder = target.parent().unwrap_or(Path::new("/"));
    let mut draft = tempfile::Builder::new().prefix(".spl-").tempfile_in(folder)?;
    draft.write_all(bytes)?;
    let file = draft.as_file();
    if let Some(old) = old {
        let new = file.metadata()?;
        if (new.uid(), new.gid()) != (old.uid(), old.gid()) {
            std::os::unix::fs::fchown(file, Some(old.uid()), Some(old.gid()))?;
        }
    }
    let mode = old.map_or(NEW_FILE, |old| old.permissions().mode() & 0o7777);
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()?;
    if old.is_some() {
        draft.persist(target)?;
    } else {
        draft.persist_noclobber(target)?;
    }
    // The new name is durable with its folder, where the file system has such a thing.
    if let Ok(folder) = File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(())
}

/// Makes a folder and those above it that are not there. Returns them, the outermost first.
pub(super) fn make_folders(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let missing = folder.ancestors().take_while(|folder| !folder.exists());
    let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
    made.reverse();
    DirBuilder::new().recursive(true).mode(NEW_FOLDER).create(folder)?;
    Ok(made)
}

/// Makes a path whole, and takes the steps back out of it.
fn whole(path: &Path) -> Result<PathBuf, Failure> {
    let path = std::path::absolute(path)
        .map_err(|error| Failure::local(format!("`{}` is not a path", path.display()), &error))?;
    if !path.components().any(|part| part == Component::ParentDir) {
        return Ok(path);
    }
    // A step back from a link is not a step back in the text.
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    if let (Some(folder), Some(name)) = (folder, path.file_name()) {
        return Ok(folder.join(name));
    }
    let mut out = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => drop(out.pop()),
            part => out.push(part),
        }
    }
    Ok(out)
}

/// Follows the links at the end of a path, also to where there is nothing yet.
fn behind(path: &Path) -> Result<PathBuf, Failure> {
    let mut target = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&target) {
            Ok(next) => target = target.parent().unwrap_or(Path::new("/")).join(next),
            Err(_) => return whole(&target),
        }
    }
    Err(refused(format!("`{}` is a link that leads nowhere", path.display())))
}
