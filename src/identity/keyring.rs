//! The keys that one home holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::{KeyPair, PublicKey, public_key_of};

/// The keys that one home holds: the instance's, and those of actors in its custody.
#[derive(Debug, Clone)]
pub struct Keyring {
    instance: Arc<KeyPair>,
    actors: BTreeMap<String, Arc<KeyPair>>,
    /// Those that the instance had before, as `did:key`.
    former: Vec<String>,
}

impl Keyring {
    /// Returns a keyring with the instance key alone.
    pub fn new(instance: KeyPair) -> Self {
        Self { instance: Arc::new(instance), actors: BTreeMap::new(), former: Vec::new() }
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

    /// Returns the key of an actor that is in this home's custody.
    pub fn actor(&self, actor: &str) -> Option<&KeyPair> {
        self.actors.get(actor).map(|key| &**key)
    }

    /// Adds what is known of keys that the instance had before.
    #[must_use]
    pub fn with_former(mut self, former: Vec<String>) -> Self {
        self.former = former;
        self
    }

    /// Returns whether the instance signs with this key, or did before.
    pub fn has_signed_with(&self, signer: &str) -> bool {
        self.instance.did() == signer || self.former.iter().any(|former| former == signer)
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
