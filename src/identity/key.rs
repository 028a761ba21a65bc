//! Ed25519 keys and signatures.

use std::fmt;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
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

    /// Reads a key as it is handed on: its `did:key`, or base64 of its 32 bytes, standard alphabet,
    /// padded. `None` if it is neither.
    pub fn read(text: &str) -> Option<Self> {
        super::public_key_of(text).or_else(|| {
            let bytes = STANDARD.decode(text).ok()?;
            Self::from_bytes(bytes.as_slice().try_into().ok()?)
        })
    }

    /// Returns base64 of the 32 bytes, standard alphabet, padded.
    pub fn to_base64(self) -> String {
        STANDARD.encode(self.to_bytes())
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

/// How a signature may be spelled beside hex: base64 of either alphabet, padded or not.
const SPELLINGS: [GeneralPurpose; 2] = [
    GeneralPurpose::new(&alphabet::STANDARD, LENIENT),
    GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT),
];

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);

impl Signature {
    /// Reads a signature as a client may spell it: base64, base64url or hex (contract §1.7).
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() == 128 {
            return crate::canon::unhex(&text.to_ascii_lowercase()).map(Self);
        }
        let decode = |spelling: &GeneralPurpose| spelling.decode(text).ok()?.try_into().ok();
        SPELLINGS.iter().find_map(decode).map(Self)
    }

    /// Reads a signature as this program spells it, and no other way.
    pub fn parse_exact(text: &str) -> Option<Self> {
        STANDARD.decode(text).ok()?.try_into().ok().map(Self)
    }

    /// Returns the signature with these bytes, as read back from the store.
    pub const fn from_bytes(bytes: [u8; 64]) -> Self {
        Self(bytes)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_read_in_each_spelling() {
        let signature = Signature::from_bytes(std::array::from_fn(|at| {
            u8::MAX - u8::try_from(at).expect("small")
        }));
        let padded = signature.to_string();
        let hex = crate::canon::hex(signature.as_bytes());
        let url = padded.replace('+', "-").replace('/', "_");
        assert_ne!(url, padded);
        for spelled in [&padded, &url, &hex, &hex.to_uppercase()] {
            assert_eq!(Signature::parse(spelled), Some(signature), "{spelled}");
            assert_eq!(Signature::parse(spelled.trim_end_matches('=')), Some(signature));
        }
        for bad in ["", "=", "AA==", &padded[1..], &hex[2..], &hex.replace('f', "g")] {
            assert_eq!(Signature::parse(bad), None, "{bad}");
        }
        assert_eq!(Signature::parse_exact(&padded), Some(signature));
        assert_eq!(Signature::parse_exact(padded.trim_end_matches('=')), None);
        assert_eq!(Signature::parse_exact(&url), None);
    }
}
