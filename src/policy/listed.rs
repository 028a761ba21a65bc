//! What stands in settings and is not in force.

use std::path::PathBuf;

use super::Scope;

/// A hook that is set up and is not asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The file.
    pub path: PathBuf,
    /// Whose file it is.
    pub scope: Scope,
    /// The word of its dialect for where it would be asked. Without one, all hooks of the file are
    /// meant, since they could not be told apart.
    pub event: Option<&'static str>,
    /// Where it stands in the file's list for that, from 0.
    pub position: Option<usize>,
    /// Its command, if it has one.
    pub command: Option<String>,
    /// Why it is not asked.
    pub why: String,
}

/// A setting that is known and has no effect here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotApplied {
    /// The file.
    pub path: PathBuf,
    /// Whose file it is.
    pub scope: Scope,
    /// The setting: `permissions.mode`.
    pub key: &'static str,
    /// Why it has none.
    pub why: &'static str,
}
