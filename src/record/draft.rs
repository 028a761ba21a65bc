//! A record before it has an id.

use super::{
    Act, ActorId, Clock, DataType, ERASURE_KIND, Namespace, Reason, RecordId, ShapeError, ThreadId,
};
use crate::canon::{Limits, Object, Value, parse};

/// The fields that an envelope may have: the seven hashed ones, `judged_by` and `sig`.
pub const ENVELOPE_FIELDS: [&str; 9] =
    ["act", "actor", "body", "clock", "data_type", "judged_by", "parents", "sig", "thread"];

/// The most bytes of a signature as it is spelled.
const MAX_SIG_BYTES: usize = 256;

/// An envelope as it was sent: what is stated, and the signature that came with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// What is stated.
    pub draft: Draft,
    /// The signature over the seven hashed fields, as it was spelled; `None` if there was none.
    pub sig: Option<String>,
}

impl Envelope {
    /// Reads an envelope that may be signed (contract §1.7).
    pub fn read(mut envelope: Value) -> Result<Self, ShapeError> {
        let sig = match &mut envelope {
            Value::Object(fields) => take_sig(fields)?,
            _ => None,
        };
        Ok(Self { draft: Draft::from_envelope(envelope)?, sig })
    }
}

fn take_sig(fields: &mut Object) -> Result<Option<String>, ShapeError> {
    match fields.remove("sig") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(sig)) if sig.len() <= MAX_SIG_BYTES => Ok(Some(sig)),
        Some(Value::String(_)) => {
            let message = "`sig` is longer than any signature";
            Err(ShapeError::new("sig", Reason::BadValue, message))
        }
        Some(other) => Err(ShapeError::wrong_type("sig", "a string", other.type_name())),
    }
}

/// What a record will say, before it is sealed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What kind of statement.
    pub act: Act,
    /// Who states it.
    pub actor: ActorId,
    /// What is stated.
    pub body: Object,
    /// Its number among those of its thread and actor.
    pub clock: Clock,
    /// How the body is to be read.
    pub data_type: DataType,
    /// The record that judged this one; not part of the id.
    pub judged_by: Option<String>,
    /// The records this one builds on. Sorted when it is sealed.
    pub parents: Vec<RecordId>,
    /// Where it stands.
    pub thread: ThreadId,
}

impl Draft {
    /// Returns a draft of a statement without parents, at clock 0.
    pub fn new(thread: ThreadId, actor: ActorId, act: Act, body: Object) -> Self {
        Self {
            act,
            actor,
            body,
            clock: Clock::default(),
            data_type: DataType::Scalar,
            judged_by: None,
            parents: Vec::new(),
            thread,
        }
    }

    /// Sets the parents.
    #[must_use]
    pub fn with_parents(mut self, parents: Vec<RecordId>) -> Self {
        self.parents = parents;
        self
    }

    /// Sets the clock.
    #[must_use]
    pub const fn with_clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Reads an envelope without a signature; [`Envelope::read`] takes one with it. What may be
    /// omitted has the defaults of contract §1.4.
    pub fn from_envelope(envelope: Value) -> Result<Self, ShapeError> {
        let Value::Object(mut fields) = envelope else {
            return Err(ShapeError::wrong_type("record", "an object", envelope.type_name()));
        };
        refuse_unknown(&fields)?;
        Ok(Self {
            act: word(&fields, "act", None, Act::parse, Act::ALL)?,
            actor: name(&fields, "actor", ActorId::parse)?,
            clock: clock(&fields)?,
            data_type: word(
                &fields,
                "data_type",
                Some(DataType::Scalar),
                DataType::parse,
                DataType::ALL,
            )?,
            judged_by: judged_by(&fields)?,
            parents: parents(&fields)?,
            thread: name(&fields, "thread", ThreadId::parse)?,
            body: match fields.remove("body") {
                None => Object::new(),
                Some(Value::Object(body)) => body,
                Some(other) => {
                    return Err(ShapeError::wrong_type("body", "an object", other.type_name()));
                }
            },
        })
    }

    /// Reads back the canonical text of a record.
    pub(crate) fn reread(text: &str) -> Result<Self, ShapeError> {
        let envelope = parse(text.as_bytes(), Limits::STORED).map_err(|error| {
            ShapeError::new("record", Reason::BadValue, format!("the stored bytes are {error}"))
        })?;
        Self::from_envelope(envelope)
    }

    /// Returns whether the envelope, its body included, nests at most `levels` deep.
    pub fn nests_within(&self, levels: usize) -> bool {
        // The envelope and the body are two of them.
        let inside = levels.checked_sub(2);
        inside.is_some_and(|inside| self.body.values().all(|value| value.nests_within(inside)))
    }

    /// Returns the schema name in the body.
    pub fn kind(&self) -> Option<&str> {
        self.body.get("kind")?.as_str()
    }

    /// Returns the discriminator of configuration in the body.
    pub fn topic(&self) -> Option<&str> {
        self.body.get("topic")?.as_str()
    }

    /// Returns whether this says of other records that they are erased (contract §1.12).
    pub fn is_erasure(&self) -> bool {
        self.act == Act::Put && self.kind() == Some(ERASURE_KIND)
    }

    /// Returns the records that `key` of the body names: one id or a list of ids (contract §1.12).
    /// What is not an id names nothing.
    pub fn names(&self, key: &str) -> impl Iterator<Item = RecordId> + '_ {
        let listed = match self.body.get(key) {
            Some(Value::Array(elements)) => elements.as_slice(),
            Some(value) => std::slice::from_ref(value),
            None => &[],
        };
        listed.iter().filter_map(|value| RecordId::parse(value.as_str()?))
    }

    /// Returns the namespace in the body, or the root if there is none (contract §1.11).
    pub fn namespace(&self) -> Result<Namespace, ShapeError> {
        const FIELD: &str = "body.namespace";
        match self.body.get("namespace") {
            None => Ok(Namespace::root()),
            Some(Value::String(text)) => Namespace::parse(text).map_err(|error| {
                ShapeError::new(FIELD, Reason::BadValue, format!("`{FIELD}` {error}"))
            }),
            Some(other) => Err(ShapeError::wrong_type(FIELD, "a string", other.type_name())),
        }
    }
}

fn refuse_unknown(fields: &Object) -> Result<(), ShapeError> {
    let is_known = |key: &str| key != "sig" && ENVELOPE_FIELDS.contains(&key);
    let Some(unknown) = fields.keys().find(|key| !is_known(key)) else {
        return Ok(());
    };
    let message = if unknown == "sig" {
        "`sig` is not taken here, where nobody would check it".to_owned()
    } else {
        format!(
            "`{}` is not a field of a record; the fields are {}",
            unknown.chars().take(64).collect::<String>(),
            ENVELOPE_FIELDS.join(", ")
        )
    };
    Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message))
}

fn text<'a>(fields: &'a Object, field: &str) -> Result<Option<&'a str>, ShapeError> {
    match fields.get(field) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(ShapeError::wrong_type(field, "a string", other.type_name())),
    }
}

fn word<T: Copy + std::fmt::Display>(
    fields: &Object,
    field: &str,
    default: Option<T>,
    parse: impl Fn(&str) -> Option<T>,
    all: &[T],
) -> Result<T, ShapeError> {
    let Some(word) = text(fields, field)? else {
        return default.ok_or_else(|| ShapeError::missing(field));
    };
    parse(word).ok_or_else(|| {
        let all: Vec<String> = all.iter().map(ToString::to_string).collect();
        let message = format!("`{field}` must be one of {}", all.join(", "));
        ShapeError::new(field, Reason::BadValue, message)
    })
}

fn name<T>(
    fields: &Object,
    field: &str,
    parse: impl Fn(&str) -> Result<T, super::NameError>,
) -> Result<T, ShapeError> {
    let name = text(fields, field)?.ok_or_else(|| ShapeError::missing(field))?;
    parse(name)
        .map_err(|error| ShapeError::new(field, Reason::BadValue, format!("`{field}` {error}")))
}

fn clock(fields: &Object) -> Result<Clock, ShapeError> {
    let Some(value) = fields.get("clock") else { return Ok(Clock::default()) };
    let Value::Number(number) = value else {
        return Err(ShapeError::wrong_type("clock", "an integer", value.type_name()));
    };
    number.as_i64().and_then(Clock::new).ok_or_else(|| {
        let message = "`clock` must be an integer from 0 to 9223372036854775807";
        ShapeError::new("clock", Reason::BadValue, message)
    })
}

fn judged_by(fields: &Object) -> Result<Option<String>, ShapeError> {
    if fields.get("judged_by") == Some(&Value::Null) {
        return Ok(None);
    }
    let judged_by = text(fields, "judged_by")?;
    if judged_by.is_some_and(|text| text.is_empty() || text.chars().any(char::is_control)) {
        let message = "`judged_by` must be the id of the judging record, or null";
        return Err(ShapeError::new("judged_by", Reason::BadValue, message));
    }
    Ok(judged_by.map(str::to_owned))
}

fn parents(fields: &Object) -> Result<Vec<RecordId>, ShapeError> {
    let Some(value) = fields.get("parents") else { return Ok(Vec::new()) };
    let Value::Array(parents) = value else {
        return Err(ShapeError::wrong_type("parents", "a list of record ids", value.type_name()));
    };
    let read = |(position, parent): (usize, &Value)| {
        parent.as_str().and_then(RecordId::parse).ok_or_else(|| {
            let field = format!("parents[{position}]");
            let message = format!("`{field}` must be a record id: 64 lower-case hex characters");
            ShapeError::new(field, Reason::BadValue, message)
        })
    };
    parents.iter().enumerate().map(read).collect()
}
