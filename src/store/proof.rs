//! Proof of one record: what somebody without the store needs to see that it was accepted, when and
//! where it stands.
//!
//! A proof holds the record's bytes, its receipt, the link of the chain before it, what the chain
//! was continued with up to the next signed link, and that link. It holds nothing of other records
//! but the hashes of their receipts: an id beside each could be anything, since only what is hashed
//! is proved, and it would tell what others wrote.

use super::append::link;
use super::checkpoint::{Head, SignedLink};
use super::read::{COLUMNS, stored, unproven};
use super::tombstone::tombstone_of;
use super::{Reader, Receipt, StoreError, Unproven};
use crate::canon::{Canonical, Digest, Limits, Object, Value, hex, parse, unhex};
use crate::code::{Code, Coded};
use crate::identity::{Signature, public_key_of};
use crate::object;
use crate::record::{Origin, Record, RecordId, Sequence};
use crate::time::Timestamp;

/// The version of the form.
const VERSION: i64 = 1;

/// The most bytes of a file that is read as a proof: a record of 4 MiB, whose text may be twice as
/// long where it stands in another, and the hashes of a hundred thousand receipts.
pub const MAX_PROOF_BYTES: usize = 16 * 1024 * 1024;

/// A record, and why it cannot have been another.
#[derive(Debug, Clone)]
pub struct Proof {
    record: Record,
    sequence: Sequence,
    received_at: Timestamp,
    origin: Origin,
    signer: String,
    signature: Signature,
    unproven: Option<Unproven>,
    previous: Digest,
    following: Vec<Digest>,
    end: SignedLink,
}

/// Why something is no proof.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProofError {
    /// The file is not one.
    #[error("this is no proof: {0}")]
    NotAProof(&'static str),
    /// It was changed, or it never proved anything.
    #[error("the proof does not hold: {0}")]
    Broken(&'static str),
    /// It is signed by another instance.
    #[error("the proof is signed by `{signer}`, not by the key that was asked for")]
    OtherKey {
        /// Who has signed it.
        signer: String,
    },
}

impl Coded for ProofError {
    fn code(&self) -> Code {
        Code::InvalidBody
    }
}

impl Proof {
    /// Returns the record.
    pub const fn record(&self) -> &Record {
        &self.record
    }

    /// Returns where it stands in the order of arrival.
    pub const fn sequence(&self) -> Sequence {
        self.sequence
    }

    /// Returns when it arrived.
    pub const fn received_at(&self) -> Timestamp {
        self.received_at
    }

    /// Returns the `did:key` of the key that signed the record.
    pub fn signer(&self) -> &str {
        &self.signer
    }

    /// Returns the signed link that it leads to.
    pub const fn end(&self) -> &SignedLink {
        &self.end
    }

    /// Returns the proof as the object that is kept in a file.
    pub fn to_object(&self) -> Object {
        let following: Vec<Value> = self.following.iter().map(|it| hex(it).into()).collect();
        object! {
            "end": self.end.to_object(),
            "following": following,
            "object": "proof",
            "previous": hex(&self.previous),
            "receipt": self.receipt().to_object(),
            "record": self.record.canonical().as_str(),
            "version": VERSION,
        }
    }

    /// Reads a proof from a file. It must be the canonical text of one, to the byte; a line may end
    /// behind it.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProofError> {
        const NONE: ProofError =
            ProofError::NotAProof("it is not the text that `spl proof` writes");
        if bytes.len() > MAX_PROOF_BYTES {
            return Err(ProofError::NotAProof("it is too long"));
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let limits = Limits { bytes: MAX_PROOF_BYTES, ..Limits::STORED };
        let value = parse(text, limits).map_err(|_| ProofError::NotAProof("it is not JSON"))?;
        let Value::Object(object) = value else { return Err(NONE) };
        let proof = Self::from_object(&object).ok_or(NONE)?;
        let canonical = Canonical::of_object(&proof.to_object());
        if canonical.as_bytes() == text {
            return Ok(proof);
        }
        Err(ProofError::Broken("its text is not the one that its parts have"))
    }

    /// Reads what was read from a file.
    fn from_object(object: &Object) -> Option<Self> {
        let receipt = object.get("receipt")?.as_object()?;
        let text = |key| receipt.get(key).and_then(Value::as_str);
        let number = |key| receipt.get(key).and_then(Value::as_i64);
        let judged_by = text("judged_by").map(str::to_owned);
        let following = object.get("following")?.as_array()?.iter();
        Some(Self {
            record: Record::from_canonical(object.get("record")?.as_str()?, judged_by).ok()?,
            sequence: Sequence::new(number("seq")?),
            received_at: Timestamp::from_millis(number("received_at")?),
            origin: Origin::parse(text("origin")?)?,
            signer: text("signer")?.to_owned(),
            signature: Signature::parse_exact(text("sig")?)?,
            unproven: match receipt.get("unproven") {
                None => None,
                Some(value) => Some(Unproven::from_object(value.as_object()?)?),
            },
            previous: unhex(object.get("previous")?.as_str()?)?,
            following: following.map(|it| unhex(it.as_str()?)).collect::<Option<_>>()?,
            end: SignedLink::from_object(object.get("end")?.as_object()?)?,
        })
    }

    /// Checks that the record was accepted by the instance that signs with `key`; by whichever has
    /// signed, if no key is given.
    pub fn check(&self, key: Option<&str>) -> Result<(), ProofError> {
        let bytes = self.record.canonical().as_bytes();
        let is_signed =
            public_key_of(&self.signer).is_some_and(|key| key.verifies(bytes, &self.signature));
        if !is_signed {
            return Err(ProofError::Broken("the signature is not the signer's over these bytes"));
        }
        let first = Head { sequence: self.sequence, chain: self.receipt().chain(&self.previous) };
        let last = self.following.iter().fold(first, |head, receipt| Head {
            sequence: Sequence::new(head.sequence.get().saturating_add(1)),
            chain: link(&head.chain, receipt),
        });
        if last != self.end.link {
            return Err(ProofError::Broken("the chain does not lead to the signed link"));
        }
        if !self.end.is_signed() {
            return Err(ProofError::Broken("the signed link has another signature"));
        }
        match key {
            Some(key) if key != self.end.signer => {
                Err(ProofError::OtherKey { signer: self.end.signer.clone() })
            }
            _ => Ok(()),
        }
    }

    fn receipt(&self) -> Receipt<'_> {
        Receipt {
            id: self.record.id(),
            sequence: self.sequence,
            received_at: self.received_at,
            origin: self.origin,
            signer: &self.signer,
            signature: self.signature,
            judged_by: self.record.judged_by.as_deref(),
            unproven: self.unproven.as_ref(),
        }
    }
}

impl SignedLink {
    /// Reads a link from a file that holds one, or a proof that ends with one. It must be the
    /// canonical text, to the byte, and its own signature must hold.
    pub fn parse(bytes: &[u8]) -> Result<Self, ProofError> {
        const NONE: ProofError =
            ProofError::NotAProof("it is neither a signed head nor a checkpoint nor a proof");
        if let Ok(proof) = Proof::parse(bytes) {
            return proof.check(None).map(|()| proof.end);
        }
        let text = bytes.strip_suffix(b"\n").unwrap_or(bytes);
        let limits = Limits { bytes: 8192, ..Limits::STORED };
        let value = parse(text, limits).map_err(|_| NONE)?;
        let link = value.as_object().and_then(Self::from_object).ok_or(NONE)?;
        if Canonical::of_object(&link.to_object()).as_bytes() != text {
            return Err(NONE);
        }
        if !link.is_signed() {
            return Err(ProofError::Broken("the signed link has another signature"));
        }
        Ok(link)
    }
}

impl Reader<'_> {
    /// Returns the proof of a record; `None` if there is no such record, or its words were taken out
    /// and nothing is left to prove. It ends at the next checkpoint, or at the head where there is
    /// none yet.
    pub fn proof(&self, id: RecordId) -> Result<Option<Proof>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM records WHERE id = ?1");
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query([id.as_bytes()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let stored = stored(row)?;
        let sequence = stored.sequence;
        if tombstone_of(self.connection, sequence)?.is_some() {
            return Ok(None);
        }
        let Some(end) = self.signed_from(sequence)? else {
            let what = "the signed head does not reach it".into();
            return Err(StoreError::Damaged { sequence: sequence.get(), what });
        };
        Ok(Some(Proof {
            previous: self.chain_at(Sequence::new(sequence.get() - 1))?.unwrap_or_default(),
            following: self.receipts(sequence, end.sequence())?,
            record: stored.record,
            sequence,
            received_at: stored.received_at,
            origin: stored.origin,
            signer: stored.signer,
            signature: stored.signature,
            unproven: stored.unproven,
            end,
        }))
    }

    /// Returns the link of the chain at this sequence.
    pub(super) fn chain_at(&self, sequence: Sequence) -> Result<Option<Digest>, StoreError> {
        use rusqlite::OptionalExtension as _;
        let sql = "SELECT chain FROM records WHERE seq = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_row([sequence.get()], |row| row.get(0)).optional()?)
    }

    /// Returns the hashes of the receipts after one sequence, up to another.
    fn receipts(&self, after: Sequence, to: Sequence) -> Result<Vec<Digest>, StoreError> {
        let sql = "SELECT seq, id, received_at, origin, signer, sig, judged_by, unproven
                   FROM records WHERE seq > ?1 AND seq <= ?2 ORDER BY seq";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([after.get(), to.get()])?;
        let mut receipts = Vec::new();
        while let Some(row) = rows.next()? {
            let sequence: i64 = row.get(0)?;
            let (signer, judged_by): (String, Option<String>) = (row.get(4)?, row.get(6)?);
            let unproven = unproven(row, 7, sequence)?;
            let receipt = Receipt {
                id: RecordId::from_bytes(row.get(1)?),
                sequence: Sequence::new(sequence),
                received_at: Timestamp::from_millis(row.get(2)?),
                origin: row.get(3)?,
                signer: &signer,
                signature: Signature::from_bytes(row.get(5)?),
                judged_by: judged_by.as_deref(),
                unproven: unproven.as_ref(),
            };
            receipts.push(receipt.digest());
        }
        Ok(receipts)
    }
}
