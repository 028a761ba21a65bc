//! The keys of a home, one file each: of the instance, of the operator, and of actors in its custody.
//!
//! A key that is to take the place of another lies beside it as `….next` until a record names it:
//! what is lost between the two steps is either of them, never the key that records name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{Home, HomeError, make_file, make_folder, read_key, write_private};
use crate::canon::hex;
use crate::identity::{KeyPair, SEED_BYTES, fingerprint_of, random_bytes};
use crate::record::{ActorId, ENGINE_ACTOR};

/// The most bytes of an actor's name as that of a file.
const MAX_FILE_NAME: usize = 200;

const KEY_SUFFIX: &str = ".key";

/// Whose key a file of the home holds.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum KeyHolder {
    /// The instance, which is the engine, and the custodian of whoever has no key.
    Instance,
    /// The operator.
    Operator,
    /// Somebody whose key this home keeps.
    Actor(ActorId),
}

impl Home {
    /// Returns in which of its parts this home keeps the key of an actor.
    pub fn key_holder(&self, actor: &ActorId) -> Result<KeyHolder, HomeError> {
        Ok(if actor.as_str() == ENGINE_ACTOR {
            KeyHolder::Instance
        } else if actor.as_str() == self.settings()?.identity.actor {
            KeyHolder::Operator
        } else {
            KeyHolder::Actor(actor.clone())
        })
    }

    /// Returns where a key is, whether or not it is there.
    pub fn key_path(&self, holder: &KeyHolder) -> Result<PathBuf, HomeError> {
        Ok(match holder {
            KeyHolder::Instance => self.instance_key_path(),
            KeyHolder::Operator => self.operator_key_path(),
            KeyHolder::Actor(actor) => {
                let name = file_name_of(actor.as_str());
                if name.len() > MAX_FILE_NAME {
                    return Err(HomeError::NoFileName { actor: actor.to_string() });
                }
                self.custody_path().join(name + KEY_SUFFIX)
            }
        })
    }

    fn custody_path(&self) -> PathBuf {
        self.secrets_path().join("actors")
    }

    /// Returns the actors whose keys this home keeps beside the operator's, by name.
    pub fn custody(&self) -> Result<Vec<ActorId>, HomeError> {
        let mut actors = self.in_custody(KEY_SUFFIX)?;
        actors.sort_unstable();
        Ok(actors)
    }

    fn in_custody(&self, suffix: &str) -> Result<Vec<ActorId>, HomeError> {
        let path = self.custody_path();
        let refused = |source| HomeError::File { path: path.clone(), action: "read", source };
        let entries = match fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(refused(error)),
        };
        let mut actors = Vec::new();
        for entry in entries {
            let name = entry.map_err(refused)?.file_name();
            let name = name.to_str().and_then(|name| actor_of(name.strip_suffix(suffix)?));
            actors.extend(name.and_then(|name| ActorId::parse(&name).ok()));
        }
        Ok(actors)
    }

    /// Reads a key, if it is there.
    pub fn key_of(&self, holder: &KeyHolder) -> Result<Option<KeyPair>, HomeError> {
        read_key(&self.key_path(holder)?)
    }

    /// Makes a key that is to become the holder's, and keeps it beside the one there is.
    pub(in crate::engine) fn draft_key(&self, holder: &KeyHolder) -> Result<KeyPair, HomeError> {
        let path = self.key_path(holder)?;
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let next = next_to(&path);
        // What is there was never named by a record.
        remove(&next)?;
        make_file(&next, || Ok(random_bytes::<SEED_BYTES>()?.to_vec()))?;
        read_key(&next)?.ok_or(HomeError::NotAKey { path: next })
    }

    /// Puts the key that was made for a holder in its place, if it is `did`. Somebody else may have
    /// done so already.
    pub(in crate::engine) fn adopt_key(
        &self,
        holder: &KeyHolder,
        did: &str,
    ) -> Result<(), HomeError> {
        let path = self.key_path(holder)?;
        let there = read_key(&path)?;
        if there.as_ref().is_some_and(|there| there.did() == did) {
            return Ok(());
        }
        let next = next_to(&path);
        if read_key(&next)?.is_none_or(|next| next.did() != did) {
            return Err(HomeError::NotAKey { path: next });
        }
        // A copy of the store from before takes the key from before.
        if let (KeyHolder::Instance, Some(there)) = (holder, &there) {
            let retired = format!("retired-{}", fingerprint_of(&there.public()));
            match fs::hard_link(&path, path.with_file_name(retired)) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                    return Err(HomeError::File { path, action: "kept", source: error });
                }
                _ => {}
            }
        }
        fs::rename(next, &path).map_err(|source| HomeError::File {
            path: path.clone(),
            action: "replaced",
            source,
        })?;
        sync_folder(&path);
        Ok(())
    }

    /// Forgets the key that was made to become the holder's.
    pub(in crate::engine) fn discard_key(&self, holder: &KeyHolder) -> Result<(), HomeError> {
        remove(&next_to(&self.key_path(holder)?))
    }

    /// Reads the key that was made to become the holder's.
    pub(in crate::engine) fn next_key(
        &self,
        holder: &KeyHolder,
    ) -> Result<Option<KeyPair>, HomeError> {
        read_key(&next_to(&self.key_path(holder)?))
    }

    /// Returns for whom a key was made that is not in its place; if `instance_alone`, looks at
    /// nobody else's.
    pub(in crate::engine) fn awaiting(
        &self,
        instance_alone: bool,
    ) -> Result<Vec<KeyHolder>, HomeError> {
        let mut waiting = Vec::new();
        if next_to(&self.instance_key_path()).exists() {
            waiting.push(KeyHolder::Instance);
        }
        if !instance_alone {
            if next_to(&self.operator_key_path()).exists() {
                waiting.push(KeyHolder::Operator);
            }
            let actors = self.in_custody(".key.next")?;
            waiting.extend(actors.into_iter().map(KeyHolder::Actor));
        }
        Ok(waiting)
    }

    /// Puts a key in its place, over another one if there is one.
    pub(in crate::engine) fn put_key(
        &self,
        holder: &KeyHolder,
        seed: &[u8; SEED_BYTES],
    ) -> Result<PathBuf, HomeError> {
        let path = self.key_path(holder)?;
        if let Some(folder) = path.parent() {
            make_folder(folder)?;
        }
        let draft = path.with_extension(format!("{}.tmp", hex(&random_bytes::<8>()?)));
        let put = write_private(&draft, seed).and_then(|()| fs::rename(&draft, &path));
        let _ = fs::remove_file(&draft);
        sync_folder(&path);
        put.map_err(|source| HomeError::File { path: path.clone(), action: "written", source })?;
        Ok(path)
    }

    /// Reads the seed of a key, to be kept elsewhere.
    pub(in crate::engine) fn seed_of(
        &self,
        holder: &KeyHolder,
    ) -> Result<Option<[u8; SEED_BYTES]>, HomeError> {
        let path = self.key_path(holder)?;
        match fs::read(&path) {
            Ok(bytes) => match bytes.try_into() {
                Ok(seed) => Ok(Some(seed)),
                Err(_) => Err(HomeError::NotAKey { path }),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(HomeError::File { path, action: "read", source }),
        }
    }
}

fn next_to(path: &Path) -> PathBuf {
    let mut next = path.as_os_str().to_owned();
    next.push(".next");
    next.into()
}

fn remove(path: &Path) -> Result<(), HomeError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(HomeError::File { path: path.into(), action: "deleted", source: error })
        }
        _ => Ok(()),
    }
}

/// Makes a name durable, where the file system has such a thing.
fn sync_folder(path: &Path) {
    if let Ok(folder) = fs::File::open(path.with_file_name(".")) {
        let _ = folder.sync_all();
    }
}

/// Returns the name of a file that stands for an actor and for no other.
fn file_name_of(actor: &str) -> String {
    let mut name = String::new();
    for byte in actor.bytes() {
        if byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte) {
            name.push(char::from(byte));
        } else {
            name.push_str(&format!("%{byte:02X}"));
        }
    }
    name
}

/// Reads what [`file_name_of`] has written.
fn actor_of(name: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = name.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [char::from(rest.next()?), char::from(rest.next()?)];
            let digit = |c: char| c.to_digit(16).and_then(|it| u8::try_from(it).ok());
            let [high, low] = digits.map(digit);
            bytes.push(high? * 16 + low?);
        } else {
            bytes.push(byte);
        }
    }
    let actor = String::from_utf8(bytes).ok()?;
    (file_name_of(&actor) == name).then_some(actor)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_actor_has_a_file_of_its_own() {
        let home = Home::at("/home");
        for actor in ["did:sync:agent:clerk", "a/../b", "%41", "é \u{1f511}", "..", "A"] {
            let name = file_name_of(actor);
            assert!(!name.contains('/'), "{name}");
            assert_eq!(actor_of(&name).as_deref(), Some(actor));
            let holder = KeyHolder::Actor(ActorId::parse(actor).expect("an actor"));
            assert!(home.key_path(&holder).expect("a path").ends_with(name + KEY_SUFFIX));
        }
        assert_eq!(actor_of("%4"), None);
        assert_eq!(actor_of("%41"), None, "another spelling of `A`");
        let endless = KeyHolder::Actor(ActorId::parse(&"x".repeat(201)).expect("an actor"));
        assert!(matches!(home.key_path(&endless), Err(HomeError::NoFileName { .. })));
    }

    #[test]
    fn a_key_takes_the_place_of_another_in_two_steps() {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        home.initialise("vera").expect("made");
        let clerk = KeyHolder::Actor(ActorId::parse("did:sync:agent:clerk").expect("an actor"));
        for holder in [KeyHolder::Instance, KeyHolder::Operator, clerk] {
            let before = home.key_of(&holder).expect("read").map(|key| key.did().to_owned());
            let next = home.draft_key(&holder).expect("made").did().to_owned();
            let now = home.key_of(&holder).expect("read").map(|key| key.did().to_owned());
            assert_eq!(now, before);
            assert_eq!(home.awaiting(false).expect("looked"), std::slice::from_ref(&holder));
            home.adopt_key(&holder, "did:key:other").expect_err("another key");
            home.adopt_key(&holder, &next).expect("adopted");
            home.adopt_key(&holder, &next).expect("adopted by somebody else");
            assert_eq!(home.key_of(&holder).expect("read").expect("a key").did(), next);
            assert_eq!(home.awaiting(false).expect("looked"), []);
        }
        assert_eq!(home.custody().expect("listed").len(), 1);
        let kept = fs::read_dir(dir.path().join("home/keys")).expect("a folder").count();
        assert_eq!(kept, 2, "the key of the instance and the one before it");
        assert_eq!(home.exposed(), Vec::<PathBuf>::new());
    }
}
