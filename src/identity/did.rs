//! `did:key`: a public key as a DID (multibase base58btc of `0xed 0x01` and the key).

use super::PublicKey;

const PREFIX: &str = "did:key:z";
const ED25519: [u8; 2] = [0xed, 0x01];

/// Returns the DID of a public key.
pub fn did_of(key: &PublicKey) -> String {
    let mut bytes = ED25519.to_vec();
    bytes.extend_from_slice(&key.to_bytes());
    format!("{PREFIX}{}", bs58::encode(bytes).into_string())
}

/// Returns the public key that a `did:key` spells, or `None` if it spells none.
pub fn public_key_of(did: &str) -> Option<PublicKey> {
    let bytes = bs58::decode(did.strip_prefix(PREFIX)?).into_vec().ok()?;
    let key = bytes.strip_prefix(&ED25519)?;
    PublicKey::from_bytes(key.try_into().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::KeyPair;

    #[test]
    fn a_key_is_read_back_from_its_did() {
        let key = KeyPair::from_seed(&[7; 32]);
        assert!(key.did().starts_with("did:key:z6Mk"));
        assert_eq!(public_key_of(key.did()), Some(key.public()));
        for bad in ["", "did:key:", "did:key:z0", "did:web:a", "did:key:z6Mk"] {
            assert_eq!(public_key_of(bad), None, "{bad}");
        }
    }

    /// RFC 8032, section 7.1, test 2.
    #[test]
    fn signatures_are_ed25519() {
        let seed =
            crate::canon::unhex("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb");
        let key = KeyPair::from_seed(&seed.expect("hex"));
        let signature = key.sign(&[0x72]);
        assert_eq!(
            crate::canon::hex(signature.as_bytes()),
            "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da\
             085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"
        );
        assert!(key.public().verifies(&[0x72], &signature));
        assert!(!key.public().verifies(&[0x73], &signature));
    }
}
