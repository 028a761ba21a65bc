//! What is written with a record: who signed it, when it arrived, and its link in the chain.

use super::Unproven;
use crate::canon::{Canonical, Digest, Object, hash_of};
use crate::identity::{KeyPair, Signature};
use crate::object;
use crate::record::{Namespace, Origin, Record, RecordId, Sequence};
use crate::time::Timestamp;

/// A record that is sealed and signed, and not yet stored.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(super) record: Record,
    pub(super) signed: Signed,
}

/// Who has signed a record, and how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signed {
    /// The `did:key` of the key that signed it.
    pub signer: String,
    /// The signature over its canonical bytes.
    pub signature: Signature,
    /// The signature that came with it and that nobody here could check.
    pub unproven: Option<Unproven>,
}

impl Prepared {
    /// Signs a record with `key`.
    pub(super) fn sign(record: Record, key: &KeyPair) -> Self {
        let signature = key.sign(record.canonical().as_bytes());
        Self::proven(record, key.did().to_owned(), signature)
    }

    /// Takes a record with the signature that came with it, which is the signer's: whoever calls
    /// this has checked it.
    pub(crate) const fn proven(record: Record, signer: String, signature: Signature) -> Self {
        Self { record, signed: Signed { signer, signature, unproven: None } }
    }

    /// Keeps a signature that came with the record and that nobody here can check.
    #[must_use]
    pub(crate) fn with_unproven(mut self, unproven: Unproven) -> Self {
        self.signed.unproven = Some(unproven);
        self
    }

    /// Returns the record.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Returns the record, without its signature.
    pub fn into_record(self) -> Record {
        self.record
    }

    /// Returns the record, and who has signed it.
    pub fn into_parts(self) -> (Record, Signed) {
        (self.record, self.signed)
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
    /// The signature that came with it and that nobody here could check.
    pub unproven: Option<&'a Unproven>,
}

impl Receipt<'_> {
    /// Returns the receipt as the object that is hashed.
    pub fn to_object(&self) -> Object {
        let mut receipt = object! {
            "id": self.id,
            "judged_by": self.judged_by,
            "origin": self.origin.as_str(),
            "received_at": self.received_at.as_millis(),
            "seq": self.sequence.get(),
            "sig": self.signature.to_string(),
            "signer": self.signer,
        };
        if let Some(unproven) = self.unproven {
            receipt.insert("unproven".into(), unproven.to_object().into());
        }
        receipt
    }

    /// Returns the SHA-256 of the receipt.
    pub fn digest(&self) -> Digest {
        Canonical::of_object(&self.to_object()).sha256()
    }

    /// Returns the link of this receipt behind `previous`.
    pub fn chain(&self, previous: &Digest) -> Digest {
        link(previous, &self.digest())
    }
}

/// Returns the link of a receipt with this SHA-256 behind `previous`.
pub(super) fn link(previous: &Digest, receipt: &Digest) -> Digest {
    hash_of(&[previous, receipt])
}

/// Returns what the column `namespace` holds of a record.
pub(super) fn namespace_column(record: &Record) -> Namespace {
    record.namespace().unwrap_or_else(|_| Namespace::root())
}

/// Returns what the column `verdict` holds of a record.
pub(super) fn verdict_column(record: &Record) -> Option<&str> {
    record.body.get("verdict").and_then(|verdict| verdict.as_str())
}
