//! The one transition of a run.

use super::guardrail::{Ending, Stance, args_hash};
use super::outcome::{HaltedBy, Outcome, Verb};
use super::state::{Calling, Calls, Phase, RunState};
use super::{Effect, Event, Returned, Ruled, body, prompt};
use crate::canon::hex;
use crate::engine::Heard;
use crate::model::{CallRequest, Message, ModelError, Reply, StopReason, TurnRequest};
use crate::record::RecordId;
use crate::tool::{Answer, Status};

/// Returns the state after `event`, and what is to be done next; nothing once the run is over.
///
/// An event that the run does not wait for changes nothing.
pub fn step(mut state: RunState, event: Event) -> (RunState, Option<Effect>) {
    let phase = std::mem::replace(&mut state.phase, Phase::New);
    let effect = match (phase, event) {
        (Phase::Closed(outcome), _) | (Phase::Closing(outcome), Event::Closed(_)) => {
            state.phase = Phase::Closed(outcome);
            None
        }
        (Phase::Closing(outcome), _) => {
            state.phase = Phase::Closing(outcome);
            None
        }
        (_, Event::Cancelled) => Some(close(&mut state, Outcome::cancelled())),
        (
            Phase::RecordingTurn(_) | Phase::RecordingCall(_) | Phase::Observing(_),
            Event::Unrecorded(why),
        ) => Some(close(&mut state, Outcome::new(Verb::Failed, why))),
        (Phase::New, Event::Start) => {
            state.phase = Phase::Opening;
            Some(Effect::Open(body::opening(&state)))
        }
        (Phase::Opening, Event::Opened(id)) => Some(opened(&mut state, id)),
        (Phase::Thinking, Event::Replied(reply)) => Some(replied(&mut state, reply)),
        (Phase::RecordingTurn(calls), Event::TurnRecorded(turn)) => {
            Some(next_call(&mut state, turn, calls))
        }
        (Phase::RecordingCall(calling), Event::CallRecorded(id)) => {
            Some(call_recorded(&mut state, calling, id))
        }
        (Phase::Executing(calling, id), Event::Answered { answer, took_ms }) => {
            Some(answered(&mut state, calling, id, answer, took_ms))
        }
        (Phase::Observing(calling), Event::Observed { heard, .. }) => {
            Some(observed(&mut state, calling, heard))
        }
        (phase, _) => {
            state.phase = phase;
            None
        }
    };
    (state, effect)
}

fn opened(state: &mut RunState, id: RecordId) -> Effect {
    state.opening = Some(id);
    state.messages.push(Message::User { text: state.spec.goal.clone() });
    think(state)
}

/// Asks for the next turn, if there is one left.
fn think(state: &mut RunState) -> Effect {
    if state.turns >= state.spec.max_turns {
        let summary = format!("no turn left of {}", state.spec.max_turns);
        return close(state, Outcome::new(Verb::MaxTurns, summary));
    }
    state.phase = Phase::Thinking;
    Effect::AskModel(TurnRequest {
        system: prompt::system(&state.spec),
        messages: state.messages.clone(),
        tools: state.tools.clone(),
    })
}

fn replied(state: &mut RunState, reply: Result<Reply, ModelError>) -> Effect {
    let reply = match reply {
        Ok(reply) => reply,
        Err(ModelError::Cancelled) => return close(state, Outcome::cancelled()),
        Err(error) => return close(state, Outcome::new(Verb::Failed, error.to_string())),
    };
    state.turns += 1;
    state.words.clone_from(&reply.text);
    state
        .messages
        .push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
    let record = Effect::RecordTurn(body::turn(state, &reply));
    let cut = reply.stop == StopReason::OutputLimit;
    state.phase = Phase::RecordingTurn(Calls { waiting: reply.calls.into(), cut });
    record
}

fn next_call(state: &mut RunState, turn: RecordId, mut calls: Calls) -> Effect {
    let Some(request) = calls.waiting.pop_front() else {
        return if state.messages.last().is_some_and(is_last_word) {
            close(state, Outcome::of_last_words(state))
        } else {
            think(state)
        };
    };
    let Ruling { layer, refused, guardrail, halt } = rule(state, &request, calls.cut);
    let blocked = guardrail.is_some();
    let call = body::call(state, &request, turn);
    let verdict = body::verdict(state, &request.name, layer, refused.as_deref());
    state.phase =
        Phase::RecordingCall(Calling { request, turn, refused, blocked, halt, rest: calls });
    Effect::RecordCall(Box::new(Ruled { call, verdict, guardrail }))
}

/// A reply without a call ends the run.
fn is_last_word(message: &Message) -> bool {
    matches!(message, Message::Assistant { .. })
}

/// Whether a call is executed, and what is said in its place if not.
struct Ruling {
    layer: &'static str,
    refused: Option<String>,
    guardrail: Option<crate::record::Draft>,
    halt: Option<Outcome>,
}

fn rule(state: &RunState, request: &CallRequest, cut: bool) -> Ruling {
    let allow = Ruling { layer: "allow", refused: None, guardrail: None, halt: None };
    if cut {
        let reason = "not executed: the reply was cut at the output limit, so the arguments may be \
                      incomplete; send the call again, shorter";
        return Ruling { layer: "stop", refused: Some(reason.into()), ..allow };
    }
    match state.guardrail.stance(&request.name, &request.args) {
        Stance::Pass => {}
        Stance::Block { count } => {
            let reason = format!(
                "not executed: this call has failed the same way {} times; change it, or do \
                 something else",
                count - 1
            );
            let guardrail = Some(body::guardrail(state, "block", request, count));
            return Ruling { layer: "stop", refused: Some(reason), guardrail, halt: None };
        }
        Stance::Halt { count } => {
            let reason = format!("not executed: this call was tried {count} times in vain");
            let guardrail = Some(body::guardrail(state, "halt", request, count));
            let halted_by = HaltedBy {
                tool: request.name.clone(),
                args_hash: hex(&args_hash(&request.args)),
                count,
            };
            let summary = format!("`{}` kept failing the same way", request.name);
            let halt = Outcome {
                halted_by: Some(halted_by),
                ..Outcome::new(Verb::GuardrailHalt, summary)
            };
            let halt = Some(halt);
            return Ruling { layer: "stop", refused: Some(reason), guardrail, halt };
        }
    }
    if state.tools.iter().any(|tool| tool.name == request.name) {
        return allow;
    }
    let names: Vec<&str> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
    let name: String = request.name.chars().take(64).collect();
    let reason = format!("there is no tool `{name}`; the tools are {}", names.join(", "));
    Ruling { layer: "grant", refused: Some(reason), ..allow }
}

fn call_recorded(state: &mut RunState, mut calling: Calling, id: RecordId) -> Effect {
    match calling.refused.take() {
        None => {
            let request = calling.request.clone();
            state.phase = Phase::Executing(calling, id);
            Effect::Execute(request)
        }
        Some(reason) => answered(state, calling, id, Answer::error(reason), 0),
    }
}

fn answered(
    state: &mut RunState,
    calling: Calling,
    call: RecordId,
    answer: Answer,
    took_ms: u64,
) -> Effect {
    let request = &calling.request;
    let failed = answer.status == Status::Error;
    let ending = match (calling.blocked, failed) {
        (true, _) => Ending::Blocked,
        (false, true) => Ending::Failed(&answer.head),
        (false, false) => Ending::Ok,
    };
    state.guardrail.note(&request.name, &request.args, ending);
    if failed {
        state.calls_failed += 1;
    } else {
        state.calls_ok += 1;
    }
    state.messages.push(Message::ToolResult {
        call_id: calling.request.id.clone(),
        tool: calling.request.name.clone(),
        text: answer.shown.clone(),
        failed,
    });
    let returned = Returned { request: calling.request.clone(), call, answer, took_ms };
    state.phase = Phase::Observing(calling);
    Effect::Observe(Box::new(returned))
}

fn observed(state: &mut RunState, calling: Calling, heard: Vec<Heard>) -> Effect {
    let words =
        heard.into_iter().map(|heard| Message::Observation { rule: heard.rule, text: heard.text });
    state.messages.extend(words);
    match calling.halt {
        Some(outcome) => close(state, outcome),
        None => next_call(state, calling.turn, calling.rest),
    }
}

fn close(state: &mut RunState, outcome: Outcome) -> Effect {
    let draft = body::outcome(state, &outcome);
    state.phase = Phase::Closing(outcome);
    Effect::Close(draft)
}
