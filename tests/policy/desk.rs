//! A home and a workspace with settings.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;
use spl::policy::polyglot::{Files, Project, load};
use spl::policy::{Policy, SettingsError};
use tempfile::TempDir;

/// A home and a workspace beside each other.
pub(crate) struct Desk {
    _folder: TempDir,
    pub(crate) home: PathBuf,
    pub(crate) work: PathBuf,
}

impl Desk {
    pub(crate) fn new(home_is_workspace: bool) -> Self {
        let folder = TempDir::new().expect("a folder");
        let root = folder.path().canonicalize().expect("a path");
        let work = root.join("work");
        let home = if home_is_workspace { work.clone() } else { root.join("home") };
        for folder in [&home, &work] {
            fs::create_dir_all(folder).expect("a folder");
        }
        Self { _folder: folder, home, work }
    }

    /// Writes the settings of a folder.
    pub(crate) fn set(folder: &Path, settings: Option<&Value>) {
        if let Some(settings) = settings {
            let folder = folder.join(".polyglot");
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("settings.json"), settings.to_string()).expect("settings");
        }
    }

    /// Writes a program of the workspace.
    pub(crate) fn program(&self, name: &str, text: &str) {
        let path = self.work.join(name);
        fs::write(&path, text).expect("a program");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("its mode");
    }

    pub(crate) fn load(
        &self,
        variables: &BTreeMap<String, String>,
    ) -> Result<Policy, SettingsError> {
        let files =
            Files { home: Some(&self.home), workspace: &self.work, project: Project::Asked };
        load(&files, &|name| variables.get(name).cloned())
    }

    /// Returns the policy as it runs here.
    pub(crate) fn policy(&self, policy: Policy, environment: &BTreeMap<String, String>) -> Policy {
        let path = ("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into());
        let own = environment.iter().map(|(name, value)| (name.into(), value.into()));
        let environment: Vec<(OsString, OsString)> = std::iter::once(path).chain(own).collect();
        policy.at(self.work.clone(), environment)
    }

    /// Returns what a file of the workspace says; nothing, if it is not there.
    pub(crate) fn text(&self, name: &str) -> String {
        fs::read_to_string(self.work.join(name)).unwrap_or_default()
    }

    /// Returns a text of a case with the folders of this desk in it.
    pub(crate) fn here(&self, text: &str) -> String {
        text.replace("$CWD", &self.work.to_string_lossy())
            .replace("$HOME", &self.home.to_string_lossy())
    }

    /// Returns the names that hooks have added to `spawned`.
    pub(crate) fn spawned(&self) -> Vec<String> {
        self.text("spawned").lines().map(str::to_owned).collect()
    }

    /// Returns whether the process goes on whose id is in a file.
    pub(crate) fn goes_on(&self, name: &str) -> bool {
        let id = self.text(name);
        assert!(!id.trim().is_empty(), "{name} has no id");
        let status = fs::read_to_string(format!("/proc/{}/status", id.trim())).unwrap_or_default();
        // One that is dead stays known until its parent asks.
        !status.is_empty() && !status.contains("State:\tZ")
    }
}
