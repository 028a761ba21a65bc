//! Answering a question, once.

use super::{
    DECISION_KIND, DECISION_REQUEST_KIND, Decided, DecisionAnswer, DecisionRequest, DecisionVerb,
};
use crate::canon::Object;
use crate::code::{Code, Coded};
use crate::engine::door::check_actor;
use crate::engine::{Author, Caller, Engine, EngineError, IngestError, Scope};
use crate::object;
use crate::record::{Act, ActorId, Draft, Namespace, Origin, Reason, Record, RecordId, ShapeError};
use crate::secret::mask;
use crate::store::{AppendError, Reader, StoreError, Stored};
use crate::time::Timestamp;

/// How many answers are read at once.
const PAGE: usize = 100;

/// Why a question was not answered. Nothing was stored.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DecideError {
    /// The engine has not asked this.
    #[error("there is no question with the id `{request}`")]
    Unknown {
        /// The id.
        request: RecordId,
    },
    /// Somebody has answered it.
    #[error("the question is answered already: {verb}, by `{by}`, in the record {record}")]
    Answered {
        /// The record of the first answer.
        record: RecordId,
        /// What it says.
        verb: DecisionVerb,
        /// Whose it is.
        by: String,
    },
    /// Nothing was proposed that could become a policy.
    #[error("`becomes_policy` is not for this question: it proposes no lesson")]
    NoLesson,
    /// The answer contradicts itself.
    #[error(transparent)]
    Shape(#[from] ShapeError),
    /// The caller may not, or the lesson does not pass the door any more.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The store could not be read or written.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl From<StoreError> for DecideError {
    fn from(error: StoreError) -> Self {
        Self::Engine(error.into())
    }
}

impl From<AppendError> for DecideError {
    fn from(error: AppendError) -> Self {
        Self::Engine(error.into())
    }
}

impl Coded for DecideError {
    fn code(&self) -> Code {
        match self {
            Self::Unknown { .. } => Code::NotFound,
            Self::Answered { .. } => Code::DecisionAnswered,
            Self::NoLesson => Code::InvalidBody,
            Self::Shape(error) => error.code(),
            Self::Ingest(error) => error.code(),
            Self::Engine(error) => error.code(),
        }
    }

    fn field(&self) -> Option<&str> {
        match self {
            Self::NoLesson => Some("becomes_policy"),
            Self::Shape(error) => error.field(),
            Self::Ingest(error) => error.field(),
            _ => None,
        }
    }

    fn reason(&self) -> Option<&'static str> {
        match self {
            Self::NoLesson => Some(Reason::BadValue.as_str()),
            Self::Shape(error) => error.reason(),
            Self::Ingest(error) => error.reason(),
            _ => None,
        }
    }

    fn column(&self) -> Option<usize> {
        match self {
            Self::Ingest(error) => error.column(),
            _ => None,
        }
    }

    fn hint(&self) -> Option<String> {
        match self {
            Self::Unknown { .. } => Some("See `spl decisions list`.".into()),
            Self::NoLesson => Some("Answer without it, or write the hook yourself.".into()),
            Self::Answered { .. } => None,
            Self::Shape(error) => error.hint(),
            Self::Ingest(error) => error.hint(),
            Self::Engine(error) => error.hint(),
        }
    }
}

impl Engine {
    /// Answers the question `request` in the name of `by`.
    ///
    /// Questions are put to the operator, so only an operator-class caller answers: an actor whose
    /// token writes records cannot approve what it has asked itself. The first answer stands; any
    /// other is refused and names it. A lesson that becomes a policy passes the checks of the
    /// records door, as a hook that `by` states, and is stored with the answer in one commit; when
    /// this returns it is in force.
    pub fn decide(
        &self,
        caller: &Caller,
        by: &ActorId,
        request: RecordId,
        answer: &DecisionAnswer,
    ) -> Result<Decided, DecideError> {
        may_decide(caller, answer)?;
        check_actor(caller, by)?;
        answer.check()?;
        let stored = self.whole().read(|reader| reader.record(request))?;
        let Some((stored, asked)) =
            stored.and_then(|stored| DecisionRequest::of(&stored).map(|asked| (stored, asked)))
        else {
            return Err(DecideError::Unknown { request });
        };
        if let Some(first) = self.whole().read(|reader| answer_of(reader, &stored))? {
            return Err(first.into());
        }
        let now = self.whole().now();
        let expires_at = answer.expires.map(|expiry| expiry.from(now)).transpose()?;
        let hook = self.policy(caller, by, request, answer, &asked)?;
        let configures = hook.is_some();
        let draft = draft_of(&stored, by, answer, expires_at);
        let written = self.whole().write(move |tx| {
            // What is looked up here nobody can change before this is stored.
            if let Some(first) = answer_of(&tx.reader(), &stored)? {
                return Err(DecideError::from(first));
            }
            let mut author = Author::over(tx);
            let mut draft = draft;
            if let Some(hook) = hook {
                let hook = author.state(hook)?;
                draft.body.extend(policy_of(&hook));
            }
            Ok(author.write(draft)?)
        })?;
        if configures {
            self.fold_config()?;
        }
        let decided = self.decision(request)?;
        // What was written a moment ago is there.
        decided
            .filter(|decided| decided.record == written.id())
            .ok_or(DecideError::Unknown { request })
    }

    /// Returns the answer to a question, if there is one yet.
    pub fn decision(&self, request: RecordId) -> Result<Option<Decided>, EngineError> {
        Ok(self.store().read(|reader| {
            let asked = reader.record(request)?;
            let asked = asked.filter(|it| {
                it.origin == Origin::Engine && it.record.kind() == Some(DECISION_REQUEST_KIND)
            });
            asked.map_or(Ok(None), |asked| answer_of(reader, &asked))
        })?)
    }

    /// Returns the hook that a proposal becomes, once it has passed the door's checks.
    fn policy(
        &self,
        caller: &Caller,
        by: &ActorId,
        request: RecordId,
        answer: &DecisionAnswer,
        asked: &DecisionRequest,
    ) -> Result<Option<Draft>, DecideError> {
        if !answer.becomes_policy {
            return Ok(None);
        }
        let lesson = asked.lesson.as_ref().ok_or(DecideError::NoLesson)?;
        let hook = lesson.hook(by, request);
        self.admit(caller, &hook)?;
        Ok(Some(hook))
    }
}

fn may_decide(caller: &Caller, answer: &DecisionAnswer) -> Result<(), IngestError> {
    if caller.is_operator() {
        Ok(())
    } else if answer.becomes_policy {
        Err(IngestError::ConfigWriteDenied { needed: "the operator or the scope `admin`" })
    } else {
        Err(IngestError::Scope { needed: Scope::Admin })
    }
}

/// Returns the answer to a question that stands on its thread.
pub(super) fn answer_of(
    reader: &Reader<'_>,
    asked: &Stored,
) -> Result<Option<Decided>, StoreError> {
    let mut after = asked.sequence;
    loop {
        let thread = Some(&asked.record.thread);
        let (page, more) = reader.engine_written(DECISION_KIND, thread, after, PAGE)?;
        let answers = page.iter().filter_map(Decided::of);
        if let Some(answer) = answers.into_iter().find(|it| it.request == asked.record.id()) {
            return Ok(Some(answer));
        }
        match page.last() {
            Some(last) if more => after = last.sequence,
            _ => return Ok(None),
        }
    }
}

impl From<Decided> for DecideError {
    fn from(first: Decided) -> Self {
        Self::Answered { record: first.record, verb: first.verb, by: first.by }
    }
}

/// Returns the record of an answer, still without what it says of a policy. A yes and a value are
/// known, and fulfil the question; a no cancels it.
fn draft_of(
    asked: &Stored,
    by: &ActorId,
    answer: &DecisionAnswer,
    expires_at: Option<Timestamp>,
) -> Draft {
    let request = asked.record.id();
    let namespace = asked.record.namespace().unwrap_or_else(|_| Namespace::root());
    let (act, closes) = match answer.verb {
        DecisionVerb::Approved | DecisionVerb::Provided => (Act::Know, "fulfills"),
        DecisionVerb::Rejected => (Act::Do, "cancels"),
    };
    let mut body = object! {
        "by": by,
        "decision": answer.verb.as_str(),
        "kind": DECISION_KIND,
        "namespace": &namespace,
        "request": request,
    };
    body.insert(closes.into(), request.into());
    for (field, text) in [("value", &answer.value), ("reason", &answer.reason)] {
        if let Some(text) = text {
            body.insert(field.into(), (&*mask(text)).into());
        }
    }
    if let Some(at) = expires_at {
        body.insert("expires_at".into(), at.to_string().into());
    }
    Draft::new(asked.record.thread.clone(), by.clone(), act, body).with_parents(vec![request])
}

fn policy_of(hook: &Record) -> Object {
    let namespace = hook.namespace().unwrap_or_else(|_| Namespace::root());
    object! {
        "policy": hook.id(),
        "policy_name": hook.body.get("name").cloned(),
        "policy_namespace": &namespace,
    }
}
