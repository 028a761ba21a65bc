//! What is written with a record: who signed it, when it arrived, and its link in the chain.

use crate::canon::{Canonical, Digest, hash_of, hex};
use crate::identity::{KeyPair, Signature};
use crate::object;
use crate::record::{Namespace, Origin, Record, RecordId, Sequence};
use crate::time::Timestamp;

/// A record that is sealed and signed, and not yet stored.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) record: Record,
    pub(super) signer: String,
    pub(super) signature: Signature,
}

impl Prepared {
    /// Signs a record with `key`.
    pub(super) fn sign(record: Record, key: &KeyPair) -> Self {
        let signature = key.sign(record.canonical().as_bytes());
        Self { signer: key.did().to_owned(), signature, record }
    }

    /// Returns the record.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the record, without its signature.
    pub fn into_record(self) -> Record {
        self.record
    }
}

/// What came of an append.
#[derive(Debug, Clone)]
pub struct Appended {
    /// The name of the record.
    pub id: RecordId,
    /// Where it stands in the order of arrival.
    pub sequence: Sequence,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Whether it is new; an identical repeat is not.
    pub fresh: bool,
}

/// What this store says about the arrival of one record (decision 4).
#[derive(Debug, Clone)]
pub struct Receipt<'a> {
    /// The record.
    pub id: RecordId,
    /// Its place in the order of arrival.
    pub sequence: Sequence,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// The `did:key` of the key that signed it.
    pub signer: &'a str,
    /// The signature over its canonical bytes.
    pub signature: Signature,
    /// The record that judged it, as it was posted.
    pub judged_by: Option<&'a str>,
}

impl Receipt<'_> {
    /// Returns the link of this receipt behind `previous`.
    pub fn chain(&self, previous: &Digest) -> Digest {
        let receipt = Canonical::of_object(&object! {
            "id": self.id,
            "judged_by": self.judged_by,
            "origin": self.origin.as_str(),
            "received_at": self.received_at.as_millis(),
            "seq": self.sequence.get(),
            "sig": self.signature.to_string(),
            "signer": self.signer,
        });
        hash_of(&[previous, &receipt.sha256()])
    }
}

/// Returns what the column `namespace` holds of a record.
pub(super) fn namespace_column(record: &Record) -> Namespace {
    record.namespace().unwrap_or_else(|_| Namespace::root())
}

/// Returns what the column `verdict` holds of a record.
pub(super) fn verdict_column(record: &Record) -> Option<&str> {
    record.body.get("verdict").and_then(|verdict| verdict.as_str())
}

/// The newest link of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Head {
    pub(super) sequence: Sequence,
    pub(super) chain: Digest,
}

impl Head {
    /// Returns the bytes that the instance key signs.
    pub(super) fn signed_bytes(&self) -> Canonical {
        Canonical::of_object(&object! { "chain": hex(&self.chain), "seq": self.sequence.get() })
    }
}
