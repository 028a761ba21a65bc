//! A key in a file of its own, to be kept elsewhere, and put back from there.
//!
//! The file holds the seed as it is, and says whose it is and what its public half is, so that a
//! wrong file is seen. Nobody but its owner can read it; to encrypt it is its owner's to do.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::super::home::write_private;
use super::{Engine, Home, HomeError, IdentityError};
use crate::canon::{Canonical, Limits, Value, hex, parse, unhex};
use crate::identity::{KeyPair, SEED_BYTES};
use crate::object;
use crate::record::ActorId;
use crate::store::{Store, StoreOptions};
use crate::time::TimeSource;

const OBJECT: &str = "identity_backup";

/// A key that was put back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recovered {
    /// Whose.
    pub actor: String,
    /// The key, as `did:key`.
    pub key: String,
    /// Where it is now.
    pub path: PathBuf,
    /// Whether it was not there before.
    pub fresh: bool,
}

impl Home {
    /// Writes the key of an actor to a file that must not be there yet, which only its owner can
    /// read. Returns the key as `did:key`.
    pub fn back_up_key(&self, actor: &ActorId, file: &Path) -> Result<String, IdentityError> {
        let holder = self.key_holder(actor)?;
        let seed = self.seed_of(&holder)?;
        let seed = seed.ok_or_else(|| IdentityError::NoKey { actor: actor.to_string() })?;
        let did = KeyPair::from_seed(&seed).did().to_owned();
        let backup = object! {
            "actor": actor,
            "did": did.as_str(),
            "object": OBJECT,
            "seed": hex(&seed),
        };
        let text = Canonical::of_object(&backup).into_string() + "\n";
        write_private(file, text.as_bytes()).map_err(|source| HomeError::File {
            path: file.into(),
            action: "written",
            source,
        })?;
        Ok(did)
    }

    /// Puts a key back from such a file. Over another key, and against what records name, only if
    /// `force` says so. Works where the instance cannot be opened for lack of that very key.
    pub fn recover_key(&self, file: &Path, force: bool) -> Result<Recovered, IdentityError> {
        let (actor, seed) = read_backup(file)?;
        let key = KeyPair::from_seed(&seed);
        let holder = self.key_holder(&actor)?;
        let there = self.key_of(&holder);
        let fresh = match &there {
            Ok(Some(there)) => there.did() != key.did(),
            _ => true,
        };
        let path = self.key_path(&holder)?;
        if fresh && !force {
            // What is damaged is no key.
            if let Ok(Some(_)) = there {
                return Err(IdentityError::HasKey { actor: actor.to_string(), path });
            }
            self.refuse_other_key(&actor, &key)?;
        }
        if fresh {
            self.put_key(&holder, &seed)?;
        }
        Ok(Recovered { actor: actor.to_string(), key: key.did().to_owned(), path, fresh })
    }

    fn refuse_other_key(&self, actor: &ActorId, key: &KeyPair) -> Result<(), IdentityError> {
        if !self.store_path().exists() {
            return Ok(());
        }
        // Nothing is signed here, so any key will do.
        let keyring = crate::identity::Keyring::new(KeyPair::from_seed(&[0; SEED_BYTES]));
        let options =
            StoreOptions { brief: true, ..StoreOptions::new(keyring, TimeSource::system()) };
        let store = Store::open(&self.store_path(), options).map_err(super::EngineError::from)?;
        let named = store.read(|reader| {
            let named = reader.actor_key(actor.as_str())?;
            if named.is_some() || actor.as_str() != crate::record::ENGINE_ACTOR {
                return Ok(named);
            }
            Ok(reader.head()?.map(|head| head.signer().to_owned()))
        })?;
        match named.filter(|named| named != key.did()) {
            None => Ok(()),
            Some(named) => Err(IdentityError::OtherKey { actor: actor.to_string(), named }),
        }
    }
}

impl Engine {
    /// Writes the key of an actor to a file; see [`Home::back_up_key`].
    pub fn back_up_key(&self, actor: &ActorId, file: &Path) -> Result<String, IdentityError> {
        self.keys_home()?.back_up_key(actor, file)
    }
}

fn read_backup(file: &Path) -> Result<(ActorId, [u8; SEED_BYTES]), IdentityError> {
    let refused = |what| IdentityError::NotABackup { path: file.into(), what };
    let bytes = match fs::metadata(file).and_then(|it| {
        if it.len() > 8192 { Err(io::ErrorKind::FileTooLarge.into()) } else { fs::read(file) }
    }) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            return Err(refused("it is too long"));
        }
        Err(source) => {
            return Err(HomeError::File { path: file.into(), action: "read", source }.into());
        }
    };
    let value = parse(&bytes, Limits::DOOR).map_err(|_| refused("it is not JSON"))?;
    let text = |key| value.get(key).and_then(Value::as_str);
    if text("object") != Some(OBJECT) {
        return Err(refused("it is of another kind"));
    }
    let actor = text("actor").and_then(|actor| ActorId::parse(actor).ok());
    let actor = actor.ok_or_else(|| refused("it does not say whose key it is"))?;
    let seed = text("seed").and_then(unhex::<SEED_BYTES>);
    let seed = seed.ok_or_else(|| refused("its seed is not 64 hex digits"))?;
    if text("did") != Some(KeyPair::from_seed(&seed).did()) {
        return Err(refused("its seed is not that of the key it names"));
    }
    Ok((actor, seed))
}
