//! Erasure: records that are marked, and the words of those that are purged.
//!
//! Comes in: a `core.erasure`, through the records door or from here. Goes out: marks that folds
//! pass over; with a purge, rows without their words and a file in which nothing is left of them.
//!
//! To erase a record takes what writing it would take: the same checks are asked about the record
//! that is erased. What the engine wrote, or somebody imported, the operator alone erases. Nobody
//! erases an erasure: it is the evidence.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::author::Author;
use super::door::{check_actor, check_gate};
use super::{Caller, Engine, IngestError, Scope, Way};
use crate::canon::Value;
use crate::object;
use crate::record::{
    Act, ActorId, Draft, ERASURE_KIND, Namespace, NamespaceEntry, Origin, Reason, RecordId,
    ShapeError, ThreadId,
};
use crate::store::Stored;
use crate::time::Timestamp;

/// The most records that one erasure names.
const MAX_ERASED: usize = 1000;

/// The thread whose records name the keys of actors.
const ACTOR_REGISTRY: &str = "th_actor_registry";

/// The field that says since when.
const AT: &str = "body.effective_at";

/// The field that names what is erased.
const ERASES: &str = "body.erases";

/// What the operator wants erased.
#[derive(Debug, Clone)]
pub struct ErasureRequest {
    /// The records.
    pub erases: Vec<RecordId>,
    /// Why.
    pub reason: String,
    /// Who has decided it; whoever states it, if nobody else has.
    pub authorized_by: Option<ActorId>,
    /// Who states it.
    pub actor: ActorId,
    /// Whether their words are to be taken out of the store as well.
    pub purge: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Erasure {
    /// Each record, as it is now.
    pub records: Vec<Stored>,
    /// Whether nothing of the words of those that were purged is left in the file; `None` if none
    /// was to be.
    pub scrubbed: Option<bool>,
    /// Files of this home that still hold them: copies of the store from before a migration, and
    /// transcripts of the sessions that the records are of.
    pub remains: Vec<PathBuf>,
}

impl Engine {
    /// Erases records: one `core.erasure` on each thread that they stand on, all in one commit.
    /// Those that were erased before are not erased again, but purged if that is asked for.
    pub fn erase(&self, caller: &Caller, request: &ErasureRequest) -> Result<Erasure, IngestError> {
        check_operator(caller)?;
        let targets = self.targets(&request.erases)?;
        let drafts = self.drafts(&targets, request)?;
        for draft in &drafts {
            self.admit(caller, draft)?;
        }
        let configures = drafts.iter().any(|draft| draft.thread.is_config());
        let (ids, purge) = (request.erases.clone(), request.purge);
        self.whole().write(move |tx| {
            for draft in drafts {
                Author::over(tx).state(draft)?;
            }
            for id in ids.into_iter().filter(|_| purge) {
                tx.purge(id)?;
            }
            Ok::<_, IngestError>(())
        })?;
        if configures {
            self.fold_config()?;
        }
        let scrubbed = purge.then(|| self.scrub());
        let remains = if purge { self.remains(&targets) } else { Vec::new() };
        Ok(Erasure { records: self.targets(&request.erases)?, scrubbed, remains })
    }

    fn scrub(&self) -> bool {
        self.whole().scrub().unwrap_or_else(|error| {
            // The words are gone from every row; that they are still in the file is said.
            tracing::warn!(%error, "the store could not be rewritten after a purge");
            false
        })
    }

    /// Checks a draft that erases others, if it is one (contract §3.1).
    pub(super) fn check_erasure(&self, caller: &Caller, draft: &Draft) -> Result<(), IngestError> {
        if draft.kind() != Some(ERASURE_KIND) {
            return Ok(());
        }
        if draft.act != Act::Put {
            let message = format!("the `act` of an erasure is `PUT`, not `{}`", draft.act);
            return Err(ShapeError::new("act", Reason::BadValue, message).into());
        }
        for id in erases(draft)? {
            let target = self.whole().read(|reader| reader.record(id))?;
            // Of what stands elsewhere nothing is said, not even that it is there.
            let target = target.filter(|target| is_in_bounds(caller, target));
            check_target(caller, draft, &target.ok_or_else(|| missing(id))?)?;
        }
        Ok(check_words(draft)?)
    }

    /// Returns the erasures of what is not erased yet. Each stands in the namespace of what it erases;
    /// in the root where that takes no records any more, or never did: what is in it can go still.
    fn drafts(
        &self,
        targets: &[Stored],
        request: &ErasureRequest,
    ) -> Result<Vec<Draft>, IngestError> {
        let place =
            |target: &Stored| target.record.namespace().unwrap_or_else(|_| Namespace::root());
        let placed = self.whole().read(|reader| {
            let targets = targets.iter().filter(|target| target.erased.is_none());
            let placed = targets.map(|target| {
                let namespace = place(target);
                let open = reader.rejects(&namespace)?.is_none();
                Ok((if open { namespace } else { Namespace::root() }, target))
            });
            placed.collect::<Result<Vec<_>, _>>()
        })?;
        Ok(drafts(&placed, request, self.whole().now()))
    }

    fn targets(&self, ids: &[RecordId]) -> Result<Vec<Stored>, IngestError> {
        self.whole()
            .read(|reader| {
                let find = |id: &RecordId| {
                    let found = reader.record(*id)?;
                    Ok(found.ok_or_else(|| bad(format!("there is no record {id} to erase"))))
                };
                ids.iter().map(find).collect::<Result<Result<Vec<_>, _>, _>>()
            })?
            .map_err(IngestError::from)
    }

    /// Returns the files of the home that hold what was purged, whatever became of the store.
    fn remains(&self, targets: &[Stored]) -> Vec<PathBuf> {
        let Some(home) = self.home() else { return Vec::new() };
        let mut remains = self.whole().path().map(copies_of).unwrap_or_default();
        for target in targets {
            remains
                .extend(home.transcript_path(&target.record.thread).filter(|path| path.is_file()));
        }
        remains.sort();
        remains.dedup();
        remains
    }
}

/// Only the operator purges, exports, imports and adopts.
pub(super) fn check_operator(caller: &Caller) -> Result<(), IngestError> {
    if caller.is_operator() { Ok(()) } else { Err(IngestError::Scope { needed: Scope::Admin }) }
}

/// Returns the erasures of what is not erased yet: one for each thread and namespace.
fn drafts(
    targets: &[(Namespace, &Stored)],
    request: &ErasureRequest,
    now: Timestamp,
) -> Vec<Draft> {
    let mut groups: BTreeMap<(&ThreadId, Namespace), Vec<RecordId>> = BTreeMap::new();
    for (namespace, target) in targets {
        let namespace = namespace.clone();
        let group = groups.entry((&target.record.thread, namespace)).or_default();
        if !group.contains(&target.record.id()) {
            group.push(target.record.id());
        }
    }
    let by = request.authorized_by.as_ref().unwrap_or(&request.actor);
    let draft = |((thread, namespace), ids): ((&ThreadId, Namespace), Vec<RecordId>)| {
        let mut body = object! {
            "authorized_by": by,
            "effective_at": now.to_string(),
            "erases": ids,
            "kind": ERASURE_KIND,
            "reason": request.reason.as_str(),
        };
        if namespace != Namespace::root() {
            body.insert("namespace".into(), namespace.as_str().into());
        }
        Draft::new(thread.clone(), request.actor.clone(), Act::Put, body)
    };
    groups.into_iter().map(draft).collect()
}

/// Returns what a draft erases. Each must be an id: what is none would erase nothing.
fn erases(draft: &Draft) -> Result<Vec<RecordId>, ShapeError> {
    let listed = match draft.body.get("erases") {
        None => return Err(ShapeError::missing(ERASES)),
        Some(Value::Array(listed)) => listed.as_slice(),
        Some(one) => std::slice::from_ref(one),
    };
    if listed.is_empty() || listed.len() > MAX_ERASED {
        return Err(bad(format!("`{ERASES}` must name 1 to {MAX_ERASED} records")));
    }
    let id = |value: &Value| value.as_str().and_then(RecordId::parse);
    let ids: Option<Vec<RecordId>> = listed.iter().map(id).collect();
    ids.ok_or_else(|| bad(format!("`{ERASES}` must be record ids: 64 lower-case hex characters")))
}

fn missing(id: RecordId) -> ShapeError {
    bad(format!("there is no record {id} to erase"))
}

fn is_in_bounds(caller: &Caller, target: &Stored) -> bool {
    let namespace = target.record.namespace().unwrap_or_else(|_| Namespace::root());
    caller.bounds(Way::Write).shows(&target.record.thread, &namespace)
}

fn bad(message: String) -> ShapeError {
    ShapeError::new(ERASES, Reason::BadValue, message)
}

/// Asks about the record that is erased what is asked of whoever would write it.
fn check_target(caller: &Caller, draft: &Draft, target: &Stored) -> Result<(), IngestError> {
    let record = &target.record;
    let theirs = target.origin != Origin::Door || target.is_purged();
    if theirs && !caller.is_operator() {
        return Err(IngestError::Scope { needed: Scope::Admin });
    }
    check_actor(caller, &record.actor)?;
    check_gate(caller, record)?;
    if record.kind() == Some(ERASURE_KIND) {
        return Err(bad(format!("{} is an erasure, and stands", record.id())).into());
    }
    if is_registered(target) {
        let message =
            format!("what `{}` registers is taken back by its own command", record.thread);
        return Err(bad(message).into());
    }
    if record.thread.is_config() && !draft.thread.is_config() {
        let message = format!("what stands on `{}` is erased there", record.thread);
        return Err(ShapeError::new("thread", Reason::BadValue, message).into());
    }
    Ok(())
}

/// Tells whether a table follows from a record, which no erasure changes: an entry of the registry of
/// namespaces, or the naming of a key, without which what it has signed could not be checked.
fn is_registered(target: &Stored) -> bool {
    let names_a_key = target.record.thread.as_str() == ACTOR_REGISTRY;
    (names_a_key && target.origin == Origin::Engine)
        || (target.origin != Origin::Import && NamespaceEntry::is_meant(&target.record))
}

/// Checks what an erasure says beside what it erases.
fn check_words(draft: &Draft) -> Result<(), ShapeError> {
    for (name, field) in [("reason", "body.reason"), ("authorized_by", "body.authorized_by")] {
        if let Some(other) = draft.body.get(name).filter(|value| value.as_str().is_none()) {
            return Err(ShapeError::wrong_type(field, "a string", other.type_name()));
        }
    }
    match draft.body.get("effective_at") {
        None => Ok(()),
        Some(Value::String(at)) if Timestamp::parse(at).is_some() => Ok(()),
        Some(Value::String(_)) => {
            let message = format!("`{AT}` must be a time such as `2026-11-30T13:37:00Z`");
            Err(ShapeError::new(AT, Reason::BadValue, message))
        }
        Some(other) => Err(ShapeError::wrong_type(AT, "a string", other.type_name())),
    }
}

/// Returns the copies of a store from before its migrations.
fn copies_of(store: &Path) -> Vec<PathBuf> {
    let Some(name) = store.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let begins = format!("{name}.before-v");
    let entries = store.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten();
    let copy = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.starts_with(&begins))
    };
    files.filter(copy).map(|entry| entry.path()).collect()
}
