//! Decisions: what runs ask of the operator, and the answers (contract §2.9).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, flag, members, text};
use super::permit;
use super::problem::Problem;
use super::wire;
use crate::canon::Object;
use crate::engine::{AskedFor, DecisionAnswer, DecisionState, DecisionVerb, Expiry};
use crate::object;
use crate::record::{ActorId, Reason, RecordId, Sequence, ShapeError};

/// `GET /v1/decisions` and `GET /v1/governance/decisions`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let wanted = match call.query.get("state") {
        None => None,
        Some(word) => Some(
            DecisionState::parse(word)
                .ok_or_else(|| Problem::invalid("state", "`state` is `pending` or `answered`"))?,
        ),
    };
    let limit = call.query.limit()?;
    let after = Sequence::new(call.query.number("cursor")?.unwrap_or_default());
    let (rows, next) = state.engine().decisions(wanted, after, limit.rows)?;
    let thread = |asked: &AskedFor| Some(asked.thread.clone());
    let rows = permit::keep(state, call, "record_read", rows, thread)?;
    let mut list = wire::list(rows.iter().map(wire::decision_request).collect());
    if let Some(next) = next {
        list.insert("next_cursor".into(), next.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `GET /v1/decisions/{id}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let asked = state.engine().asked_for(id(call)?)?.ok_or_else(unknown)?;
    permit::about(state, call, "record_read", Some(&asked.thread))?;
    Ok(Answer::ok(wire::decision_request(&asked)))
}

/// `POST /v1/decisions/{id}/decide`
pub(super) fn decide(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    permit_answer(state, call)?;
    let request = call.json()?;
    let request = members(&request, &ANSWER)?;
    let (by, answer) = answer(request)?;
    let decided = state.engine().decide(&call.caller, &by, id(call)?, &answer)?;
    Ok(Answer::ok(wire::decision(&decided)))
}

/// Asks the permission rules about an answer, which is about the thread of its question.
fn permit_answer(state: &ApiState, call: &Call) -> Result<(), Problem> {
    if !state.engine().permissions_in_force()? {
        return Ok(());
    }
    let asked = match RecordId::parse(&call.segment) {
        Some(id) => state.engine().asked_for(id)?,
        None => None,
    };
    permit::about(state, call, "aitl_decide", asked.as_ref().map(|asked| &asked.thread))
}

/// The members of an answer to a question.
pub(super) const ANSWER: [&str; 6] =
    ["decision", "reason", "provided_value", "becomes_policy", "expires", "actor"];

/// Reads an answer to a question, and in whose name it is given.
pub(super) fn answer(request: &Object) -> Result<(ActorId, DecisionAnswer), Problem> {
    let word = text(request, "decision")?.ok_or_else(|| ShapeError::missing("decision"))?;
    let verb = match word {
        "approve" | "approved" => DecisionVerb::Approved,
        "reject" | "rejected" => DecisionVerb::Rejected,
        "provide" | "provided" => DecisionVerb::Provided,
        _ => {
            let message = "`decision` must be `approve`, `reject` or `provide`";
            return Err(ShapeError::new("decision", Reason::BadValue, message).into());
        }
    };
    let by = match text(request, "actor")? {
        None => ActorId::engine(),
        Some(actor) => {
            ActorId::parse(actor).map_err(|error| Problem::not_a_name("actor", &error))?
        }
    };
    let answer = DecisionAnswer {
        verb,
        value: text(request, "provided_value")?.map(str::to_owned),
        reason: text(request, "reason")?.map(str::to_owned),
        becomes_policy: flag(request, "becomes_policy")?,
        expires: text(request, "expires")?.map(Expiry::parse).transpose()?,
    };
    Ok((by, answer))
}

/// `POST /v1/engine/sweep`
pub(super) fn sweep(state: &ApiState, _: &Call) -> Result<Answer, Problem> {
    let swept: Vec<_> = state.engine().sweep()?.iter().map(wire::swept).collect();
    Ok(Answer::ok(object! { "object": "sweep", "swept": swept.len(), "data": swept }))
}

fn id(call: &Call) -> Result<RecordId, Problem> {
    RecordId::parse(&call.segment).ok_or_else(unknown)
}

fn unknown() -> Problem {
    Problem::missing("there is no question with this id").hint("See `GET /v1/decisions`.")
}
