//! The policy of a folder: what its user and the folder itself have set up for runs in it.

use std::env;
use std::path::{Path, PathBuf};

use spl::engine::{Home, RuntimeSettings};
use spl::policy::polpo::{KILL_SWITCH, Runtime, refuse_unasked};
use spl::policy::polyglot::{Files, Project, load};
use spl::policy::{Policy, SettingsError};

use crate::failure::Failure;
use crate::home;

/// Reads the policy of runs in a folder, for commands of this process.
pub(crate) fn of(workspace: &Path) -> Result<Policy, Failure> {
    resolve(workspace, Project::Asked).map_err(|error| Failure::coded(&error))
}

/// Reads the policy of runs in a folder.
pub(crate) fn resolve(workspace: &Path, project: Project) -> Result<Policy, SettingsError> {
    let home = home::folder();
    let files = Files { home: home.as_deref(), workspace, project };
    // Commands of the dialect see what the process sees that asks them.
    Ok(load(&files, &home::set)?.at(workspace.to_owned(), env::vars_os().collect()))
}

/// Returns the switches for packs of a host whose home is this one.
pub(crate) fn runtime_of(home: Option<&Home>) -> Result<Runtime, Failure> {
    let settings = home.map(Home::settings).transpose().map_err(|error| Failure::coded(&error))?;
    Ok(switches(&settings.unwrap_or_default().runtime))
}

/// Returns the switches for packs that settings and the environment of this process come to.
pub(crate) fn switches(settings: &RuntimeSettings) -> Runtime {
    Runtime::new(settings, env::var(KILL_SWITCH).ok().as_deref())
}

/// Refuses a run in a folder with packs, which runs do not ask yet.
pub(crate) fn refuse_packs(workspace: &Path, home: &Home) -> Result<(), Failure> {
    refuse_unasked(workspace, &runtime_of(Some(home))?).map_err(|error| Failure::coded(&error))
}

/// Returns the switches for packs of this machine, which may have no home.
pub(crate) fn runtime() -> Result<Runtime, Failure> {
    runtime_of(home::find().ok().as_ref())
}

/// Returns the folder that a command line names, without links, or the one that this process is in.
pub(crate) fn folder(given: Option<&Path>) -> Result<PathBuf, Failure> {
    let given = given.unwrap_or(Path::new("."));
    let folder = given.canonicalize().ok().filter(|folder| folder.is_dir());
    folder.ok_or_else(|| Failure::usage(format!("`{}` is not a folder", given.display())))
}
