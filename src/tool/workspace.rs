//! The directory that a run works in, and what it means to be inside of it.

use std::ffi::OsString;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt};
use rustix::fs::OFlags;

use crate::code::{Code, Coded};

/// How many symbolic links one path may go through, as on Linux.
const LINKS: usize = 40;

/// A directory outside of which its tools reach nothing. Clones are the same directory.
///
/// Paths are first followed here, link by link, so that a refusal can say why, and so that a link
/// with an absolute target inside is followed too. What they come to is opened beneath the handle
/// of the directory, so a link that changes in between leads nowhere else.
#[derive(Debug, Clone)]
pub struct Workspace(Arc<Root>);

#[derive(Debug)]
struct Root {
    dir: Dir,
    /// Where it is, without links.
    path: PathBuf,
    /// Where it is in the words of who opened it.
    given: PathBuf,
}

/// A directory that cannot be worked in.
#[derive(Debug, thiserror::Error)]
#[error("the workspace `{}` cannot be opened", .path.display())]
pub struct WorkspaceError {
    /// The directory.
    pub path: PathBuf,
    /// Why.
    pub source: io::Error,
}

impl Coded for WorkspaceError {
    fn code(&self) -> Code {
        Code::InvalidRequest
    }

    fn field(&self) -> Option<&str> {
        Some("workspace")
    }
}

/// A directory that is not where one may work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no folder in which runs may work here", .path.display())]
pub struct OutsideError {
    /// The directory.
    pub path: PathBuf,
}

impl Coded for OutsideError {
    fn code(&self) -> Code {
        Code::WorkspaceForbidden
    }

    fn field(&self) -> Option<&str> {
        Some("workspace")
    }

    fn hint(&self) -> Option<String> {
        Some(
            "Leave it out, or let `workspace_roots` of `[server]` in config.toml name a folder \
             above it."
                .into(),
        )
    }
}

impl Workspace {
    /// Opens the directory `path`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let given = path.as_ref();
        let open = || {
            let path = given.canonicalize()?;
            let dir = Dir::open_ambient_dir(&path, ambient_authority())?;
            Ok(Root { dir, path, given: std::path::absolute(given)? })
        };
        let root = open().map_err(|source| WorkspaceError { path: given.to_owned(), source })?;
        Ok(Self(Arc::new(root)))
    }

    /// Opens the directory that `path` comes to, if that is one of `roots` or below one of them.
    /// Links are followed first; what the path comes to is then opened from the root, so that a link
    /// which changes in between leads nowhere else. Why it is refused does not say what is there.
    pub fn open_below(path: &Path, roots: &[PathBuf]) -> Result<Self, OutsideError> {
        let outside = || OutsideError { path: path.to_owned() };
        if !path.is_absolute() {
            return Err(outside());
        }
        let resolved = path.canonicalize().map_err(|_| outside())?;
        let opened = roots.iter().find_map(|root| {
            let root = root.canonicalize().ok()?;
            let inside = resolved.strip_prefix(&root).ok()?;
            let dir = Dir::open_ambient_dir(&root, ambient_authority()).ok()?;
            let at_all = Path::new(".");
            dir.open_dir(if inside.as_os_str().is_empty() { at_all } else { inside }).ok()
        });
        let dir = opened.ok_or_else(outside)?;
        Ok(Self(Arc::new(Root { dir, path: resolved, given: path.to_owned() })))
    }

    /// Returns where it is, without links.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.0.dir
    }

    /// Returns the path beneath the directory that `path` comes to, without links and `..`; the
    /// directory itself is `.`. What is not there may still be inside.
    pub(super) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let relative = self.beneath(Path::new(path)).ok_or_else(|| {
            format!("`{path}` is outside of the workspace `{}`", self.path().display())
        })?;
        let mut ahead = steps(relative);
        let mut at = PathBuf::new();
        let mut links = 0;
        while let Some(step) = ahead.pop() {
            if step == ".." {
                if !at.pop() {
                    return Err(format!("`{path}` leads out of the workspace"));
                }
                continue;
            }
            at.push(step);
            let Some(target) = self.link_target(&at) else { continue };
            links += 1;
            if links > LINKS {
                return Err(format!("`{path}` goes through too many links"));
            }
            let link = at.clone();
            if target.is_absolute() {
                at.clear();
            } else {
                at.pop();
            }
            let inside = self.beneath(&target).ok_or_else(|| {
                format!("`{path}` leads out of the workspace by the link `{}`", link.display())
            })?;
            ahead.extend(steps(inside));
        }
        Ok(if at.as_os_str().is_empty() { PathBuf::from(".") } else { at })
    }

    /// Opens a file to read, and returns it with its length. `inside` is what `path` came to.
    pub(super) fn open_to_read(&self, inside: &Path, path: &str) -> Result<(File, u64), String> {
        self.open_file(inside, path, OpenOptions::new().read(true))
    }

    /// Opens a file to write, and makes it if it is `new`. It is not emptied.
    pub(super) fn open_to_write(
        &self,
        inside: &Path,
        path: &str,
        new: bool,
    ) -> Result<File, String> {
        Ok(self.open_file(inside, path, OpenOptions::new().write(true).create(new))?.0)
    }

    /// Opens a regular file. Others are refused: a pipe would keep the run waiting for its other
    /// end.
    fn open_file(
        &self,
        inside: &Path,
        path: &str,
        options: &mut OpenOptions,
    ) -> Result<(File, u64), String> {
        // Opening itself must not wait either.
        options.custom_flags(OFlags::NONBLOCK.bits().cast_signed());
        let opened = self.dir().open_with(inside, options);
        let file = opened.map_err(|error| sentence(path, &error))?;
        let metadata = file.metadata().map_err(|error| sentence(path, &error))?;
        if metadata.is_dir() {
            return Err(format!("`{path}` is a directory"));
        }
        if !metadata.is_file() {
            return Err(format!("`{path}` is not a regular file"));
        }
        Ok((file, metadata.len()))
    }

    /// Returns what is left of `path` beneath the directory: all of a relative path, and what
    /// follows the directory in an absolute one.
    fn beneath<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        if path.is_relative() {
            return Some(path);
        }
        path.strip_prefix(&self.0.path).or_else(|_| path.strip_prefix(&self.0.given)).ok()
    }

    fn link_target(&self, path: &Path) -> Option<PathBuf> {
        let is_link = self.dir().symlink_metadata(path).is_ok_and(|found| found.is_symlink());
        if is_link { self.dir().read_link_contents(path).ok() } else { None }
    }
}

/// Returns the steps of `path`, the next one last.
fn steps(path: &Path) -> Vec<OsString> {
    let step = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    };
    path.components().rev().filter_map(step).collect()
}

/// Says in a sentence why `path` cannot be used.
pub(super) fn sentence(path: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => format!("`{path}` does not exist"),
        io::ErrorKind::NotADirectory => format!("a part of `{path}` is not a directory"),
        io::ErrorKind::IsADirectory => format!("`{path}` is a directory"),
        io::ErrorKind::PermissionDenied => format!("`{path}` may not be accessed"),
        _ => format!("`{path}` cannot be used: {error}"),
    }
}
