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
    terminal.register(&["acme", "acme/ci"]);
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

#[test]
fn what_is_odd_about_a_hook_is_said_when_it_is_written() {
    let mut terminal = Terminal::with_instance();
    let hook = r#"{"kind":"core.hook.v1","topic":"hook","name":"by-hand","when":"resource == \"bash\"","text":"t"}"#;
    terminal.write("hook.json", hook);
    terminal.session(&[
        "spl hook add notes --when 'record.body.tool == \"mcp__notes\"' --text t",
        "spl learn --thread th_engine_config --body @hook.json",
        "spl hook show notes",
        "spl -o json hook show notes",
    ]);
    assert_session!(terminal);
}

/// The hook in force, one that is not written yet, and everything that may come of them.
#[test]
fn a_hook_is_tried_on_a_call() {
    let mut terminal = Terminal::with_instance();
    terminal.register(&["acme", "acme/ci"]);
    terminal.does("spl hook add shell-failed --when 'record.body.tool == \"bash\" && record.body.status != \"ok\"' --text '${tool} ended with ${status}; read stderr first.'");
    terminal.does("spl hook add etc --when 'record.body.args.path.startsWith(\"/etc\")' --text 'Mind ${tool}.' --namespace acme/ci");
    terminal.does("spl hook add off --when 'resource == \"tool:bash\"' --text t");
    terminal.does("spl hook disable off");
    terminal.write(
        "call.json",
        r#"{"tool":"bash","args":{"command":"make"},"status":"error","content":"no rule"}"#,
    );
    terminal.session(&[
        "spl hook test shell-failed --call call.json",
        "sed s/error/ok/ call.json | spl hook test shell-failed --call - --explain",
        "spl hook test etc --call call.json --explain",
        "spl hook test off --call call.json",
        "spl hook test --when 'record.body.args.command == \"make\"' --text '${tool}!' --call call.json",
        "spl hook test --when 'resource == \"tool:bash\"' --explain --call '{\"tool\":\"Bash\",\"resource\":\"tool:bash\"}'",
        "spl hook test --when 'record.body.args.command' --call call.json --explain",
        "spl -o json hook test shell-failed --call call.json",
        "spl -o json hook test etc --namespace acme/ci --call call.json",
        "spl hook test --when 'record.body.tol == \"bash\"' --call call.json",
        "spl hook test repeat-guard --call call.json",
        "spl hook test nobody --call call.json",
        "spl hook test shell-failed --call '{\"tool\":\"bash\",\"stdout\":\"\"}'",
        "spl hook test shell-failed --call '{\"status\":\"ok\"}'",
        "spl hook test shell-failed --call nowhere.json",
        "spl hook test shell-failed",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_hook_is_tried_on_a_call_that_was_recorded() {
    let mut terminal = Terminal::with_instance();
    terminal.register(&["acme", "acme/ci"]);
    terminal.write(
        "turns.json",
        r#"{"turns":[{"tool_calls":[{"name":"bash","args":{"command":"exit 3"}}]},{"text":"done"}]}"#,
    );
    terminal.does(
        "spl hook add below --when 'record.body.tool == \"bash\"' --text t --namespace acme/ci",
    );
    let _ = terminal.quietly("spl work-loop go --script turns.json --workspace .");
    let found =
        terminal.does("spl -o stream-json thread list | grep -o 'th_[0-9a-f]\\{64\\}' | head -1");
    let of_kind = |kind: &str| {
        let records = terminal.does(&format!("spl -o stream-json thread records {}", found.trim()));
        let record = records.lines().find(|line| line.contains(kind)).expect("a record");
        let (_, id) = record.split_once("\"id\":\"").expect("an id");
        id[..64].to_owned()
    };
    let (result, call) = (of_kind("core.work.tool_result.v1"), of_kind("core.work.tool_call.v1"));
    terminal.session(&[
        &format!("spl hook test --when 'record.body.args.command == \"exit 3\" && record.body.status == \"ok\"' --explain --call {result}"),
        &format!("spl hook test --when 'record.clock >= 0 && size(record.parents) == 1' --call {}", &result[..12]),
        &format!("spl hook test below --call {result}"),
        &format!("spl hook test below --call {call}"),
        "spl hook test below --call ffffffff",
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
