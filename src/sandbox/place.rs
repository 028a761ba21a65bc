//! What a worker is given.

use std::io;
use std::path::{Path, PathBuf};

use crate::code::{Code, Coded};

/// What the machine has for itself. A workspace that holds one of these would be all of it.
const SYSTEM: &[&str] = &[
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/home",
    "/lib",
    "/media",
    "/mnt",
    "/nix/store",
    "/opt",
    "/proc",
    "/root",
    "/run",
    "/sbin",
    "/srv",
    "/sys",
    "/tmp",
    "/usr",
    "/var/tmp",
];

/// Where nothing can be worked in.
const DEVICES: &[&str] = &["/dev", "/proc", "/sys"];

/// What a worker is given: a folder to work in, folders to read, and variables.
#[derive(Debug, Clone)]
pub struct Place {
    pub(super) workspace: Option<PathBuf>,
    pub(super) readable: Vec<PathBuf>,
    pub(super) environment: Vec<(String, String)>,
}

/// What stays hidden whatever the workspace is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hidden<'a> {
    /// The folder of the user. A workspace may lie in it, and may not hold it.
    pub home: Option<&'a Path>,
    /// The home of the instance, with its store and keys. A workspace may neither hold it nor lie
    /// in it.
    pub instance: Option<&'a Path>,
}

/// A folder that a worker is not given.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlaceError {
    /// It is not a folder that can be opened.
    #[error("the workspace `{}` cannot be opened", .path.display())]
    NotThere {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It would show what is to stay hidden.
    #[error("a sandboxed run cannot be given `{}`: {what}", .path.display())]
    Shows {
        /// The folder.
        path: PathBuf,
        /// What it is or holds.
        what: String,
    },
}

impl Coded for PlaceError {
    fn code(&self) -> Code {
        Code::InvalidRequest
    }

    fn field(&self) -> Option<&str> {
        Some("workspace")
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotThere { .. } => None,
            Self::Shows { .. } => Some("Give it a folder of the project alone.".into()),
        }
    }
}

impl Place {
    /// Returns the place with nothing but what every worker has.
    pub fn bare() -> Self {
        Self { workspace: None, readable: Vec::new(), environment: Vec::new() }
    }

    /// Returns the place whose workspace is `workspace`, unless that would show what is `hidden`
    /// or is the machine's own.
    pub fn of_workspace(workspace: &Path, hidden: Hidden<'_>) -> Result<Self, PlaceError> {
        Ok(Self { workspace: Some(checked(workspace, hidden)?), ..Self::bare() })
    }

    /// Shows one more folder to be read, under the rule that a workspace is under.
    pub fn with_readable(mut self, folder: &Path, hidden: Hidden<'_>) -> Result<Self, PlaceError> {
        self.readable.push(checked(folder, hidden)?);
        Ok(self)
    }

    /// Passes these variables on, all of them: what may be passed on is for the caller to choose.
    /// `HOME` and `TMPDIR` are those of the place.
    #[must_use]
    pub fn with_environment(mut self, variables: Vec<(String, String)>) -> Self {
        self.environment = variables;
        self
    }

    /// Returns where the workspace is, without links. It has the same name inside.
    pub fn workspace(&self) -> Option<&Path> {
        self.workspace.as_deref()
    }
}

fn checked(folder: &Path, hidden: Hidden<'_>) -> Result<PathBuf, PlaceError> {
    let not_there = |source| PlaceError::NotThere { path: folder.to_owned(), source };
    let path = folder.canonicalize().map_err(not_there)?;
    if !path.is_dir() {
        return Err(not_there(io::ErrorKind::NotADirectory.into()));
    }
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let shows = |what: String| Err(PlaceError::Shows { path: path.clone(), what });
    if let Some(home) = hidden.home.map(real)
        && home.starts_with(&path)
    {
        return shows("it is or holds the folder of the user".into());
    }
    if let Some(instance) = hidden.instance.map(real)
        && (instance.starts_with(&path) || path.starts_with(&instance))
    {
        return shows("the instance keeps its store and keys there".into());
    }
    if let Some(system) = SYSTEM.iter().find(|system| Path::new(system).starts_with(&path)) {
        return shows(format!("it is or holds `{system}`"));
    }
    if let Some(device) = DEVICES.iter().find(|device| path.starts_with(device)) {
        return shows(format!("it lies in `{device}`"));
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_shows_neither_the_home_nor_the_store() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = dir.path().join("vera");
        let (instance, project) = (home.join(".syncro"), home.join("project"));
        std::fs::create_dir_all(instance.join("keys")).expect("made");
        std::fs::create_dir_all(&project).expect("made");
        std::os::unix::fs::symlink(&instance, home.join("link")).expect("made");
        let hidden = Hidden { home: Some(&home), instance: Some(&instance) };
        let given = |path: &Path| Place::of_workspace(path, hidden);
        assert!(given(&project).is_ok());
        for refused in [&home, dir.path(), &instance, &instance.join("keys"), &home.join("link")] {
            assert!(matches!(given(refused), Err(PlaceError::Shows { .. })), "{refused:?}");
        }
        for refused in ["/", "/usr", "/tmp", "/etc", "/proc/self", "/dev/shm"] {
            assert!(
                matches!(given(Path::new(refused)), Err(PlaceError::Shows { .. })),
                "{refused}"
            );
        }
        assert!(matches!(given(&home.join("gone")), Err(PlaceError::NotThere { .. })));
    }
}
