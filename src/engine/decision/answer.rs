//! The answer to a question.

use std::fmt;

use super::DECISION_KIND;
use crate::canon::Value;
use crate::record::{Origin, Reason, RecordId, ShapeError, ThreadId};
use crate::store::Stored;
use crate::time::Timestamp;

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionVerb {
    /// Yes.
    Approved,
    /// No.
    Rejected,
    /// A value was given.
    Provided,
}

impl DecisionVerb {
    const ALL: [Self; 3] = [Self::Approved, Self::Rejected, Self::Provided];

    /// Returns the word in records and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Provided => "provided",
        }
    }

    /// Reads the word of a record.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|verb| verb.as_str() == word)
    }
}

impl fmt::Display for DecisionVerb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// When a lesson stops being one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expiry {
    /// So many milliseconds after the decision.
    After(i64),
    /// At this time.
    At(Timestamp),
}

impl Expiry {
    /// Reads `30d`, `12h`, `45m`, or a time such as `2027-01-31T12:00:00Z` (RFC 3339).
    pub fn parse(text: &str) -> Result<Self, ShapeError> {
        let millis = |unit: char| match unit {
            'm' => Some(60 * 1000),
            'h' => Some(60 * 60 * 1000),
            'd' => Some(24 * 60 * 60 * 1000),
            _ => None,
        };
        let span = || {
            let mut digits = text.chars();
            let unit = millis(digits.next_back()?)?;
            let digits = digits.as_str();
            let count = digits.bytes().all(|byte| byte.is_ascii_digit()).then_some(digits)?;
            count.parse::<i64>().ok()?.checked_mul(unit).filter(|span| *span > 0)
        };
        match span() {
            Some(span) => Ok(Self::After(span)),
            None => Timestamp::parse(text).map(Self::At).ok_or_else(|| {
                let message = "`expires` must be a number of days, hours or minutes such as `30d`, \
                               `12h` or `45m`, or a time such as `2027-01-31T12:00:00Z`";
                ShapeError::new("expires", Reason::BadValue, message)
            }),
        }
    }

    /// Returns the time, for a decision that is made `now`. It must lie ahead.
    pub(in crate::engine) fn from(self, now: Timestamp) -> Result<Timestamp, ShapeError> {
        let refused = |message: &str| ShapeError::new("expires", Reason::BadValue, message);
        let at = match self {
            Self::After(span) => Timestamp::from_millis(now.as_millis().saturating_add(span)),
            Self::At(at) => at,
        };
        if at <= now {
            return Err(refused("`expires` must lie ahead"));
        }
        if at > Timestamp::LAST {
            return Err(refused("`expires` is further ahead than a time can be written"));
        }
        Ok(at)
    }
}

/// What the operator answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionAnswer {
    /// What is decided.
    pub verb: DecisionVerb,
    /// The value that is provided; nothing else has one.
    pub value: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// Whether the proposed lesson becomes a hook.
    pub becomes_policy: bool,
    /// When that hook stops being in force; never, if absent.
    pub expires: Option<Expiry>,
}

impl DecisionAnswer {
    /// Returns the answer that says this and nothing more.
    pub const fn new(verb: DecisionVerb) -> Self {
        Self { verb, value: None, reason: None, becomes_policy: false, expires: None }
    }

    /// Refuses parts that do not belong together.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        let refused = |field: &str, message: &str| {
            Err(ShapeError::new(field, Reason::BadValue, message.to_owned()))
        };
        match (self.verb, &self.value) {
            (DecisionVerb::Provided, None) => {
                return Err(ShapeError::missing("provided_value"));
            }
            (DecisionVerb::Approved | DecisionVerb::Rejected, Some(_)) => {
                return refused("provided_value", "only `provide` has a `provided_value`");
            }
            _ => {}
        }
        let texts = [("provided_value", &self.value), ("reason", &self.reason)];
        for (field, text) in texts {
            let chars = text.as_ref().map_or(0, |text| text.chars().count());
            if chars > MAX_CHARS {
                let message = format!("`{field}` must be at most {MAX_CHARS} characters");
                return Err(ShapeError::new(field, Reason::BadValue, message));
            }
        }
        if self.becomes_policy && self.verb != DecisionVerb::Approved {
            return refused("becomes_policy", "only what is approved becomes a policy");
        }
        if self.expires.is_some() && !self.becomes_policy {
            return refused("expires", "only a policy expires: `expires` takes `becomes_policy`");
        }
        Ok(())
    }
}

/// The most characters of a value and of a reason.
const MAX_CHARS: usize = 64 * 1024;

/// An answer that is durable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decided {
    /// What was decided.
    pub verb: DecisionVerb,
    /// The value that was provided.
    pub value: Option<String>,
    /// Why.
    pub reason: Option<String>,
    /// The record of the answer.
    pub record: RecordId,
    /// The question.
    pub request: RecordId,
    /// The thread of both.
    pub thread: ThreadId,
    /// Who answered.
    pub by: String,
    /// The hook that the proposal has become.
    pub policy: Option<RecordId>,
    /// When that hook stops being in force.
    pub expires_at: Option<Timestamp>,
}

impl Decided {
    /// Returns the answer as the actor who asked is told it.
    pub fn in_words(&self) -> String {
        let mut words = match (self.verb, &self.value) {
            (DecisionVerb::Approved, _) => "approved".to_owned(),
            (DecisionVerb::Rejected, _) => "rejected".to_owned(),
            (DecisionVerb::Provided, value) => {
                format!("provided: {}", value.as_deref().unwrap_or_default())
            }
        };
        if let Some(reason) = &self.reason {
            words.push_str(&format!("\nreason: {reason}"));
        }
        if self.policy.is_some() {
            words.push_str("\nthe lesson is in force from now on");
        }
        words
    }

    /// Reads an answer back from its record; `None` if the engine did not write it as one.
    pub(super) fn of(stored: &Stored) -> Option<Self> {
        if stored.origin != Origin::Engine || stored.record.kind() != Some(DECISION_KIND) {
            return None;
        }
        let body = &stored.record.body;
        let text = |field: &str| body.get(field).and_then(Value::as_str);
        let id = |field: &str| text(field).and_then(RecordId::parse);
        Some(Self {
            verb: DecisionVerb::parse(text("decision")?)?,
            value: text("value").map(str::to_owned),
            reason: text("reason").map(str::to_owned),
            record: stored.record.id(),
            request: id("request")?,
            thread: stored.record.thread.clone(),
            by: text("by").unwrap_or_default().to_owned(),
            policy: id("policy"),
            expires_at: text("expires_at").and_then(Timestamp::parse),
        })
    }
}
