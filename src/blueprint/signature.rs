//! The signature of a blueprint.
//!
//! Signed are the canonical bytes of the file, with the signature's own fields but without its bytes.
//! A blueprint names those that it extends by the hash of their content, and they theirs: so one
//! signature covers the whole set.

use crate::canon::{Canonical, Object, Value};
use crate::identity::{KeyPair, Signature, public_key_of};
use crate::object;
use crate::record::{Reason, ShapeError, field};
use crate::time::Timestamp;

/// The field of a blueprint that holds it.
pub(super) const SIGNATURE: &str = "signature";

/// The one algorithm there is.
pub const ALGORITHM: &str = "Ed25519";

const FIELDS: [&str; 4] = ["alg", "key_id", "signature", "signed_at"];

/// Who signed a blueprint, and when they say they did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlueprintSignature {
    /// The `did:key` of the key.
    pub key_id: String,
    /// In seconds since 1970, as the signer has it.
    pub signed_at: i64,
    signature: Signature,
}

impl BlueprintSignature {
    pub(super) fn make(content: &Object, key: &KeyPair, now: Timestamp) -> Self {
        let signed_at = now.as_millis().div_euclid(1000);
        let signed = signed_bytes(content, key.did(), signed_at);
        let signature = key.sign(signed.as_bytes());
        Self { key_id: key.did().to_owned(), signed_at, signature }
    }

    pub(super) fn read(value: &Value) -> Result<Self, ShapeError> {
        let Value::Object(fields) = value else {
            return Err(ShapeError::wrong_type(SIGNATURE, "an object", value.type_name()));
        };
        let inside = |error: ShapeError| ShapeError {
            field: format!("{SIGNATURE}.{}", error.field),
            ..error
        };
        Self::of(fields).map_err(inside)
    }

    fn of(fields: &Object) -> Result<Self, ShapeError> {
        if let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let fields = FIELDS.join(", ");
            let message = format!("a signature has {fields} and nothing else");
            return Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message));
        }
        if field::text(fields, "alg")? != ALGORITHM {
            let message = format!("`alg` must be `{ALGORITHM}`");
            return Err(ShapeError::new("alg", Reason::BadValue, message));
        }
        let signature =
            Signature::parse_exact(field::text(fields, SIGNATURE)?).ok_or_else(|| {
                let message = "`signature` must be base64 of 64 bytes, padded";
                ShapeError::new(SIGNATURE, Reason::BadValue, message)
            })?;
        let signed_at = match fields.get("signed_at") {
            None => return Err(ShapeError::missing("signed_at")),
            Some(value) => value.as_i64().filter(|at| *at >= 0).ok_or_else(|| {
                let message = "`signed_at` must be seconds since 1970, an integer from 0 on";
                ShapeError::new("signed_at", Reason::BadValue, message)
            })?,
        };
        Ok(Self { key_id: field::text(fields, "key_id")?.to_owned(), signed_at, signature })
    }

    pub(super) fn to_object(&self) -> Object {
        object! {
            "alg": ALGORITHM,
            "key_id": self.key_id.as_str(),
            "signature": self.signature.to_string(),
            "signed_at": self.signed_at,
        }
    }

    /// Refuses a signature that its key has not made over this content.
    pub(super) fn check(&self, content: &Object) -> Result<(), ShapeError> {
        let refused = |field: &str, message: &str| {
            let field = format!("{SIGNATURE}.{field}");
            ShapeError::new(field, Reason::BadValue, message)
        };
        let key = public_key_of(&self.key_id)
            .ok_or_else(|| refused("key_id", "`key_id` must be the `did:key` of an Ed25519 key"))?;
        let signed = signed_bytes(content, &self.key_id, self.signed_at);
        if key.verifies(signed.as_bytes(), &self.signature) {
            return Ok(());
        }
        let message = "the signature is not one over this blueprint: it was changed after it was \
                       signed";
        let hint = "Get it again from its author, or look it through and sign it yourself.";
        Err(refused(SIGNATURE, message).with_hint(hint))
    }
}

fn signed_bytes(content: &Object, key_id: &str, signed_at: i64) -> Canonical {
    let mut signed = content.clone();
    let by = object! { "alg": ALGORITHM, "key_id": key_id, "signed_at": signed_at };
    signed.insert(SIGNATURE.into(), by.into());
    Canonical::of_object(&signed)
}
