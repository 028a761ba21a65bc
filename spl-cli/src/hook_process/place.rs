//! Which home a hook process works for, and whether it may.
//!
//! **Invariant:** from a home or a socket that another user owns, or that others can write, nothing
//! is read.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use spl::engine::Home;

use super::HookArgs;
use crate::home;

/// A home that is this user's own, or that is not there yet.
pub(super) struct Place {
    /// The home.
    pub(super) home: Home,
}

impl Place {
    /// Returns the home that the command line says, else the environment.
    pub(super) fn of(args: &HookArgs) -> Result<Self, String> {
        let given = args.variable("SYNCROPEL_HOME").filter(|path| !path.is_empty());
        let home = match given {
            Some(path) => home::at(Path::new(path)),
            None => home::find(),
        };
        let home = home.map_err(|failure| failure.message().to_owned())?;
        match check(home.path()) {
            Ok(_) => Ok(Self { home }),
            Err(refused) => Err(refused),
        }
    }
}

/// Tells whether there is a socket that a server of this user may listen on.
pub(super) fn check_socket(socket: &Path) -> Result<bool, String> {
    match socket.parent() {
        Some(folder) => Ok(check(folder)? && check(socket)?),
        None => Ok(false),
    }
}

/// Tells whether something is there. It must be this user's own.
fn check(path: &Path) -> Result<bool, String> {
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) => {
            return match error.kind() {
                io::ErrorKind::NotFound => Ok(false),
                _ => Err(format!("`{}` could not be looked at: {error}", path.display())),
            };
        }
    };
    match fault(&found) {
        None => Ok(true),
        Some(fault) => Err(format!("`{}` is not used: {fault}", path.display())),
    }
}

fn fault(found: &Metadata) -> Option<&'static str> {
    if found.uid() != rustix::process::geteuid().as_raw() {
        return Some("it belongs to another user");
    }
    (found.mode() & 0o022 != 0).then_some("others can write to it; `chmod go-w` it")
}
