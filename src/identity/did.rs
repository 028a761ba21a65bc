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

/// The most characters of a `did:key` that are decoded: more than the longest kind of key has.
const MAX_CHARS: usize = 1024;

/// Why a DID spells no key that could check a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DidKeyError {
    /// It is of another method.
    #[error("it is not a `did:key`")]
    OtherMethod,
    /// The key is not in base58btc, or it is no text of that.
    #[error("its key is not multibase base58btc (`z…`)")]
    NotBase58,
    /// The key is of another curve.
    #[error("it spells a key for {curve}, and only Ed25519 keys sign records")]
    OtherCurve {
        /// The curve, or the kind of key.
        curve: &'static str,
    },
    /// The multicodec is not one of a key.
    #[error("it spells no kind of key that is known here")]
    UnknownCodec,
    /// The key has not the length of one.
    #[error("an Ed25519 key has 32 bytes, not {bytes}")]
    Length {
        /// How many there are.
        bytes: usize,
    },
    /// The bytes are no point of the curve.
    #[error("no Ed25519 key has these bytes")]
    NotAKey,
}

/// The multicodec prefixes of other keys, as they stand in the bytes.
const OTHER_CURVES: [(&[u8], &str); 10] = [
    (&[0xe7, 0x01], "secp256k1"),
    (&[0xec, 0x01], "X25519"),
    (&[0x80, 0x24], "P-256"),
    (&[0x81, 0x24], "P-384"),
    (&[0x82, 0x24], "P-521"),
    (&[0x83, 0x24], "Ed448"),
    (&[0x85, 0x24], "RSA"),
    (&[0xea, 0x01], "BLS12-381 G1"),
    (&[0xeb, 0x01], "BLS12-381 G2"),
    (&[0xd1, 0xd6, 0x03], "a JSON Web Key"),
];

/// Reads the public key that a `did:key` spells.
pub fn resolve_did_key(did: &str) -> Result<PublicKey, DidKeyError> {
    let spelled = did.strip_prefix("did:key:").ok_or(DidKeyError::OtherMethod)?;
    let digits = spelled.strip_prefix('z').filter(|it| !it.is_empty() && it.len() <= MAX_CHARS);
    let digits = digits.ok_or(DidKeyError::NotBase58)?;
    let bytes = bs58::decode(digits).into_vec().map_err(|_| DidKeyError::NotBase58)?;
    let Some(key) = bytes.strip_prefix(&ED25519) else {
        let other = OTHER_CURVES.iter().find(|(prefix, _)| bytes.starts_with(prefix));
        return Err(
            other.map_or(DidKeyError::UnknownCodec, |(_, curve)| DidKeyError::OtherCurve { curve })
        );
    };
    let key: &[u8; 32] = key.try_into().map_err(|_| DidKeyError::Length { bytes: key.len() })?;
    PublicKey::from_bytes(key).ok_or(DidKeyError::NotAKey)
}

/// Returns the public key that a `did:key` spells, or `None` if it spells none.
pub fn public_key_of(did: &str) -> Option<PublicKey> {
    resolve_did_key(did).ok()
}

/// Returns what a person compares two keys by: the first 16 hex digits of a SHA-256 of the key.
pub fn fingerprint_of(key: &PublicKey) -> String {
    let mut digits = crate::canon::hex(&crate::canon::hash_of(&[&key.to_bytes()]));
    digits.truncate(16);
    digits
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

    /// The examples of the method's own specification.
    #[test]
    fn another_curve_is_named() {
        let of = |did: &str| resolve_did_key(did).expect_err("refused");
        let curve = |curve| DidKeyError::OtherCurve { curve };
        for (did, error) in [
            ("did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme", curve("secp256k1")),
            ("did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc", curve("X25519")),
            ("did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", curve("P-256")),
            (
                "did:key:z82Lm1MpAkeJcix9K8TMiLd5NMAhnwkjjCBeWHXyu3U4oT2MVJJKXkcVBgjGhnLBn2Kaau9",
                curve("P-384"),
            ),
            ("did:web:example.org", DidKeyError::OtherMethod),
            ("did:key:", DidKeyError::NotBase58),
            ("did:key:mAAAA", DidKeyError::NotBase58),
            ("did:key:z0OIl", DidKeyError::NotBase58),
            ("did:key:z2", DidKeyError::UnknownCodec),
        ] {
            assert_eq!(of(did), error, "{did}");
        }
        let spelled = |bytes: &[u8]| format!("{PREFIX}{}", bs58::encode(bytes).into_string());
        assert_eq!(of(&spelled(&[0xed, 0x01, 1, 2, 3])), DidKeyError::Length { bytes: 3 });
        let mut no_point = ED25519.to_vec();
        no_point.extend([2; 32]);
        assert_eq!(of(&spelled(&no_point)), DidKeyError::NotAKey);
        let fragment = format!("{}#key", KeyPair::from_seed(&[7; 32]).did());
        assert_eq!(of(&fragment), DidKeyError::NotBase58);
        assert_eq!(of(&format!("did:key:z{}", "z".repeat(5000))), DidKeyError::NotBase58);
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
