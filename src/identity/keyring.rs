//! The keys that one home holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{KeyPair, PublicKey, public_key_of};

/// The keys that one home holds: the instance's, and those of actors in its custody.
#[derive(Debug, Clone)]
pub struct Keyring {
    instance: Arc<KeyPair>,
    actors: BTreeMap<String, Arc<KeyPair>>,
}

impl Keyring {
    /// Returns a keyring with the instance key alone.
    pub fn new(instance: KeyPair) -> Self {
        Self { instance: Arc::new(instance), actors: BTreeMap::new() }
    }

    /// Adds the key of an actor.
    #[must_use]
    pub fn with_actor(mut self, actor: &str, key: KeyPair) -> Self {
        self.actors.insert(actor.to_owned(), Arc::new(key));
        self
    }

    /// Returns the key that signs what `actor` states: its own, or the instance's as custodian.
    pub fn signer_of(&self, actor: &str) -> &KeyPair {
        self.actors.get(actor).unwrap_or(&self.instance)
    }

    /// Returns whether this home holds the actor's key that has this `did:key`.
    pub fn holds(&self, did: &str) -> bool {
        self.actors.values().any(|key| key.did() == did)
    }

    /// Returns the instance key.
    pub fn instance(&self) -> &KeyPair {
        &self.instance
    }

    /// Returns the public key of a signer named in a receipt.
    pub fn public_key(signer: &str) -> Option<PublicKey> {
        public_key_of(signer)
    }
}
