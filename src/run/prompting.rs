//! The prompt seam: before a goal opens the first turn of a run.

use super::audited::Audited;
use super::{Moment, RunError, RunSpec};
use crate::cancel::Cancel;
use crate::engine::Engine;
use crate::policy::{Policy, Question};

/// Asks the policy hooks about the goal of a run that has not begun, and returns the run with what
/// they add to it. A run that is driven without is asked about then.
///
/// A goal that is blocked opens no run: nothing of it is recorded but that it was blocked, since it
/// may hold what made the hook say so.
pub fn ask_prompt(
    spec: RunSpec,
    engine: &Engine,
    policy: &Policy,
    cancel: &Cancel,
    watch: &mut dyn FnMut(Moment<'_>),
) -> Result<RunSpec, RunError> {
    let verdict = policy.ask(&Question::Prompt { text: &spec.goal }, cancel);
    for warning in verdict.warnings() {
        watch(Moment::Warned(&warning));
    }
    if let Some(block) = verdict.block() {
        Audited::open(engine, policy, &spec).block(&verdict, None)?;
        return Err(RunError::PromptBlocked { block: block.clone() });
    }
    let goal = &spec.goal;
    let prompt = match verdict.context() {
        None => goal.clone(),
        Some(context) => format!("{goal}\n\n<context>\n{context}\n</context>"),
    };
    Ok(RunSpec { prompt: Some(prompt), ..spec })
}
