//! The home of an instance: a folder that only its owner can read (contract §2.12).
//!
//! Everything the instance keeps lies under it: the store, the keys, the admin token, the socket
//! of a running server, its log. Making a home is idempotent and safe among processes that start
//! together: each file is made whole under another name and then linked to its own, so that there
//! is either all of it or none, and whoever comes second reads what the first one made.

mod keys;
mod transcript;

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use super::Settings;
use crate::canon::hex;
use crate::code::{Code, Coded};
use crate::identity::{KeyPair, Keyring, RandomError, SEED_BYTES, random_bytes};
pub use keys::KeyHolder;

/// What stands in the switch for policy hooks.
const POLICY_ON: &str = "on";
const POLICY_OFF: &str = "off";

/// Where an instance lives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// Why a home could not be made or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HomeError {
    /// There is no instance here yet.
    #[error("there is no instance at `{path}`")]
    NotInitialised {
        /// The folder.
        path: PathBuf,
    },
    /// A file or folder could not be used.
    #[error("`{path}` could not be {action}")]
    File {
        /// The file.
        path: PathBuf,
        /// What was tried.
        action: &'static str,
        /// Why it failed.
        #[source]
        source: io::Error,
    },
    /// There is a store, and the key that signed it is gone.
    #[error("the key `{path}` is missing, and there is a store that it has signed")]
    LostKey {
        /// Where the key was.
        path: PathBuf,
    },
    /// A key file does not hold a key.
    #[error("`{path}` is not a key: it must hold {SEED_BYTES} raw bytes")]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
    /// No file could have the name of this actor.
    #[error("`{actor}` is too long to keep a key of")]
    NoFileName {
        /// The actor.
        actor: String,
    },
    /// The settings do not read.
    #[error("`{path}` does not read: {message}")]
    Settings {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, with its line.
        message: String,
    },
    /// The operating system has no randomness to give.
    #[error(transparent)]
    Random(#[from] RandomError),
}

impl Coded for HomeError {
    fn code(&self) -> Code {
        match self {
            Self::NotInitialised { .. } => Code::NotFound,
            _ => Code::Internal,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NotInitialised { .. } => Some("Run `spl init`, or write a record.".into()),
            Self::LostKey { .. } => Some(
                "Put the key back from a copy of the home; to begin anew, move `hub.db*` away."
                    .into(),
            ),
            Self::NotAKey { .. } => Some("Put the key back from a copy of the home.".into()),
            _ => None,
        }
    }
}

/// What making a home has made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Made {
    /// Whether this made the instance: its key was missing, and nobody else was faster.
    pub fresh: bool,
    /// The actor that the operator writes as.
    pub actor: String,
}

impl Home {
    /// Returns the home at `path`, whether or not anything is there.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the folder.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns where the store is.
    pub fn store_path(&self) -> PathBuf {
        self.0.join("hub.db")
    }

    /// Returns where a running server listens.
    pub fn socket_path(&self) -> PathBuf {
        self.0.join("run/spl.sock")
    }

    /// Returns where a running server keeps its process id.
    pub fn pid_path(&self) -> PathBuf {
        self.0.join("run/spl.pid")
    }

    /// Returns the file whose lock makes a server the only one.
    pub fn server_lock_path(&self) -> PathBuf {
        self.0.join("run/spl.lock")
    }

    /// Returns where the locks of runs are that are being driven.
    pub fn drivers_path(&self) -> PathBuf {
        self.0.join("run/drivers")
    }

    /// Returns where a server in the background logs.
    pub fn log_path(&self) -> PathBuf {
        self.0.join("logs/spl.log")
    }

    /// Returns where the admin token is.
    pub fn token_path(&self) -> PathBuf {
        self.0.join("token")
    }

    /// Returns where the settings are.
    pub fn settings_path(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// Returns the folder of keys, those of model providers among them: `<provider>.key`.
    pub fn secrets_path(&self) -> PathBuf {
        self.0.join("secrets")
    }

    /// Returns where prices are that stand before those that are built in.
    pub fn prices_path(&self) -> PathBuf {
        self.0.join("prices.toml")
    }

    /// Returns where it is kept whether policy hooks are asked in the sessions of other harnesses.
    fn policy_switch_path(&self) -> PathBuf {
        self.0.join("policy")
    }

    fn instance_key_path(&self) -> PathBuf {
        self.0.join("keys/primary")
    }

    /// Returns where the key is that signs what the operator writes.
    pub fn operator_key_path(&self) -> PathBuf {
        self.0.join("secrets/operator-identity.key")
    }

    /// Returns whether there is an instance here, whole or not.
    pub fn is_initialised(&self) -> bool {
        self.store_path().exists() || self.instance_key_path().exists()
    }

    /// Returns whether the key is here that signs what the operator writes.
    pub fn has_operator_key(&self) -> bool {
        self.operator_key_path().exists()
    }

    /// Makes whatever is missing: folders, keys, settings and the admin token.
    ///
    /// `login` names the operator. What is there already is kept. Where a store is and its key is
    /// not, nothing is made: another key would sign a store that it has no part in.
    pub fn initialise(&self, login: &str) -> Result<Made, HomeError> {
        self.refuse_lost_key()?;
        self.make_folders()?;
        // Before the key, by which others know that there is an instance.
        make_file(&self.token_path(), || {
            Ok(format!("spl_prod_sa-admin_{}\n", hex(&random_bytes::<32>()?)).into_bytes())
        })?;
        self.initialise_without_token(login)
    }

    /// Makes whatever is missing but an admin token, where the first account is somebody else's to
    /// make: whoever has the token that the server is started with.
    pub fn initialise_without_token(&self, login: &str) -> Result<Made, HomeError> {
        self.refuse_lost_key()?;
        self.make_folders()?;
        let seed = || Ok(random_bytes::<SEED_BYTES>()?.to_vec());
        make_file(&self.operator_key_path(), seed)?;
        let fresh = make_file(&self.instance_key_path(), seed)?;
        let actor = format!("did:sync:user:{}", label_of(login));
        make_file(&self.settings_path(), || Ok(Settings::template(&actor).into_bytes()))?;
        let actor = self.settings()?.identity.actor;
        Ok(Made { fresh, actor })
    }

    /// Makes the folders that are missing: a home that was put back from a copy has but some.
    pub fn make_folders(&self) -> Result<(), HomeError> {
        let folders = ["", "keys", "secrets", "run", "logs"];
        folders.iter().try_for_each(|folder| make_folder(&self.0.join(folder)))
    }

    /// The key is made before the store, so it is looked for after the store.
    fn refuse_lost_key(&self) -> Result<(), HomeError> {
        if self.store_path().exists() && !self.instance_key_path().exists() {
            return Err(HomeError::LostKey { path: self.instance_key_path() });
        }
        Ok(())
    }

    /// Reads the keys.
    pub fn keyring(&self) -> Result<Keyring, HomeError> {
        let mut keyring = self.instance_keyring()?;
        for actor in self.custody()? {
            if let Some(key) = self.key_of(&KeyHolder::Actor(actor.clone()))? {
                keyring = keyring.with_actor(actor.as_str(), key);
            }
        }
        Ok(match read_key(&self.operator_key_path())? {
            Some(key) => keyring.with_actor(&self.settings()?.identity.actor, key),
            None => keyring,
        })
    }

    /// Reads the key of the instance alone.
    pub(super) fn instance_keyring(&self) -> Result<Keyring, HomeError> {
        self.refuse_lost_key()?;
        let instance = read_key(&self.instance_key_path())?
            .ok_or_else(|| HomeError::NotInitialised { path: self.0.clone() })?;
        Ok(Keyring::new(instance))
    }

    /// Reads the settings; where there are none, the defaults.
    pub fn settings(&self) -> Result<Settings, HomeError> {
        let path = self.settings_path();
        match fs::read_to_string(&path) {
            Ok(text) => {
                Settings::parse(&text).map_err(|message| HomeError::Settings { path, message })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Settings::default()),
            Err(source) => Err(HomeError::File { path, action: "read", source }),
        }
    }

    /// Reads the admin token, if there is one.
    pub fn token(&self) -> Result<Option<String>, HomeError> {
        read_text(self.token_path())
    }

    /// Returns where the bearer is kept that a server elsewhere is sent.
    pub fn saved_bearer_path(&self) -> PathBuf {
        self.secrets_path().join("bearer")
    }

    /// Reads the bearer that a server elsewhere is sent, if one was saved.
    pub fn saved_bearer(&self) -> Result<Option<String>, HomeError> {
        read_text(self.saved_bearer_path())
    }

    /// Keeps a bearer that a server elsewhere is sent, in the place of the one before.
    pub fn save_bearer(&self, bearer: &str) -> Result<(), HomeError> {
        make_folder(&self.0)?;
        make_folder(&self.secrets_path())?;
        replace(self.saved_bearer_path(), bearer)
    }

    /// Returns whether policy hooks are asked in the sessions of other harnesses: yes, unless they
    /// were switched off here. Runs of this engine ask them either way.
    pub fn policy_switch(&self) -> Result<bool, HomeError> {
        Ok(read_text(self.policy_switch_path())?.as_deref() != Some(POLICY_OFF))
    }

    /// Switches that on or off.
    pub fn set_policy_switch(&self, on: bool) -> Result<(), HomeError> {
        make_folder(&self.0)?;
        replace(self.policy_switch_path(), if on { POLICY_ON } else { POLICY_OFF })
    }

    /// Puts another admin token in the place of the one that is there.
    pub(super) fn keep_token(&self, bearer: &str) -> Result<(), HomeError> {
        replace(self.token_path(), bearer)
    }

    /// Returns what in this home others than its owner could read or write.
    pub fn exposed(&self) -> Vec<PathBuf> {
        let mut secret = vec![
            self.0.clone(),
            self.store_path(),
            self.token_path(),
            self.saved_bearer_path(),
            self.instance_key_path(),
            self.operator_key_path(),
        ];
        let kept = self.custody().unwrap_or_default().into_iter().map(KeyHolder::Actor);
        secret.extend(kept.filter_map(|holder| self.key_path(&holder).ok()));
        let open = |path: &PathBuf| {
            fs::metadata(path).is_ok_and(|metadata| metadata.permissions().mode() & 0o077 != 0)
        };
        secret.into_iter().filter(open).collect()
    }
}

/// Returns `login` as the last segment of a DID.
fn label_of(login: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '-' };
    let label: String = login.chars().take(64).map(keep).collect();
    if label.is_empty() { "operator".into() } else { label }
}

pub(super) fn make_folder(path: &Path) -> Result<(), HomeError> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|source| HomeError::File { path: path.into(), action: "created", source })
}

/// Makes a file that is there either whole or not at all, unless it is there already. Returns
/// whether it was made here.
fn make_file(
    path: &Path,
    content: impl FnOnce() -> Result<Vec<u8>, RandomError>,
) -> Result<bool, HomeError> {
    if path.exists() {
        return Ok(false);
    }
    let draft_name = hex(&random_bytes::<8>()?);
    let draft = path.with_extension(format!("{draft_name}.tmp"));
    let content = content()?;
    let made = write_private(&draft, &content).and_then(|()| {
        match fs::hard_link(&draft, path) {
            // Another process was faster; its file is as good.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            linked => linked.map(|()| true),
        }
    });
    let _ = fs::remove_file(&draft);
    // A key that is lost after a record was signed with it cannot be made again, so its name is
    // made durable too, where the file system has such a thing.
    if let Ok(folder) = fs::File::open(path.with_file_name(".")) {
        let _ = folder.sync_all();
    }
    made.map_err(|source| HomeError::File { path: path.into(), action: "created", source })
}

pub(super) fn write_private(path: &Path, content: &[u8]) -> io::Result<()> {
    use io::Write as _;
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(content)?;
    file.sync_all()
}

/// Puts a file of one line, whole, in the place of another.
fn replace(path: PathBuf, line: &str) -> Result<(), HomeError> {
    let draft = path.with_extension(format!("{}.tmp", hex(&random_bytes::<8>()?)));
    let written = write_private(&draft, format!("{line}\n").as_bytes());
    let moved = written.and_then(|()| fs::rename(&draft, &path));
    if moved.is_err() {
        let _ = fs::remove_file(&draft);
    }
    moved.map_err(|source| HomeError::File { path, action: "replaced", source })
}

/// Reads a file of one line, if there is one.
fn read_text(path: PathBuf) -> Result<Option<String>, HomeError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(HomeError::File { path, action: "read", source }),
    }
}

fn read_key(path: &Path) -> Result<Option<KeyPair>, HomeError> {
    match fs::read(path) {
        Ok(bytes) => match <&[u8; SEED_BYTES]>::try_from(bytes.as_slice()) {
            Ok(seed) => Ok(Some(KeyPair::from_seed(seed))),
            Err(_) => Err(HomeError::NotAKey { path: path.into() }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(HomeError::File { path: path.into(), action: "read", source }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_is_made_once_and_is_private() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        assert!(home.initialise("vera").expect("made").fresh);
        let token = home.token().expect("read").expect("a token");
        let key = home.keyring().expect("keys").instance().did().to_owned();
        let again = home.initialise("someone else").expect("made");
        assert_eq!(again, Made { fresh: false, actor: "did:sync:user:vera".into() });
        assert_eq!(home.token().expect("read"), Some(token));
        assert_eq!(home.keyring().expect("keys").instance().did(), key);
        assert_eq!(home.exposed(), Vec::<PathBuf>::new());
    }

    #[test]
    fn the_first_account_may_be_left_to_somebody_else() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        assert!(home.initialise_without_token("vera").expect("made").fresh);
        assert_eq!(home.token().expect("read"), None);
        assert!(home.keyring().is_ok());
        assert!(!home.initialise("vera").expect("made").fresh);
        assert!(home.token().expect("read").is_some());
    }

    #[test]
    fn a_damaged_key_is_reported() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path());
        home.initialise("vera").expect("made");
        fs::write(home.instance_key_path(), b"short").expect("written");
        assert!(matches!(home.keyring(), Err(HomeError::NotAKey { .. })));
    }

    /// A command made another key without a word, and the store went on under it.
    #[test]
    fn a_store_does_not_get_another_key() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path());
        home.initialise("vera").expect("made");
        fs::write(home.store_path(), b"a store").expect("written");
        fs::remove_file(home.instance_key_path()).expect("removed");
        assert!(matches!(home.initialise("vera"), Err(HomeError::LostKey { .. })));
        assert!(matches!(home.keyring(), Err(HomeError::LostKey { .. })));
        fs::remove_file(home.store_path()).expect("removed");
        assert!(home.initialise("vera").expect("made").fresh);
    }

    #[test]
    fn policy_hooks_are_asked_until_they_are_switched_off() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        assert!(home.policy_switch().expect("read"));
        home.set_policy_switch(false).expect("kept");
        assert!(!home.policy_switch().expect("read"));
        let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
        assert_eq!(mode(&home.policy_switch_path()), 0o600);
        assert_eq!(mode(home.path()), 0o700);
        home.set_policy_switch(true).expect("kept");
        assert!(home.policy_switch().expect("read"));
        fs::write(home.policy_switch_path(), "of").expect("written");
        assert!(home.policy_switch().expect("read"), "what is not `off` does not switch off");
    }

    #[test]
    fn any_login_makes_a_label() {
        assert_eq!(label_of("vera"), "vera");
        assert_eq!(label_of("DOMAIN\\v e"), "DOMAIN-v-e");
        assert_eq!(label_of(""), "operator");
    }
}
