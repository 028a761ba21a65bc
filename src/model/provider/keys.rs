//! Finding the key of a provider, and never showing it.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A key. It has no way to be printed.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Key {
    /// Returns the key for a header.
    pub(super) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// A way to look at a variable of the environment.
type Variables = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where keys are looked for: variables first, then files of the home.
#[derive(Clone)]
pub struct Keys {
    secrets: Option<PathBuf>,
    variables: Variables,
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys").field("secrets", &self.secrets).finish_non_exhaustive()
    }
}

/// Where a key comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySource {
    /// A variable of the environment.
    Variable(String),
    /// A file of the home.
    File(PathBuf),
    /// There is one, and it is not used.
    Refused {
        /// Why.
        reason: String,
    },
    /// There is none, and the provider is of no use without.
    Missing,
    /// There is none, and none is needed.
    NotNeeded,
}

/// A key that is there and is not used.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    #[error("`{0}` can be read by others")]
    Exposed(PathBuf),
    #[error("`{0}` could not be read: {1}")]
    Unreadable(PathBuf, io::ErrorKind),
    #[error("the key in {0} has characters that no key has")]
    Illegible(String),
}

impl Refused {
    /// Returns what to do about it.
    pub(super) fn hint(&self) -> String {
        match self {
            Self::Exposed(path) => {
                format!("Run `chmod 600 {}`, and think of a new key.", path.display())
            }
            Self::Unreadable(..) => "Make it a file that you can read.".into(),
            Self::Illegible(_) => "Set it again: one line, nothing but the key.".into(),
        }
    }
}

impl Keys {
    /// Looks for keys in variables, as `variable` returns them, and in the files of `secrets`.
    pub fn new(
        secrets: impl Into<PathBuf>,
        variable: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self { secrets: Some(secrets.into()), variables: Arc::new(variable) }
    }

    /// Finds no key anywhere.
    pub fn none() -> Self {
        Self { secrets: None, variables: Arc::new(|_| None) }
    }

    /// Returns the key of a provider, if there is one.
    pub(super) fn key(&self, provider: &str, variables: &[String]) -> Result<Option<Key>, Refused> {
        Ok(self.find(provider, variables)?.map(|(key, _)| key))
    }

    /// Returns where the key of a provider comes from.
    pub(super) fn source(&self, provider: &str, variables: &[String], needed: bool) -> KeySource {
        match self.find(provider, variables) {
            Ok(Some((_, source))) => source,
            Ok(None) if needed => KeySource::Missing,
            Ok(None) => KeySource::NotNeeded,
            Err(refused) => KeySource::Refused { reason: format!("{refused}. {}", refused.hint()) },
        }
    }

    /// Says where to put a key.
    pub(super) fn advice(&self, provider: &str, variables: &[String]) -> String {
        let file = self.secrets.as_ref().map(|folder| file_of(folder, provider));
        let file = file.map(|path| format!("put the key into `{}` (mode 0600)", path.display()));
        match (variables.first(), file) {
            (Some(variable), Some(file)) => format!("Set {variable}, or {file}."),
            (Some(variable), None) => format!("Set {variable}."),
            (None, Some(file)) => format!("P{}.", file.trim_start_matches('p')),
            (None, None) => "Name a variable with `key_env`.".into(),
        }
    }

    fn find(
        &self,
        provider: &str,
        variables: &[String],
    ) -> Result<Option<(Key, KeySource)>, Refused> {
        for name in variables {
            let value = (self.variables)(name);
            if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
                let key = legible(&value).ok_or_else(|| Refused::Illegible(name.clone()))?;
                return Ok(Some((key, KeySource::Variable(name.clone()))));
            }
        }
        let Some(path) = self.secrets.as_ref().map(|folder| file_of(folder, provider)) else {
            return Ok(None);
        };
        let Some(text) = read(&path)? else { return Ok(None) };
        let key =
            legible(&text).ok_or_else(|| Refused::Illegible(format!("`{}`", path.display())))?;
        Ok(Some((key, KeySource::File(path))))
    }
}

fn file_of(folder: &Path, provider: &str) -> PathBuf {
    folder.join(format!("{provider}.key"))
}

/// Reads a key file that nobody else can read.
fn read(path: &Path) -> Result<Option<String>, Refused> {
    let unreadable = |error: io::Error| Refused::Unreadable(path.to_owned(), error.kind());
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(unreadable(error)),
    };
    if metadata.permissions().mode() & 0o077 != 0 {
        return Err(Refused::Exposed(path.to_owned()));
    }
    fs::read_to_string(path).map(Some).map_err(unreadable)
}

/// Returns a text as a key, if a header can hold it.
fn legible(text: &str) -> Option<Key> {
    let text = text.trim();
    let legible = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic());
    legible.then(|| Key(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables() -> Vec<String> {
        vec!["FIRST".to_owned(), "SECOND".to_owned()]
    }

    fn write(folder: &Path, mode: u32, text: &str) {
        let path = folder.join("acme.key");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("set");
    }

    #[test]
    fn a_variable_stands_before_a_file_and_the_first_before_the_second() {
        let dir = tempfile::tempdir().expect("a folder");
        write(dir.path(), 0o600, "from-file\n");
        let with = |set: &'static [(&'static str, &'static str)]| {
            let keys = Keys::new(dir.path(), move |name| {
                set.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            });
            let key = keys.key("acme", &variables()).expect("a key").expect("a key");
            (key.expose().to_owned(), keys.source("acme", &variables(), true))
        };
        let variable = |name: &str| KeySource::Variable(name.to_owned());
        assert_eq!(with(&[("SECOND", "b"), ("FIRST", "a")]), ("a".into(), variable("FIRST")));
        assert_eq!(with(&[("FIRST", " "), ("SECOND", "b")]), ("b".into(), variable("SECOND")));
        let file = KeySource::File(dir.path().join("acme.key"));
        assert_eq!(with(&[]), ("from-file".into(), file));
    }

    #[test]
    fn a_file_that_others_can_read_is_refused_and_so_is_one_that_holds_no_key() {
        let dir = tempfile::tempdir().expect("a folder");
        let keys = Keys::new(dir.path(), |_| None);
        assert_eq!(keys.source("acme", &[], true), KeySource::Missing);
        assert_eq!(keys.source("acme", &[], false), KeySource::NotNeeded);
        for (mode, text, wanted) in [
            (0o640, "k-secret", "can be read by others"),
            (0o604, "k-secret", "can be read by others"),
            (0o600, "k-secret\nsecond line", "characters that no key has"),
            (0o600, "", "characters that no key has"),
        ] {
            write(dir.path(), mode, text);
            let refused = keys.key("acme", &[]).expect_err("refused");
            assert!(refused.to_string().contains(wanted), "{refused}");
            assert!(!format!("{refused:?} {refused} {}", refused.hint()).contains("k-secret"));
        }
    }

    #[test]
    fn a_key_is_not_printed() {
        let key = legible("k-secret").expect("a key");
        assert!(!format!("{key:?}").contains("secret"));
        let keys = Keys::new("/nowhere", |_| Some("k-secret".into()));
        assert!(!format!("{keys:?}").contains("k-secret"));
    }
}
