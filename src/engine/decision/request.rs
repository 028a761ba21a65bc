//! The question of a run.

use super::{DECISION_REQUEST_KIND, Lesson};
use crate::canon::{Object, Value};
use crate::engine::{Engine, EngineError, RunSeat};
use crate::object;
use crate::record::{Act, ActorId, Draft, Origin, RecordId};
use crate::secret::mask;
use crate::store::Stored;

/// The most characters of a question, and of what one has to know to answer it.
const MAX_CHARS: usize = 16 * 1024;

/// The most choices.
const MAX_OPTIONS: usize = 32;

/// The most characters of a choice.
const MAX_OPTION_CHARS: usize = 1024;

/// What a run asks of the operator. All of it is masked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionRequest {
    /// What is to be decided.
    pub question: String,
    /// The choices, if there are few.
    pub options: Vec<String>,
    /// What one has to know to decide it; may be empty.
    pub context: String,
    /// A lesson that is proposed for all later runs.
    pub lesson: Option<Lesson>,
}

impl DecisionRequest {
    /// Reads the arguments of the tool `request_decision`, or says in words for the actor what is
    /// wrong with them. A lesson is checked as the hook that it would be.
    pub fn read(args: &Object) -> Result<Self, String> {
        const FIELDS: [&str; 4] = ["question", "options", "context", "lesson"];
        if let Some(unknown) = args.keys().find(|key| !FIELDS.contains(&key.as_str())) {
            let unknown: String = unknown.chars().take(64).collect();
            return Err(format!(
                "`{unknown}` is not an argument; the arguments are {}",
                FIELDS.join(", ")
            ));
        }
        let question = text(args, "question", MAX_CHARS)?.unwrap_or_default();
        if question.trim().is_empty() {
            return Err("`question` must say what is to be decided".into());
        }
        Ok(Self {
            question,
            options: options(args)?,
            context: text(args, "context", MAX_CHARS)?.unwrap_or_default(),
            lesson: match args.get("lesson") {
                None | Some(Value::Null) => None,
                Some(Value::Object(lesson)) => Some(Lesson::read(lesson).map_err(|error| {
                    let hint = error.hint.as_ref().map(|hint| format!(" {hint}"));
                    format!("`lesson` is not one: {error}.{}", hint.unwrap_or_default())
                })?),
                Some(other) => {
                    return Err(format!("`lesson` must be an object, not {}", other.type_name()));
                }
            },
        })
    }

    /// Reads a question back from its record; `None` if the engine did not write it as one.
    pub(super) fn of(stored: &Stored) -> Option<Self> {
        if stored.origin != Origin::Engine || stored.record.kind() != Some(DECISION_REQUEST_KIND) {
            return None;
        }
        let body = &stored.record.body;
        let part = |field: &str| body.get(field).cloned().map(|value| (field.to_owned(), value));
        let args = ["question", "options", "context", "lesson"].into_iter().filter_map(part);
        Self::read(&args.collect()).ok()
    }

    fn to_body(&self, seat: &RunSeat) -> Object {
        let mut body = object! {
            "awaits": "actor_decision",
            "context": self.context.as_str(),
            "decider_role": "operator",
            "kind": DECISION_REQUEST_KIND,
            "namespace": &seat.namespace,
            "options": self.options.clone(),
            "question": self.question.as_str(),
            "requester": &seat.actor,
        };
        if let Some(lesson) = &self.lesson {
            let namespace = lesson.namespace.clone().unwrap_or_else(|| seat.namespace.clone());
            let lesson = Lesson { namespace: Some(namespace), ..lesson.clone() };
            body.insert("lesson".into(), lesson.to_object().into());
        }
        body
    }
}

impl Engine {
    /// Puts a question on the thread of a run, for its call `call`, and returns the record. It stays
    /// open until [`Engine::decide`] answers it.
    pub fn request_decision(
        &self,
        seat: &RunSeat,
        call: RecordId,
        request: &DecisionRequest,
    ) -> Result<RecordId, EngineError> {
        let body = request.to_body(seat);
        let draft = Draft::new(seat.thread.clone(), ActorId::engine(), Act::Intend, body)
            .with_parents(vec![call]);
        self.author(move |author| Ok(author.write(draft)?.id()))
    }

    /// Returns the question that a record asks, if it is one of the engine's.
    pub fn decision_request(
        &self,
        request: RecordId,
    ) -> Result<Option<DecisionRequest>, EngineError> {
        let stored = self.whole().read(|reader| reader.record(request))?;
        Ok(stored.as_ref().and_then(DecisionRequest::of))
    }
}

fn text(args: &Object, field: &str, most: usize) -> Result<Option<String>, String> {
    match args.get(field) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() > most => {
            Err(format!("`{field}` must be at most {most} characters"))
        }
        Some(Value::String(text)) => Ok(Some(mask(text).into_owned())),
        Some(other) => Err(format!("`{field}` must be a string, not {}", other.type_name())),
    }
}

fn options(args: &Object) -> Result<Vec<String>, String> {
    let refused =
        || format!("`options` must be a list of at most {MAX_OPTIONS} strings that say something");
    let options = match args.get("options") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(options)) if options.len() <= MAX_OPTIONS => options,
        Some(_) => return Err(refused()),
    };
    let option = |value: &Value| {
        let text = value.as_str().filter(|text| !text.trim().is_empty()).ok_or_else(refused)?;
        if text.chars().count() > MAX_OPTION_CHARS {
            return Err(format!("an option must be at most {MAX_OPTION_CHARS} characters"));
        }
        Ok(mask(text).into_owned())
    };
    options.iter().map(option).collect()
}
