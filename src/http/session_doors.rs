//! Telling of a session step by step, for whoever has no harness to do so (contract §6.1). Each step
//! becomes the event that the session's harness would have sent.

use super::ApiState;
use super::answer::Answer;
use super::call::{Call, members, text};
use super::problem::Problem;
use super::session_list::unknown;
use crate::canon::{Limits, Object, Value, hash_of, hex, parse};
use crate::engine::Engine;
use crate::hook;
use crate::identity::random_bytes;
use crate::object;
use crate::record::{Namespace, Reason, ShapeError, ThreadId};
use crate::session::{
    self, Agent, Event, Harness, Moment, Received, Status, ToolCall, canonical_tool,
};

/// The most bytes of a body here: a transcript.
pub(super) const MAX_TRANSCRIPT_BYTES: usize = session::MAX_TRANSCRIPT_BYTES;

/// `POST /v1/sessions/start`
pub(super) fn start(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 10] = [
        "agent_id",
        "agent_type",
        "attempt",
        "cwd",
        "harness",
        "model",
        "namespace",
        "session_id",
        "source",
        "transcript_path",
    ];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let name = needed(request, "harness")?;
    let harness = Harness::parse(name).ok_or_else(|| {
        let known = Harness::ALL.map(Harness::name).join(", ");
        ShapeError::new("harness", Reason::BadValue, format!("`harness` must be one of {known}"))
    })?;
    let namespace = text(request, "namespace")?.map(Namespace::parse).transpose();
    let namespace = namespace.map_err(|error| Problem::not_a_name("namespace", &error))?;
    let owned = |field: &str| Ok::<_, Problem>(text(request, field)?.map(str::to_owned));
    let kind = owned("agent_type")?;
    let agent = owned("agent_id")?.map(|id| Agent { id, kind });
    let moment = match &agent {
        None => Moment::Started { source: owned("source")? },
        Some(_) => Moment::AgentStarted,
    };
    let event = Event {
        cwd: owned("cwd")?,
        model: owned("model")?,
        transcript_path: owned("transcript_path")?,
        ..event(call, harness, needed(request, "session_id")?, agent, moment)
    };
    answer(&tell(state, &event, namespace.as_ref(), request)?)
}

/// `POST /v1/sessions/{thread}/tool`
pub(super) fn tool(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    const KNOWN: [&str; 7] = ["args", "attempt", "call_id", "content", "status", "tool", "turn"];
    let request = call.json()?;
    let request = members(&request, &KNOWN)?;
    let status = match needed(request, "status")? {
        "ok" => Status::Ok,
        "error" => Status::Error,
        _ => {
            let message = "`status` must be `ok` or `error`";
            return Err(ShapeError::new("status", Reason::BadValue, message).into());
        }
    };
    let args = match request.get("args") {
        None | Some(Value::Null) => Object::new(),
        Some(Value::Object(args)) => args.clone(),
        Some(other) => {
            return Err(ShapeError::wrong_type("args", "an object", other.type_name()).into());
        }
    };
    let tool = needed(request, "tool")?;
    let moment = Moment::Returned(ToolCall {
        call_id: needed(request, "call_id")?.to_owned(),
        canonical: canonical_tool(tool),
        tool: tool.to_owned(),
        args,
        status,
        content: hook::head(text(request, "content")?.unwrap_or_default()).to_owned(),
    });
    step(state, call, request, moment)
}

/// `POST /v1/sessions/{thread}/turn`
pub(super) fn turn(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let request = members(&request, &["attempt", "failed", "text", "turn"])?;
    let owned = |field: &str| Ok::<_, Problem>(text(request, field)?.map(str::to_owned));
    let moment = Moment::TurnEnded { text: owned("text")?, failed: owned("failed")? };
    step(state, call, request, moment)
}

/// `POST /v1/sessions/{thread}/end`
pub(super) fn end(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let request = call.json()?;
    let request = members(&request, &["attempt", "reason", "text"])?;
    let owned = |field: &str| Ok::<_, Problem>(text(request, field)?.map(str::to_owned));
    let thread = call.thread()?;
    let (harness, session_id, agent) = known(state.engine(), &thread)?;
    let moment = match &agent {
        None => Moment::Ended { reason: owned("reason")? },
        Some(_) => Moment::AgentStopped { text: owned("text")? },
    };
    let event = event(call, harness, &session_id, agent, moment);
    let received = tell(state, &event, None, request)?;
    session::report(state.engine(), &thread)?;
    answer(&received)
}

/// `POST /v1/sessions/{thread}/retain`
pub(super) fn retain(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let retained = session::retain(state.engine(), &thread, &call.body)?;
    Ok(Answer::created(object! {
        "bytes": retained.kept.bytes,
        "masked": retained.masked,
        "object": "retained_transcript",
        "path": retained.path.display().to_string(),
        "record_id": retained.record,
        "sha256": retained.kept.sha256,
        "thread": &thread,
    }))
}

/// `DELETE /v1/sessions/{thread}/source`
pub(super) fn forget(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let forgotten = session::forget(state.engine(), &thread)?;
    Ok(Answer::ok(object! {
        "forgotten": forgotten.deleted || forgotten.record.is_some(),
        "object": "forgotten_transcript",
        "record_id": forgotten.record,
        "remains": object! {
            "records": forgotten.records,
            "source": forgotten.source.as_deref(),
        },
        "sha256": forgotten.kept.map(|kept| kept.sha256),
        "thread": &thread,
    }))
}

/// Tells of one step of a session that is known.
fn step(
    state: &ApiState,
    call: &Call,
    request: &Object,
    moment: Moment,
) -> Result<Answer, Problem> {
    let (harness, session_id, agent) = known(state.engine(), &call.thread()?)?;
    let turn = text(request, "turn")?.map(str::to_owned);
    let event = Event { turn, ..event(call, harness, &session_id, agent, moment) };
    answer(&tell(state, &event, None, request)?)
}

/// Returns whose session a thread is: what its charter says.
fn known(engine: &Engine, thread: &ThreadId) -> Result<(Harness, String, Option<Agent>), Problem> {
    let charter = engine.store().read(|reader| match reader.session(thread)? {
        Some(row) => reader.record(row.charter),
        None => Ok(None),
    })?;
    let charter = charter.ok_or_else(unknown)?;
    let said = |name: &str| charter.record.body.get(name).and_then(Value::as_str);
    let harness = said("harness").and_then(Harness::parse).ok_or_else(unknown)?;
    let session_id = said("session_id").ok_or_else(unknown)?.to_owned();
    let kind = said("agent_type").map(str::to_owned);
    let agent = said("agent_id").map(|id| Agent { id: id.to_owned(), kind });
    Ok((harness, session_id, agent))
}

fn event(
    call: &Call,
    harness: Harness,
    session_id: &str,
    agent: Option<Agent>,
    moment: Moment,
) -> Event {
    Event {
        harness,
        session_id: session_id.to_owned(),
        agent,
        name: name_of(harness, &moment).to_owned(),
        moment,
        turn: None,
        cwd: None,
        model: None,
        transcript_path: None,
        digest: hash_of(&[&call.body]),
        rest: Object::new(),
        deaf: false,
        decided: None,
    }
}

/// Returns what a harness calls an event.
const fn name_of(harness: Harness, moment: &Moment) -> &'static str {
    let failed = match moment {
        Moment::Returned(call) => matches!(call.status, Status::Error),
        Moment::TurnEnded { failed, .. } => failed.is_some(),
        _ => false,
    };
    match (harness, moment) {
        (Harness::Copilot, Moment::Started { .. }) => "sessionStart",
        (Harness::Copilot, Moment::Returned(_)) if failed => "postToolUseFailure",
        (Harness::Copilot, Moment::Returned(_)) => "postToolUse",
        (Harness::Copilot, Moment::TurnEnded { .. }) => "agentStop",
        (Harness::Copilot, Moment::AgentStarted) => "subagentStart",
        (Harness::Copilot, Moment::AgentStopped { .. }) => "subagentStop",
        (Harness::Copilot, Moment::Ended { .. }) => "sessionEnd",
        (Harness::Opencode, Moment::Started { .. } | Moment::AgentStarted) => "session.created",
        (Harness::Opencode, Moment::Returned(_)) => "tool.execute.after",
        (Harness::Opencode, Moment::TurnEnded { .. } | Moment::AgentStopped { .. }) => {
            "session.idle"
        }
        (Harness::Opencode, Moment::Ended { .. }) => "session.deleted",
        (Harness::Gemini, Moment::Returned(_)) => "AfterTool",
        (Harness::Gemini, Moment::TurnEnded { .. }) => "AfterAgent",
        (Harness::Codex, Moment::Returned(_)) => "PostToolUse",
        (_, Moment::Returned(_)) if failed => "PostToolUseFailure",
        (_, Moment::Returned(_)) => "PostToolUse",
        (_, Moment::TurnEnded { .. }) if failed => "StopFailure",
        (_, Moment::TurnEnded { .. }) => "Stop",
        (_, Moment::AgentStarted) => "SubagentStart",
        (_, Moment::AgentStopped { .. }) => "SubagentStop",
        (_, Moment::Started { .. }) => "SessionStart",
        (_, Moment::Ended { .. }) => "SessionEnd",
        (_, Moment::Prompted { .. }) => "UserPromptSubmit",
        (_, Moment::Other) => "Other",
    }
}

fn tell(
    state: &ApiState,
    event: &Event,
    namespace: Option<&Namespace>,
    request: &Object,
) -> Result<Received, Problem> {
    let attempt = match text(request, "attempt")? {
        Some(attempt) => attempt.to_owned(),
        None => hex(&random_bytes::<8>().map_err(|error| Problem::internal(error.to_string()))?),
    };
    Ok(session::receive(state.engine(), event, namespace, &attempt)?)
}

fn answer(received: &Received) -> Result<Answer, Problem> {
    let output = match &received.output {
        None => Value::Null,
        Some(text) => parse(text.as_bytes(), Limits::STORED)
            .map_err(|error| Problem::internal(format!("an output is no JSON: {error}")))?,
    };
    Ok(Answer::ok(object! {
        "object": "session_words",
        "output": output,
        "thread": &received.thread,
        "words": received.text.as_deref(),
    }))
}

fn needed<'a>(request: &'a Object, field: &str) -> Result<&'a str, Problem> {
    let text = text(request, field)?.ok_or_else(|| ShapeError::missing(field))?;
    if text.is_empty() {
        let message = format!("`{field}` must not be empty");
        return Err(ShapeError::new(field, Reason::BadValue, message).into());
    }
    Ok(text)
}
