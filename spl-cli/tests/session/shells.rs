//! The shell of an agent, in which the command is not the operator's.

use crate::terminal::{Terminal, assert_session};

/// What each run and each harness marks the commands by that it starts.
const MARKS: [&str; 11] = [
    "SPL_RUN",
    "CLAUDECODE",
    "CODEX_THREAD_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
    "GEMINI_CLI",
    "QWEN_CODE",
    "OPENCODE",
    "COPILOT_CLI",
    "CURSOR_AGENT",
    "AI_AGENT",
];

const ADD: &str = "spl hook add lesson --when true --text t";

#[test]
fn an_agent_teaches_nobody_else() {
    let mut terminal = Terminal::with_instance();
    for mark in MARKS {
        let refused = terminal.quietly(&format!("{mark}=1 {ADD}"));
        assert_eq!(refused.status, 6, "{mark}: {}{}", refused.stdout, refused.stderr);
        assert!(refused.stderr.contains("[CONFIG_WRITE_DENIED]"), "{mark}: {}", refused.stderr);
        assert!(refused.stderr.contains(&format!("{mark} is set")), "{mark}: {}", refused.stderr);
    }
    assert!(terminal.does("spl health").contains("hooks_loaded 0 "), "nothing was written");
    // A variable that says nothing marks nothing.
    terminal.does(&format!("CLAUDECODE= {ADD}"));
    terminal.set("CLAUDECODE", "1");
    terminal.session(&[
        ADD,
        "spl learn --thread th_engine_config --body '{\"topic\":\"permissions_enabled\",\"enabled\":true}'",
        "spl learn --thread th_engine_config --body '{\"topic\":\"days\"}'",
        "spl namespace create acme",
        "spl config permissions-unlock",
        "spl token create --name mine --scopes admin",
        "spl know 'as an agent' --thread th_a",
        "spl thread list",
        "spl hook list",
        "spl namespace list",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_server_is_told_whose_shell_it_is() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let url = terminal.does("cat .syncro/run/spl.url");
    for server in [String::new(), format!("--server {}", url.trim())] {
        let refused = terminal.quietly(&format!("GEMINI_CLI=1 {ADD} {server}"));
        assert!(refused.stderr.contains("[CONFIG_WRITE_DENIED]"), "{}", refused.stderr);
        terminal.does(&format!("GEMINI_CLI=1 spl know hello --thread th_a {server}"));
        terminal.does(&format!("GEMINI_CLI=1 spl thread list {server}"));
    }
    terminal.does(ADD);
    terminal.does("spl serve --stop");
}

/// What a harness starts by itself writes as the engine, and what looks at the machine goes on.
#[test]
fn what_a_harness_needs_works_in_its_shells() {
    let mut terminal = Terminal::with_instance();
    terminal.does(ADD);
    terminal.write(
        "event.json",
        r#"{"session_id":"s1","cwd":"/tmp","hook_event_name":"PostToolUse","tool_name":"Bash",
            "tool_input":{"command":"make"},"tool_response":"done","tool_use_id":"t1"}"#,
    );
    terminal.set("CLAUDECODE", "1");
    let said = terminal.does("spl session hook --harness claude <event.json");
    assert!(said.contains("lesson"), "{said}");
    terminal.does("mkdir -p project && cd project && spl session install-hooks");
    assert!(terminal.quietly("spl doctor").status < 2);
    assert!(terminal.quietly("spl session doctor").status < 2);
    terminal.does("spl verify && spl session list");
}

#[test]
fn whoever_sits_at_the_terminal_may_say_that_it_is_them() {
    let mut terminal = Terminal::with_instance();
    terminal.set("QWEN_CODE", "1");
    let words = ["hook", "add", "lesson", "--when", "true", "--text", "t", "--as-operator"];
    for answer in ["no\n", "y\n", "\n", "yes please\n", "\u{4}"] {
        let (output, shown) = terminal.confirmed(&words, answer);
        assert_eq!(output.status.code(), Some(6), "{answer:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("`--as-operator` was not confirmed"), "{answer:?}: {said}");
        assert!(shown.contains("QWEN_CODE is set") && shown.contains("Type yes"), "{shown}");
    }
    let listed = "env -u QWEN_CODE spl hook list";
    assert!(!terminal.does(listed).contains("lesson"), "nothing was written");
    let (output, shown) = terminal.confirmed(&words, "yes\n");
    assert_eq!(output.status.code(), Some(0), "{shown}: {output:?}");
    assert!(terminal.does(listed).contains("lesson"));
    // A person's shell is asked nothing.
    let (output, shown) = {
        let terminal = Terminal::with_instance();
        terminal.confirmed(&words, "")
    };
    assert_eq!((output.status.code(), shown.as_str()), (Some(0), ""));
}

#[test]
fn without_a_terminal_nobody_is_the_operator() {
    let mut terminal = Terminal::with_instance();
    terminal.set("OPENCODE", "1");
    // A session of its own has no terminal, whatever is piped into it.
    terminal.session(&[&format!("echo yes | setsid --wait {ADD} --as-operator")]);
    let listed = terminal.does("env -u OPENCODE spl hook list");
    assert!(!listed.contains("lesson"), "nothing was written");
    assert_session!(terminal);
}

const SCRIPT: &str = r#"{"turns":[
    {"tool_calls":[{"name":"bash","args":{"command":"COMMAND"}}]},{"text":"done"}]}"#;

/// Plays one command of a run, and returns what came of it as the model saw it.
fn played(terminal: &Terminal, command: &str) -> String {
    terminal.write("work/script.json", &SCRIPT.replace("COMMAND", command));
    terminal.does(
        "cd work && spl -o stream-json work-loop go --script script.json --workspace . \
         | grep '\"object\":\"tool_result\"'",
    )
}

#[test]
fn the_commands_of_a_run_know_that_they_are() {
    let terminal = Terminal::with_instance();
    terminal.does("mkdir work");
    let said = played(&terminal, "env | grep -e SPL -e SYNCROPEL -e KEY");
    assert!(said.contains("SPL_RUN=th_"), "{said}");
    assert_eq!(said.matches("SPL_").count(), 1, "{said}");
    let mut loud = Terminal::with_instance();
    for name in ["SPL_TOKEN", "SPL_ACTOR", "SYNCROPEL_X", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"] {
        loud.set(name, "did:sync:user:leak");
    }
    loud.does("mkdir work");
    let said = played(&loud, "env | sort");
    assert!(said.contains("SPL_RUN=th_") && !said.contains("leak"), "{said}");
}

/// An unconfined run reaches what its user reaches, and not the instance.
#[test]
fn the_commands_of_a_run_do_not_see_the_instance() {
    let terminal = Terminal::with_instance();
    terminal.does("mkdir work && echo hello >beside");
    let token = terminal.does("cat .syncro/token");
    let said =
        played(&terminal, "cat ~/.syncro/token; cat ../beside; echo new >../new && cat ../new");
    if said.contains(token.trim()) {
        // Where there is no way to hide it, that was said.
        let warned = terminal.quietly("cd work && spl work-loop go --echo --workspace .");
        assert!(warned.stderr.contains("cannot be hidden"), "{}", warned.stderr);
        return;
    }
    assert!(said.contains("hello"), "{said}");
    let said = played(&terminal, "spl know hello --thread th_a; spl hook list");
    assert!(said.contains("hidden") || said.contains("denied"), "{said}");
    terminal.does("cat .syncro/token && spl verify");
}
