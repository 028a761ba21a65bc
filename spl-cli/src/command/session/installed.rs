//! What the home keeps of each settings file that was changed: the bytes before, so that they can be
//! put back, and what was written, so that it is known whether anybody has changed it since.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use spl::canon::{Limits, Object, Value, hash_of, hex, parse};
use spl::engine::Home;
use spl::object;
use spl::time::Timestamp;

use super::file::{self, SettingsFile};
use super::harness::Harness;
use crate::failure::Failure;

/// The most bytes of what is kept of one file.
const LIMITS: Limits = Limits { bytes: 256 * 1024 * 1024, depth: 8 };

/// What there was before we came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Before {
    /// This text.
    Text(String),
    /// No file. These folders were made for it, the outermost first.
    Nothing(Vec<PathBuf>),
    /// Nobody knows: hooks of ours were there already.
    Unknown,
}

/// What is kept of one settings file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Installed {
    /// When hooks of ours were last written.
    pub(super) at: Timestamp,
    /// The SHA-256 of what was written.
    written: String,
    /// What there was before.
    pub(super) before: Before,
}

/// Where that is kept.
pub(super) struct Kept(PathBuf);

impl Kept {
    /// Returns the place for what is kept of a file.
    pub(super) fn of(home: &Home, harness: Harness, file: &SettingsFile) -> Self {
        let path = file.real_path();
        let hash = hex(&hash_of(&[path.as_os_str().as_encoded_bytes()]));
        let name = format!("{}-{}.json", harness.name(), hash.get(..16).unwrap_or(&hash));
        Self(home.path().join("installed").join(name))
    }

    /// Reads what is kept. What does not read is as good as nothing.
    pub(super) fn read(&self) -> Option<Installed> {
        let bytes = fs::read(&self.0).ok()?;
        Installed::parse(&parse(&bytes, LIMITS).ok()?)
    }

    /// Keeps this.
    pub(super) fn write(&self, path: &Path, installed: &Installed) -> Result<(), Failure> {
        let folder = self.0.parent().unwrap_or(Path::new("/"));
        let text = Value::from(installed.to_object(path)).to_string();
        file::make_folders(folder)
            .and_then(|_| match fs::metadata(&self.0) {
                Ok(old) => file::replace(&self.0, text.as_bytes(), Some(&old)),
                Err(_) => file::replace(&self.0, text.as_bytes(), None),
            })
            .map_err(|error| self.failed("written", &error))
    }

    /// Forgets what is kept.
    pub(super) fn remove(&self) -> Result<(), Failure> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(self.failed("removed", &error))
            }
            _ => Ok(()),
        }
    }

    fn failed(&self, what: &str, error: &io::Error) -> Failure {
        Failure::local(format!("`{}` could not be {what}", self.0.display()), error)
    }
}

impl Installed {
    /// Returns what is to be kept once `text` is written.
    pub(super) fn new(at: Timestamp, text: &str, before: Before) -> Self {
        Self { at, written: digest(text.as_bytes()), before }
    }

    /// Returns whether the file is as it was written.
    pub(super) fn wrote(&self, bytes: &[u8]) -> bool {
        self.written == digest(bytes)
    }

    fn to_object(&self, path: &Path) -> Object {
        let (text, folders) = match &self.before {
            Before::Text(text) => (Some(text.as_str()), None),
            Before::Nothing(folders) => {
                let folders = folders.iter().map(|folder| folder.display().to_string());
                (None, Some(folders.collect::<Vec<_>>()))
            }
            Before::Unknown => (None, None),
        };
        object! {
            "before": text,
            "installed_at": self.at.to_string(),
            "made_folders": folders.map_or(Value::Null, Value::from),
            "path": path.display().to_string(),
            "written": self.written.as_str(),
        }
    }

    fn parse(value: &Value) -> Option<Self> {
        let text = |key| value.get(key).and_then(Value::as_str);
        let before = match (text("before"), value.get("made_folders").and_then(Value::as_array)) {
            (Some(text), _) => Before::Text(text.to_owned()),
            (None, Some(folders)) => {
                let folders = folders.iter().filter_map(Value::as_str);
                Before::Nothing(folders.map(PathBuf::from).collect())
            }
            (None, None) => Before::Unknown,
        };
        let at = Timestamp::parse(text("installed_at")?)?;
        Some(Self { at, written: text("written")?.to_owned(), before })
    }
}

fn digest(bytes: &[u8]) -> String {
    hex(&hash_of(&[bytes]))
}
