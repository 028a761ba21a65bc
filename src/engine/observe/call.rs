//! A call of somebody else's run, as its loop tells of it.

use crate::canon::Object;
use crate::record::{ActorId, Namespace, Reason, ShapeError};

/// The most characters of the id of a call, and of the name of a tool.
const MAX_NAME_CHARS: usize = 256;

/// The most characters of a status, and of a domain.
const MAX_WORD_CHARS: usize = 128;

/// The actor of a run that names none.
const NAMELESS: &str = "did:sync:agent:external";

/// A call of somebody else's run that has returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObservedCall {
    /// What the loop knows the call by; told of it again, the engine says the same.
    pub call_id: String,
    /// The tool.
    pub tool: String,
    /// The arguments, whole.
    pub args: Object,
    /// `ok`, `error`, or what the loop has for it.
    pub status: String,
    /// The answer, as the actor is shown it.
    pub content: String,
    /// Who runs; who the run is known to be of, if absent.
    pub actor: Option<ActorId>,
    /// Where it runs; where the run is known to be, if absent.
    pub namespace: Option<Namespace>,
    /// What the work is trusted under; as the run is known, if absent.
    pub domain: Option<String>,
    /// The life of the run, from 1; caps count within one.
    pub life: u32,
}

impl ObservedCall {
    /// Returns a call of the first life, with an empty answer.
    pub fn new(call_id: &str, tool: &str, args: Object, status: &str) -> Self {
        Self {
            call_id: call_id.to_owned(),
            tool: tool.to_owned(),
            args,
            status: status.to_owned(),
            content: String::new(),
            actor: None,
            namespace: None,
            domain: None,
            life: 1,
        }
    }

    /// Returns the actor of a run that names none.
    pub fn nameless() -> ActorId {
        ActorId::parse(NAMELESS).unwrap_or_else(|_| ActorId::engine())
    }

    /// Refuses what is no word or too long. How long the arguments and the answer may be is a matter
    /// of the records that they stand in.
    pub(super) fn check(&self) -> Result<(), ShapeError> {
        word("call_id", &self.call_id, MAX_NAME_CHARS)?;
        word("tool", &self.tool, MAX_NAME_CHARS)?;
        word("status", &self.status, MAX_WORD_CHARS)?;
        if let Some(domain) = &self.domain {
            word("domain", domain, MAX_WORD_CHARS)?;
        }
        if self.life == 0 {
            return Err(ShapeError::new("life", Reason::BadValue, "`life` counts from 1"));
        }
        Ok(())
    }
}

fn word(field: &str, text: &str, most: usize) -> Result<(), ShapeError> {
    let refused = |message: String| Err(ShapeError::new(field, Reason::BadValue, message));
    if text.is_empty() {
        return refused(format!("`{field}` must not be empty"));
    }
    if text.chars().count() > most {
        return refused(format!("`{field}` must be at most {most} characters"));
    }
    if text.chars().any(char::is_control) {
        return refused(format!("`{field}` must not hold control characters"));
    }
    Ok(())
}
