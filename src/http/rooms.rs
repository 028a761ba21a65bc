//! Coming back to a thread, and what was noted down for whoever does (contract §6.2).

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, flag, members, text};
use super::permit;
use super::problem::Problem;
use super::records::{objects, written as shown};
use super::wire;
use crate::canon::{Object, Value};
use crate::record::{ActorId, Sequence, ShapeError};
use crate::session::{self, ATTENTION_THREAD, Checkpoint};

/// `GET /v1/threads/{id}/resume` and `POST /v1/threads/{id}/resume`
pub(super) fn resume(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    if !call.body.is_empty() {
        members(&call.json()?, &[])?;
    }
    let engine = state.engine();
    if call.segment == ATTENTION_THREAD {
        return Ok(Answer::ok(session::reentry(engine)?));
    }
    let room = session::find_room(engine, &call.segment)?;
    let room = room.ok_or_else(|| {
        Problem::missing("no thread, or more than one, has a name that begins like this")
            .hint("See `GET /v1/threads`.")
    })?;
    // The rules were asked about the name as it was given, which may be but its beginning.
    permit::about(state, call, "thread_read", Some(&room))?;
    Ok(Answer::ok(session::brief(engine, &room)?))
}

/// `GET /v1/threads/{id}/checkpoints`
pub(super) fn checkpoints(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let limit = call.query.limit()?;
    let before = call.query.number("cursor")?.map(Sequence::new);
    let mut found = state
        .engine()
        .store()
        .read(|reader| reader.checkpoints(Some(&thread), before, limit.rows + 1))?;
    let more = found.len() > limit.rows;
    found.truncate(limit.rows);
    let mut list = wire::list(objects(state, &found)?);
    if let Some(last) = found.last().filter(|_| more) {
        list.insert("next_cursor".into(), last.sequence.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `POST /v1/threads/{id}/checkpoint`
pub(super) fn checkpoint(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 7] =
        ["actor", "draft", "learnings", "next_steps", "reason", "session_id", "summary"];
    let thread = call.thread()?;
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let actor = text(request, "actor")?.ok_or_else(|| ShapeError::missing("actor"))?;
    let actor = ActorId::parse(actor).map_err(|error| Problem::not_a_name("actor", &error))?;
    let owned = |field: &str| Ok::<_, Problem>(text(request, field)?.map(str::to_owned));
    let mut checkpoint = Checkpoint {
        summary: owned("summary")?.unwrap_or_default(),
        learnings: learnings(request)?,
        next_steps: owned("next_steps")?.unwrap_or_default(),
        session_id: owned("session_id")?,
        reason: owned("reason")?,
        derived: None,
    };
    if flag(request, "draft")? {
        checkpoint = checkpoint.drafted(state.engine(), &thread)?;
    }
    let written = checkpoint.write(state.engine(), &call.caller, &actor, &thread)?;
    Ok(Answer::created(shown(state, &written)?))
}

fn learnings(request: &Object) -> Result<Vec<String>, ShapeError> {
    let wrong =
        |value: &Value| ShapeError::wrong_type("learnings", "a list of strings", value.type_name());
    match request.get("learnings") {
        None => Ok(Vec::new()),
        Some(Value::Array(learnings)) => learnings
            .iter()
            .map(|learning| learning.as_str().map(str::to_owned).ok_or_else(|| wrong(learning)))
            .collect(),
        Some(other) => Err(wrong(other)),
    }
}
