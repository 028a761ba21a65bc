//! Keys: who can prove to have stated something (contract §1.7).
//!
//! A home holds an instance key and, usually, its operator's key. A record that the operator or the
//! engine writes is signed by its actor's key where the home holds it, and otherwise by the
//! instance key as custodian (decision 4); what a bearer writes is always signed by the instance
//! key. The signer is named in the record's receipt.
//!
//! **Invariant:** only this module names the Ed25519 crate, and nothing here prints, logs or
//! serialises a private key.

mod did;
mod key;
mod keyring;

pub use did::{DidKeyError, did_of, fingerprint_of, public_key_of, resolve_did_key};
pub use key::{KeyPair, PublicKey, RandomError, SEED_BYTES, Signature, random_bytes};
pub use keyring::Keyring;
