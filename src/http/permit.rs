//! What stands in front of a route beside the scopes: the permission rules; and what a refusal
//! leaves behind.

use axum::http::{HeaderMap, HeaderValue};

use super::ApiState;
use super::access;
use super::call::Call;
use super::endpoint::{Endpoint, Needs};
use super::problem::Problem;
use crate::canon::{Limits, Object, Value, parse};
use crate::code::{Class, Code};
use crate::engine::{Caller, Denial, IngestError, Request};
use crate::record::ThreadId;
use crate::store::Stored;

/// The operations that ask for themselves, since only they know what they are about: the records
/// door sees the draft, reading one record sees that record, and a question is on a thread.
const ASKS_ITSELF: [&str; 5] =
    ["create_checkpoint", "create_record", "decide", "find_record", "prove_record"];

/// The beginnings of paths whose first open segment is a thread.
const OF_A_THREAD: [&str; 4] = ["/v1/runs/{", "/v1/sessions/{", "/v1/threads/{", "/v1/work/loop/{"];

/// Asks the permission rules about a request, before its route sees it. May ask the store.
pub(super) fn check(state: &ApiState, endpoint: &Endpoint, call: &Call) -> Result<(), Problem> {
    match endpoint.resource {
        Some(resource) if !ASKS_ITSELF.contains(&endpoint.name) => {
            if !state.engine().permissions_in_force()? {
                return Ok(());
            }
            // What is not JSON is long, and says nothing that a rule could read.
            let json = endpoint.takes.is_some() && endpoint.media() == "application/json";
            let body = if json { body(call) } else { Object::new() };
            let thread = thread(endpoint, call);
            let request = Request { resource, thread: thread.as_ref(), body: &body };
            Ok(state.engine().permit(&call.caller, &request)?)
        }
        _ => Ok(()),
    }
}

/// Asks them about something that only the route finds out a request to be about.
pub(super) fn about(
    state: &ApiState,
    call: &Call,
    resource: &str,
    thread: Option<&ThreadId>,
) -> Result<(), Problem> {
    if !state.engine().permissions_in_force()? {
        return Ok(());
    }
    let request = Request { resource, thread, body: &body(call) };
    Ok(state.engine().permit(&call.caller, &request)?)
}

/// Leaves out of a list over many threads the rows of those that the rules do not let its reader ask
/// for.
pub(super) fn keep<T>(
    state: &ApiState,
    call: &Call,
    resource: &str,
    rows: Vec<T>,
    thread_of: impl Fn(&T) -> Option<ThreadId>,
) -> Result<Vec<T>, Problem> {
    let body = Object::new();
    kept(state, rows, |row| {
        let thread = thread_of(row);
        let request = Request { resource, thread: thread.as_ref(), body: &body };
        state.engine().permit(&call.caller, &request)
    })
}

/// Leaves out of a list the records that the rules do not let its reader ask for.
pub(super) fn keep_records(
    state: &ApiState,
    call: &Call,
    records: Vec<Stored>,
) -> Result<Vec<Stored>, Problem> {
    kept(state, records, |stored| state.engine().permit_reading(&call.caller, &stored.record))
}

fn kept<T>(
    state: &ApiState,
    rows: Vec<T>,
    ask: impl Fn(&T) -> Result<(), IngestError>,
) -> Result<Vec<T>, Problem> {
    if !state.engine().permissions_in_force()? {
        return Ok(rows);
    }
    let mut kept = Vec::with_capacity(rows.len());
    for row in rows {
        match ask(&row) {
            Ok(()) => kept.push(row),
            Err(IngestError::PermissionDenied { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(kept)
}

/// Returns the thread that a request names: in its path, else as a parameter.
fn thread(endpoint: &Endpoint, call: &Call) -> Option<ThreadId> {
    let of_a_thread = OF_A_THREAD.iter().any(|beginning| endpoint.path.starts_with(beginning));
    let named = if of_a_thread { Some(&*call.segment) } else { call.query.get("thread") };
    ThreadId::parse(named?).ok()
}

/// Returns what a request says; nothing, if its route is about to refuse it.
fn body(call: &Call) -> Object {
    match parse(&call.body, Limits::DOOR) {
        Ok(Value::Object(body)) => body,
        _ => Object::new(),
    }
}

/// Returns whom the maker of a request claims to act for.
pub(super) fn claim(headers: &HeaderMap) -> Option<HeaderValue> {
    headers.get(access::ACTOR).cloned()
}

/// Tells the engine of a request that was refused, if it is known who made it.
pub(super) fn note(
    state: &ApiState,
    endpoint: &Endpoint,
    caller: &Caller,
    claim: Option<&HeaderValue>,
    problem: &Problem,
) {
    let code = problem.code();
    if matches!(endpoint.needs, Needs::Nothing | Needs::Bootstrap) || !is_denial(code) {
        return;
    }
    let actor = claim.and_then(|claim| claim.to_str().ok());
    let (caller, resource) = (caller.name(), endpoint.resource);
    state.engine().note_denial(&Denial { caller, code, resource, actor });
}

/// Tells it of a caller who claims an actor that is not theirs to claim.
pub(super) fn note_claim(state: &ApiState, caller: &str, claim: &HeaderValue) {
    let (code, actor) = (Code::DidClaimDenied, claim.to_str().ok());
    state.engine().note_denial(&Denial { caller, code, resource: None, actor });
}

/// Tells whether a code says that somebody may not. That a day's runs are used up says no such
/// thing.
fn is_denial(code: Code) -> bool {
    const USED_UP: [Code; 2] = [Code::WorkDailyCapExceeded, Code::WorkDailyCountExceeded];
    code.class() == Class::Refused && !USED_UP.contains(&code)
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::{Method, endpoints};
    use super::*;

    /// A new route is a line here, or the open door that it is.
    #[test]
    fn each_route_has_its_resource() {
        let mut table = String::new();
        for endpoint in endpoints() {
            let method = match endpoint.method {
                Method::Get => "GET",
                Method::Post => "POST",
                Method::Delete => "DELETE",
            };
            let resource = endpoint.resource.unwrap_or("-");
            table.push_str(&format!("{resource:<14} {method:<6} {}\n", endpoint.path));
        }
        insta::assert_snapshot!(table);
    }

    #[test]
    fn what_asks_for_itself_is_there() {
        for name in ASKS_ITSELF {
            assert!(endpoints().any(|it| it.name == name && it.resource.is_some()), "{name}");
        }
        for beginning in OF_A_THREAD {
            assert!(endpoints().any(|it| it.path.starts_with(beginning)), "{beginning}");
        }
    }

    /// Who is not asked for a name has none that a rule could speak of.
    #[test]
    fn what_is_open_to_everybody_is_judged_by_no_rule() {
        for endpoint in
            endpoints().filter(|it| matches!(it.needs, Needs::Nothing | Needs::Bootstrap))
        {
            assert_eq!(endpoint.resource, None, "{}", endpoint.path);
        }
    }
}
