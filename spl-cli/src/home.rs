//! Finding the home of the instance, and what to call its owner.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use spl::engine::{Engine, EngineOptions, Home, HomeError, Made};

use crate::failure::Failure;
use crate::output;

/// Where the users of this machine are.
const USERS: &str = "/etc/passwd";

/// Returns where the instance lives: `SYNCROPEL_HOME`, else `.syncro` in the user's own folder.
pub(crate) fn find() -> Result<Home, Failure> {
    if let Some(path) = env::var_os("SYNCROPEL_HOME").filter(|path| !path.is_empty()) {
        return at(Path::new(&path));
    }
    match folder() {
        Some(folder) => Ok(Home::at(folder.join(".syncro"))),
        None => Err(Failure::usage("there is no home folder to keep an instance in")
            .with_hint("Set HOME or SYNCROPEL_HOME.")),
    }
}

/// Returns the home, making the instance if there is none yet.
pub(crate) fn made() -> Result<Home, Failure> {
    let home = find()?;
    make(&home)?;
    Ok(home)
}

/// Returns the home, making the instance if there is none yet, without a token of its own.
pub(crate) fn made_without_token() -> Result<Home, Failure> {
    let home = find()?;
    make_by(&home, Home::initialise_without_token)?;
    Ok(home)
}

/// Makes the instance of a home if there is none yet, and says so in one line. Of an instance that
/// is there, its folders are made.
pub(crate) fn make(home: &Home) -> Result<(), Failure> {
    make_by(home, Home::initialise)
}

fn make_by(
    home: &Home,
    initialise: fn(&Home, &str) -> Result<Made, HomeError>,
) -> Result<(), Failure> {
    if home.is_initialised() {
        home.make_folders().map_err(|error| Failure::coded(&error))?;
    } else {
        let made = initialise(home, &login()).map_err(|error| Failure::coded(&error))?;
        if made.fresh {
            let place = home.path().display();
            output::note(&format!("made an instance at {place}, owned by {}", made.actor));
        }
    }
    Ok(())
}

/// Opens the instance of a home that has been made.
pub(crate) fn open(home: &Home) -> Result<Engine, Failure> {
    Engine::open(home, EngineOptions::default()).map_err(|error| Failure::coded(&error))
}

/// Returns the home at `path`. A server in the background works in another folder, so a path from
/// here is made whole.
pub(crate) fn at(path: &Path) -> Result<Home, Failure> {
    let whole = std::path::absolute(path);
    whole
        .map(Home::at)
        .map_err(|error| Failure::local(format!("`{}` is not a path", path.display()), &error))
}

/// Returns the user's own folder: `HOME`, else what the list of users says. The C library would ask
/// other places too, by loading code that a program linked statically does not survive.
pub(crate) fn folder() -> Option<PathBuf> {
    let given = env::var_os("HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    given.or_else(|| {
        let users = fs::read_to_string(USERS).ok()?;
        folder_of(rustix::process::getuid().as_raw(), &users)
    })
}

/// Returns the login name of the user.
pub(crate) fn login() -> String {
    ["USER", "LOGNAME"]
        .into_iter()
        .find_map(set)
        .or_else(|| {
            let users = fs::read_to_string(USERS).ok()?;
            login_of(rustix::process::getuid().as_raw(), &users)
        })
        .unwrap_or_else(|| "operator".into())
}

/// Finds the name of a user in the text of `/etc/passwd`.
fn login_of(uid: u32, users: &str) -> Option<String> {
    entry_of(uid, users)?.split(':').next().map(str::to_owned)
}

/// Finds the folder of a user there.
fn folder_of(uid: u32, users: &str) -> Option<PathBuf> {
    let folder = entry_of(uid, users)?.split(':').nth(5)?;
    (!folder.is_empty()).then(|| folder.into())
}

fn entry_of(uid: u32, users: &str) -> Option<&str> {
    users.lines().find(|line| line.split(':').nth(2).and_then(|it| it.parse().ok()) == Some(uid))
}

/// Returns a variable of the environment that says something.
pub(crate) fn set(variable: &str) -> Option<String> {
    env::var(variable).ok().filter(|value| !value.is_empty())
}

/// Returns the variables of this process that are text; one that is none cannot be passed on.
pub(crate) fn variables() -> Vec<(String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_found_by_the_number() {
        let users =
            "root:x:0:0:root:/root:/bin/sh\n# a comment\nvera:x:1000:1000::/home/vera:/bin/sh\n";
        assert_eq!(login_of(1000, users).as_deref(), Some("vera"));
        assert_eq!(login_of(0, users).as_deref(), Some("root"));
        assert_eq!(login_of(7, users), None);
        assert_eq!(folder_of(1000, users), Some("/home/vera".into()));
        assert_eq!(folder_of(7, users), None);
    }
}
