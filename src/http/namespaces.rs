//! Namespaces: which there are, and what becomes of one (contract §1.11).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::canon::Object;
use crate::engine::Way;
use crate::object;
use crate::record::{Namespace, NamespaceStatus, ShapeError, ThreadId};
use crate::store::NamespaceRow;

/// `GET /v1/namespaces`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let wanted = match call.query.get("status") {
        None => None,
        Some(word) => Some(NamespaceStatus::parse(word).ok_or_else(|| {
            Problem::invalid("status", "`status` must be active, archived or deleted")
        })?),
    };
    let is_wanted = |status: NamespaceStatus| match wanted {
        Some(wanted) => status == wanted,
        None => status != NamespaceStatus::Deleted,
    };
    let root = is_wanted(NamespaceStatus::Active).then(root);
    let others = state.engine().namespaces()?;
    // Whoever reads in a few places is shown those.
    let registry = ThreadId::namespace_registry();
    let bounds = call.caller.bounds(Way::Read);
    let is_shown =
        |row: &&NamespaceRow| is_wanted(row.status) && bounds.shows(&registry, &row.namespace);
    let others = others.iter().filter(is_shown).map(object_of);
    Ok(Answer::ok(wire::list(root.into_iter().chain(others).collect())))
}

/// `POST /v1/namespaces`
pub(super) fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let id = text(members(&request, &["id"])?, "id")?.ok_or_else(|| ShapeError::missing("id"))?;
    let namespace = parse(id)?;
    let change = state.engine().set_namespace(&call.caller, &namespace, NamespaceStatus::Active)?;
    let object = object_of(&change.row);
    Ok(if change.fresh { Answer::created(object) } else { Answer::ok(object) })
}

/// `POST /v1/namespaces/{id}/archive`
pub(super) fn archive(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    set(state, call, NamespaceStatus::Archived)
}

/// `DELETE /v1/namespaces/{id}`
pub(super) fn delete(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    set(state, call, NamespaceStatus::Deleted)
}

fn set(state: &ApiState, call: &Call, status: NamespaceStatus) -> Result<Answer, Problem> {
    let change = state.engine().set_namespace(&call.caller, &parse(&call.segment)?, status)?;
    Ok(Answer::ok(object_of(&change.row)))
}

fn parse(id: &str) -> Result<Namespace, Problem> {
    Namespace::parse(id).map_err(|error| Problem::not_a_name("id", &error))
}

fn root() -> Object {
    let (namespace, status) = (Namespace::root(), NamespaceStatus::Active);
    object_of(&NamespaceRow { namespace, status, open: true, entry: None })
}

fn object_of(row: &NamespaceRow) -> Object {
    object! {
        "changed_at": row.entry.map(|(_, at)| at.to_string()),
        "id": &row.namespace,
        "level": row.namespace.level(),
        "object": "namespace",
        "open": row.open,
        "record_id": row.entry.map(|(record, _)| record),
        "status": row.status.as_str(),
    }
}
