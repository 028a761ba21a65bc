//! A lesson that a run proposes.

use super::DECISION_REQUEST_KIND;
use crate::canon::{Object, Value};
use crate::hook::{HOOK_KIND, HOOK_TOPIC, Hook};
use crate::object;
use crate::record::{Act, ActorId, Draft, Namespace, Reason, RecordId, ShapeError, ThreadId};
use crate::secret::mask;

/// What a proposal may say. All of it is a field of a hook.
const FIELDS: [&str; 5] = ["name", "when", "text", "max_fires_per_run", "namespace"];

/// A lesson that a run proposes: the fields of a hook that it would be, checked as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lesson {
    /// The name of the hook.
    pub name: String,
    /// Its predicate.
    pub when: String,
    /// Its words.
    pub text: String,
    /// How often it speaks in one run; as a hook that says nothing of it, if absent.
    pub max_fires_per_run: Option<u32>,
    /// Where it speaks; in the namespace of the run that proposes it, if absent.
    pub namespace: Option<Namespace>,
}

impl Lesson {
    /// Reads and checks a proposal. What is refused is said in the words that a writer of the hook
    /// would be told (contract §5.2).
    pub(super) fn read(proposed: &Object) -> Result<Self, ShapeError> {
        let mut body = proposed.clone();
        for field in ["name", "when", "text"] {
            if let Some(Value::String(text)) = body.get_mut(field) {
                // What is proposed is recorded before anybody has read it (decision 15).
                *text = mask(text).into_owned();
            }
        }
        let draft = draft_of(body, &ActorId::engine());
        let hook = Hook::check(&draft)?;
        // Kind and topic are not the actor's to say, and a lesson that is not enabled is none.
        if let Some(unknown) = proposed.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let message = format!(
                "`{unknown}` is not the actor's to say; a lesson has {}",
                FIELDS.join(", ")
            );
            return Err(ShapeError::new(unknown.clone(), Reason::UnknownField, message));
        }
        let text = |field: &str| {
            draft.body.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
        };
        Ok(Self {
            name: text("name"),
            when: text("when"),
            text: text("text"),
            max_fires_per_run: proposed
                .contains_key("max_fires_per_run")
                .then(|| hook.max_fires_per_run()),
            namespace: proposed.contains_key("namespace").then(|| hook.key().namespace.clone()),
        })
    }

    /// Returns the lesson as a question has it.
    pub fn to_object(&self) -> Object {
        let mut object = object! {
            "name": self.name.as_str(),
            "text": self.text.as_str(),
            "when": self.when.as_str(),
        };
        if let Some(most) = self.max_fires_per_run {
            object.insert("max_fires_per_run".into(), most.into());
        }
        if let Some(namespace) = &self.namespace {
            object.insert("namespace".into(), namespace.into());
        }
        object
    }

    /// Returns the hook that this is, stated by `by`, with the proposal `request` named.
    pub(super) fn hook(&self, by: &ActorId, request: RecordId) -> Draft {
        let mut body = self.to_object();
        let proposal = object! { "id": request, "kind": DECISION_REQUEST_KIND };
        body.insert("_refs".into(), vec![proposal].into());
        draft_of(body, by)
    }
}

fn draft_of(mut body: Object, actor: &ActorId) -> Draft {
    body.insert("kind".into(), HOOK_KIND.into());
    body.insert("topic".into(), HOOK_TOPIC.into());
    Draft::new(ThreadId::config(), actor.clone(), Act::Learn, body)
}
