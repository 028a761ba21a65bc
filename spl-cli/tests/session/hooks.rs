//! Hooks: the documented command, and the one that is easier to type.

use crate::terminal::{Terminal, assert_session};

/// The documented seed command of a hook, word for word.
const SEED: &str = concat!(
    "spl know --thread th_engine_config --actor did:sync:system:engine --act LEARN ",
    r#"--body '{"kind":"core.hook.v1","topic":"hook","name":"shell-failed","#,
    r#""when":"record.body.tool == \"bash\" && record.body.status != \"ok\"","#,
    r#""text":"${tool} ended with ${status}; read stderr first."}'"#
);

const HEALTH: &str = "spl health";

#[test]
fn the_documented_command_writes_a_hook_without_a_server() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        SEED,
        HEALTH,
        "spl hook list",
        "spl record show $(spl thread records th_engine_config | cut -d' ' -f1)",
    ]);
    assert_session!(terminal);
}

#[test]
fn the_documented_command_writes_a_hook_with_a_server() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    terminal.session(&[HEALTH, SEED, HEALTH, "spl hook list"]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}

#[test]
fn a_hook_is_added_shown_replaced_and_disabled() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl hook add shell-failed --when 'record.body.tool == \"a\"' --text '${tool}: ${status}'",
        "spl hook show shell-failed",
        "spl hook add shell-failed --when 'record.body.tool == \"b\"' --text 'stderr' --max 1",
        "spl hook show shell-failed",
        HEALTH,
        "spl hook disable shell-failed",
        "spl hook show shell-failed",
        HEALTH,
        "spl hook disable shell-failed",
        "spl -o stream-json thread records th_engine_config",
    ]);
    assert_session!(terminal);
}

#[test]
fn namesakes_in_two_namespaces_are_told_apart() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl hook add twin --when true --text above",
        "spl hook add twin --when true --text below --namespace acme/ci",
        "spl hook list",
        "spl hook show twin",
        "spl hook show twin --namespace acme/ci",
        "spl hook disable twin",
        "spl hook disable twin --namespace acme/ci",
        "spl hook list",
        "spl hook show twin --namespace nowhere",
        "spl hook show nobody",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_is_built_in_is_shown_and_stays() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl hook show repeat-guard",
        "spl hook show absence-guard",
        "spl hook disable repeat-guard",
        "spl hook add repeat-guard --when true --text mine",
    ]);
    assert_session!(terminal);
}

/// Each forbidden field by its name, at the door that the command goes through.
#[test]
fn each_forbidden_field_is_refused_by_name() {
    let mut terminal = Terminal::with_instance();
    let fields = ["priority", "action", "suppress", "replace", "order", "instead_of", "colour"];
    for field in fields {
        let hook = r#""kind":"core.hook.v1","topic":"hook","name":"n","when":"true","text":"t""#;
        let body = format!(r#"{{{hook},"{field}":1}}"#);
        let _ = terminal.run(&format!("spl learn --thread th_engine_config --body '{body}'"));
    }
    let _ = terminal.run("spl thread list");
    assert_session!(terminal);
}

#[test]
fn a_bad_hook_is_refused_where_it_is_bad() {
    let mut terminal = Terminal::with_instance();
    let hook = r#"{"kind":"core.hook.v1","topic":"hook","name":"n","when":"true","text":"t"}"#;
    terminal.write("hook.json", hook);
    terminal.session(&[
        "spl hook add h --when 'record.body.tol == \"bash\"' --text t",
        "spl hook add h --when 'record.body.tool ==' --text t",
        "spl hook add h --when '1 + 1' --text t",
        "spl hook add h --when 'recrd.act == \"DO\"' --text t",
        "spl hook add '' --when true --text t",
        "spl hook add h --when true --text ''",
        "spl hook add h --when true --text t --max 0",
        "spl hook add h --when true --text t --max -1",
        "spl hook add h --when true --text t --namespace 'Not One'",
        "spl -o json hook add h --when '1 + 1' --text t",
        "spl learn --thread th_elsewhere --body @hook.json",
        "spl know --thread th_engine_config --body @hook.json",
        "sed 's/true/1 +/' hook.json | spl learn --thread th_engine_config --body -",
        "spl hook list",
    ]);
    assert_session!(terminal);
}

/// A predicate that wants more than its budget looked like one that is wrong.
#[test]
fn a_predicate_over_its_budget_is_told_from_one_that_fails() {
    let terminal = Terminal::with_instance();
    terminal.does("spl hook add wrong --when 'record.body.args.none == 1' --text t");
    terminal.does(
        "spl hook add dear --when '[1, 2].map(x, record.body.args.big + \"x\").size() == 0' --text t",
    );
    let big = "x".repeat(600_000);
    terminal.write(
        "script.json",
        &format!(
            r#"{{"turns":[{{"tool_calls":[{{"name":"nothing","args":{{"big":"{big}"}}}}]}}]}}"#
        ),
    );
    let _ = terminal.quietly("spl work-loop go --script script.json --workspace .");
    let counted = |name: &str| terminal.does(&format!("spl hook show {name} | grep counted"));
    assert_eq!(counted("wrong"), "counted asked 1, held 0, spoke 0, failed 1\n");
    assert_eq!(
        counted("dear"),
        "counted asked 1, held 0, spoke 0, failed 1 (1 over the memory budget)\n"
    );
}
