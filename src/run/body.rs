//! The bodies of the records of a run (contract §5.1).
//!
//! What the engine writes is masked: a secret that a model or a tool said stays out of the store
//! (decision 15).

use super::event::Blocked;
use super::guardrail::{BLOCK_AT, HALT_AT, args_hash};
use super::house::Obstacle;
use super::state::Calling;
use super::{Outcome, Returned, RunState};
use crate::canon::{Object, Value, hex};
use crate::model::{CallRequest, Reply};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId};
use crate::secret::{mask, mask_value};

/// The kind of the record that a run is taken up again.
pub(super) const RESUME_KIND: &str = "core.work.resume.v1";

/// The kind of the record that a run was interrupted.
pub(super) const INTERRUPTION_KIND: &str = "core.work.interruption.v1";

/// The layer of a ruling that nothing refuses (contract §3.3).
pub(super) const ALLOW: &str = "allow";

/// The most characters of a summary. The last words of the model stand in full in its last turn.
const MAX_SUMMARY_CHARS: usize = 4096;

/// The most bytes of structured data in a result (contract §5.1).
const MAX_DATA_BYTES: usize = 256 * 1024;

/// The record that opens a loop: the goal, as an intend that the outcome fulfils.
pub(super) fn opening(state: &RunState) -> Draft {
    let tools: Vec<&str> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
    by_actor(state, Act::Intend, state.spec.to_body(&tools))
}

/// The record of a turn: the reply in full.
pub(super) fn turn(state: &RunState, reply: &Reply, took_ms: u64) -> Draft {
    let calls: Vec<Object> = reply.calls.iter().map(call_object).collect();
    let mut usage = object! {
        "input_tokens": reply.usage.input_tokens,
        "output_tokens": reply.usage.output_tokens,
    };
    if reply.usage.estimated {
        usage.insert("estimated".into(), true.into());
    }
    let mut body = object! {
        "duration_ms": took_ms,
        "kind": "core.work.turn.v1",
        "messages_heard": state.heard_messages,
        "model": state.spec.model.as_str(),
        "stop": reply.stop.as_str(),
        "text": reply.text.as_str(),
        "tool_calls": calls,
        "turn_index": state.spent.turns.saturating_add(1),
        "usage": usage,
    };
    if let Some(price) = state.spec.price {
        body.insert("cost_usd_micros".into(), price.cost(&reply.usage).into());
    }
    by_actor(state, Act::Do, body).with_parents(state.opening.into_iter().collect())
}

fn call_object(request: &CallRequest) -> Object {
    let mut call = object! {
        "args": request.args.clone(),
        "id": request.id.as_str(),
        "name": request.name.as_str(),
    };
    if let Some(why) = &request.malformed {
        call.insert("malformed".into(), why.as_str().into());
    }
    call
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
            "turn_index": state.spent.turns,
        },
    )
    .with_parents(vec![turn])
}

/// The ruling on a call: whether it may be made, which layer said so, and by which rule. What a
/// policy hook says to a call that may be made stands beside it.
pub(super) fn verdict(
    state: &RunState,
    calling: &Calling,
    layer: &str,
    blocked: Option<&Blocked>,
) -> Draft {
    let allowed = layer == ALLOW;
    let mut body = object! {
        "decision": if allowed { "allow" } else { "deny" },
        "kind": "core.work.tool_verdict.v1",
        "layer": layer,
        "tool": calling.request.name.as_str(),
    };
    if let Some(reason) = calling.refused.as_deref().filter(|_| !allowed) {
        body.insert("reason".into(), reason.into());
    }
    if let Some(rule) = &calling.rule {
        body.insert("rule".into(), rule.as_str().into());
    }
    if let Some(blocked) = blocked {
        body.insert("policy".into(), blocked.to_object().into());
    }
    by_engine(state, body)
}

/// The record of something that the run counted on, that did not hold, and that it made good.
pub(super) fn compensation(
    state: &RunState,
    seam: &str,
    assumption: &str,
    context: Object,
) -> Draft {
    by_engine(
        state,
        object! {
            "assumption": assumption,
            "context": context,
            "kind": "core.work.compensation.v1",
            "seam": seam,
        },
    )
}

/// The record of why an actor could not go on.
pub(super) fn coercion(state: &RunState, obstacle: &Obstacle) -> Draft {
    by_engine(
        state,
        object! {
            "kind": "core.work.coercion.v1",
            "missing_tools": obstacle.missing_tools.clone(),
            "narrative": obstacle.narrative.as_str(),
            "reason": obstacle.reason.as_str(),
        },
    )
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
    if answer.empty {
        body.insert("empty".into(), true.into());
    }
    if let Some(spent) = &returned.spent {
        body.insert("spent".into(), spent.to_object().into());
    }
    if let Some(withheld) = &returned.withheld {
        body.insert("policy".into(), withheld.to_object().into());
    }
    if let Some(data) = &answer.data {
        let short = data.to_string().len() <= MAX_DATA_BYTES;
        body.insert("truncated".into(), (!short).into());
        body.insert("data".into(), if short { data.clone() } else { Value::Null });
    }
    of_run(state, body)
}

/// The record of how the run ended; it fulfils the opening.
pub(super) fn outcome(state: &RunState, outcome: &Outcome) -> Draft {
    // Masked before it is cut, so that what is cut is the same when it is read again.
    let summary: String = mask(&outcome.summary).chars().take(MAX_SUMMARY_CHARS).collect();
    let spent = &state.spent;
    let mut body = object! {
        "duration_ms": spent.millis,
        "input_tokens": spent.input_tokens,
        "kind": "core.work.loop_outcome.v1",
        "outcome": outcome.verb.as_str(),
        "output_tokens": spent.output_tokens,
        "success": outcome.success(),
        "summary": summary,
        "tool_calls_failed": state.calls_failed,
        "tool_calls_ok": state.calls_ok,
        "transport": state.spec.transport.as_str(),
        "turns": spent.turns,
    };
    if let Some(opening) = state.opening {
        body.insert("fulfills".into(), opening.into());
    }
    if state.spec.price.is_some() {
        body.insert("cost_usd_micros".into(), spent.usd_micros.into());
    }
    if let Some(budget) = outcome.budget {
        body.insert("budget_kind".into(), budget.as_str().into());
    }
    if outcome.resumable {
        body.insert("resumable".into(), true.into());
    }
    if let Some(request) = state.parked.as_ref().map(|parked| parked.request) {
        body.insert("awaits".into(), request.into());
    }
    if let Some(halted_by) = &outcome.halted_by {
        body.insert("args_hash".into(), halted_by.args_hash.as_str().into());
        body.insert("count".into(), halted_by.count.into());
        body.insert("tool".into(), halted_by.tool.as_str().into());
    }
    by_engine(state, body).with_parents(state.opening.into_iter().collect())
}

/// The record that a run is taken up again.
pub(super) fn resume(state: &RunState, life: u32) -> Draft {
    let body = object! { "kind": RESUME_KIND, "life": life };
    by_engine(state, body).with_parents(state.opening.into_iter().collect())
}

/// The record that a run was interrupted: its records end where it can be taken up.
pub(super) fn interruption(state: &RunState, reason: &str) -> Draft {
    let body = object! { "kind": INTERRUPTION_KIND, "reason": reason };
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
