//! Packs of policy hooks from outside: what is wrong with them, putting them in force, and what a host
//! says of itself.

use spl::canon::{Limits, Value, parse};

use crate::terminal::{Terminal, assert_session};

const GOOD: &str = r#"{"version":1,"hooks":[{"id":"tests-pass","event":"turn:stop",
    "handler":{"type":"command","command":"./test.sh"},"onFailure":"continue",
    "terminationGate":{"maxCycles":3,"maxDurationMs":900000,"maxTokens":200000}}]}"#;

const BAD: &str = r#"{"version":1,"hooks":[{"id":"a","event":"tool:before","when":"now","handler":
    {"type":"http","url":"https://127.0.0.1/x","headers":{"Authorization":"Bearer abc"}}}]}"#;

/// A terminal whose user has a project with a pack and an agent.
fn project() -> Terminal {
    let terminal = Terminal::new();
    terminal.does("mkdir -p project/.polpo/hooks project/.polpo/agents/coder");
    terminal.write("project/.polpo/hooks/quality.json", GOOD);
    terminal.write("project/.polpo/agents/coder/agent.json", r#"{"hooks":["quality"]}"#);
    terminal
}

/// P126, P127, P128. No instance is needed, and none is made.
#[test]
fn what_is_wrong_with_packs_is_named() {
    let mut terminal = project();
    terminal.session(&[
        "spl policy validate",
        "spl policy validate --json",
        "cd project && spl policy validate",
        "spl policy validate --dir project --json",
    ]);
    terminal.write("project/.polpo/hooks/bad.json", BAD);
    terminal.write("project/.polpo/agents/coder/agent.json", r#"{"hooks":["qualty"]}"#);
    terminal.session(&[
        "spl policy validate --dir project",
        "spl policy validate --dir project --json",
        "spl policy validate --dir nowhere",
        "ls -A",
    ]);
    assert_session!(terminal);
}

/// The same commands have other names, which no help lists.
#[test]
fn the_command_answers_to_another_name() {
    let mut terminal = project();
    terminal.does("ln -s $(command -v spl) polpo");
    let validated = terminal.does("spl policy validate --dir project --json");
    for other in ["spl polpo hooks validate", "./polpo hooks validate"] {
        assert_eq!(terminal.does(&format!("{other} --dir project --json")), validated, "{other}");
    }
    terminal.does("spl init");
    let said = terminal.does("spl policy capabilities --json");
    for other in ["spl polpo hooks capabilities", "./polpo hooks capabilities"] {
        assert_eq!(terminal.does(&format!("{other} --json")), said, "{other}");
    }
    assert!(!terminal.does("spl --help").contains("polpo"));
    terminal.session(&["./polpo policy list", "./polpo hooks"]);
    assert_session!(terminal);
}

#[test]
fn packs_are_deployed_once_each_revision() {
    let mut terminal = project();
    terminal.session(&[
        "spl policy deploy",
        "spl policy deploy --dir project",
        "spl policy deploy --dir project",
        "CLAUDECODE=1 spl policy deploy --dir project",
    ]);
    terminal.write("project/.polpo/hooks/bad.json", BAD);
    terminal.session(&["spl policy deploy --dir project", "rm project/.polpo/hooks/bad.json"]);
    // Written otherwise, it says the same.
    terminal.write("project/.polpo/hooks/quality.json", &GOOD.replace('\n', " "));
    terminal.session(&["spl policy deploy --dir project"]);
    terminal.write("project/.polpo/hooks/quality.json", &GOOD.replace("test.sh", "check.sh"));
    // A server that runs is asked.
    terminal.does("spl serve --daemon --port 0");
    terminal.session(&[
        "spl policy deploy --dir project",
        "spl policy deploy --dir project --json | grep -o '\"fresh\":[a-z]*'",
        "spl thread records th_policy_packs | grep -c core.policy.pack.v1",
        "CLAUDECODE=1 spl policy deploy --dir project",
    ]);
    terminal.kill_server();
    assert_session!(terminal);
}

/// P124, P125: with and without a server.
#[test]
fn a_host_says_how_far_hooks_count() {
    let mut terminal = Terminal::with_instance();
    terminal
        .session(&["spl policy capabilities", "POLPO_RUNTIME_HOOKS=off spl policy capabilities"]);
    let managed = "[runtime]\nmanaged = true\ntermination-gate.mode = \"enforce\"\n";
    terminal.does(&format!("printf '%s' '{managed}' >> .syncro/config.toml"));
    terminal.session(&["spl policy capabilities"]);
    let alone = terminal.does("spl policy capabilities --json");
    terminal.does("spl serve --daemon --port 0");
    assert_eq!(terminal.does("POLPO_RUNTIME_HOOKS=off spl policy capabilities --json"), alone);
    terminal.kill_server();
    let said = parse(alone.trim().as_bytes(), Limits::DOOR).expect("JSON");
    let gate = said.get("managed").and_then(|it| it.get("terminationGate")).expect("a gate");
    assert_eq!(gate.get("enabled").and_then(Value::as_bool), Some(true));
    terminal.does("printf 'hook.mode = \"off\"\\n' >> .syncro/config.toml");
    terminal.session(&["spl policy capabilities", "spl policy validate"]);
    assert_session!(terminal);
}
