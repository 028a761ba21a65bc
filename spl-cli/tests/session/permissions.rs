//! Permission rules from a terminal: writing them, putting them in force without locking oneself
//! out, and the way back in.

use crate::terminal::{Terminal, assert_session};

const OPERATOR: &str = "spl config add-permission-rule --name operator --action allow \
                        --priority 100 --expression 'current_actor() == \"did:sync:user:vera\"'";

const SWITCH_ON: &str = "spl learn --thread th_engine_config --actor did:sync:system:engine \
                         --body '{\"topic\":\"permissions_enabled\",\"enabled\":true}'";

#[test]
fn rules_are_written_listed_and_disabled() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl namespace create acme && spl namespace create acme/ci");
    terminal.session(&[
        "spl config list-permission-rules",
        OPERATOR,
        "spl config add-permission-rule --name no-push --action deny --priority 200 \
         --expression 'resource == \"tool:bash\" && record.body.args.command.contains(\"push\")'",
        "spl config add-permission-rule --name low --action allow --priority -5 \
         --expression 'resource.endsWith(\"_read\")' --namespace acme/ci",
        "spl config add-permission-rule --name bad --action allow --expression 'resource = 1'",
        "spl config add-permission-rule --name bad --action block --expression true",
        "spl config add-permission-rule --name '' --action deny --expression true",
        "spl config list-permission-rules",
        "spl config disable-permission-rule no-push",
        "spl config disable-permission-rule nobody",
        "spl config list-permission-rules",
        "spl -o json config list-permission-rules | tr ',' '\\n' | grep -c expression",
    ]);
    assert_session!(terminal);
}

#[test]
fn nobody_locks_themselves_out_by_accident() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&["spl config permissions-enable"]);
    let refused = terminal.quietly("spl config permissions-enable");
    assert_eq!(refused.status, 1);
    let command = refused.stderr.split("Before that: ").nth(1).expect("a command").trim();
    let command = command.to_owned();
    terminal.session(&[
        &command,
        "spl config permissions-enable",
        "spl config permissions-enable",
        "spl config list-permission-rules",
        "spl know 'painted' --thread th_shed",
        "spl thread list",
        // One that stands above it.
        "spl config add-permission-rule --name frozen --action deny --priority 900 \
         --expression 'resource.startsWith(\"record_\")'",
        "spl know 'painted again' --thread th_shed",
        "spl config permissions-disable",
        "spl config permissions-unlock",
        "spl config permissions-enable",
        "spl config disable-permission-rule frozen",
        "spl config permissions-enable",
        "spl config permissions-disable",
    ]);
    assert_session!(terminal);
}

/// Whoever wrote the switch by hand is locked out, and gets back in past the rules.
#[test]
fn a_lock_out_is_unlocked() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        SWITCH_ON,
        "spl thread list",
        "spl config list-permission-rules",
        "spl -o json config permissions-disable",
        "spl doctor | grep rules",
        "CLAUDECODE=1 spl config permissions-unlock",
    ]);
    terminal.does("spl serve --daemon --port 0");
    let beside = terminal.quietly("spl config permissions-unlock");
    assert_eq!(beside.status, 1);
    assert!(beside.stderr.contains("[SERVER_RUNNING]"), "{}", beside.stderr);
    terminal.session(&[
        "spl thread list",
        "spl config permissions-unlock --force",
        "spl thread list",
    ]);
    terminal.does("spl serve --stop");
    terminal.session(&[
        SWITCH_ON,
        "spl health",
        "spl config permissions-unlock",
        "spl config show",
    ]);
    // Each refusal, of this process and of the server's, is on the record.
    terminal.session(&["spl thread records th_audit_security | wc -l"]);
    assert_session!(terminal);
}

#[test]
fn settings_are_found_and_shown_without_secrets() {
    let mut terminal = Terminal::with_instance();
    let settings = terminal.home().join("config.toml");
    let mut text = std::fs::read_to_string(&settings).expect("read");
    text.push_str("[mcp.time]\ncommand = \"uvx\"\nargs = [\"s3cret\"]\nenv = { K = \"s3cret\" }\n");
    text.push_str("[mcp.docs]\nurl = \"https://x/mcp\"\nheaders = { X-Key = \"s3cret\" }\n");
    std::fs::write(&settings, text).expect("written");
    terminal.session(&["spl config path", "spl config show", "spl -o json config show"]);
    let shown = terminal.does("spl config show; spl -o json config show");
    assert!(!shown.contains("s3cret"), "{shown}");
    assert_session!(terminal);
}

#[test]
fn origins_are_set() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl config auth-set-cors-origins https://console.example.org http://localhost:5173",
        "spl config auth-set-cors-origins https://console.example.org/path",
        "spl config auth-set-cors-origins",
        "spl config auth-set-cors-origins --none",
        "spl -o stream-json thread records th_engine_config | tr ',' '\\n' | grep origins",
    ]);
    assert_session!(terminal);
}
