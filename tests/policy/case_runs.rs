//! The cases of the contract that need a run.

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use spl::model::{CallRequest, Message};
use spl::run::{Approval, Approver, Auto};

use crate::cases::{Call, Case, Run, RunExpect, cases};
use crate::desk::Desk;
use crate::stage::{Played, Stage, text, thread};

/// Somebody who wants nothing done.
struct Declines;

impl Approver for Declines {
    fn approve(&mut self, _: &CallRequest) -> Approval {
        Approval::Refused("declined".to_owned())
    }
}

/// Writes the script of a model that makes these calls, and those of its tasks.
fn script(turns: &[Vec<Call>], tasks: &mut serde_json::Map<String, Value>) -> Value {
    let mut scripted: Vec<Value> = Vec::new();
    for turn in turns {
        let calls: Vec<Value> = turn.iter().map(|call| call_of(call, tasks)).collect();
        scripted.push(json!({ "tool_calls": calls }));
    }
    scripted.push(json!({ "text": "done" }));
    Value::from(scripted)
}

fn call_of(call: &Call, tasks: &mut serde_json::Map<String, Value>) -> Value {
    let mut input = call.input.clone();
    // The contract leaves open what a task is asked for by.
    if call.tool == "task" {
        let goal = input["goal"].as_str().expect("a goal").to_owned();
        let turns = script(&call.turns, tasks);
        tasks.insert(goal.clone(), turns);
        input = json!({ "description": "a part", "prompt": goal });
    }
    json!({ "name": call.tool, "args": input })
}

fn play(run: &Run) -> (Stage, Played) {
    let mut stage = Stage::new();
    Desk::set(&stage.desk.home, run.global.as_ref());
    Desk::set(&stage.desk.work, run.project.as_ref());
    stage.variables = run.variables.clone();
    let mut tasks = serde_json::Map::new();
    let turns = script(&run.turns, &mut tasks);
    let script = json!({ "turns": turns, "tasks": tasks }).to_string();
    let goal = run.prompt.as_deref().unwrap_or("hi");
    let played = match run.approve.as_deref() {
        None | Some("auto") => stage.play_goal(goal, &script, &mut Auto),
        Some("declined") => stage.play_goal(goal, &script, &mut Declines),
        Some(other) => panic!("nobody is `{other}`"),
    };
    (stage, played)
}

/// Holds what came of a run against what a case says of it.
fn check(id: &str, expect: &RunExpect, stage: &Stage, played: &Played) {
    let RunExpect {
        tool_ran,
        error,
        error_contains,
        error_lacks,
        result_contains,
        spawned,
        payload,
        payload_contains,
        model_called,
        message,
        run_opened,
        refused_contains,
        task_begun,
        blocks,
        audit,
    } = expect;
    if let Some(ran) = tool_ran {
        assert_eq!(stage.workspace().join("tool-ran").exists(), *ran, "{id}: the tool");
    }
    let told = played.told.last().map(|request| request.messages.as_slice()).unwrap_or_default();
    let answers: Vec<(&str, bool)> = told
        .iter()
        .filter_map(|message| match message {
            Message::ToolResult { text, failed, .. } => Some((text.as_str(), *failed)),
            _ => None,
        })
        .collect();
    if let Some(error) = error {
        assert_eq!(answers.first().map(|(_, failed)| *failed), Some(*error), "{id}: {answers:?}");
    }
    let first = answers.first().map_or("", |(text, _)| *text);
    if let Some(words) = error_contains {
        assert!(answers[0].1 && first.contains(&*stage.desk.here(words)), "{id}: {first}");
    }
    if let Some(words) = error_lacks {
        assert!(!first.contains(words), "{id}: {first}");
    }
    if let Some(words) = result_contains {
        assert!(first.contains(&words.whole()), "{id}: {first}");
    }
    if let Some(names) = spawned {
        assert_eq!(&stage.desk.spawned(), names, "{id}: who was asked");
    }
    if let Some(members) = payload {
        let read: Value = serde_json::from_str(&stage.desk.text("payload")).expect("a payload");
        for (name, value) in members {
            let value = match value {
                Value::String(text) => Value::from(stage.desk.here(text)),
                other => other.clone(),
            };
            assert_eq!(read[name], value, "{id}: {name} of {read}");
        }
    }
    if let Some(words) = payload_contains {
        let read = stage.desk.text("payload");
        assert!(read.contains(&words.whole()), "{id}: {read}");
    }
    if let Some(called) = model_called {
        assert_eq!(!played.told.is_empty(), *called, "{id}: the model");
    }
    if let Some(message) = message {
        let first = played.told.first().and_then(|request| request.messages.first());
        assert_eq!(first, Some(&Message::User { text: message.clone() }), "{id}");
    }
    if let Some(opened) = run_opened {
        assert_eq!(!stage.records(&thread()).is_empty(), *opened, "{id}: the run");
    }
    if let Some(words) = refused_contains {
        let refused = played.outcome.as_ref().expect_err(id).to_string();
        assert!(refused.contains(words), "{id}: {refused}");
    }
    let begins = *run_opened != Some(false);
    assert_eq!(played.outcome.is_ok(), begins, "{id}: {:?}", played.outcome);
    if let Some(begun) = task_begun {
        assert_eq!(played.tasks > 0, *begun, "{id}: the task");
    }
    if let Some(wanted) = blocks {
        let found = stage.blocks();
        assert_eq!(found.len(), wanted.len(), "{id}: {found:?}");
        for (block, wanted) in found.iter().zip(wanted) {
            for (name, value) in wanted {
                assert_eq!(text(block, name), value, "{id}: {name}");
            }
        }
    }
    if let Some(wanted) = audit {
        check_audit(id, stage, wanted.as_deref());
    }
}

fn check_audit(id: &str, stage: &Stage, wanted: Option<&[BTreeMap<String, String>]>) {
    let path = stage.desk.home.join(".polyglot/audit").join(format!("{}.jsonl", thread()));
    let Some(wanted) = wanted else {
        assert!(!path.exists(), "{id}: there is an audit file");
        return;
    };
    let lines = fs::read_to_string(&path).expect(id);
    let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    let found: Vec<Value> = lines.filter(|line: &Value| line["kind"] == "hook_blocked").collect();
    assert_eq!(found.len(), wanted.len(), "{id}: {found:?}");
    for (line, wanted) in found.iter().zip(wanted) {
        for (name, value) in wanted {
            assert_eq!(line[name], value.as_str(), "{id}: {name}");
        }
    }
}

#[test]
fn what_comes_of_a_run() {
    let mut played = 0;
    for Case { id, run, .. } in cases() {
        let Some(run) = run else { continue };
        let (stage, came_of_it) = play(&run);
        check(&id, &run.expect, &stage, &came_of_it);
        played += 1;
    }
    assert_eq!(played, 24);
}
