//! A person's verdict on a run (contract §8): the one kind of evidence that a run can earn.

use super::{Caller, Engine, EngineError, IngestError};
use crate::canon::Value;
use crate::code::{Code, Coded};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId, Sequence, ThreadId};
use crate::store::{AppendError, StoreError, Stored};
use crate::trust::{GENERAL, Standing};

/// The topic of a verdict on a piece of work (contract §1.12).
const VERDICT_TOPIC: &str = "task_verdict";

/// The most characters of the notes of a verdict.
pub const MAX_NOTES_CHARS: usize = 4096;

/// How often a clock is looked for that nobody else has taken.
const TRIES: usize = 100;

/// How many records are read at once.
const PAGE: usize = 1000;

/// What somebody thinks of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// Whether the work is accepted; else it is rejected.
    pub accepts: bool,
    /// The domain that the work is judged in; `None` for the run's own.
    pub domain: Option<String>,
    /// Why, in words.
    pub notes: Option<String>,
}

/// A verdict that was stored.
#[derive(Debug, Clone, PartialEq)]
pub struct Reviewed {
    /// The record of the verdict.
    pub record: RecordId,
    /// Whose work was judged.
    pub actor: ActorId,
    /// In which domain.
    pub domain: String,
    /// Whether the verdict counts. Nobody judges himself.
    pub counted: bool,
    /// How the actor stands in the domain from here on.
    pub standing: Standing,
}

/// Why a run was not reviewed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// No run was recorded on the thread.
    #[error("there is no run on `{thread}`")]
    NoRun {
        /// The thread.
        thread: ThreadId,
    },
    /// The run goes on, or waits.
    #[error("the run on `{thread}` is not over")]
    NotOver {
        /// The thread.
        thread: ThreadId,
    },
    /// The door refused the verdict.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The engine failed.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for ReviewError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for ReviewError {
    fn code(&self) -> Code {
        match self {
            Self::NoRun { .. } => Code::NotFound,
            Self::NotOver { .. } => Code::WorkNotOver,
            Self::Ingest(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::Ingest(error) => error.field(),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::Ingest(error) => error.reason(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::NoRun { .. } => None,
            Self::NotOver { .. } => Some("Review it when it has ended.".into()),
            Self::Ingest(error) => error.hint(),
            Self::Engine(error) => error.hint(),
        }
    }
}

/// A run that has ended, as far as a review looks.
struct Ended {
    actor: ActorId,
    domain: String,
    namespace: Option<Value>,
    outcome: RecordId,
}

impl Engine {
    /// Stores what `by` thinks of the run on a thread that is over: a KNOW on that thread, through
    /// the records door, with all of its checks.
    ///
    /// A verdict of the run's own actor is stored as well and does not count.
    pub fn review(
        &self,
        caller: &Caller,
        by: &ActorId,
        thread: &ThreadId,
        review: &Review,
    ) -> Result<Reviewed, ReviewError> {
        let ended = self.ended(thread)?;
        let domain = review.domain.clone().unwrap_or(ended.domain);
        let mut body = object! {
            "domain": domain.as_str(),
            "judged_by": &ended.actor,
            "reviews": ended.outcome,
            "topic": VERDICT_TOPIC,
            "verdict": if review.accepts { "accept" } else { "reject" },
        };
        if let Some(notes) = &review.notes {
            let notes: String = notes.chars().take(MAX_NOTES_CHARS).collect();
            body.insert("review_notes".into(), notes.into());
        }
        if let Some(namespace) = ended.namespace {
            body.insert("namespace".into(), namespace);
        }
        let draft = Draft::new(thread.clone(), by.clone(), Act::Know, body)
            .with_parents(vec![ended.outcome]);
        let record = self.state(caller, &draft)?;
        Ok(Reviewed {
            record,
            standing: self.standing(&ended.actor, &domain)?,
            counted: *by != ended.actor,
            actor: ended.actor,
            domain,
        })
    }

    /// Stores a draft at the next clock of its actor that nobody else takes meanwhile.
    fn state(&self, caller: &Caller, draft: &Draft) -> Result<RecordId, ReviewError> {
        let mut tries = 1..TRIES;
        loop {
            let clock =
                self.whole().read(|reader| reader.next_clock(&draft.thread, &draft.actor))?;
            match self.ingest_draft(caller, draft.clone().with_clock(clock)) {
                Ok(ingested) => return Ok(ingested.record.id()),
                Err(IngestError::Append(AppendError::DuplicateClock { .. }))
                    if tries.next().is_some() => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Returns the run on a thread, by what the engine itself has recorded, if it is over: if its
    /// newest outcome is no pause, and nobody has resumed it since.
    fn ended(&self, thread: &ThreadId) -> Result<Ended, ReviewError> {
        let opening = self.newest(thread, "core.work.loop.v1")?;
        let opening = opening.ok_or_else(|| ReviewError::NoRun { thread: thread.clone() })?;
        let not_over = || ReviewError::NotOver { thread: thread.clone() };
        let outcome = self.newest(thread, "core.work.loop_outcome.v1")?.ok_or_else(not_over)?;
        let word = outcome.record.body.get("outcome").and_then(Value::as_str);
        let resumed = self.newest(thread, "core.work.resume.v1")?;
        if word == Some("awaiting_actor")
            || resumed.is_some_and(|resumed| resumed.sequence > outcome.sequence)
        {
            return Err(not_over());
        }
        let body = &opening.record.body;
        let domain = body.get("domain").and_then(Value::as_str).filter(|it| !it.is_empty());
        Ok(Ended {
            actor: opening.record.actor.clone(),
            domain: domain.unwrap_or(GENERAL).to_owned(),
            namespace: body.get("namespace").cloned(),
            outcome: outcome.record.id(),
        })
    }

    /// Returns the newest record of a kind that the engine wrote on a thread.
    fn newest(&self, thread: &ThreadId, kind: &str) -> Result<Option<Stored>, StoreError> {
        let (mut after, mut newest) = (Sequence::default(), None);
        loop {
            let (page, more) = self
                .store()
                .read(|reader| reader.engine_written(kind, Some(thread), after, PAGE))?;
            newest = page.into_iter().next_back().or(newest);
            match &newest {
                Some(stored) if more => after = stored.sequence,
                _ => return Ok(newest),
            }
        }
    }
}
