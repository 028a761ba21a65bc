//! The keys of this instance and of the actors in its custody: made, replaced, kept elsewhere, put
//! back and looked after.
//!
//! Which key is whose is stated by records on `th_actor_registry`. A rotation is signed by the key
//! that goes, so that whoever trusts the old key can follow to the new one; what the old key has
//! signed stays as it was. Keys change while no server runs: one that does holds the keys with which
//! it was started. Whoever changes one holds the place of the server meanwhile.

mod backup;

use std::path::PathBuf;
use std::sync::Arc;

pub use backup::Recovered;

use super::{Engine, EngineError, Home, HomeError, KeyHolder};
use crate::code::{Code, Coded};
use crate::identity::{Keyring, fingerprint_of, public_key_of};
use crate::record::{Act, ActorId, Draft, ENGINE_ACTOR, NameError, Origin, RecordId, ThreadId};
use crate::store::{KeyStatement, Store, StoreError, StoreOptions};
use crate::time::TimeSource;

/// Why a key could not be made, replaced or put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IdentityError {
    /// The home or the store failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// An instance in memory has no files.
    #[error("this instance has no home to keep keys in")]
    NoHome,
    /// There is a key already.
    #[error("`{actor}` has a key already: `{path}`")]
    HasKey {
        /// Whose.
        actor: String,
        /// Where.
        path: PathBuf,
    },
    /// There is no key.
    #[error("there is no key of `{actor}` here")]
    NoKey {
        /// Whose.
        actor: String,
    },
    /// Records name another key than the one that is here, or is to be put here.
    #[error("records name another key of `{actor}`: {named}")]
    OtherKey {
        /// Whose.
        actor: String,
        /// The key that they name.
        named: String,
    },
    /// The DID is its own key.
    #[error("`{actor}` is a key itself and has no other")]
    IsKey {
        /// The DID.
        actor: String,
    },
    /// The file holds no key.
    #[error("`{path}` is no backup of a key: {what}")]
    NotABackup {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        what: &'static str,
    },
}

impl From<HomeError> for IdentityError {
    fn from(error: HomeError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<StoreError> for IdentityError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for IdentityError {
    fn code(&self) -> Code {
        match self {
            Self::Engine(error) => error.code(),
            Self::NoKey { .. } => Code::NotFound,
            Self::NoHome | Self::HasKey { .. } | Self::OtherKey { .. } | Self::IsKey { .. } => {
                Code::InvalidRequest
            }
            Self::NotABackup { .. } => Code::InvalidBody,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Engine(error) => error.hint(),
            Self::HasKey { .. } => Some("`spl identity rotate` replaces it.".into()),
            Self::NoKey { .. } => Some("`spl identity generate` makes one.".into()),
            Self::OtherKey { .. } => {
                Some("Put that key back from a backup; --force goes on without it.".into())
            }
            Self::NoHome | Self::IsKey { .. } | Self::NotABackup { .. } => None,
        }
    }
}

/// How the key in the home stands to the key that records name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// They are one, or no record says anything.
    Agrees,
    /// The one in the home was replaced.
    Replaced,
    /// The one in the home is another.
    Differs,
    /// There is none in the home.
    Missing,
}

impl KeyState {
    /// Returns the word of answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Replaced => "replaced",
            Self::Differs => "differs",
            Self::Missing => "missing",
        }
    }
}

/// An actor that has a key, here or by what records say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity {
    /// Who.
    pub actor: String,
    /// In which part of the home.
    pub holder: KeyHolder,
    /// Where its key is, or would be.
    pub path: PathBuf,
    /// The key in the home, as `did:key`.
    pub key: Option<String>,
    /// The key that records name.
    pub named: Option<String>,
    /// How the two stand to each other.
    pub state: KeyState,
}

impl Identity {
    /// Returns the fingerprint of the key in the home.
    pub fn fingerprint(&self) -> Option<String> {
        Some(fingerprint_of(&public_key_of(self.key.as_deref()?)?))
    }
}

/// A key that was named by a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyChange {
    /// Whose.
    pub actor: String,
    /// The key now.
    pub key: String,
    /// The key before, which has signed the record.
    pub previous: Option<String>,
    /// The record that names it.
    pub record: RecordId,
    /// Where the key is.
    pub path: PathBuf,
}

impl Engine {
    /// Returns who has a key: the instance, the operator, and whoever else is in custody or named.
    pub fn identities(&self) -> Result<Vec<Identity>, IdentityError> {
        let home = self.keys_home()?;
        let operator = home.settings()?.identity.actor;
        let mut actors = vec![ENGINE_ACTOR.to_owned(), operator];
        let kept = home.custody()?.iter().map(ToString::to_string).collect();
        for others in [kept, self.whole().read(|reader| reader.keyed_actors())?] {
            for actor in others {
                if !actors.contains(&actor) {
                    actors.push(actor);
                }
            }
        }
        actors.iter().map(|actor| self.identity(actor)).collect()
    }

    /// Returns how it stands with the key of one actor.
    pub fn identity(&self, actor: &str) -> Result<Identity, IdentityError> {
        let home = self.keys_home()?;
        let holder = home.key_holder(&id_of(actor)?)?;
        let path = home.key_path(&holder)?;
        let key = home.key_of(&holder)?.map(|key| key.did().to_owned());
        let had = self.whole().read(|reader| reader.actor_keys(actor))?;
        let current = had.iter().find(|had| had.until.is_none()).map(|had| had.key.clone());
        let named = match (current, &holder) {
            (Some(current), _) => Some(current),
            (None, KeyHolder::Instance) => {
                self.whole().read(|reader| reader.head())?.map(|head| head.signer().to_owned())
            }
            (None, _) => self.whole().last_own_signer(actor)?,
        };
        let state = match (&key, &named) {
            (None, _) => KeyState::Missing,
            (Some(key), Some(named)) if key != named => {
                let replaced = had.iter().any(|had| had.key == *key);
                if replaced { KeyState::Replaced } else { KeyState::Differs }
            }
            _ => KeyState::Agrees,
        };
        Ok(Identity { actor: actor.to_owned(), holder, path, key, named, state })
    }

    /// Makes a key for an actor that has none, keeps it in this home, and writes the record that
    /// names it. If records name another key, which is not here, that one is only given up if
    /// `force` says so.
    pub fn generate_identity(
        &self,
        actor: &ActorId,
        force: bool,
    ) -> Result<KeyChange, IdentityError> {
        if public_key_of(actor.as_str()).is_some() {
            return Err(IdentityError::IsKey { actor: actor.to_string() });
        }
        let Identity { holder, path, key, named, .. } = self.identity(actor.as_str())?;
        if key.is_some() {
            return Err(IdentityError::HasKey { actor: actor.to_string(), path });
        }
        if let Some(named) = named.filter(|_| !force) {
            return Err(IdentityError::OtherKey { actor: actor.to_string(), named });
        }
        self.name_key(actor, &holder, None)
    }

    /// Replaces the key of an actor, and writes the record that says so, signed by the key that goes.
    /// Of the instance, the head and all that follows is signed by the new key.
    pub fn rotate_identity(&self, actor: &ActorId) -> Result<KeyChange, IdentityError> {
        let Identity { holder, key, named, state, .. } = self.identity(actor.as_str())?;
        let actor_text = || actor.to_string();
        match (key, state) {
            (None, _) => Err(IdentityError::NoKey { actor: actor_text() }),
            (Some(key), KeyState::Agrees) => self.name_key(actor, &holder, Some(&key)),
            (Some(_), _) => {
                let named = named.unwrap_or_default();
                Err(IdentityError::OtherKey { actor: actor_text(), named })
            }
        }
    }

    /// Makes a key, writes the record that names it, and puts it in its place.
    fn name_key(
        &self,
        actor: &ActorId,
        holder: &KeyHolder,
        previous: Option<&str>,
    ) -> Result<KeyChange, IdentityError> {
        let home = self.keys_home()?;
        let key = Arc::new(home.draft_key(holder)?);
        let statement = KeyStatement::new(actor, &key, previous);
        // Who has a key speaks for it; for others the instance does.
        let states = if previous.is_some() { actor.clone() } else { ActorId::engine() };
        let draft = Draft::new(ThreadId::actors(), states, Act::Learn, statement.to_body());
        let heir = (*holder == KeyHolder::Instance).then(|| Arc::clone(&key));
        let taken = StoreError::OtherKey { signer: previous.unwrap_or_default().to_owned() };
        let named = self.whole().write(move |tx| {
            let (record, appended) = tx.append_next(draft, Origin::Engine)?;
            if !tx.note_key(appended.sequence, &statement)? {
                return Err(EngineError::Store(taken));
            }
            if let Some(heir) = heir {
                tx.hand_over(heir);
            }
            Ok(record.id())
        });
        let record = match named {
            Ok(record) => record,
            Err(error) => {
                // What may have been committed after all is settled when the home is opened next.
                let now = self.whole().read(|reader| reader.actor_key(actor.as_str()))?;
                if now.as_deref() != Some(key.did()) {
                    home.discard_key(holder)?;
                }
                return Err(error.into());
            }
        };
        home.adopt_key(holder, key.did())?;
        Ok(KeyChange {
            actor: actor.to_string(),
            key: key.did().to_owned(),
            previous: previous.map(str::to_owned),
            record,
            path: home.key_path(holder)?,
        })
    }

    fn keys_home(&self) -> Result<&Home, IdentityError> {
        self.home().ok_or(IdentityError::NoHome)
    }
}

fn id_of(actor: &str) -> Result<ActorId, HomeError> {
    let no_name = |_: NameError| HomeError::NoFileName { actor: actor.chars().take(64).collect() };
    ActorId::parse(actor).map_err(no_name)
}

/// Puts keys in their place that records name and that a process has left beside it when it was
/// stopped on the way. `brief` looks at the key of the instance alone.
pub(super) fn settle(home: &Home, brief: bool) -> Result<(), EngineError> {
    let waiting = home.awaiting(brief)?;
    if waiting.is_empty() || !home.store_path().exists() {
        return Ok(());
    }
    let keyring = home.instance_keyring()?;
    let options = StoreOptions { brief: true, ..StoreOptions::new(keyring, TimeSource::system()) };
    let store = Store::open(&home.store_path(), options)?;
    for holder in waiting {
        let actor = match &holder {
            KeyHolder::Instance => ENGINE_ACTOR.to_owned(),
            KeyHolder::Operator => home.settings()?.identity.actor,
            KeyHolder::Actor(actor) => actor.to_string(),
        };
        let named = store.read(|reader| reader.actor_key(&actor))?;
        let next = home.next_key(&holder)?.map(|next| next.did().to_owned());
        if let Some(next) = next.filter(|next| named.as_ref() == Some(next)) {
            home.adopt_key(&holder, &next)?;
        }
    }
    Ok(())
}

/// Returns a keyring that knows with which keys this instance has signed before: a copy of its store
/// may be from then.
pub(super) fn knowing_former(home: &Home, keyring: Keyring) -> Result<Keyring, EngineError> {
    if !home.store_path().exists() {
        return Ok(keyring);
    }
    let options =
        StoreOptions { brief: true, ..StoreOptions::new(keyring.clone(), TimeSource::system()) };
    let store = Store::open(&home.store_path(), options)?;
    let former = store.read(|reader| reader.former_keys(keyring.instance().did()))?;
    Ok(keyring.with_former(former))
}
