//! One blueprint, as its file has it (`schema/blueprint.json`).

use super::place::Place;
use super::set::inside;
use super::signature::{BlueprintSignature, SIGNATURE};
use super::{BlueprintError, Seed};
use crate::canon::{Canonical, Digest, Limits, Object, Value, hex, parse, unhex};
use crate::identity::KeyPair;
use crate::record::{ActorId, Reason, ShapeError, field};
use crate::time::Timestamp;

/// The number of the one form of a blueprint that there is.
pub const FORMAT: i64 = 1;

/// The most seeds of a blueprint.
pub const MAX_SEEDS: usize = 1000;

/// What a blueprint may say.
pub const FIELDS: [&str; 9] =
    ["author", "description", "extends", "format", "name", "object", "seeds", SIGNATURE, "version"];

/// What blueprints of other engines say, and this one has no use for.
const USELESS: [&str; 9] = [
    "actor",
    "actors",
    "adapters",
    "agents",
    "definition",
    "definitions",
    "models",
    "tools",
    "triggers",
];

const MAX_NAME_CHARS: usize = 128;
const MAX_DESCRIPTION_CHARS: usize = 4096;
const MAX_EXTENDS: usize = super::MAX_EXTENDED;

/// One blueprint, whole and of the right shape. What its seeds say is not checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Blueprint {
    /// What it is called.
    pub name: String,
    /// Which version of it this is, in its author's own numbers.
    pub version: String,
    /// Who wrote it.
    pub author: ActorId,
    /// What it is for.
    pub description: Option<String>,
    /// The blueprints that it builds on, by the hash of their content.
    pub extends: Vec<Digest>,
    /// Its records.
    pub seeds: Vec<Seed>,
    /// The signature, checked or not.
    pub signature: Option<BlueprintSignature>,
    /// All of it but the signature.
    content: Object,
    hash: Digest,
}

impl Blueprint {
    /// Reads the bytes of a file.
    pub fn parse(bytes: &[u8]) -> Result<Self, BlueprintError> {
        let value = parse(bytes, Limits::DOOR).map_err(|error| {
            let message = format!("the blueprint does not read: {error}");
            ShapeError::new("blueprint", Reason::BadValue, message)
        })?;
        Self::read(value)
    }

    /// Reads a blueprint that stands for itself.
    pub fn read(value: Value) -> Result<Self, BlueprintError> {
        Self::read_at(value, None)
    }

    /// Reads a blueprint, or the one that was given at `extended` of those that it extends.
    pub(super) fn read_at(value: Value, extended: Option<usize>) -> Result<Self, BlueprintError> {
        read(value, extended).map_err(|error| match extended {
            // Seeds say already where they stand.
            Some(at) if !error.field.starts_with(&format!("extends[{at}].seeds[")) => {
                inside(at, error).into()
            }
            _ => error.into(),
        })
    }

    /// Returns what names the blueprint: the SHA-256 of its canonical bytes without the signature.
    pub const fn hash(&self) -> Digest {
        self.hash
    }

    /// Returns the whole file.
    pub fn to_object(&self) -> Object {
        let mut object = self.content.clone();
        if let Some(signature) = &self.signature {
            object.insert(SIGNATURE.into(), signature.to_object().into());
        }
        object
    }

    /// Returns this blueprint signed with `key`, in the place of any other signature.
    #[must_use]
    pub fn sign(mut self, key: &KeyPair, now: Timestamp) -> Self {
        self.signature = Some(BlueprintSignature::make(&self.content, key, now));
        self
    }

    /// Refuses a signature that is not one over this blueprint, whoever made it.
    pub(super) fn check_signature(&self) -> Result<(), ShapeError> {
        self.signature.as_ref().map_or(Ok(()), |signature| signature.check(&self.content))
    }
}

fn read(value: Value, extended: Option<usize>) -> Result<Blueprint, ShapeError> {
    let Value::Object(mut content) = value else {
        return Err(ShapeError::wrong_type("blueprint", "an object", value.type_name()));
    };
    refuse_unknown(&content)?;
    word(&content, "object", "blueprint")?;
    match content.get("format") {
        Some(Value::Number(format)) if format.as_i64() == Some(FORMAT) => {}
        None => return Err(ShapeError::missing("format")),
        Some(_) => {
            let message =
                format!("`format` must be {FORMAT}, the only form of a blueprint there is");
            return Err(ShapeError::new("format", Reason::BadValue, message));
        }
    }
    let signature = match content.remove(SIGNATURE) {
        None => None,
        Some(signature) => Some(BlueprintSignature::read(&signature)?),
    };
    // A number of four bytes may be three hundred digits.
    let canonical = Canonical::of_object_within(&content, Limits::DOOR.bytes).map_err(|error| {
        ShapeError::new("blueprint", Reason::BadValue, format!("the blueprint is {error}"))
    })?;
    Ok(Blueprint {
        name: field::name(&content, "name", MAX_NAME_CHARS)?.to_owned(),
        version: field::name(&content, "version", MAX_NAME_CHARS)?.to_owned(),
        author: author(&content)?,
        description: description(&content)?,
        extends: extends(&content)?,
        seeds: seeds(&content, extended)?,
        signature,
        hash: canonical.sha256(),
        content,
    })
}

fn refuse_unknown(fields: &Object) -> Result<(), ShapeError> {
    let Some(unknown) = fields.keys().find(|key| !FIELDS.contains(&key.as_str())) else {
        return Ok(());
    };
    let cut: String = unknown.chars().take(64).collect();
    let message = if USELESS.contains(&unknown.as_str()) {
        format!("this engine has no use for `{unknown}`, and installs no blueprint without them")
    } else if matches!(unknown.as_str(), "hooks" | "rules" | "permissions") {
        format!("`{unknown}` stand among the `seeds`: records on `th_engine_config`")
    } else {
        format!("`{cut}` is not a field of a blueprint; the fields are {}", FIELDS.join(", "))
    };
    Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message))
}

fn word(fields: &Object, name: &str, wanted: &str) -> Result<(), ShapeError> {
    if field::text(fields, name)? == wanted {
        return Ok(());
    }
    let message = format!("the `{name}` of a blueprint is `{wanted}`");
    Err(ShapeError::new(name, Reason::BadValue, message))
}

fn author(fields: &Object) -> Result<ActorId, ShapeError> {
    let author = field::text(fields, "author")?;
    ActorId::parse(author)
        .map_err(|error| ShapeError::new("author", Reason::BadValue, format!("`author` {error}")))
}

fn description(fields: &Object) -> Result<Option<String>, ShapeError> {
    const FIELD: &str = "description";
    if !fields.contains_key(FIELD) {
        return Ok(None);
    }
    let text = field::text(fields, FIELD)?;
    if text.chars().count() > MAX_DESCRIPTION_CHARS {
        let message = format!("`{FIELD}` must be at most {MAX_DESCRIPTION_CHARS} characters");
        return Err(ShapeError::new(FIELD, Reason::BadValue, message));
    }
    Ok(Some(text.to_owned()))
}

fn list<'a>(fields: &'a Object, name: &str, most: usize) -> Result<&'a [Value], ShapeError> {
    match fields.get(name) {
        None => Ok(&[]),
        Some(Value::Array(elements)) if elements.len() <= most => Ok(elements),
        Some(Value::Array(elements)) => {
            let message = format!("`{name}` has {} elements, and may have {most}", elements.len());
            Err(ShapeError::new(name, Reason::BadValue, message))
        }
        Some(other) => Err(ShapeError::wrong_type(name, "a list", other.type_name())),
    }
}

fn extends(fields: &Object) -> Result<Vec<Digest>, ShapeError> {
    let mut hashes: Vec<Digest> = Vec::new();
    for (at, value) in list(fields, "extends", MAX_EXTENDS)?.iter().enumerate() {
        let refused = |message: String| {
            Err(ShapeError::new(format!("extends[{at}]"), Reason::BadValue, message))
        };
        let Some(hash) = value.as_str().and_then(unhex) else {
            return refused(format!(
                "`extends[{at}]` must be the hash of a blueprint: 64 lower-case hex characters"
            ));
        };
        if hashes.contains(&hash) {
            return refused(format!("`{}` is extended twice", hex(&hash)));
        }
        hashes.push(hash);
    }
    Ok(hashes)
}

fn seeds(fields: &Object, extended: Option<usize>) -> Result<Vec<Seed>, ShapeError> {
    if !fields.contains_key("seeds") {
        return Err(ShapeError::missing("seeds"));
    }
    let seeds = list(fields, "seeds", MAX_SEEDS)?.iter().enumerate();
    seeds.map(|(seed, value)| Seed::read(value, &Place { extended, seed })).collect()
}
