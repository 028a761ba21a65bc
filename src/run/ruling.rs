//! Whether a call is executed, as far as the run itself can tell: what was cut, what keeps failing,
//! what was not granted, what the tier withholds. The permission rules are asked after this.

use super::body;
use super::guardrail::{Stance, args_hash};
use super::house::MAX_TASKS;
use super::outcome::{HaltedBy, Outcome, Verb};
use super::state::{Calls, RunState};
use crate::canon::hex;
use crate::model::CallRequest;
use crate::record::Draft;

/// What the run itself says about a call.
#[derive(Debug, Default)]
pub(super) struct Ruling {
    /// The layer that refuses it, and why; `None` if nothing here does.
    pub(super) refused: Option<Refused>,
    /// The record of the guardrail's act, if it acted.
    pub(super) guardrail: Option<Draft>,
    /// How the run ends after this call, if it does.
    pub(super) halt: Option<Outcome>,
}

/// A call that is not executed.
#[derive(Debug)]
pub(super) struct Refused {
    /// Which layer says so (contract §3.3).
    pub(super) layer: &'static str,
    /// What the actor is told.
    pub(super) reason: String,
}

/// Returns what the run itself says about a call among those of its reply, which may have been cut.
pub(super) fn rule(state: &RunState, request: &CallRequest, calls: &Calls) -> Ruling {
    if calls.cut {
        return refused(
            "stop",
            "not executed: the reply was cut at the output limit, so the arguments may be \
             incomplete; send the call again, shorter",
        );
    }
    if let Some(why) = &request.malformed {
        let reason = format!("not executed: the arguments cannot be read ({why}); send them again");
        return refused("stop", reason);
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
            return Ruling { guardrail, ..refused("stop", reason) };
        }
        Stance::Halt { count } => {
            let reason = format!("not executed: this call was tried {count} times in vain");
            let guardrail = Some(body::guardrail(state, "halt", request, count));
            let halt = Some(halt(request, count));
            return Ruling { guardrail, halt, ..refused("stop", reason) };
        }
    }
    let name: String = request.name.chars().take(64).collect();
    if state.spec.forbidden.contains(&request.name) {
        let tier = &state.spec.tier;
        return refused("clamp", format!("`{name}` is not for runs of the tier `{tier}`"));
    }
    if !state.tools.iter().any(|tool| tool.name == request.name) {
        let names: Vec<&str> = state.tools.iter().map(|tool| tool.name.as_str()).collect();
        let names = names.join(", ");
        return refused("grant", format!("there is no tool `{name}`; the tools are {names}"));
    }
    if calls.tasks > MAX_TASKS {
        let reason =
            format!("not executed: a turn has at most {MAX_TASKS} tasks; go on with these");
        return refused("clamp", reason);
    }
    Ruling::default()
}

fn refused(layer: &'static str, reason: impl Into<String>) -> Ruling {
    let refused = Some(Refused { layer, reason: reason.into() });
    Ruling { refused, ..Ruling::default() }
}

fn halt(request: &CallRequest, count: u32) -> Outcome {
    let halted_by =
        HaltedBy { tool: request.name.clone(), args_hash: hex(&args_hash(&request.args)), count };
    let summary = format!("`{}` kept failing the same way", request.name);
    Outcome { halted_by: Some(halted_by), ..Outcome::new(Verb::GuardrailHalt, summary) }
}
