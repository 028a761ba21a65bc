//! SHA-256, and hex for what it returns.

use std::fmt;

use sha2::Digest as _;

/// A SHA-256.
pub type Digest = [u8; 32];

/// Returns the SHA-256 of `parts`, one after another.
pub fn hash_of(parts: &[&[u8]]) -> Digest {
    let mut hasher = sha2::Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    hasher.finalize().into()
}

/// A SHA-256 in the making, of text that is written to it.
#[derive(Default)]
pub(super) struct Hasher(sha2::Sha256);

impl Hasher {
    /// Returns the SHA-256 of what was written.
    pub(super) fn finish(self) -> Digest {
        self.0.finalize().into()
    }
}

impl fmt::Write for Hasher {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        self.0.update(piece.as_bytes());
        Ok(())
    }
}

/// Returns `bytes` as lower-case hex.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut text = String::with_capacity(bytes.len() * 2);
    for byte in bytes {
        for nibble in [byte >> 4, byte & 15] {
            text.push(DIGITS.get(usize::from(nibble)).map_or('0', |digit| char::from(*digit)));
        }
    }
    text
}

/// Reads exactly `N` bytes of lower-case hex; anything else is `None`.
pub fn unhex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let text = text.as_bytes();
    if text.len() != N * 2 {
        return None;
    }
    let mut bytes = [0; N];
    for (byte, pair) in bytes.iter_mut().zip(text.chunks_exact(2)) {
        let [high, low] = pair else { return None };
        *byte = nibble(*high)? << 4 | nibble(*low)?;
    }
    Some(bytes)
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    }
}
