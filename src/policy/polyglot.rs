//! The first dialect: settings files of Polyglot (contract-polyglot).
//!
//! Comes in: `.polyglot/settings.json` of the user and of the workspace, and a few switches. Goes
//! out: a [`Policy`] of shell commands. Each reads a payload, and answers by how it ends and by what
//! it writes.
//!
//! How it fits: `read` takes one file apart, `resolve` lays one over the other, `payload` and `answer`
//! are the two directions of the wire, and `ask` alone starts anything.
//!
//! **Invariant:** a project that the user has not opted into can only make less happen. Its hooks are
//! not asked and need not even be well-formed; of its other settings, those count that refuse calls,
//! hide secrets, or want an audit file.
//!
//! **Invariant:** a hook that fails is never an answer: it is told of, and what it was asked about
//! happens.

mod answer;
mod ask;
mod event;
mod payload;
mod place;
mod read;
mod resolve;
mod shell;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

pub use answer::{DETAIL_CHARS, read_answer};
pub(super) use ask::Asker;
pub use ask::STREAM_BYTES;
pub use event::Event;
pub use payload::payload;
pub use resolve::Switch;
pub use shell::Shell;

use super::{Policy, Scope, SettingsError};
use crate::canon::{Limits, ParseError, Value, parse};
use read::Settings;

/// How long a hook may take that does not say.
pub const TIMEOUT_MS: u64 = 5000;

/// Where the settings of a run are.
#[derive(Debug, Clone, Copy)]
pub struct Files<'a> {
    /// The user's home folder. Without one there are only the workspace's settings.
    pub home: Option<&'a Path>,
    /// The workspace. Nothing is looked for above it.
    pub workspace: &'a Path,
    /// Whether hooks of the workspace are asked.
    pub project: Project,
}

/// Whether hooks of the workspace are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// If the user's own settings say so.
    Asked,
    /// Not in any case, for this reason.
    Ignored(&'static str),
}

/// Reads the settings of a run, and lays them over each other. `variables` are the switches of the
/// environment.
pub fn load(
    files: &Files<'_>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Policy, SettingsError> {
    let global = files.home.map(settings_of);
    let project = settings_of(files.workspace);
    let read = |path: &Path| {
        bytes_of(path)
            .map_err(|error| whole(path, "unreadable", format!("cannot be read: {error}")))
    };
    let texts = Texts {
        global: global.as_deref().map(read).transpose()?.flatten(),
        // In the home folder, both are one file.
        project: match &global {
            Some(global) if same(global, &project) => None,
            _ => read(&project)?,
        },
    };
    load_texts(&texts, files, variables)
}

/// What stands in the files of a run; nothing, where there is none.
#[derive(Debug, Clone, Default)]
pub struct Texts {
    /// The user's own.
    pub global: Option<Vec<u8>>,
    /// The workspace's.
    pub project: Option<Vec<u8>>,
}

/// Lays settings that have been read over each other: [`load`] without its files, which are named and
/// not opened.
pub fn load_texts(
    texts: &Texts,
    files: &Files<'_>,
    variables: &dyn Fn(&str) -> Option<String>,
) -> Result<Policy, SettingsError> {
    let read = |text: Option<&Vec<u8>>, folder: Option<&Path>, scope| {
        let path = folder.map(settings_of).unwrap_or_default();
        match text {
            Some(text) => read_text(text, &path, scope),
            None => Ok(Settings::none(path, scope)),
        }
    };
    let global = read(texts.global.as_ref(), files.home, Scope::Global)?;
    let project = read(texts.project.as_ref(), Some(files.workspace), Scope::Project)?;
    resolve::resolve(global, project, files, variables)
}

/// Returns where the settings of a folder are.
fn settings_of(folder: &Path) -> PathBuf {
    folder.join(".polyglot").join("settings.json")
}

fn same(one: &Path, other: &Path) -> bool {
    one == other
        || matches!((fs::canonicalize(one), fs::canonicalize(other)), (Ok(a), Ok(b)) if a == b)
}

fn read_text(bytes: &[u8], path: &Path, scope: Scope) -> Result<Settings, SettingsError> {
    // An editor may have put a byte order mark in front.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match parse(bytes, Limits::DOOR) {
        Ok(Value::Object(members)) => Settings::read(&members, path, scope),
        Ok(other) => {
            let message = format!("holds {}, and must hold an object", other.type_in_words());
            Err(whole(path, "wrong_type", message))
        }
        Err(error) => Err(whole(path, "not_json", unreadable(&error))),
    }
}

/// Returns what is wrong with the text of a file, without anything that stands in it.
fn unreadable(error: &ParseError) -> String {
    match error {
        ParseError::Syntax { offset, .. } => format!("is not JSON at byte {offset}"),
        ParseError::NumberOutOfRange { .. } => "holds a number that is out of range".to_owned(),
        error => format!("cannot be taken: {error}"),
    }
}

fn whole(path: &Path, reason: &'static str, message: String) -> SettingsError {
    SettingsError { path: path.to_owned(), field: String::new(), reason, message }
}

fn bytes_of(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let missing = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Ok(None),
        _ => Err(error),
    };
    match fs::metadata(path) {
        Err(error) => return missing(error),
        // A pipe would be waited for.
        Ok(found) if !found.is_file() => return Err(io::Error::other("it is no file")),
        Ok(found) if found.len() > Limits::DOOR.bytes as u64 => {
            return Err(io::Error::from(io::ErrorKind::FileTooLarge));
        }
        Ok(_) => {}
    }
    fs::read(path).map(Some).or_else(missing)
}

#[cfg(test)]
mod tests;
