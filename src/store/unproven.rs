//! A signature that came with a record and that nobody here can check: what the row keeps of it.

use crate::canon::{Canonical, Limits, Object, parse};
use crate::identity::Signature;
use crate::object;

/// Why nobody here can check a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnprovenReason {
    /// The DID is of a method that this home resolves, and no key of the actor is known.
    UnknownKey,
    /// This home resolves no DIDs of that method, or the actor is no DID.
    UnknownMethod,
}

impl UnprovenReason {
    const ALL: [Self; 2] = [Self::UnknownKey, Self::UnknownMethod];

    /// Returns the word that answers and rows have for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownKey => "unknown_key",
            Self::UnknownMethod => "unknown_method",
        }
    }
}

/// A signature that came with a record and that nobody here could check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unproven {
    /// The signature.
    pub signature: Signature,
    /// Why nobody could.
    pub reason: UnprovenReason,
}

impl Unproven {
    /// Returns it as answers and receipts show it.
    pub fn to_object(&self) -> Object {
        object! { "reason": self.reason.as_str(), "sig": self.signature.to_string() }
    }

    /// Returns what the column holds.
    pub(super) fn to_column(self) -> String {
        Canonical::of_object(&self.to_object()).into_string()
    }

    /// Reads the column. A text that says the same in other bytes is not what was written.
    pub(super) fn from_column(text: &str) -> Option<Self> {
        let value = parse(text.as_bytes(), Limits::STORED).ok()?;
        Self::from_object(value.as_object()?).filter(|read| read.to_column() == text)
    }

    /// Reads it from a receipt.
    pub(super) fn from_object(object: &Object) -> Option<Self> {
        let word = object.get("reason")?.as_str()?;
        let reason = UnprovenReason::ALL.into_iter().find(|reason| reason.as_str() == word)?;
        let signature = Signature::parse_exact(object.get("sig")?.as_str()?)?;
        Some(Self { signature, reason })
    }
}
