//! What runs ask, and the answers.

use spl::canon::{Limits, Value, parse};

use crate::terminal::{Terminal, assert_session};

const SCRIPT: &str = r#"{"turns":[
    {"text":"I do not know.","tool_calls":[{"name":"request_decision","args":{
        "question":"Which colour shall it be?","options":["red","blue"],
        "context":"The shed is green now."}}]},
    {"text":"That is all."}
]}"#;

const PROPOSAL: &str = r#"{"turns":[
    {"text":"I have learned something.","tool_calls":[{"name":"request_decision","args":{
        "question":"Shall this be a lesson?","lesson":{"name":"tests-first",
        "when":"record.body.tool == \"bash\"","text":"Run the tests first."}}}]},
    {"text":"I go on.","tool_calls":[{"name":"bash","args":{"command":"true"}}]},
    {"text":"That is all."}
]}"#;

/// Lets a run ask, and returns the id of its question and its thread.
fn asked(terminal: &mut Terminal, script: &str) -> (String, String) {
    terminal.write("script.json", script);
    let run = terminal.run("spl work-loop 'paint the shed' --script script.json --workspace .");
    assert_eq!(run.status, 3, "it waits");
    let list = terminal.does("spl -o json decisions list");
    let list = parse(list.as_bytes(), Limits::DOOR).expect("JSON");
    let rows = list.get("data").and_then(Value::as_array).expect("rows");
    let text = |key: &str| rows.last()?.get(key)?.as_str().map(str::to_owned);
    (text("id").expect("an id"), text("thread").expect("a thread"))
}

#[test]
fn a_run_waits_until_somebody_decides() {
    let mut terminal = Terminal::with_instance();
    let (id, thread) = asked(&mut terminal, SCRIPT);
    let short = &id[..12];
    let resume = format!("spl work-loop --resume {thread} --script script.json --workspace .");
    terminal.session(&[
        "spl decisions list",
        &format!("spl decisions show {short}"),
        &resume,
        &format!("spl decisions approve {short} --becomes-policy"),
        &format!("spl decisions provide {short} --value blue --reason 'it suits the house'"),
        &format!("spl decisions reject {short}"),
        &resume,
        "spl decisions list",
        "spl decisions list --all",
        &format!("spl decisions show {short}"),
        "spl decisions show 00000000",
        "spl decisions approve zz",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_lesson_that_a_run_proposes_becomes_a_hook_of_the_operator() {
    let mut terminal = Terminal::with_instance();
    let (id, thread) = asked(&mut terminal, PROPOSAL);
    let short = &id[..12];
    terminal.session(&[
        "spl decisions list",
        &format!("spl decisions show {short}"),
        &format!("spl decisions approve {short} --expires 30d"),
        &format!("spl decisions approve {short} --becomes-policy --expires soon"),
        &format!("spl decisions approve {short} --becomes-policy --expires 2999-01-01T00:00:00Z"),
        "spl hook list",
        &format!("spl work-loop --resume {thread} --script script.json --workspace ."),
        &format!("spl --json decisions approve {short}"),
        "spl verify",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_question_is_answered_through_a_server() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let (id, _) = asked(&mut terminal, SCRIPT);
    terminal.session(&[
        &format!("spl --json decisions reject {} --reason 'not today'", &id[..12]),
        "spl --json decisions list",
    ]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}
