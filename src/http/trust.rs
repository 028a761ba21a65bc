//! Trust, and the verdicts it rests on (contract §2.9, §8).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::wire;
use crate::engine::{MAX_NOTES_CHARS, Review};
use crate::object;
use crate::record::{ActorId, Reason, ShapeError};

/// `GET /v1/trust` and `GET /v1/governance/trust`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let (actor, domain) = (call.query.get("actor"), call.query.get("domain"));
    Ok(Answer::ok(wire::list(state.engine().trust_rows(actor, domain)?)))
}

/// `GET /v1/governance/trust/{actor}/{domain}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let actor = actor(&call.segment)?;
    Ok(Answer::ok(state.engine().trust_in(&actor, &call.second)?))
}

/// `POST /v1/work/loop/{id}/review`
pub(super) fn review(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 4] = ["verdict", "actor", "domain", "notes"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let verdict = text(request, "verdict")?.ok_or_else(|| ShapeError::missing("verdict"))?;
    let accepts = match verdict {
        "accept" => true,
        "reject" => false,
        _ => return Err(bad("verdict", "`verdict` must be `accept` or `reject`".into())),
    };
    let domain = text(request, "domain")?;
    if domain.is_some_and(|domain| domain.is_empty() || domain.chars().any(char::is_control)) {
        let message = "`domain` must be a word, without control characters";
        return Err(bad("domain", message.into()));
    }
    let notes = text(request, "notes")?;
    if notes.is_some_and(|notes| notes.chars().count() > MAX_NOTES_CHARS) {
        return Err(bad("notes", format!("`notes` must be at most {MAX_NOTES_CHARS} characters")));
    }
    let by = actor(text(request, "actor")?.ok_or_else(|| ShapeError::missing("actor"))?)?;
    let review =
        Review { accepts, domain: domain.map(str::to_owned), notes: notes.map(str::to_owned) };
    let thread = call.thread()?;
    let reviewed = state.engine().review(&call.caller, &by, &thread, &review)?;
    Ok(Answer::created(object! {
        "actor": &reviewed.actor,
        "counted": reviewed.counted,
        "domain": reviewed.domain.as_str(),
        "evaluator": &by,
        "object": "loop_review",
        "record_id": reviewed.record,
        "samples": reviewed.standing.count,
        "score": reviewed.standing.shown_score(),
        "thread": &thread,
        "verdict": verdict,
    }))
}

/// `GET /v1/work/compensation/review`
pub(super) fn compensations(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let limit = call.query.limit()?;
    let after = crate::record::Sequence::new(call.query.number("cursor")?.unwrap_or_default());
    let (rows, next) = state.engine().compensations(after, limit.rows)?;
    let mut list = wire::list(rows);
    if let Some(next) = next {
        list.insert("next_cursor".into(), next.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `GET /v1/work/compensation/review/top`
pub(super) fn compensation_counts(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::ok(wire::list(state.engine().compensation_counts()?)))
}

fn actor(text: &str) -> Result<ActorId, Problem> {
    ActorId::parse(text).map_err(|error| Problem::not_a_name("actor", &error))
}

fn bad(field: &str, message: String) -> Problem {
    ShapeError::new(field, Reason::BadValue, message).into()
}
