//! Links of the chain that the instance key has signed: the head, and the checkpoints before it.
//!
//! The head is signed anew by each commit, so an older one is gone. A checkpoint stays, so that what
//! stands before it can be proved for good.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Reader, StoreError, Tx};
use crate::canon::{Canonical, Digest, Object, Value, hex, unhex};
use crate::identity::{KeyPair, Signature, public_key_of};
use crate::object;
use crate::record::Sequence;
use crate::time::Timestamp;

/// How many records there are from one checkpoint to the next.
pub const CHECKPOINT_EVERY: i64 = 1024;

/// A link of the chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Head {
    pub(super) sequence: Sequence,
    pub(super) chain: Digest,
}

/// A link of the chain that was signed: the head of some moment, or a checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedLink {
    pub(super) link: Head,
    /// When it was signed; a checkpoint says so, and a head does not.
    pub(super) at: Option<Timestamp>,
    /// The `did:key` of the instance key.
    pub(super) signer: String,
    pub(super) signature: Signature,
}

impl SignedLink {
    /// Signs the head.
    pub(super) fn head(link: Head, key: &KeyPair) -> Self {
        Self::sign(link, None, key)
    }

    /// Signs a checkpoint.
    fn checkpoint(link: Head, at: Timestamp, key: &KeyPair) -> Self {
        Self::sign(link, Some(at), key)
    }

    fn sign(link: Head, at: Option<Timestamp>, key: &KeyPair) -> Self {
        let signature = key.sign(signed_bytes(link, at).as_bytes());
        Self { link, at, signer: key.did().to_owned(), signature }
    }

    /// Returns the sequence of the newest record that it speaks of.
    pub const fn sequence(&self) -> Sequence {
        self.link.sequence
    }

    /// Returns the `did:key` of whoever has signed it.
    pub fn signer(&self) -> &str {
        &self.signer
    }

    /// Returns when it was signed; `None` of a head.
    pub const fn at(&self) -> Option<Timestamp> {
        self.at
    }

    /// Returns whether the signature is the signer's.
    pub fn is_signed(&self) -> bool {
        let bytes = signed_bytes(self.link, self.at);
        public_key_of(&self.signer)
            .is_some_and(|key| key.verifies(bytes.as_bytes(), &self.signature))
    }

    /// Returns it as the object that is kept in a file and stands in a proof.
    pub fn to_object(&self) -> Object {
        let mut object = signed_members(self.link, self.at);
        object.insert("object".into(), self.word().into());
        object.insert("sig".into(), self.signature.to_string().into());
        object.insert("signer".into(), self.signer.as_str().into());
        object
    }

    const fn word(&self) -> &'static str {
        if self.at.is_some() { CHECKPOINT } else { HEAD }
    }

    /// Reads what [`SignedLink::to_object`] has written.
    pub(super) fn from_object(object: &Object) -> Option<Self> {
        let text = |key| object.get(key).and_then(Value::as_str);
        let number = |key| object.get(key).and_then(Value::as_i64);
        let link = Head { sequence: Sequence::new(number("seq")?), chain: unhex(text("chain")?)? };
        let at = number("at").map(Timestamp::from_millis);
        let (signer, signature) =
            (text("signer")?.to_owned(), Signature::parse_exact(text("sig")?)?);
        let read = Self { link, at, signer, signature };
        (read.to_object() == *object).then_some(read)
    }
}

const HEAD: &str = "head";
const CHECKPOINT: &str = "checkpoint";

fn signed_members(link: Head, at: Option<Timestamp>) -> Object {
    let mut members = object! { "chain": hex(&link.chain), "seq": link.sequence.get() };
    if let Some(at) = at {
        members.insert("at".into(), at.as_millis().into());
        members.insert("object".into(), CHECKPOINT.into());
    }
    members
}

/// Returns the bytes that the instance key signs. Those of a head say nothing but where it is.
fn signed_bytes(link: Head, at: Option<Timestamp>) -> Canonical {
    Canonical::of_object(&signed_members(link, at))
}

/// Reads `seq, chain, at, signer, sig`.
pub(super) fn signed_link(row: &Row<'_>) -> Result<SignedLink, rusqlite::Error> {
    Ok(SignedLink {
        link: Head { sequence: Sequence::new(row.get(0)?), chain: row.get(1)? },
        at: row.get::<_, Option<i64>>(2)?.map(Timestamp::from_millis),
        signer: row.get(3)?,
        signature: Signature::from_bytes(row.get(4)?),
    })
}

/// Returns the signed head, if there is one.
pub(super) fn signed_head(connection: &Connection) -> Result<Option<SignedLink>, StoreError> {
    let sql = "SELECT seq, chain, NULL, signer, sig FROM head";
    Ok(connection.prepare_cached(sql)?.query_row([], signed_link).optional()?)
}

impl Tx<'_> {
    /// Signs the newest link for good.
    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        let signed = SignedLink::checkpoint(self.head, self.now, self.keyring.instance());
        let sql = "INSERT INTO checkpoints (seq, chain, at, signer, sig)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let (link, signature) = (signed.link, signed.signature);
        let at = self.now.as_millis();
        let row = params![link.sequence.get(), link.chain, at, signed.signer, signature.as_bytes()];
        self.connection.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }
}

impl Reader<'_> {
    /// Returns the signed head: where the chain ends; `None` of an empty store.
    pub fn head(&self) -> Result<Option<SignedLink>, StoreError> {
        signed_head(self.connection)
    }

    /// Returns the first signed link at this sequence or after it: a checkpoint, or else the head.
    pub(super) fn signed_from(&self, sequence: Sequence) -> Result<Option<SignedLink>, StoreError> {
        let sql = "SELECT seq, chain, at, signer, sig FROM checkpoints
                   WHERE seq >= ?1 ORDER BY seq LIMIT 1";
        let checkpoint = self
            .connection
            .prepare_cached(sql)?
            .query_row([sequence.get()], signed_link)
            .optional()?;
        match checkpoint {
            Some(checkpoint) => Ok(Some(checkpoint)),
            None => Ok(self.head()?.filter(|head| head.sequence() >= sequence)),
        }
    }
}
