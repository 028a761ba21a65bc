//! The bodies of the records of a run (contract §5.1).
//!
//! What the engine writes is masked: a secret that a model or a tool said stays out of the store
//! (decision 15).

use super::guardrail::{BLOCK_AT, HALT_AT, args_hash};
use super::{Outcome, Returned, RunState};
use crate::canon::{Object, Value, hex};
use crate::model::{CallRequest, Reply};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId};
use crate::secret::mask_value;

/// The most characters of a summary. The last words of the model stand in full in its last turn.
const MAX_SUMMARY_CHARS: usize = 4096;

/// The most bytes of structured data in a result (contract §5.1).
const MAX_DATA_BYTES: usize = 256 * 1024;

/// The record that opens a loop: the goal, as an intend that the outcome fulfils.
pub(super) fn opening(state: &RunState) -> Draft {
    let spec = &state.spec;
    let tools: Vec<&str> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
    by_actor(
        state,
        Act::Intend,
        object! {
            "domain": spec.domain.as_str(),
            "goal": spec.goal.as_str(),
            "kind": "core.work.loop.v1",
            "max_turns": spec.max_turns,
            "model": spec.model.as_str(),
            "tools": tools,
            "transport": "in_process",
        },
    )
}

/// The record of a turn: the reply in full.
pub(super) fn turn(state: &RunState, reply: &Reply) -> Draft {
    let calls: Vec<Object> = reply.calls.iter().map(call_object).collect();
    let usage = object! {
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
    };
    by_actor(
        state,
        Act::Do,
        object! {
            "kind": "core.work.turn.v1",
            "model": state.spec.model.as_str(),
            "stop": reply.stop.as_str(),
            "text": reply.text.as_str(),
            "tool_calls": calls,
            "turn_index": state.turns,
            "usage": usage,
        },
    )
    .with_parents(state.opening.into_iter().collect())
}

fn call_object(request: &CallRequest) -> Object {
    object! {
        "args": request.args.clone(),
        "id": request.id.as_str(),
        "name": request.name.as_str(),
    }
}

/// The record of a call.
pub(super) fn call(state: &RunState, request: &CallRequest, turn: RecordId) -> Draft {
    by_actor(
        state,
        Act::Call,
        object! {
            "args": request.args.clone(),
            "call_id": request.id.as_str(),
            "kind": "core.work.tool_call.v1",
            "tool": request.name.as_str(),
            "turn_index": state.turns,
        },
    )
    .with_parents(vec![turn])
}

/// The ruling on a call: whether it is executed, and which layer said so.
pub(super) fn verdict(state: &RunState, tool: &str, layer: &str, refused: Option<&str>) -> Draft {
    let decision = if refused.is_some() { "deny" } else { "allow" };
    let mut body = object! {
        "decision": decision,
        "kind": "core.work.tool_verdict.v1",
        "layer": layer,
        "tool": tool,
    };
    if let Some(reason) = refused {
        body.insert("reason".into(), reason.into());
    }
    by_engine(state, body)
}

/// The record of the guardrail's act.
pub(super) fn guardrail(
    state: &RunState,
    verdict: &str,
    request: &CallRequest,
    count: u32,
) -> Draft {
    by_engine(
        state,
        object! {
            "args_hash": hex(&args_hash(&request.args)),
            "count": count,
            "kind": "core.work.guardrail.v1",
            "threshold": if verdict == "halt" { HALT_AT } else { BLOCK_AT },
            "tool": request.name.as_str(),
            "verdict": verdict,
        },
    )
}

/// The body of the record of a result. Its parent is the call.
pub(super) fn result(state: &RunState, returned: &Returned) -> Object {
    let answer = &returned.answer;
    let mut body = object! {
        "content": answer.shown.as_str(),
        "duration_ms": returned.took_ms,
        "fulfills": returned.call,
        "kind": "core.work.tool_result.v1",
        "status": answer.status.as_str(),
        "tool": returned.request.name.as_str(),
    };
    if let Some(data) = &answer.data {
        let short = data.to_string().len() <= MAX_DATA_BYTES;
        body.insert("truncated".into(), (!short).into());
        body.insert("data".into(), if short { data.clone() } else { Value::Null });
    }
    of_run(state, body)
}

/// The record of how the run ended; it fulfils the opening.
pub(super) fn outcome(state: &RunState, outcome: &Outcome) -> Draft {
    let summary: String = outcome.summary.chars().take(MAX_SUMMARY_CHARS).collect();
    let mut body = object! {
        "kind": "core.work.loop_outcome.v1",
        "outcome": outcome.verb.as_str(),
        "success": outcome.success(),
        "summary": summary,
        "tool_calls_failed": state.calls_failed,
        "tool_calls_ok": state.calls_ok,
        "transport": "in_process",
        "turns": state.turns,
    };
    if let Some(opening) = state.opening {
        body.insert("fulfills".into(), opening.into());
    }
    if let Some(halted_by) = &outcome.halted_by {
        body.insert("args_hash".into(), halted_by.args_hash.as_str().into());
        body.insert("count".into(), halted_by.count.into());
        body.insert("tool".into(), halted_by.tool.as_str().into());
    }
    by_engine(state, body).with_parents(state.opening.into_iter().collect())
}

fn by_actor(state: &RunState, act: Act, body: Object) -> Draft {
    draft(state, state.spec.actor.clone(), act, body)
}

fn by_engine(state: &RunState, body: Object) -> Draft {
    draft(state, ActorId::engine(), Act::Know, body)
}

fn draft(state: &RunState, actor: ActorId, act: Act, body: Object) -> Draft {
    Draft::new(state.spec.thread.clone(), actor, act, of_run(state, body))
}

/// Masks a body and puts it where the run is.
fn of_run(state: &RunState, body: Object) -> Object {
    let mut body = masked(body);
    body.insert("namespace".into(), (&state.spec.namespace).into());
    body
}

fn masked(body: Object) -> Object {
    match mask_value(&Value::Object(body)) {
        Value::Object(body) => body,
        // An object stays one.
        _ => Object::new(),
    }
}
