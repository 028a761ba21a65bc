//! The records door: what a draft must pass before it is appended (decision 20).

use std::sync::atomic::Ordering;

use super::namespace::enter;
use super::signature::read_signature;
use super::{Caller, Engine, EngineError, IngestError, Scope, Way};
use crate::canon::{Limits, ParseError, parse};
use crate::config::{
    BlueprintAuthor, CorsOrigins, MEMBERS_TRANSPORT_TOPIC, TRANSPORT_TOPIC, is_blueprint_author,
};
use crate::hook::{Hook, is_hook};
use crate::identity::Signature;
use crate::permission::{
    PERMISSION_RULE_KIND, PERMISSION_RULE_TOPIC, PERMISSIONS_ENABLED_TOPIC, PermissionRule,
    check_switch, is_permission_rule, is_permission_switch,
};
use crate::record::{
    ActorId, Clock, Draft, ERASURE_KIND, Envelope, Namespace, NamespaceEntry, Origin, Reason,
    Record, ShapeError, ThreadId,
};
use crate::store::{AppendError, Appended, Signed};

/// A record that passed the door.
#[derive(Debug, Clone)]
pub struct Ingested {
    /// The record.
    pub record: Record,
    /// Where it stands, and whether it is new.
    pub appended: Appended,
    /// Who has signed it; of a repeat, not what is stored of it.
    pub signed: Signed,
}

impl Engine {
    /// Takes the envelope of a record as a client sent it.
    ///
    /// The checks, in order: scope and grains, JSON and envelope, actor claim, permission rules,
    /// config gate, shape of the body, namespace, the kind's own door, the signature if there is one;
    /// the clock is decided inside the transaction, and the namespace looked up once more. When it
    /// returns, the record is durable, and if it is configuration, it is in force.
    pub fn ingest(&self, caller: &Caller, envelope: &[u8]) -> Result<Ingested, IngestError> {
        check_scope(caller)?;
        let envelope = parse(envelope, Limits::DOOR).map_err(|error| discreet(caller, error))?;
        let Envelope { draft, sig } = Envelope::read(envelope)?;
        let signature = sig.as_deref().map(read_signature).transpose()?;
        self.admit(caller, &draft)?;
        self.append(caller, draft, signature)
    }

    /// Takes a draft that an embedder built: the same door without the reading.
    pub fn ingest_draft(&self, caller: &Caller, draft: Draft) -> Result<Ingested, IngestError> {
        self.admit(caller, &draft)?;
        self.append(caller, draft, None)
    }

    /// Returns the clock that an actor would use next on a thread, whoever may read there.
    pub(crate) fn next_clock(
        &self,
        thread: &ThreadId,
        actor: &ActorId,
    ) -> Result<Clock, EngineError> {
        Ok(self.whole().read(|reader| reader.next_clock(thread, actor))?)
    }

    /// The checks that a draft must pass, in their order.
    pub(crate) fn admit(&self, caller: &Caller, draft: &Draft) -> Result<(), IngestError> {
        check_scope(caller)?;
        check_depth(draft)?;
        check_bounds(caller, draft)?;
        check_actor(caller, &draft.actor)?;
        self.permit_draft(caller, draft)?;
        check_gate(caller, draft)?;
        check_shape(draft)?;
        self.check_namespace(draft)?;
        self.check_erasure(caller, draft)?;
        Ok(self.check_kind(draft)?)
    }

    /// The kinds that have a door of their own. Other kinds are left alone.
    fn check_kind(&self, draft: &Draft) -> Result<(), ShapeError> {
        if is_hook(draft) {
            return Hook::check_with(draft, self.expressions()).map(drop);
        }
        if is_permission_rule(draft) {
            return PermissionRule::check_shape(draft);
        }
        if is_permission_switch(draft) {
            return check_switch(draft).map(drop);
        }
        if is_blueprint_author(draft) {
            return BlueprintAuthor::check(draft).map(drop);
        }
        if CorsOrigins::is_meant(draft) {
            return CorsOrigins::check(draft).map(drop);
        }
        if NamespaceEntry::is_meant(draft) {
            return NamespaceEntry::check(draft).map(drop);
        }
        match draft.kind() {
            Some("core.work.observation.v1") => check_observation(draft),
            Some(kind) if kind.starts_with("core.agent.") => {
                let message = "kinds `core.agent.*` have been replaced by `core.work.*`";
                Err(ShapeError::new("body.kind", Reason::BadValue, message))
            }
            _ => Ok(()),
        }
    }

    fn append(
        &self,
        caller: &Caller,
        draft: Draft,
        signature: Option<Signature>,
    ) -> Result<Ingested, IngestError> {
        let configures = draft.thread.is_config();
        // The keys of actors are the operator's to use. What a bearer states in their name is told
        // from what they state themselves by who signed it.
        let prepared = match signature {
            Some(signature) => {
                let record = Record::seal(draft).map_err(AppendError::from)?;
                self.prepare_signed(record, signature)?
            }
            None if caller.is_operator() => self.whole().prepare(draft)?,
            None => self.whole().prepare_in_custody(draft)?,
        };
        let (record, signed, appended) = self.whole().write(move |tx| {
            enter(tx, prepared.record())?;
            let appended = tx.append(&prepared, Origin::Door)?;
            let (record, signed) = prepared.into_parts();
            Ok::<_, AppendError>((record, signed, appended))
        })?;
        if appended.fresh {
            self.0.ingested.fetch_add(1, Ordering::Relaxed);
        }
        if configures {
            self.fold_config()?;
        }
        Ok(Ingested { record, appended, signed })
    }
}

/// Leaves a key of the body out of what is said of bytes that may have been a hook: nobody who may not
/// write one is told a word of it.
fn discreet(caller: &Caller, error: ParseError) -> ParseError {
    match error {
        ParseError::DuplicateKey { .. } if !caller.is_operator() => {
            ParseError::DuplicateKey { key: "…".into(), within: Vec::new() }
        }
        error => error,
    }
}

fn check_scope(caller: &Caller) -> Result<(), IngestError> {
    // Configuration has a scope of its own, which the gate asks for.
    if caller.may(Scope::RecordsWrite) || caller.may(Scope::ConfigWrite) {
        return Ok(());
    }
    Err(IngestError::Scope { needed: Scope::RecordsWrite })
}

/// A namespace that is none is refused with its shape, and lies nowhere that a grain names.
pub(super) fn check_bounds(caller: &Caller, draft: &Draft) -> Result<(), IngestError> {
    let namespace = draft.namespace().unwrap_or_else(|_| Namespace::root());
    check_place(caller, &draft.thread, &namespace)
}

/// Nobody speaks as somebody whom their account does not name, and only the operator as a part of
/// the instance (decision 14). What is said of it names nobody who may.
pub(super) fn check_actor(caller: &Caller, actor: &ActorId) -> Result<(), IngestError> {
    if caller.may_speak_as(actor) { Ok(()) } else { Err(IngestError::ActorClaim) }
}

/// Nobody writes outside of what their grains name. The refusal is the same whatever is there.
pub(super) fn check_place(
    caller: &Caller,
    thread: &ThreadId,
    namespace: &Namespace,
) -> Result<(), IngestError> {
    let bounds = caller.bounds(Way::Write);
    if bounds.shows(thread, namespace) { Ok(()) } else { Err(IngestError::OutOfBounds) }
}

/// The config gate. It speaks before any other word about the body, so that a caller who may not
/// write a hook learns nothing by writing a bad one.
pub(super) fn check_gate(caller: &Caller, draft: &Draft) -> Result<(), IngestError> {
    let gated = is_hook(draft) || (draft.thread.is_config() && is_gated_topic(draft));
    if gated && !caller.is_operator() {
        return Err(IngestError::ConfigWriteDenied { needed: "the operator or the scope `admin`" });
    }
    let configures = draft.thread.is_config() || draft.thread.is_namespace_registry();
    let (needed, refusal) = if configures {
        let needed = "the scope `config:write`";
        (Scope::ConfigWrite, IngestError::ConfigWriteDenied { needed })
    } else {
        (Scope::RecordsWrite, IngestError::Scope { needed: Scope::RecordsWrite })
    };
    if caller.may(needed) { Ok(()) } else { Err(refusal) }
}

/// Configuration that decides who may do what and where, or takes configuration back. Where runs
/// take place is among it: it may take a member out of the sandbox.
fn is_gated_topic(draft: &Draft) -> bool {
    let topic = draft.topic().unwrap_or_default();
    matches!(topic, PERMISSION_RULE_TOPIC | PERMISSIONS_ENABLED_TOPIC)
        || matches!(topic, TRANSPORT_TOPIC | MEMBERS_TRANSPORT_TOPIC)
        || topic.starts_with("auth_")
        || draft.kind() == Some(ERASURE_KIND)
        || draft.kind() == Some(PERMISSION_RULE_KIND)
}

/// What was read from bytes has passed this; what an embedder built has not.
pub(super) fn check_depth(draft: &Draft) -> Result<(), ParseError> {
    let limit = Limits::DOOR.depth;
    if draft.nests_within(limit) { Ok(()) } else { Err(ParseError::TooDeep { limit }) }
}

fn check_shape(draft: &Draft) -> Result<(), ShapeError> {
    draft.namespace().map(drop)
}

fn check_observation(draft: &Draft) -> Result<(), ShapeError> {
    const FIELD: &str = "body.rule";
    match draft.body.get("rule") {
        None => Err(ShapeError::missing(FIELD)),
        Some(rule) => match rule.as_str() {
            None => Err(ShapeError::wrong_type(FIELD, "a string", rule.type_name())),
            Some("") => {
                let message = "`body.rule` must name the hook that spoke";
                Err(ShapeError::new(FIELD, Reason::BadValue, message))
            }
            Some(_) => Ok(()),
        },
    }
}
