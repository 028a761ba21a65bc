//! Records (contract §2.4).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::permit;
use super::problem::Problem;
use super::wire;
use crate::canon::Object;
use crate::code::Code;
use crate::engine::Ingested;
use crate::record::{Origin, RecordId};
use crate::store::{Query, Stored};

/// `POST /v1/records`
pub(super) fn create(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let ingested = state.engine().ingest(&call.caller, &call.body)?;
    if ingested.appended.fresh {
        return Ok(Answer::created(written(state, &ingested)?));
    }
    // A repeat may differ in what is not hashed; the answer is what is stored.
    let store = state.engine().store();
    let stored = store.read(|reader| reader.record(ingested.appended.id))?;
    Ok(Answer::ok(match stored {
        Some(stored) => store.shown(&stored)?,
        None => written(state, &ingested)?,
    }))
}

/// Returns a record that has just been written, as answers show it.
pub(super) fn written(state: &ApiState, ingested: &Ingested) -> Result<Object, Problem> {
    let Ingested { record, appended, signed } = ingested;
    let mut object = record.to_object();
    object.insert("sequence".into(), appended.sequence.get().into());
    state.engine().store().show_signed(
        &mut object,
        (record.actor.as_str(), Origin::Door),
        signed,
    )?;
    Ok(object)
}

/// `GET /v1/records/{id}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let stored = known(state, call)?;
    Ok(Answer::ok(state.engine().store().shown(&stored)?))
}

/// Returns the record that the path names, if the caller may read it.
pub(super) fn known(state: &ApiState, call: &Call) -> Result<Stored, Problem> {
    let stored = match RecordId::parse(&call.segment) {
        Some(id) => state.engine().store().read(|reader| reader.record(id))?,
        None => None,
    };
    let Some(stored) = stored else {
        // Whoever may read nothing does not learn either what is not there.
        permit::about(state, call, "record_read", None)?;
        return Err(Problem::missing("there is no record with this id"));
    };
    state.engine().permit_reading(&call.caller, &stored.record)?;
    Ok(stored)
}

/// `GET /v1/records`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let query = &call.query;
    let (thread, actor) = (query.get("thread"), query.get("actor"));
    let since = query.number("since")?;
    if thread.is_none() && actor.is_none() && since.is_none() {
        let message = "at least one of `thread`, `actor` and `since` must be given";
        return Err(Problem::new(Code::InvalidRequest, message)
            .hint("Ask `POST /v1/records/query` with `{\"filter\":{}}` for everything."));
    }
    let limit = query.limit()?;
    let (found, more) =
        state.engine().store().read(|reader| reader.matching(thread, actor, since, limit.rows))?;
    let capped = limit.capped || (more && found.len() < limit.rows);
    let mut list = wire::list(objects(state, &permit::keep_records(state, call, found)?)?);
    if capped {
        list.insert("capped".into(), true.into());
    }
    Ok(Answer::ok(list))
}

/// `POST /v1/records/query`
pub(super) fn query(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let query = Query::parse(&call.json()?)?;
    let page = state.engine().store().read(|reader| reader.query(&query))?;
    let mut list = wire::list(objects(state, &permit::keep_records(state, call, page.records)?)?);
    if let Some(cursor) = page.next_cursor {
        list.insert("next_cursor".into(), cursor.into());
    }
    if page.capped {
        list.insert("capped".into(), true.into());
    }
    if let Some(plan) = page.plan {
        list.insert("plan".into(), plan.into());
    }
    Ok(Answer::ok(list))
}

/// `POST /v1/records/search`
pub(super) fn search(_: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 6] = ["query", "k", "thread", "actor", "kind", "after_clock"];
    let request = call.json()?;
    let query = text(members(&request, &KNOWN)?, "query")?.unwrap_or_default();
    if query.trim().is_empty() {
        return Err(Problem::new(Code::EmptyQuery, "`query` is blank").at("query"));
    }
    Err(Problem::new(Code::SemanticSearchDisabled, "this instance has no embedder")
        .hint("Ask `POST /v1/records/query` with `$like` or `$ilike`."))
}

/// Returns records as answers show them.
pub(super) fn objects(state: &ApiState, records: &[Stored]) -> Result<Vec<Object>, Problem> {
    let store = state.engine().store();
    Ok(records.iter().map(|stored| store.shown(stored)).collect::<Result<_, _>>()?)
}
