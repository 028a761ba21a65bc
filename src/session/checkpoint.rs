//! Checkpoints: what somebody notes down about a session, for whoever takes the work up.
//!
//! A checkpoint is a record of whoever states it, and goes through the records door like any other. A
//! draft is derived from the threads of the instance: what was closed, what is open, what waits, what
//! moved, and what was learned since the last one.

use super::rooms::{self, Overview};
use crate::canon::{Object, Value};
use crate::code::{Code, Coded};
use crate::engine::{Caller, Engine, EngineError, IngestError, Ingested};
use crate::object;
use crate::record::{Act, ActorId, Draft, Reason, ShapeError, ThreadId};
use crate::secret::mask_value;
use crate::store::{AppendError, StoreError};

/// The kind of the record of a checkpoint.
pub const CHECKPOINT_KIND: &str = "agent.session.checkpoint";

/// The thread of what wants attention, where drafts land.
pub const ATTENTION_THREAD: &str = "th_attention";

/// The most characters of a summary and of next steps.
const MAX_TEXT_CHARS: usize = 16_384;

/// The most characters of one learning, and how many there may be.
const MAX_LEARNING_CHARS: usize = 4_096;
const MAX_LEARNINGS: usize = 100;

/// How often a clock is looked for that nobody else has taken.
const TRIES: usize = 100;

/// What somebody notes down.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    /// What this is about, in a few sentences.
    pub summary: String,
    /// What was learned; one at least.
    pub learnings: Vec<String>,
    /// What is to be done next.
    pub next_steps: String,
    /// The session, as its harness calls it.
    pub session_id: Option<String>,
    /// Why it is written now: `explicit_end`, `context_window_limit`, `timeout`, …
    pub reason: Option<String>,
    /// What a draft was derived from.
    pub derived: Option<Object>,
}

/// Why a checkpoint was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// It violates its shape.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The door refused it.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for CheckpointError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for CheckpointError {
    fn code(&self) -> Code {
        match self {
            Self::Shape(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Shape(error) => error.field(),
            Self::Ingest(error) => error.field(),
            Self::Engine(_) => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Shape(error) => Some(error.reason.as_str()),
            Self::Ingest(error) => error.reason(),
            Self::Engine(_) => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Shape(error) => error.hint.clone(),
            Self::Ingest(error) => error.hint(),
            Self::Engine(error) => error.hint(),
        }
    }
}

impl Checkpoint {
    /// Checks what a checkpoint must say.
    pub fn check(&self) -> Result<(), ShapeError> {
        let refused =
            |field: &str, message: String| Err(ShapeError::new(field, Reason::BadValue, message));
        if self.summary.trim().is_empty() {
            return refused("summary", "`summary` must say something".into());
        }
        if self.learnings.is_empty() {
            let message = "`learnings` must hold at least one thing that was learned".into();
            return refused("learnings", message);
        }
        if self.learnings.len() > MAX_LEARNINGS {
            return refused("learnings", format!("`learnings` holds at most {MAX_LEARNINGS}"));
        }
        for (at, learning) in self.learnings.iter().enumerate() {
            let chars = learning.chars().count();
            if learning.trim().is_empty() || chars > MAX_LEARNING_CHARS {
                let field = format!("learnings[{at}]");
                let most = MAX_LEARNING_CHARS;
                let message = format!("`{field}` must say something, in at most {most} characters");
                return refused(&field, message);
            }
        }
        for (field, text) in [("summary", &self.summary), ("next_steps", &self.next_steps)] {
            if text.chars().count() > MAX_TEXT_CHARS {
                return refused(
                    field,
                    format!("`{field}` has at most {MAX_TEXT_CHARS} characters"),
                );
            }
        }
        Ok(())
    }

    /// Writes the checkpoint on a thread, with secrets masked, as `actor` by way of `caller`.
    pub fn write(
        &self,
        engine: &Engine,
        caller: &Caller,
        actor: &ActorId,
        thread: &ThreadId,
    ) -> Result<Ingested, CheckpointError> {
        self.check()?;
        let body = self.body(actor, thread);
        let draft = Draft::new(thread.clone(), actor.clone(), Act::Learn, body);
        let mut tries = 1..TRIES;
        loop {
            let clock = engine.next_clock(thread, actor)?;
            match engine.ingest_draft(caller, draft.clone().with_clock(clock)) {
                Err(IngestError::Append(AppendError::DuplicateClock { .. }))
                    if tries.next().is_some() => {}
                written => return Ok(written?),
            }
        }
    }

    fn body(&self, actor: &ActorId, thread: &ThreadId) -> Object {
        let mut body = object! {
            "actor": actor,
            "kind": CHECKPOINT_KIND,
            "learnings": self.learnings.clone(),
            "next_steps": self.next_steps.as_str(),
            "summary": self.summary.as_str(),
            "thread": thread,
        };
        for (name, said) in [("reason", &self.reason), ("session_id", &self.session_id)] {
            if let Some(said) = said {
                body.insert(name.into(), said.as_str().into());
            }
        }
        if let Some(derived) = &self.derived {
            body.insert("derived".into(), Value::Object(derived.clone()));
        }
        match mask_value(&Value::Object(body)) {
            Value::Object(body) => body,
            // An object stays one.
            _ => Object::new(),
        }
    }

    /// Returns this checkpoint with what it leaves open filled in from the threads of the instance.
    pub fn drafted(mut self, engine: &Engine, thread: &ThreadId) -> Result<Self, EngineError> {
        let last = engine.store().read(|reader| reader.checkpoints(Some(thread), None, 1))?;
        let since = last.first().map(|stored| stored.sequence);
        let overview = rooms::overview(engine, since)?;
        if self.summary.trim().is_empty() {
            self.summary = summary(&overview);
        }
        if self.next_steps.trim().is_empty() {
            self.next_steps = next_steps(&overview);
        }
        if self.learnings.is_empty() {
            self.learnings = overview.learned.iter().map(|it| it.in_words()).collect();
            self.learnings.truncate(MAX_LEARNINGS);
        }
        if self.learnings.is_empty() {
            self.learnings.push("No lesson was written since the last checkpoint.".into());
        }
        self.derived = Some(overview.to_object());
        Ok(self)
    }
}

fn summary(overview: &Overview) -> String {
    format!(
        "{} closed, {} open, {} waiting, {} moved.",
        overview.closed.len(),
        overview.open.len(),
        overview.waiting.len(),
        overview.moved.len()
    )
}

fn next_steps(overview: &Overview) -> String {
    let asked = overview.waiting.iter().map(|item| format!("Decide: {}", item.label));
    let open = overview.open.iter().map(|item| format!("Go on with: {}", item.label));
    let steps: Vec<String> = asked.chain(open).take(10).collect();
    steps.join("\n")
}
