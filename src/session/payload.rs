//! From the bytes that a harness writes to an object, and the envelope they travel in.

use std::fmt::Write as _;

use super::{Decided, Harness};
use crate::canon::{
    Canonical, Digest, Limits, Object, ParseError, Value, digest_of, parse_leniently,
    parse_members_leniently,
};
use crate::code::{Code, Coded};
use crate::object;
use crate::record::Namespace;

/// The most levels of a payload that are read. What is deeper is `null`.
const MAX_DEPTH: usize = 128;

/// The most characters of the word that tells one process of a hook from another.
const MAX_ATTEMPT_CHARS: usize = 128;

/// What a harness told its hook: one JSON object, repaired where its bytes were not Unicode.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    members: Object,
}

/// Why bytes are not an event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// One sentence, on one line and without control characters.
    pub reason: String,
    too_large: bool,
}

/// An event on its way to the server: the payload, and what the hook's command line says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// The harness, where the command line names it.
    pub harness: Option<Harness>,
    /// The namespace, where the command line names it.
    pub namespace: Option<Namespace>,
    /// What tells one process of a hook from another.
    pub attempt: String,
    /// What policy hooks have decided, where they had something to say.
    pub decided: Option<Decided>,
    /// The payload.
    pub payload: Payload,
}

impl Payload {
    /// The most bytes of a payload.
    pub const MAX_BYTES: usize = 32 * 1024 * 1024;

    /// Reads what a harness wrote.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        match parse_leniently(bytes, limits(Self::MAX_BYTES)) {
            Ok(value) => Self::of_value(value),
            Err(_) if bytes.iter().all(u8::is_ascii_whitespace) => {
                Err(Malformed::because("the payload is empty"))
            }
            Err(error) => Err(Malformed::not_json("payload", &error)),
        }
    }

    /// Takes an object that was read elsewhere.
    pub const fn of(members: Object) -> Self {
        Self { members }
    }

    fn of_value(value: Value) -> Result<Self, Malformed> {
        match value {
            Value::Object(members) => Ok(Self { members }),
            other => {
                let kind = other.type_name();
                Err(Malformed::because(&format!("the payload is not an object but of type {kind}")))
            }
        }
    }

    /// Returns the object.
    pub const fn members(&self) -> &Object {
        &self.members
    }

    /// Returns what tells this payload from others, however it was written.
    pub fn digest(&self) -> Digest {
        digest_of(&self.members)
    }

    /// Returns the member of the first of `names` that there is and that is not `null`.
    pub(super) fn get(&self, names: &[&str]) -> Option<&Value> {
        first_of(&self.members, names)
    }

    /// Returns the first of `names` that is a text.
    pub(super) fn text(&self, names: &[&str]) -> Option<&str> {
        names.iter().find_map(|name| self.members.get(*name)?.as_str())
    }

    /// Returns the first of `names` that is a text with something in it.
    pub(super) fn word(&self, names: &[&str]) -> Option<&str> {
        let word = |name: &&str| self.members.get(*name)?.as_str().filter(|text| !text.is_empty());
        names.iter().find_map(word)
    }
}

/// Returns the member of the first of `names` that there is and that is not `null`.
pub(super) fn first_of<'o>(members: &'o Object, names: &[&str]) -> Option<&'o Value> {
    names.iter().filter_map(|name| members.get(*name)).find(|value| **value != Value::Null)
}

const fn limits(bytes: usize) -> Limits {
    Limits { bytes, depth: MAX_DEPTH }
}

impl Envelope {
    /// The most bytes of an envelope.
    pub const MAX_BYTES: usize = Payload::MAX_BYTES + 4096;

    /// Reads an envelope.
    ///
    /// The payload was put into it as it came, so it may hold a brace that ends it early and
    /// whatever would then follow. That is why each name may stand once, and no other at all.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let members = parse_members_leniently(bytes, limits(Self::MAX_BYTES))
            .map_err(|error| Malformed::not_json("request", &error))?;
        let mut parts = Object::new();
        for (name, value) in members {
            if !["harness", "namespace", "attempt", "decided", "payload"].contains(&name.as_str()) {
                return Err(Malformed::because(&format!("`{}` is no field here", quoted(&name))));
            }
            if parts.contains_key(&name) {
                return Err(Malformed::because(&format!("`{name}` stands twice")));
            }
            // The others always stand in front, so behind it they would stand twice.
            if name == "decided" && parts.contains_key("payload") {
                return Err(Malformed::because("`decided` stands behind the payload"));
            }
            parts.insert(name, value);
        }
        let payload = parts.remove("payload").unwrap_or(Value::Null);
        Ok(Self {
            harness: word(&parts, "harness")?.map(harness).transpose()?,
            namespace: word(&parts, "namespace")?.map(namespace).transpose()?,
            attempt: attempt(word(&parts, "attempt")?)?,
            decided: decided(parts.get("decided"))?,
            payload: Payload::of_value(payload)?,
        })
    }

    /// Writes an envelope around the bytes of a payload, which need not be read for it.
    pub fn write(
        harness: Option<Harness>,
        namespace: Option<&str>,
        attempt: &str,
        decided: Option<&Decided>,
        payload: &[u8],
    ) -> Vec<u8> {
        let mut front = object! {
            "attempt": attempt,
            "harness": harness.map(Harness::name),
            "namespace": namespace,
        };
        // A server that is older than this hook takes no such field, and does not miss it.
        if let Some(decided) = decided {
            front.insert("decided".into(), decided.to_object().into());
        }
        let mut bytes = Canonical::of_object(&front).into_string().into_bytes();
        bytes.pop();
        bytes.extend_from_slice(b",\"payload\":");
        bytes.extend_from_slice(payload.strip_prefix(b"\xef\xbb\xbf").unwrap_or(payload));
        bytes.push(b'}');
        bytes
    }
}

fn word<'o>(parts: &'o Object, name: &str) -> Result<Option<&'o str>, Malformed> {
    match parts.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(Malformed::because(&format!("`{name}` is not a string"))),
    }
}

fn harness(name: &str) -> Result<Harness, Malformed> {
    Harness::parse(name).ok_or_else(|| {
        let known = Harness::ALL.map(Harness::name).join(", ");
        Malformed::because(&format!("`{}` is none of the harnesses {known}", quoted(name)))
    })
}

fn namespace(path: &str) -> Result<Namespace, Malformed> {
    Namespace::parse(path).map_err(|error| Malformed::because(&format!("`namespace` {error}")))
}

fn decided(value: Option<&Value>) -> Result<Option<Decided>, Malformed> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(value) => Decided::read(value)
            .map(Some)
            .ok_or_else(|| Malformed::because("`decided` is not what policy hooks decide")),
    }
}

fn attempt(word: Option<&str>) -> Result<String, Malformed> {
    match word {
        Some(word) if (1..=MAX_ATTEMPT_CHARS).contains(&word.chars().count()) => Ok(word.into()),
        _ => {
            let most = MAX_ATTEMPT_CHARS;
            Err(Malformed::because(&format!("`attempt` must be a word of 1 to {most} characters")))
        }
    }
}

impl Malformed {
    /// Says why, on one line.
    pub(super) fn because(reason: &str) -> Self {
        Self { reason: quoted(reason), too_large: false }
    }

    fn not_json(what: &str, error: &ParseError) -> Self {
        let too_large = matches!(error, ParseError::TooLarge { .. });
        Self { reason: quoted(&format!("the {what} is {error}")), too_large }
    }
}

/// Returns the first characters of what a stranger wrote, fit for one line of a terminal.
fn quoted(text: &str) -> String {
    const MOST: usize = 300;
    let mut shown = String::new();
    for char in text.chars().take(MOST) {
        if char.is_control() {
            // A `String` takes everything.
            let _ = write!(shown, "{}", char.escape_unicode());
        } else {
            shown.push(char);
        }
    }
    shown
}

impl Coded for Malformed {
    fn code(&self) -> Code {
        if self.too_large { Code::BodyTooLarge } else { Code::InvalidRequest }
    }

    fn hint(&self) -> Option<String> {
        Some("Send one JSON object with the id of the session and the name of the event.".into())
    }
}
