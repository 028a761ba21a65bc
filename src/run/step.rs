//! The one transition of a run.

use super::event::{Asking, Blocked, Execution, Turn};
use super::guardrail::Ending;
use super::house::{self, Obstacle};
use super::outcome::{Outcome, Verb};
use super::ruling::{Refused, Ruling, rule};
use super::state::{Calling, Calls, Counted, Parked, Phase, Replying, RunState, Sifting};
use super::{Effect, Ended, Event, Returned, Ruled, body, prompt, repair};
use crate::engine::Heard;
use crate::model::{Message, Reply, StopReason, TurnRequest};
use crate::record::{Draft, RecordId};
use crate::tool::{Answer, Status};

/// Returns the state after `event`, and what is to be done next; nothing once the run is over.
///
/// An event that the run does not wait for changes nothing.
pub fn step(mut state: RunState, event: Event) -> (RunState, Option<Effect>) {
    let effect = advance(&mut state, event);
    (state, effect)
}

/// The same for a state that stays where it is.
pub(super) fn advance(state: &mut RunState, event: Event) -> Option<Effect> {
    let phase = std::mem::replace(&mut state.phase, Phase::New);
    match (phase, event) {
        (Phase::Closed(outcome), Event::Resumed) if outcome.resumable => Some(taken_up(state)),
        (Phase::Closed(outcome), _) | (Phase::Closing(outcome), Event::Closed(_)) => {
            state.phase = Phase::Closed(outcome);
            None
        }
        (Phase::Closing(outcome), _) => {
            state.phase = Phase::Closing(outcome);
            None
        }
        (_, Event::Cancelled) => Some(close(state, Outcome::cancelled())),
        (_, Event::Failed { why, resumable }) => {
            Some(close(state, Outcome::failed(why, resumable)))
        }
        (Phase::New, Event::Start) => {
            state.phase = Phase::Opening;
            Some(Effect::Open(body::opening(state)))
        }
        (Phase::Opening, Event::Opened(id)) => Some(opened(state, id)),
        (Phase::Thinking, Event::Said(texts)) => Some(said(state, texts)),
        (Phase::Thinking, Event::Replied { reply, took_ms }) => {
            Some(replied(state, reply, took_ms))
        }
        (Phase::Thinking, Event::OutOfTime) => {
            let outcome = Outcome::out_of(super::BudgetKind::WallClock, state);
            Some(close(state, outcome))
        }
        (Phase::RecordingTurn(replying), Event::TurnRecorded(turn)) => {
            Some(turn_recorded(state, *replying, turn))
        }
        (Phase::Ruling(calling), Event::Ruled { rule, refused }) => {
            Some(ruled(state, *calling, rule, refused))
        }
        (Phase::Approving(calling), Event::Approved { refused }) => {
            Some(approved(state, *calling, refused))
        }
        (Phase::Guarding(calling), Event::Guarded { blocked }) => {
            Some(guarded(state, *calling, blocked.as_ref()))
        }
        (Phase::RecordingCall(calling), Event::CallRecorded(id)) => {
            Some(call_recorded(state, *calling, id))
        }
        (Phase::Requesting(calling, call), Event::Requested(request)) => {
            state.phase = Phase::Deciding(Box::new(Parked { calling: *calling, call, request }));
            Some(Effect::AwaitDecision(request))
        }
        (
            Phase::Executing(calling, call) | Phase::Requesting(calling, call),
            Event::Answered { answer, took_ms },
        ) => Some(sift(state, *calling, Sifting::of(call, answer, took_ms))),
        (Phase::Executing(calling, call), Event::Worked { answer, spent }) => {
            let sifting = Sifting::of(call, answer, spent.millis);
            Some(sift(state, *calling, Sifting { spent: Some(spent), ..sifting }))
        }
        (Phase::Deciding(parked), Event::Answered { answer, took_ms }) => {
            let Parked { calling, call, .. } = *parked;
            Some(sift(state, calling, Sifting::of(call, answer, took_ms)))
        }
        (Phase::Sifting(calling, sifting), Event::Sifted { blocked }) => {
            Some(sifted(state, *calling, *sifting, blocked))
        }
        (Phase::Deciding(parked), Event::Parked) => Some(park(state, parked)),
        (Phase::Observing(calling, counted), Event::Observed { heard, .. }) => {
            Some(observed(state, *calling, counted, heard))
        }
        (phase, _) => {
            state.phase = phase;
            None
        }
    }
}

fn opened(state: &mut RunState, id: RecordId) -> Effect {
    state.opening = Some(id);
    state.messages.push(Message::User { text: state.spec.prompt().to_owned() });
    think(state)
}

/// Takes up a run that was over: with the question it waits for, or with the next turn.
fn taken_up(state: &mut RunState) -> Effect {
    match state.parked.take() {
        Some(parked) => {
            let request = parked.request;
            state.phase = Phase::Deciding(parked);
            Effect::AwaitDecision(request)
        }
        None => ask(state),
    }
}

/// Asks for the next turn, if there is anything left to take it with.
fn think(state: &mut RunState) -> Effect {
    if let Some(budget) = state.spec.limits.exhausted(&state.spent) {
        let outcome = Outcome::out_of(budget, state);
        return close(state, outcome);
    }
    if let Some(text) = state.spec.limits.warning(&state.spent) {
        state.messages.push(Message::Notice { text });
    }
    ask(state)
}

fn ask(state: &mut RunState) -> Effect {
    state.phase = Phase::Thinking;
    let request = TurnRequest {
        system: prompt::system(&state.spec),
        messages: state.messages.clone(),
        tools: state.tools.clone(),
    };
    let within = state.spec.limits.time_left(&state.spent);
    Effect::AskModel(Box::new(Asking { request, within }))
}

fn said(state: &mut RunState, texts: Vec<String>) -> Effect {
    for text in texts {
        state.heard_messages = state.heard_messages.saturating_add(1);
        state.messages.push(Message::User { text });
    }
    ask(state)
}

fn replied(state: &mut RunState, mut reply: Reply, took_ms: u64) -> Effect {
    let compensations = repair::reply(state, &mut reply);
    let turn = body::turn(state, &reply, took_ms);
    let cut = reply.stop == StopReason::OutputLimit;
    state.call_ids.extend(reply.calls.iter().map(|call| call.id.clone()));
    state
        .messages
        .push(Message::Assistant { text: reply.text.clone(), calls: reply.calls.clone() });
    let calls = Calls { any: !reply.calls.is_empty(), tasks: 0, cut, waiting: reply.calls.into() };
    let replying = Replying { calls, text: reply.text, usage: reply.usage, took_ms };
    state.phase = Phase::RecordingTurn(Box::new(replying));
    Effect::RecordTurn(Box::new(Turn { turn, compensations }))
}

fn turn_recorded(state: &mut RunState, replying: Replying, turn: RecordId) -> Effect {
    let Replying { calls, text, usage, took_ms } = replying;
    state.spent.add_turn(&usage, state.spec.price, took_ms);
    state.words = text;
    next_call(state, turn, calls)
}

fn next_call(state: &mut RunState, turn: RecordId, mut calls: Calls) -> Effect {
    let Some(request) = calls.waiting.pop_front() else {
        return if calls.any { think(state) } else { close(state, Outcome::of_last_words(state)) };
    };
    if request.name == house::TASK {
        calls.tasks = calls.tasks.saturating_add(1);
    }
    let Ruling { refused, guardrail, halt } = rule(state, &request, &calls);
    let blocked = guardrail.is_some();
    let mut calling =
        Calling { request, turn, rule: None, refused: None, blocked, halt, rest: calls };
    match refused {
        None => {
            let request = calling.request.clone();
            state.phase = Phase::Ruling(Box::new(calling));
            Effect::Rule(request)
        }
        Some(Refused { layer, reason }) => {
            calling.refused = Some(reason);
            record_call(state, calling, layer, None, guardrail)
        }
    }
}

/// The rules have been asked; whoever approves calls is next.
fn ruled(
    state: &mut RunState,
    mut calling: Calling,
    rule: Option<String>,
    refused: Option<String>,
) -> Effect {
    calling.rule = rule;
    calling.refused = refused;
    if calling.refused.is_some() {
        return record_call(state, calling, "rule", None, None);
    }
    let id = calling.request.id.clone();
    state.phase = Phase::Approving(Box::new(calling));
    Effect::Approve(id)
}

/// Whoever approves calls has been asked; the policy hooks are next, and the last that are.
fn approved(state: &mut RunState, mut calling: Calling, refused: Option<String>) -> Effect {
    calling.refused = refused;
    if calling.refused.is_some() {
        return record_call(state, calling, "grant", None, None);
    }
    let id = calling.request.id.clone();
    state.phase = Phase::Guarding(Box::new(calling));
    Effect::Guard(id)
}

/// Nothing stands between the call and its execution any more, but what a policy hook says. The
/// ruling stays that it may be made: a block is no refusal of the rules.
fn guarded(state: &mut RunState, mut calling: Calling, blocked: Option<&Blocked>) -> Effect {
    calling.refused = blocked.map(|Blocked { event, reason }| {
        format!("not executed: blocked by a {event} hook: {reason}")
    });
    record_call(state, calling, body::ALLOW, blocked, None)
}

/// Records a call and the ruling of a layer on it.
fn record_call(
    state: &mut RunState,
    calling: Calling,
    layer: &str,
    blocked: Option<&Blocked>,
    guardrail: Option<Draft>,
) -> Effect {
    let call = body::call(state, &calling.request, calling.turn);
    let verdict = body::verdict(state, &calling, layer, blocked);
    let denied = calling.refused.clone().filter(|_| layer != body::ALLOW);
    state.phase = Phase::RecordingCall(Box::new(calling));
    Effect::RecordCall(Box::new(Ruled { call, verdict, guardrail, denied }))
}

fn call_recorded(state: &mut RunState, mut calling: Calling, call: RecordId) -> Effect {
    if let Some(reason) = calling.refused.take() {
        return answered(state, calling, Sifting::of(call, Answer::error(reason), 0), None);
    }
    if calling.request.name == house::REPORT_BLOCKED {
        return report_blocked(state, calling, call);
    }
    let within = state.spec.limits.time_left(&state.spent);
    let execution = Execution { request: calling.request.clone(), call, within };
    if calling.request.name == house::REQUEST_DECISION {
        state.phase = Phase::Requesting(Box::new(calling), call);
        return Effect::Request(execution);
    }
    let is_task = calling.request.name == house::TASK;
    state.phase = Phase::Executing(Box::new(calling), call);
    if is_task { Effect::Spawn(execution) } else { Effect::Execute(execution) }
}

/// The actor says that it cannot go on. Once that is recorded like any other call, the run ends.
fn report_blocked(state: &mut RunState, mut calling: Calling, call: RecordId) -> Effect {
    let answer = match Obstacle::read(&calling.request.args) {
        Ok(obstacle) => {
            calling.halt = Some(Outcome::new(Verb::Blocked, obstacle.narrative.clone()));
            Answer::ok("noted; the run ends here")
        }
        Err(misfit) => Answer::error(misfit),
    };
    answered(state, calling, Sifting::of(call, answer, 0), None)
}

/// A call was executed: the policy hooks are asked before anybody reads what came of it.
fn sift(state: &mut RunState, calling: Calling, sifting: Sifting) -> Effect {
    let call = sifting.call;
    state.phase = Phase::Sifting(Box::new(calling), Box::new(sifting));
    Effect::Sift(call)
}

/// What a policy hook withholds is read by nobody, and not recorded either.
fn sifted(
    state: &mut RunState,
    calling: Calling,
    mut sifting: Sifting,
    blocked: Option<Blocked>,
) -> Effect {
    if let Some(Blocked { event, reason }) = &blocked {
        let text = format!("executed, but a {event} hook withheld the result: {reason}");
        sifting.answer = Answer::error(text);
    }
    answered(state, calling, sifting, blocked)
}

fn answered(
    state: &mut RunState,
    calling: Calling,
    sifting: Sifting,
    withheld: Option<Blocked>,
) -> Effect {
    let Sifting { call, answer, took_ms, spent } = sifting;
    let request = &calling.request;
    let failed = answer.status == Status::Error;
    let ending = match (calling.blocked, failed) {
        (true, _) => Ending::Blocked,
        (false, true) => Ending::Failed(&answer.head),
        (false, false) => Ending::Ok,
    };
    state.guardrail.note(&request.name, &request.args, ending);
    state.messages.push(Message::ToolResult {
        call_id: request.id.clone(),
        tool: request.name.clone(),
        text: answer.shown.clone(),
        failed,
    });
    let returned = Returned { request: request.clone(), call, answer, took_ms, spent, withheld };
    state.phase = Phase::Observing(Box::new(calling), Counted { failed, took_ms, spent });
    Effect::Observe(Box::new(returned))
}

fn observed(state: &mut RunState, calling: Calling, counted: Counted, heard: Vec<Heard>) -> Effect {
    if counted.failed {
        state.calls_failed = state.calls_failed.saturating_add(1);
    } else {
        state.calls_ok = state.calls_ok.saturating_add(1);
    }
    state.spent.add_time(counted.took_ms);
    if let Some(task) = &counted.spent {
        state.spent.add_task(task);
    }
    let spoken = u32::try_from(heard.len()).unwrap_or(u32::MAX);
    state.observations = state.observations.saturating_add(spoken);
    let words =
        heard.into_iter().map(|heard| Message::Observation { rule: heard.rule, text: heard.text });
    state.messages.extend(words);
    match calling.halt {
        None => next_call(state, calling.turn, calling.rest),
        Some(outcome) => {
            let obstacle = (outcome.verb == Verb::Blocked)
                .then(|| Obstacle::read(&calling.request.args).ok())
                .flatten();
            let coercion = obstacle.map(|obstacle| body::coercion(state, &obstacle));
            close_with(state, outcome, coercion)
        }
    }
}

/// Ends the run for as long as nobody has decided.
fn park(state: &mut RunState, parked: Box<Parked>) -> Effect {
    let summary = format!("waits for the decision {}", parked.request);
    state.parked = Some(parked);
    close(state, Outcome::new(Verb::AwaitingActor, summary))
}

fn close(state: &mut RunState, outcome: Outcome) -> Effect {
    close_with(state, outcome, None)
}

fn close_with(
    state: &mut RunState,
    outcome: Outcome,
    coercion: Option<crate::record::Draft>,
) -> Effect {
    let (draft, verb) = (body::outcome(state, &outcome), outcome.verb.as_str());
    state.phase = Phase::Closing(Box::new(outcome));
    Effect::Close(Box::new(Ended { outcome: draft, verb, coercion }))
}
