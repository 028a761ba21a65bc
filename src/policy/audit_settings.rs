//! What the settings say of the audit file.

use std::path::PathBuf;

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
