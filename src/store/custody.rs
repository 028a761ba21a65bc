//! Who signed a record: its actor, or this instance on the actor's behalf.
//!
//! A receipt names the key that signed. Whose that is follows from the keys of the instance: what one
//! of them has signed for anybody but the engine itself, it has signed as custodian (decision 14). What
//! was taken over from elsewhere may be signed by anybody.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use super::{Signed, Store, StoreError, Stored};
use crate::canon::Object;
use crate::record::{ENGINE_ACTOR, Origin};

/// The keys that this instance has and had. Read once: they change while no server runs.
pub(super) type Custodians = OnceLock<BTreeSet<String>>;

/// Who signed a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SignedBy {
    /// Its actor.
    Actor,
    /// The instance, for an actor that has not signed.
    Custodian,
    /// A key that nothing here says to be the actor's: of a record that was taken over.
    Other,
}

impl SignedBy {
    /// Returns the word of answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Actor => "actor",
            Self::Custodian => "custodian",
            Self::Other => "other",
        }
    }
}

impl Stored {
    /// Returns who has signed it, and how.
    pub fn signed(&self) -> Signed {
        let (signer, signature) = (self.signer.clone(), self.signature);
        Signed { signer, signature, unproven: self.unproven }
    }
}

impl Store {
    /// Returns who signed a record of this actor with this key. What did not come from elsewhere
    /// is signed by the actor's key or by the instance's, which was seen to when it was written.
    pub fn signed_by(
        &self,
        actor: &str,
        signer: &str,
        origin: Origin,
    ) -> Result<SignedBy, StoreError> {
        if actor == signer {
            return Ok(SignedBy::Actor);
        }
        let ours = signer == self.keyring().instance().did() || self.custodians()?.contains(signer);
        let is_actors = match (actor == ENGINE_ACTOR, origin) {
            (true, _) => ours,
            (false, _) if ours => false,
            (false, Origin::Import) => self.is_key_of(actor, signer)?,
            (false, Origin::Engine | Origin::Door) => true,
        };
        Ok(match (is_actors, ours) {
            (true, _) => SignedBy::Actor,
            (false, true) => SignedBy::Custodian,
            (false, false) => SignedBy::Other,
        })
    }

    fn is_key_of(&self, actor: &str, signer: &str) -> Result<bool, StoreError> {
        if self.keyring().actor(actor).is_some_and(|key| key.did() == signer) {
            return Ok(true);
        }
        let keys = self.read(|reader| reader.actor_keys(actor))?;
        Ok(keys.iter().any(|key| key.key == signer))
    }

    /// Returns the key that an actor has signed its newest record with, if it has signed one itself.
    /// Goes back through the log as far as it takes; who signed what was taken over says nothing.
    pub fn last_own_signer(&self, actor: &str) -> Result<Option<String>, StoreError> {
        let custodians = self.custodians()?.clone();
        let instance = self.keyring().instance().did();
        self.read(|reader| {
            let sql = "SELECT signer FROM records WHERE actor = ?1 AND origin <> 'import'
                       ORDER BY seq DESC";
            let mut statement = reader.connection.prepare_cached(sql)?;
            let mut rows = statement.query([actor])?;
            while let Some(row) = rows.next()? {
                let signer: String = row.get(0)?;
                if signer != instance && !custodians.contains(&signer) {
                    return Ok(Some(signer));
                }
            }
            Ok(None)
        })
    }

    fn custodians(&self) -> Result<&BTreeSet<String>, StoreError> {
        if let Some(known) = self.shared.custodians.get() {
            return Ok(known);
        }
        let keys = self.read(|reader| reader.actor_keys(ENGINE_ACTOR))?;
        Ok(self.shared.custodians.get_or_init(|| keys.into_iter().map(|key| key.key).collect()))
    }

    /// Returns a record as every answer shows it (contract §2.3), with its sequence and who has
    /// signed it.
    pub fn shown(&self, stored: &Stored) -> Result<Object, StoreError> {
        let mut object = stored.to_object();
        let of = (stored.record.actor.as_str(), stored.origin);
        self.show_signed(&mut object, of, &stored.signed())?;
        Ok(object)
    }

    /// Adds to the answer about a record of this actor, which came this way, who has signed it.
    pub fn show_signed(
        &self,
        answer: &mut Object,
        (actor, origin): (&str, Origin),
        signed: &Signed,
    ) -> Result<(), StoreError> {
        let by = self.signed_by(actor, &signed.signer, origin)?;
        answer.insert("sig".into(), signed.signature.to_string().into());
        answer.insert("signed_by".into(), by.as_str().into());
        answer.insert("signer".into(), signed.signer.as_str().into());
        if let Some(unproven) = &signed.unproven {
            answer.insert("unproven".into(), unproven.to_object().into());
        }
        Ok(())
    }
}
