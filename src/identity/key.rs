//! Ed25519 keys and signatures.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};

/// The length of the raw seed that a key file holds.
pub const SEED_BYTES: usize = 32;

/// The operating system has no randomness to give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the operating system gave no randomness")]
pub struct RandomError;

/// Returns `N` bytes from the operating system's source of randomness.
pub fn random_bytes<const N: usize>() -> Result<[u8; N], RandomError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| RandomError)?;
    Ok(bytes)
}

/// A key that signs. Its seed leaves this type only to be written to a key file.
pub struct KeyPair {
    signing: SigningKey,
    did: String,
}

impl KeyPair {
    /// Returns the key of a raw 32-byte seed.
    pub fn from_seed(seed: &[u8; SEED_BYTES]) -> Self {
        let signing = SigningKey::from_bytes(seed);
        let did = super::did_of(&PublicKey(signing.verifying_key()));
        Self { signing, did }
    }

    /// Signs `bytes`.
    pub fn sign(&self, bytes: &[u8]) -> Signature {
        Signature(self.signing.sign(bytes).to_bytes())
    }

    /// Returns the half that anyone may know.
    pub fn public(&self) -> PublicKey {
        PublicKey(self.signing.verifying_key())
    }

    /// Returns the `did:key` of the public half.
    pub fn did(&self) -> &str {
        &self.did
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("KeyPair").field(&self.did).finish()
    }
}

/// A key that verifies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// Reads the 32 bytes of a public key; `None` if no key has them.
    pub fn from_bytes(bytes: &[u8; 32]) -> Option<Self> {
        VerifyingKey::from_bytes(bytes).ok().map(Self)
    }

    /// Returns the 32 bytes.
    pub fn to_bytes(self) -> [u8; 32] {
        self.0.to_bytes()
    }

    /// Returns whether `signature` is this key's over `bytes`.
    pub fn verifies(&self, bytes: &[u8], signature: &Signature) -> bool {
        let signature = ed25519_dalek::Signature::from_bytes(&signature.0);
        self.0.verify_strict(bytes, &signature).is_ok()
    }
}

/// An Ed25519 signature. Shown as base64, standard alphabet, padded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Signature([u8; 64]);

impl Signature {
    /// Returns the signature with these bytes, as read back from the store.
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
    }

    /// Reads what [`Signature`] shows itself as.
    pub fn parse(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the 64 bytes.
    pub const fn as_bytes(&self) -> &[u8; 64] {
        &self.0
    }
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&STANDARD.encode(self.0))
    }
}
