//! The tools that the run itself answers: to ask somebody, to have a part done by a run of its own,
//! and to say that it cannot go on.

use super::RunSpec;
use crate::canon::{Object, Value};
use crate::model::ToolDescription;
use crate::object;
use crate::tool::ToolSpec;

/// Puts a question to somebody who decides.
pub const REQUEST_DECISION: &str = "request_decision";

/// Says that the goal cannot be reached, and why.
pub const REPORT_BLOCKED: &str = "report_blocked";

/// Has a part of the work done by a run of its own.
pub const TASK: &str = "task";

/// How deep tasks may be inside of one another.
const MAX_DEPTH: u32 = 3;

/// The most tasks of one turn.
pub(super) const MAX_TASKS: u32 = 3;

/// The most turns of a task.
pub(super) const TASK_TURNS: u32 = 15;

/// Why an actor could not go on (contract §5.1).
const REASONS: [&str; 6] = [
    "tool_unavailable",
    "ambiguous_goal",
    "precondition_failed",
    "decision_required",
    "input_invalid",
    "internal_error",
];

/// Returns whether the run itself answers the tool `name`.
pub(super) fn is_name(name: &str) -> bool {
    matches!(name, REQUEST_DECISION | REPORT_BLOCKED | TASK)
}

/// Returns how those of these tools introduce themselves that a run has. A task puts no question to
/// anybody: nobody could wait for the answer in the middle of another run.
pub(super) fn descriptions(spec: &RunSpec) -> Vec<ToolDescription> {
    let has = |name: &str| match name {
        REQUEST_DECISION => spec.depth == 0,
        TASK => spec.depth < MAX_DEPTH && !spec.forbidden.iter().any(|tool| tool == TASK),
        _ => true,
    };
    every_description().into_iter().filter(|tool| has(&tool.name)).collect()
}

fn every_description() -> Vec<ToolDescription> {
    let text = |description: &str| object! { "type": "string", "description": description };
    let lesson = ToolSpec::new(
        "lesson",
        "",
        object! {
            "name": text("A short name, such as `tests-first`"),
            "when": text("A CEL predicate over a call that returned, such as \
                          record.body.tool == \"bash\" && record.body.status == \"error\""),
            "text": text("The one sentence that others will read"),
            "max_fires_per_run": object! { "type": "integer", "minimum": 1 },
        },
        &["name", "when", "text"],
    );
    let specs = [
        ToolSpec::new(
            REQUEST_DECISION,
            "Ask the operator to decide something that is not yours to decide. The run may wait \
             for the answer. With `lesson` you propose a lesson for all later runs.",
            object! {
                "question": text("What is to be decided, in one sentence"),
                "options": object! { "type": "array", "items": object! { "type": "string" },
                                     "description": "The choices, if there are few" },
                "context": text("What one has to know to decide it"),
                "lesson": lesson.parameters,
            },
            &["question"],
        ),
        ToolSpec::new(
            TASK,
            "Have one self-contained part of the work done by another run with the same tools, and \
             read what it comes to. It knows nothing but what you write here.",
            object! {
                "description": text("What it is about, in three to five words"),
                "prompt": text("What is to be done, with all that has to be known for it"),
            },
            &["description", "prompt"],
        ),
        ToolSpec::new(
            REPORT_BLOCKED,
            "End the run because the goal cannot be reached with what you have.",
            object! {
                "reason": object! { "type": "string", "enum": REASONS.to_vec(),
                                    "description": "What kind of obstacle it is" },
                "narrative": text("What you tried, and what is in the way"),
                "missing_tools": object! { "type": "array", "items": object! { "type": "string" },
                                           "description": "Tools that you would have needed" },
            },
            &["reason", "narrative"],
        ),
    ];
    specs
        .into_iter()
        .map(|spec| ToolDescription {
            name: spec.name,
            description: spec.description,
            parameters: spec.parameters,
        })
        .collect()
}

/// Why an actor could not go on, in its own words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Obstacle {
    pub(super) reason: String,
    pub(super) narrative: String,
    pub(super) missing_tools: Vec<String>,
}

impl Obstacle {
    /// Reads the arguments of `report_blocked`, or says what is wrong with them.
    pub(super) fn read(args: &Object) -> Result<Self, String> {
        let text = |name: &str| match args.get(name).and_then(Value::as_str) {
            Some(text) if !text.trim().is_empty() => Ok(text.to_owned()),
            _ => Err(format!("`{name}` must say something")),
        };
        let reason = text("reason")?;
        if !REASONS.contains(&reason.as_str()) {
            return Err(format!("`reason` must be one of {}", REASONS.join(", ")));
        }
        let missing = args.get("missing_tools").and_then(Value::as_array).unwrap_or_default();
        let missing_tools =
            missing.iter().filter_map(|tool| Some(tool.as_str()?.to_owned())).collect();
        Ok(Self { reason, narrative: text("narrative")?, missing_tools })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_obstacle_has_a_kind_and_words() {
        let args = object! { "reason": "ambiguous_goal", "narrative": "which of the two?" };
        let obstacle = Obstacle::read(&args).expect("an obstacle");
        assert_eq!(obstacle.reason, "ambiguous_goal");
        assert!(obstacle.missing_tools.is_empty());
        let refused = |args: Object| Obstacle::read(&args).expect_err("refused");
        let bored = object! { "reason": "bored", "narrative": "x" };
        assert!(refused(bored).starts_with("`reason` must be one of tool_unavailable"));
        let silent = object! { "reason": "input_invalid", "narrative": " " };
        assert_eq!(refused(silent), "`narrative` must say something");
    }
}
