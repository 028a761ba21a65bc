//! Events of sessions that agents have elsewhere, as the hooks of their harnesses send them.

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::problem::Problem;
use crate::canon::{Limits, Value, parse};
use crate::object;
use crate::session::{Envelope, Event, receive, report};

/// The shape of an event with what the command line of its hook says.
pub(super) const EVENT: &str = "SessionEvent";

/// The most bytes of one: a payload, and a little around it.
pub(super) const MAX_EVENT_BYTES: usize = 33 * 1024 * 1024;

/// `POST /v1/sessions/events`
pub(super) fn event(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let envelope = Envelope::read(&call.body)?;
    let mut event = Event::read(&envelope.payload, envelope.harness)?;
    event.decided = envelope.decided;
    let namespace = envelope.namespace.as_ref();
    let received = receive(state.engine(), &event, namespace, &envelope.attempt)?;
    if received.ended {
        // A report that could not be written is written when the session has been silent.
        if let Err(error) = report(state.engine(), &received.thread) {
            tracing::warn!(%error, thread = %received.thread, "a session was not reported");
        }
    }
    let output = match received.output {
        None => Value::Null,
        Some(text) => parse(text.as_bytes(), Limits::DOOR)
            .map_err(|error| Problem::internal(format!("an output is no JSON: {error}")))?,
    };
    Ok(Answer::ok(object! {
        "object": "session_answer",
        "output": output,
        "thread": &received.thread,
    }))
}
