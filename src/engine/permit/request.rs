//! Requests of callers, and records that they state.

use super::{Asked, Engine, EngineError};
use crate::canon::Object;
use crate::engine::{Caller, IngestError};
use crate::permission::{RuleSet, Ruling};
use crate::predicate::{BodyFacts, RecordFacts};
use crate::record::{Act, ActorId, DataType, Draft, Namespace, Record, ThreadId};
use crate::store::ThreadRange;

/// The resource of a record that somebody states.
const RECORD_WRITE: &str = "record_write";

/// A request, as permission rules see it.
///
/// `record` is one that nobody writes: its act is `GET` for reading and `CALL` for anything else, its
/// actor whoever acts, its clock 0.
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What is asked for: `thread_read`, `dispatch` (contract §3.3).
    pub resource: &'a str,
    /// The thread that it is about, if it is about one.
    pub thread: Option<&'a ThreadId>,
    /// What the request says, if it says anything.
    pub body: &'a Object,
}

impl Engine {
    /// Refuses a request that the permission rules do not allow.
    ///
    /// They are asked in the namespace that the body names, else in the one that the thread's first
    /// record stands in, else in the root. Rules written by any process up to now are asked; where
    /// they are not in force, nothing is looked at.
    pub fn permit(&self, caller: &Caller, request: &Request<'_>) -> Result<(), IngestError> {
        let Some(live) = self.ruled()? else { return Ok(()) };
        let Some(rules) = live.config.rules() else { return Ok(()) };
        let actor = self.acting(caller)?;
        let ruling = self.rule_on_request(rules, &actor, request)?;
        admitted(caller, ruling)
    }

    /// Refuses a record that the permission rules do not allow the caller to state.
    pub(in crate::engine) fn permit_draft(
        &self,
        caller: &Caller,
        draft: &Draft,
    ) -> Result<(), IngestError> {
        let Some(live) = self.ruled()? else { return Ok(()) };
        let Some(rules) = live.config.rules() else { return Ok(()) };
        let actor = self.acting(caller)?;
        admitted(caller, self.rule_on_draft(rules, &actor, RECORD_WRITE, draft)?)
    }

    /// Refuses to read a record that the permission rules do not allow the caller to read: they see
    /// the record itself.
    pub fn permit_reading(&self, caller: &Caller, record: &Record) -> Result<(), IngestError> {
        let Some(live) = self.ruled()? else { return Ok(()) };
        let Some(rules) = live.config.rules() else { return Ok(()) };
        let actor = self.acting(caller)?;
        admitted(caller, self.rule_on_draft(rules, &actor, "record_read", record)?)
    }

    /// Returns in whose name a caller acts: the actor that it claims or is, and for the operator
    /// the one of the settings.
    fn acting(&self, caller: &Caller) -> Result<ActorId, EngineError> {
        match caller.acting() {
            Some(actor) => Ok(actor.clone()),
            None if caller.is_operator() => self.operator(),
            None => Ok(ActorId::nobody()),
        }
    }

    /// Asks rules about a request. A shape that is wrong is for later checks to refuse: here, what
    /// is not well formed is as good as absent.
    pub(super) fn rule_on_request(
        &self,
        rules: &RuleSet,
        actor: &ActorId,
        request: &Request<'_>,
    ) -> Result<Ruling, EngineError> {
        let act = if request.resource.ends_with("_read") { Act::Get } else { Act::Call };
        let named = request.body.get("namespace").and_then(|value| value.as_str());
        let namespace = match named.and_then(|named| Namespace::parse(named).ok()) {
            Some(namespace) => namespace,
            None => self.namespace_of(request.thread)?,
        };
        let record = RecordFacts {
            act: act.as_str(),
            actor: actor.as_str(),
            thread: request.thread.map_or("", ThreadId::as_str),
            data_type: DataType::Scalar.as_str(),
            clock: 0,
            parents: &[],
            body: BodyFacts::Any(request.body),
        };
        self.rule_on(rules, &Asked { record, resource: request.resource, actor }, &namespace)
    }

    /// Asks rules about a record, in its own namespace.
    pub(super) fn rule_on_draft(
        &self,
        rules: &RuleSet,
        actor: &ActorId,
        resource: &str,
        draft: &Draft,
    ) -> Result<Ruling, EngineError> {
        let namespace = draft.namespace().unwrap_or_else(|_| Namespace::root());
        let record = RecordFacts {
            act: draft.act.as_str(),
            actor: draft.actor.as_str(),
            thread: draft.thread.as_str(),
            data_type: draft.data_type.as_str(),
            clock: draft.clock.get(),
            parents: &draft.parents,
            body: BodyFacts::Any(&draft.body),
        };
        self.rule_on(rules, &Asked { record, resource, actor }, &namespace)
    }

    /// Returns where a thread is: where its first record stands.
    fn namespace_of(&self, thread: Option<&ThreadId>) -> Result<Namespace, EngineError> {
        let Some(thread) = thread else { return Ok(Namespace::root()) };
        let first = self.whole().read(|reader| reader.thread(thread, ThreadRange::default(), 1))?;
        let namespace = first.first().and_then(|stored| stored.record.namespace().ok());
        Ok(namespace.unwrap_or_else(Namespace::root))
    }
}

/// Turns a ruling into leave or a refusal. Whose rules they are is told which one it was.
fn admitted(caller: &Caller, ruling: Ruling) -> Result<(), IngestError> {
    match ruling {
        Ruling::Off | Ruling::Allow { .. } => Ok(()),
        Ruling::Deny { rule } => {
            let operator = caller.is_operator();
            let sentence = match rule.filter(|_| operator) {
                Some(rule) => format!("the permission rule `{rule}` does not allow this"),
                None if operator => "no permission rule allows this".to_owned(),
                None => "the permission rules do not allow this".to_owned(),
            };
            Err(IngestError::PermissionDenied { sentence, operator })
        }
    }
}
