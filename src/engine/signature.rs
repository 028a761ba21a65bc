//! A signature that comes with a record: whose it must be, and what is kept of it (contract §1.7).
//!
//! One that is not the actor's is refused. One that nobody here can check does not stop the record:
//! the instance signs it as custodian, and the row keeps the signature and why it is unproven.

use super::{Engine, EngineError, IngestError};
use crate::identity::{DidKeyError, KeyPair, PublicKey, Signature, public_key_of, resolve_did_key};
use crate::record::{ENGINE_ACTOR, Reason, Record, RecordId, ShapeError};
use crate::store::{Prepared, Proof, Signed, StoreError, Unproven, UnprovenReason};

const FIELD: &str = "sig";

/// Reads a signature as a client spells it.
pub(super) fn read_signature(text: &str) -> Result<Signature, ShapeError> {
    Signature::parse(text).ok_or_else(|| {
        let message =
            "`sig` must be the 64 bytes of an Ed25519 signature in base64, base64url or hex";
        ShapeError::new(FIELD, Reason::BadValue, message)
    })
}

/// The key that an actor signs with.
enum Resolved {
    Key { did: String, key: Box<PublicKey> },
    Unknown(UnprovenReason),
}

impl Engine {
    /// Returns the proof of a record; `None` if there is no such record for whoever has this handle,
    /// or its words were taken out. It takes hashes from rows that the handle may not see.
    pub fn proof(&self, id: RecordId) -> Result<Option<Proof>, EngineError> {
        let there = self.store().read(|reader| reader.record(id))?.is_some();
        if there { Ok(self.whole().read(|reader| reader.proof(id))?) } else { Ok(None) }
    }

    /// Returns who has signed a record that has just been written.
    pub(super) fn signed(&self, record: &Record) -> Result<Signed, EngineError> {
        let stored = self.whole().read(|reader| reader.record(record.id()))?;
        let stored = stored.ok_or_else(|| StoreError::Damaged {
            sequence: 0,
            what: "what was written is not there".into(),
        })?;
        Ok(stored.signed())
    }

    /// Takes a record with the signature that came with it: checked if there is a key to check it
    /// with, kept as unproven if there is none.
    pub(super) fn prepare_signed(
        &self,
        record: Record,
        signature: Signature,
    ) -> Result<Prepared, IngestError> {
        let store = self.whole();
        let (id, actor) = (record.id(), record.actor.clone());
        // The same record again is the same success, whoever has signed it this time.
        let is_repeat = store.read(|reader| reader.author(id))?.is_some();
        if is_repeat {
            return Ok(store.prepare_sealed(record));
        }
        match self.key_of(actor.as_str())? {
            Resolved::Key { did, key }
                if key.verifies(record.canonical().as_bytes(), &signature) =>
            {
                Ok(Prepared::proven(record, did, signature))
            }
            Resolved::Key { .. } => {
                let message = self.why_wrong(&record, &signature)?;
                Err(ShapeError::new(FIELD, Reason::BadValue, message)
                    .with_hint(
                        "Sign the canonical bytes of the seven hashed fields with the actor's key.",
                    )
                    .into())
            }
            Resolved::Unknown(reason) => {
                tracing::warn!(%actor, record = %id, reason = reason.as_str(), "unproven signature");
                Ok(store.prepare_sealed(record).with_unproven(Unproven { signature, reason }))
            }
        }
    }

    fn key_of(&self, actor: &str) -> Result<Resolved, IngestError> {
        let found = |did: &str, key| Ok(Resolved::Key { did: did.to_owned(), key: Box::new(key) });
        match resolve_did_key(actor) {
            Ok(key) => return found(actor, key),
            Err(DidKeyError::OtherMethod) => {}
            Err(error) => {
                let message = format!("`sig` cannot be checked against `{actor}`: {error}");
                return Err(ShapeError::new(FIELD, Reason::BadValue, message).into());
            }
        }
        let keyring = self.whole().keyring();
        let of_pair = |pair: &KeyPair| found(pair.did(), pair.public());
        if actor == ENGINE_ACTOR {
            return of_pair(keyring.instance());
        }
        // What records name goes before what lies in the home: a key may have been put back.
        let named = self.whole().read(|reader| reader.actor_key(actor))?;
        if let Some((did, key)) = named.and_then(|did| Some((did.clone(), public_key_of(&did)?))) {
            return found(&did, key);
        }
        match keyring.actor(actor) {
            Some(pair) => of_pair(pair),
            None if actor.starts_with("did:sync:") => {
                Ok(Resolved::Unknown(UnprovenReason::UnknownKey))
            }
            None => Ok(Resolved::Unknown(UnprovenReason::UnknownMethod)),
        }
    }

    /// Says what is wrong with a signature that the actor's key has not made.
    fn why_wrong(&self, record: &Record, signature: &Signature) -> Result<String, StoreError> {
        let actor = record.actor.as_str();
        let keys = self.whole().read(|reader| reader.actor_keys(actor))?;
        let bytes = record.canonical().as_bytes();
        let made_by =
            |did: &str| public_key_of(did).is_some_and(|key| key.verifies(bytes, signature));
        Ok(if keys.iter().any(|had| had.until.is_some() && made_by(&had.key)) {
            format!("`sig` was made with a key that `{actor}` has replaced")
        } else {
            let id = record.id();
            format!("`sig` is not a signature of `{actor}` over the record `{id}`")
        })
    }
}
