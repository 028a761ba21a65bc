//! Names of records.

use std::fmt;

use crate::canon::{Canonical, Digest, hex, unhex};

/// Names a record by the SHA-256 of its canonical bytes.
///
/// Equal content has an equal id on every machine and in every version, so an id is safe to store,
/// to compare and to send.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordId(Digest);

impl RecordId {
    /// Returns the id of the record with these hashed fields.
    pub fn of(hashed: &Canonical) -> Self {
        Self(hashed.sha256())
    }

    /// Reads 64 characters of lower-case hex.
    pub fn parse(text: &str) -> Option<Self> {
        unhex(text).map(Self)
    }

    /// Returns the id whose bytes these are, as read back from the store.
    pub const fn from_bytes(bytes: Digest) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &Digest {
        &self.0
    }
}

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl From<RecordId> for crate::canon::Value {
    fn from(id: RecordId) -> Self {
        id.to_string().into()
    }
}
