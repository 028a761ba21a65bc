//! A task: a part of a run that a run of its own does.
//!
//! It has the same tools, hooks, rules and policy, its own thread, and what is left of the budget.
//! Its thread follows from the call, so whoever takes the run up finds what has been done of it, and
//! goes on with that: a task is not begun twice.

use super::drive::{Hands, begin, records_of, take_up};
use super::house::TASK_TURNS;
use super::perform::Driver;
use super::replay::replay;
use super::{Event, Execution, Moment, Outcome, RunError, RunSpec, RunState, Spent, Verb};
use crate::canon::Value;
use crate::object;
use crate::tool::Answer;

impl Driver<'_> {
    /// Does the task that a call asks for, or what is left of it.
    pub(super) fn work_on(
        &mut self,
        state: &RunState,
        execution: &Execution,
    ) -> Result<Event, RunError> {
        self.show(Moment::Calling(&execution.request));
        let spec = match task_of(state, execution) {
            Ok(spec) => spec,
            Err(why) => return Ok(Event::Answered { answer: Answer::error(why), took_ms: 0 }),
        };
        let thread = spec.thread.clone();
        let Hands { engine, model, tools, decider, approver, policy, hooks, cancel, watch } =
            &mut self.hands;
        let hands = Hands {
            engine,
            model: &mut **model,
            tools,
            decider: &mut **decider,
            approver: &mut **approver,
            policy,
            hooks: hooks.clone(),
            cancel,
            watch: &mut |moment| watch(Moment::Within { task: &thread, moment: &moment }),
        };
        let (confined, audited) = (self.confined.as_ref(), Some(&self.audited));
        let worked = if records_of(engine, &thread)?.is_empty() {
            begin(spec, hands, confined, audited)
        } else {
            take_up(&thread, hands, confined, audited)
        };
        let (outcome, spent) = match worked {
            // It came to its end before the run did.
            Err(RunError::Finished { .. }) => {
                recorded(&replay(&records_of(engine, &thread)?, &|_| None)?.state)
            }
            report => report.map(|report| (report.outcome, report.spent))?,
        };
        let data = object! {
            "outcome": outcome.verb.as_str(),
            "thread": &thread,
            "turns": spent.turns,
        };
        let answer = match outcome.verb {
            Verb::Completed => Answer::ok(&outcome.summary),
            verb => Answer::error(format!("the task ended as `{verb}`: {}", outcome.summary)),
        };
        Ok(Event::Worked { answer: answer.with_data(data), spent })
    }
}

fn recorded(state: &RunState) -> (Outcome, Spent) {
    let outcome = state.outcome().cloned();
    let none = || Outcome::new(Verb::Failed, "it has no outcome");
    (outcome.unwrap_or_else(none), *state.spent())
}

/// Returns what a task is to do, or why a call asks for none.
fn task_of(state: &RunState, execution: &Execution) -> Result<RunSpec, String> {
    let own = state.spec();
    let goal = execution.request.args.get("prompt").and_then(Value::as_str).map(str::trim);
    let goal =
        goal.filter(|goal| !goal.is_empty()).ok_or("`prompt` must say what is to be done")?;
    let nonce = execution.call.to_string();
    let thread = RunSpec::mint_thread(&own.actor, goal, nonce.as_bytes());
    Ok(RunSpec {
        thread: thread.map_err(|error| error.to_string())?,
        goal: goal.to_owned(),
        // No prompt hook is asked about a task.
        prompt: Some(goal.to_owned()),
        limits: own.limits.of_task(state.spent(), TASK_TURNS),
        task_of: Some(own.thread.clone()),
        depth: own.depth.saturating_add(1),
        ..own.clone()
    })
}
