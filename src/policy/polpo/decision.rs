//! From what a handler wrote to its answer (contract-polpo §6, §8.7).
//!
//! Packs are read strictly, answers leniently: a key that is not known changes nothing. What would
//! decide has to be exactly right, since there is no telling what else it was meant to be.

use std::borrow::Cow;

use super::bounds::{ANSWER_DEPTH, ANSWER_NODES, FEEDBACK_BYTES, OUTPUT_BYTES, REASON_CHARS};
use super::{Cause, Cell, Failure, Site, Word, cut_result, redact, redact_value};
use crate::canon::{Canonical, Limits, Object, Value, parse};

/// What may stand before a text, and is no part of it.
pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// What a handler wants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing stands against it.
    Allow,
    /// It must not happen.
    Deny,
    /// It happens if somebody approves.
    Ask,
    /// No opinion.
    Defer,
    /// It goes on with this.
    Modify(Change),
    /// No further work. What is said to that is never blank.
    Stop(Option<String>),
    /// It is done over, with this in mind: a text, an object or an array, and not empty.
    Continue(Value),
}

/// What a handler puts in the place of what it read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// The whole input of a call.
    Input(Object),
    /// The result of a call.
    Result(String),
}

impl Decision {
    /// Returns the word for it.
    pub const fn word(&self) -> Word {
        match self {
            Self::Allow => Word::Allow,
            Self::Deny => Word::Deny,
            Self::Ask => Word::Ask,
            Self::Defer => Word::Defer,
            Self::Modify(_) => Word::Modify,
            Self::Stop(_) => Word::Stop,
            Self::Continue(_) => Word::Continue,
        }
    }
}

/// The answer of a handler, valid where it was asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What it wants.
    pub decision: Decision,
    /// Why, with secrets replaced and cut to what is kept.
    pub reason: Option<String>,
    /// Keys of it that had no meaning.
    pub ignored: Vec<String>,
}

impl Answer {
    /// Returns the answer that is just a decision.
    pub const fn of(decision: Decision) -> Self {
        Self { decision, reason: None, ignored: Vec::new() }
    }
}

/// What came of asking a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It answered.
    Answered(Answer),
    /// It did not.
    Failed(Failure),
}

/// Reads what a handler wrote at `site`. Nothing at all is no opinion, except to a gate, which needs
/// one.
pub fn read_decision(output: &[u8], site: Site) -> Outcome {
    match read(output, site) {
        Ok(answer) => Outcome::Answered(answer),
        Err(failure) => Outcome::Failed(failure),
    }
}

fn read(output: &[u8], site: Site) -> Result<Answer, Failure> {
    if output.len() > OUTPUT_BYTES {
        let detail = format!("{} bytes, and at most {OUTPUT_BYTES} are read", output.len());
        return Err(Failure::new(Cause::OutputTooLarge, &detail));
    }
    let text = output.trim_ascii();
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text).trim_ascii();
    match (text.is_empty(), site) {
        (true, Site::Gate) => Err(Failure::new(Cause::EmptyOutput, "")),
        (true, _) => Ok(Answer::of(Decision::Defer)),
        (false, _) => answer(object(text)?, site),
    }
}

/// Reads the one object that all of `text` has to be.
fn object(text: &[u8]) -> Result<Object, Failure> {
    let limits = Limits { bytes: OUTPUT_BYTES, depth: ANSWER_DEPTH };
    let invalid = |detail: &str| Failure::new(Cause::InvalidOutput, detail);
    // The parser would pass over another one.
    if text.starts_with(BYTE_ORDER_MARK) {
        return Err(invalid("a second byte order mark"));
    }
    let value = parse(text, limits).map_err(|error| invalid(&error.to_string()))?;
    if value.count() > ANSWER_NODES {
        return Err(invalid(&format!("more than {ANSWER_NODES} values")));
    }
    let kind = value.type_name();
    value.into_object().ok_or_else(|| invalid(&format!("not an object but {kind}")))
}

fn answer(mut members: Object, site: Site) -> Result<Answer, Failure> {
    let word = word(members.remove("decision"))?;
    let cell = word.at(site);
    if cell == Cell::Invalid {
        return Err(invalid(&format!("`{}` is not valid here", word.as_str())));
    }
    let decision = match word {
        Word::Allow => Decision::Allow,
        Word::Deny => Decision::Deny,
        Word::Ask => Decision::Ask,
        Word::Defer => Decision::Defer,
        Word::Modify => Decision::Modify(change(members.remove("data"), site)?),
        Word::Stop => Decision::Stop(text_feedback(members.remove("feedback"), cell)?),
        Word::Continue => Decision::Continue(any_feedback(members.remove("feedback"))?),
    };
    // A reason that is no text does not undo a refusal: it is left out.
    let reason = members.get("reason").and_then(Value::as_str).map(kept_reason);
    if reason.is_some() {
        members.remove("reason");
    }
    let ignored = members.into_keys().map(|key| redact(&key).into_owned()).collect();
    Ok(Answer { decision, reason: reason.filter(|reason| !is_blank(reason)), ignored })
}

fn word(decision: Option<Value>) -> Result<Word, Failure> {
    let missing = || Failure::new(Cause::MissingDecision, "there is no `decision`");
    match decision.ok_or_else(missing)? {
        Value::String(text) => {
            Word::parse(&text).ok_or_else(|| invalid("the decision is none that is known"))
        }
        other => Err(invalid(&format!("the decision is {}", other.type_name()))),
    }
}

/// Reads what is to stand in the place of what was read: this one key, and no other.
fn change(data: Option<Value>, site: Site) -> Result<Change, Failure> {
    let key = if site == Site::Before { "input" } else { "result" };
    let need = || invalid(&format!("`modify` needs `data.{key}` and nothing beside it"));
    let mut data = data.and_then(Value::into_object).ok_or_else(need)?;
    let value = data.remove(key).ok_or_else(need)?;
    if !data.is_empty() {
        return Err(need());
    }
    match (site, value) {
        (Site::Before, Value::Object(input)) => Ok(Change::Input(input)),
        (Site::Before, _) => Err(invalid("`data.input` is not an object")),
        (_, Value::String(text)) => Ok(Change::Result(cut_result(&text).into_owned())),
        (_, value) => Ok(Change::Result(cut_result(&value.to_string()).into_owned())),
    }
}

/// Reads the feedback of a `stop`: a text, which only a gate has to be given.
fn text_feedback(feedback: Option<Value>, cell: Cell) -> Result<Option<String>, Failure> {
    match feedback {
        Some(Value::String(text)) if !is_blank(&text) => {
            let text = redact(&text).into_owned();
            kept_feedback(Value::String(text.clone()))?;
            Ok(Some(text))
        }
        None | Some(Value::Null | Value::String(_)) if cell == Cell::Valid => Ok(None),
        _ => Err(Failure::new(Cause::InvalidFeedback, "`stop` takes a text that is not blank")),
    }
}

/// Reads the feedback of a `continue`.
fn any_feedback(feedback: Option<Value>) -> Result<Value, Failure> {
    let value = feedback.unwrap_or(Value::Null);
    if !is_feedback(&value) {
        let detail = "`continue` takes a text, an object or an array that is not empty";
        return Err(Failure::new(Cause::InvalidFeedback, detail));
    }
    kept_feedback(redact_value(&value))
}

/// Tells whether a value is feedback that says something.
pub(super) fn is_feedback(value: &Value) -> bool {
    match value {
        Value::String(text) => !is_blank(text),
        Value::Array(elements) => !elements.is_empty(),
        Value::Object(members) => !members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Refuses more feedback than is passed on: half of a diagnosis may say the opposite of all of it.
fn kept_feedback(redacted: Value) -> Result<Value, Failure> {
    let bytes = Canonical::of(&redacted).as_bytes().len();
    if bytes > FEEDBACK_BYTES {
        let detail = format!("{bytes} bytes, and at most {FEEDBACK_BYTES} are passed on");
        return Err(Failure::new(Cause::FeedbackTooLarge, &detail));
    }
    Ok(redacted)
}

fn kept_reason(reason: &str) -> String {
    let reason: Cow<'_, str> = redact(reason);
    reason.chars().take(REASON_CHARS).collect()
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn invalid(detail: &str) -> Failure {
    Failure::new(Cause::InvalidDecision, detail)
}

#[cfg(test)]
mod tests;
