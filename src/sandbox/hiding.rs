//! One folder kept from a command that may otherwise reach what its user reaches.
//!
//! Comes in: a folder, and whatever is to be started. Goes out: the words that start it without the
//! folder. There are two ways: a mount of nothing over the folder, in a namespace of the command's
//! own, and Landlock, which allows everything beside it. The second cannot hide a socket from older
//! kernels, and with it nothing new can be made in the folders on the way to the hidden one.
//!
//! This is a curtain and no wall: a process of the same user has other ways to the engine. A
//! [`Place`](super::Place) is the wall.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A way to hide a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HidingWay {
    /// Nothing is mounted over it.
    Mount,
    /// Landlock allows everything beside it.
    Landlock,
}

impl HidingWay {
    /// Every way, the best first.
    pub const ALL: &[Self] = &[Self::Mount, Self::Landlock];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mount => "mount",
            Self::Landlock => "landlock",
        }
    }
}

impl fmt::Display for HidingWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A folder that can be hidden from what is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hiding {
    stager: PathBuf,
    folder: PathBuf,
    way: HidingWay,
}

/// Why a folder cannot be hidden.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{why}")]
pub struct NotHidden {
    /// What is in the way.
    pub why: String,
}

impl NotHidden {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into() }
    }
}

impl Hiding {
    /// Looks for a way to hide `folder` from commands that start in `workspace`, and tries it.
    /// `stager` is the executable that calls [`stage`](super::stage()).
    pub fn find(stager: &Path, folder: &Path, workspace: &Path) -> Result<Self, NotHidden> {
        Self::find_by(stager, folder, workspace, HidingWay::ALL)
    }

    /// The same, by one of these ways.
    pub fn find_by(
        stager: &Path,
        folder: &Path,
        workspace: &Path,
        ways: &[HidingWay],
    ) -> Result<Self, NotHidden> {
        let real = |path: &Path| {
            path.canonicalize().map_err(|error| {
                NotHidden::new(format!("`{}` cannot be opened: {error}", path.display()))
            })
        };
        let (folder, workspace) = (real(folder)?, real(workspace)?);
        if workspace.starts_with(&folder) {
            return Err(NotHidden::new("the workspace lies in it"));
        }
        let mut tried = Vec::new();
        for &way in ways {
            let hiding = Self { stager: stager.to_owned(), folder: folder.clone(), way };
            // Where nothing new can be made, nothing can be worked in.
            let outcome = if way == HidingWay::Landlock && folder.starts_with(&workspace) {
                Err("the workspace holds it".to_owned())
            } else {
                hiding.attempt()
            };
            match outcome {
                Ok(()) => return Ok(hiding),
                Err(why) => tried.push(format!("{way} ({why})")),
            }
        }
        Err(NotHidden::new(tried.join(", ")))
    }

    /// Returns what is written in front of a command that is not to see the folder.
    pub fn words(&self) -> Vec<OsString> {
        let words = ["worker", "hide", self.way.as_str()].map(OsString::from);
        let stager = std::iter::once(self.stager.clone().into_os_string());
        stager.chain(words).chain([self.folder.clone().into_os_string()]).collect()
    }

    /// Returns how the folder is hidden.
    pub const fn way(&self) -> HidingWay {
        self.way
    }

    /// Hides the folder from nobody, and says whether that went well.
    fn attempt(&self) -> Result<(), String> {
        let words = self.words();
        let Some((program, args)) = words.split_first() else { return Ok(()) };
        let done = Command::new(program)
            .args(args)
            .env_clear()
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .output()
            .map_err(|error| error.to_string())?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&done.stderr);
        let line = said.lines().rev().find(|line| !line.trim().is_empty());
        Err(line.unwrap_or("it ended without a word").trim_start_matches("spl worker: ").to_owned())
    }
}
