//! Whose blueprints are trusted (contract §7.6).

use crate::canon::Value;
use crate::identity::{PublicKey, public_key_of};
use crate::record::{ActorId, Draft, Reason, ShapeError, field};

/// The topic of a record that trusts an author of blueprints.
pub const BLUEPRINT_AUTHOR_TOPIC: &str = "auth_blueprint_author";

/// The most characters of an author: its key in the configuration is whole.
const MAX_AUTHOR_CHARS: usize = 256;

/// What a writer may say, and what the published SDK adds on its own.
const FIELDS: [&str; 8] =
    ["topic", "name", "public_key", "revoked_after", "enabled", "description", "_v", "_refs"];

/// An author whose blueprints may bring more than content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlueprintAuthor {
    /// The DID, which a blueprint names.
    pub did: ActorId,
    /// The key that the author signs with.
    pub key: PublicKey,
    /// In seconds since 1970: what was signed later is not trusted. Whoever has stolen a key can date
    /// a signature back, so a key that is lost is revoked as of 0.
    pub revoked_after: Option<i64>,
    /// Whether the author is trusted at all.
    pub enabled: bool,
}

/// Returns whether a record of the configuration means to trust an author of blueprints.
pub fn is_blueprint_author(draft: &Draft) -> bool {
    draft.thread.is_config() && draft.topic() == Some(BLUEPRINT_AUTHOR_TOPIC)
}

impl BlueprintAuthor {
    /// Checks a record that means to trust an author. The refusal names one field of the body.
    pub fn check(draft: &Draft) -> Result<Self, ShapeError> {
        let body = &draft.body;
        if let Some(unknown) = body.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let cut: String = unknown.chars().take(64).collect();
            let message = format!("`{cut}` is not a field of this; the fields are {}", fields());
            return Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message));
        }
        field::learned(draft)?;
        let name = field::name(body, "name", MAX_AUTHOR_CHARS)?;
        let did = ActorId::parse(name).map_err(|error| {
            ShapeError::new("name", Reason::BadValue, format!("`name` {error}"))
        })?;
        Ok(Self {
            key: key(draft, name)?,
            did,
            revoked_after: revoked_after(draft)?,
            enabled: field::flag(body, "enabled", true)?,
        })
    }

    /// Returns whether a signature of this author's, made at `signed_at`, is trusted.
    pub fn trusts(&self, signed_at: i64) -> bool {
        self.enabled && self.revoked_after.is_none_or(|revoked| signed_at <= revoked)
    }
}

fn fields() -> String {
    FIELDS.iter().filter(|field| !field.starts_with('_')).copied().collect::<Vec<_>>().join(", ")
}

/// A `did:key` is its own key.
fn key(draft: &Draft, did: &str) -> Result<PublicKey, ShapeError> {
    const FIELD: &str = "public_key";
    let own = public_key_of(did);
    if !draft.body.contains_key(FIELD) {
        return own.ok_or_else(|| ShapeError::missing(FIELD));
    }
    let stated = PublicKey::read(field::text(&draft.body, FIELD)?).ok_or_else(|| {
        let message = "`public_key` must be an Ed25519 key: base64 of 32 bytes, or a `did:key`";
        ShapeError::new(FIELD, Reason::BadValue, message)
    })?;
    if own.is_some_and(|own| own != stated) {
        let message = "`public_key` is not the key that the `did:key` in `name` spells";
        return Err(ShapeError::new(FIELD, Reason::BadValue, message));
    }
    Ok(stated)
}

fn revoked_after(draft: &Draft) -> Result<Option<i64>, ShapeError> {
    const FIELD: &str = "revoked_after";
    match draft.body.get(FIELD) {
        None => Ok(None),
        Some(Value::Number(number)) => {
            number.as_i64().filter(|at| *at >= 0).map(Some).ok_or_else(|| {
                let message = "`revoked_after` must be seconds since 1970, an integer from 0 on";
                ShapeError::new(FIELD, Reason::BadValue, message)
            })
        }
        Some(other) => Err(ShapeError::wrong_type(FIELD, "an integer", other.type_name())),
    }
}
