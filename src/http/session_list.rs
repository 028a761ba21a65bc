//! Captured sessions: a list of them, and one (contract §6.1).

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::permit;
use super::problem::Problem;
use super::wire;
use crate::canon::Object;
use crate::record::{Sequence, ThreadId};
use crate::session::{self, SessionRange, SessionState};

/// `GET /v1/sessions`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let query = &call.query;
    let wanted = query.get("state").map(|word| {
        SessionState::parse(word)
            .ok_or_else(|| Problem::invalid("state", "`state` is `open`, `ended` or `idle`"))
    });
    let agents = match query.get("agents") {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Problem::invalid("agents", "`agents` is `true` or `false`")),
    };
    let range = SessionRange {
        before: query.number("cursor")?.map(Sequence::new),
        harness: query.get("harness").map(str::to_owned),
        state: wanted.transpose()?,
        agents,
    };
    let limit = query.limit()?;
    let (rows, next) = session::sessions(state.engine(), &range, limit.rows)?;
    let thread = |row: &Object| ThreadId::parse(row.get("thread")?.as_str()?).ok();
    let mut list = wire::list(permit::keep(state, call, "thread_read", rows, thread)?);
    if let Some(next) = next {
        list.insert("next_cursor".into(), next.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `GET /v1/sessions/{thread}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let found = session::session(state.engine(), &call.thread()?)?;
    Ok(Answer::ok(found.ok_or_else(unknown)?))
}

/// Returns the problem of a thread that is no session's.
pub(super) fn unknown() -> Problem {
    Problem::missing("there is no session on this thread").hint("See `GET /v1/sessions`.")
}
