//! A seed: a record of a blueprint, which has no clock yet.

use super::place::Place;
use crate::canon::{Canonical, Digest, Object, Value};
use crate::hook::is_hook;
use crate::object;
use crate::permission::is_permission_rule;
use crate::record::{Act, ActorId, DataType, Draft, Reason, ShapeError, ThreadId};

/// The fields that a seed may have.
pub const SEED_FIELDS: [&str; 5] = ["act", "actor", "body", "data_type", "thread"];

/// A record that a blueprint brings. Its clock is found when it is stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed {
    /// What kind of statement.
    pub act: Act,
    /// Who states it; whoever installs it, if it names nobody.
    pub actor: Option<ActorId>,
    /// What is stated.
    pub body: Object,
    /// How the body is to be read.
    pub data_type: DataType,
    /// Where it will stand.
    pub thread: ThreadId,
    sort: Sort,
}

/// What a seed is, in the order in which they are stored: hooks speak last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sort {
    /// Neither of the others.
    Content,
    /// A permission rule.
    Rule,
    /// A hook.
    Hook,
}

impl Sort {
    /// Returns the word for people and programs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Rule => "rule",
            Self::Hook => "hook",
        }
    }
}

impl Seed {
    /// Reads a seed that stands at `place`.
    pub(super) fn read(seed: &Value, place: &Place) -> Result<Self, ShapeError> {
        let Value::Object(fields) = seed else {
            return Err(ShapeError::wrong_type(place.to_string(), "an object", seed.type_name()));
        };
        if let Some(unknown) = fields.keys().find(|key| !SEED_FIELDS.contains(&key.as_str())) {
            return Err(unknown_field(unknown, place));
        }
        let actor = fields.get("actor").is_some();
        let mut envelope = fields.clone();
        if !actor {
            envelope.insert("actor".into(), (&ActorId::engine()).into());
        }
        let draft = Draft::from_envelope(envelope.into()).map_err(|error| place.inside(error))?;
        let sort = match () {
            () if is_hook(&draft) => Sort::Hook,
            () if is_permission_rule(&draft) => Sort::Rule,
            () => Sort::Content,
        };
        Ok(Self {
            sort,
            act: draft.act,
            actor: actor.then_some(draft.actor),
            body: draft.body,
            data_type: draft.data_type,
            thread: draft.thread,
        })
    }

    /// Returns the record that this becomes if `by` installs it, at clock 0.
    pub fn draft(&self, by: &ActorId) -> Draft {
        let actor = self.actor.clone().unwrap_or_else(|| by.clone());
        let draft = Draft::new(self.thread.clone(), actor, self.act, self.body.clone());
        Draft { data_type: self.data_type, ..draft }
    }

    /// Returns what it is.
    pub const fn sort(&self) -> Sort {
        self.sort
    }

    /// Returns whether only the operator may have it stored, whatever is in it.
    pub(super) fn configures(&self) -> bool {
        self.thread.is_config() || self.sort == Sort::Hook
    }

    /// Returns a text of the body.
    pub fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field).and_then(Value::as_str)
    }

    /// Returns what tells a hook or a rule from others of its sort, as it is written.
    pub(super) fn key(&self) -> Option<(Sort, String, String)> {
        let sort = self.sort;
        let name = self.text("name").unwrap_or_default();
        let namespace = self.text("namespace").unwrap_or("default");
        (sort != Sort::Content).then(|| (sort, namespace.to_owned(), name.to_owned()))
    }

    /// Returns the seed as a blueprint has it.
    pub fn to_object(&self) -> Object {
        let mut object = object! {
            "act": self.act.as_str(),
            "body": self.body.clone(),
            "data_type": self.data_type.as_str(),
            "thread": &self.thread,
        };
        if let Some(actor) = &self.actor {
            object.insert("actor".into(), actor.into());
        }
        object
    }

    /// Returns what tells the seed from every other: a SHA-256 over what it says.
    pub(super) fn digest(&self) -> Digest {
        Canonical::of_object(&self.to_object()).sha256()
    }

    /// Returns what tells the record that it becomes from every other but its clock, if `actor` is the
    /// one who states it.
    pub(super) fn digest_by(&self, actor: &ActorId) -> Digest {
        let mut stated = self.to_object();
        stated.insert("actor".into(), actor.into());
        Canonical::of_object(&stated).sha256()
    }

    /// Returns the seed in words: its sort and its name, or where it would stand.
    pub(super) fn in_words(&self) -> String {
        let cut = |text: &str| text.chars().take(64).collect::<String>();
        match (self.sort, self.text("name")) {
            (Sort::Content, _) => format!("content on `{}`", cut(self.thread.as_str())),
            (sort, Some(name)) => format!("{} `{}`", sort.as_str(), cut(name)),
            (sort, None) => format!("{} without a name", sort.as_str()),
        }
    }
}

fn unknown_field(unknown: &str, place: &Place) -> ShapeError {
    let cut: String = unknown.chars().take(64).collect();
    let message = match unknown {
        "clock" => "a seed has no `clock`: it is found when the seed is stored".to_owned(),
        "parents" | "judged_by" => format!(
            "a seed has no `{unknown}`: it cannot know the ids of records that are not written yet"
        ),
        _ => format!("`{cut}` is not a field of a seed; the fields are {}", SEED_FIELDS.join(", ")),
    };
    ShapeError::new(place.field(&cut), Reason::UnknownField, message)
}
