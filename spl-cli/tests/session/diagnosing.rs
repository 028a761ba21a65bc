//! `spl session doctor`: what it sees of each harness.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::installing::user;
use crate::terminal::{Terminal, assert_session};

const POST_TOOL_USE: &str = r#"{"session_id":"s","cwd":"/p","hook_event_name":"PostToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_response":"","tool_use_id":"c1"}"#;

const ALL: [&str; 8] = [
    "session_start",
    "user_prompt_submit",
    "post_tool_use",
    "subagent_start",
    "subagent_stop",
    "pre_compact",
    "stop",
    "session_end",
];

/// Puts a program under a name on the path.
fn program(terminal: &Terminal, name: &str, script: &str) {
    let path = terminal.path(&format!("bin/{name}"));
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a mode");
}

/// Compares a transcript in which only a duration differs.
macro_rules! assert_diagnosis {
    ($terminal:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r"in \d+ ms", "in <n> ms");
        settings.bind(|| {
            assert_session!($terminal);
        });
    };
}

#[test]
fn where_nothing_is_installed_it_says_how() {
    let mut terminal = user();
    program(&terminal, "gemini", "");
    terminal.session(&[
        "cd project && spl session doctor",
        "cd project && spl session doctor --harness gemini",
        "cd project && spl session doctor --json",
        "ls -A",
        "spl session doctor --settings x",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_session_is_seen() {
    let mut terminal = user();
    program(&terminal, "claude", "");
    terminal.write("event.json", POST_TOOL_USE);
    terminal.does("cd project && spl session install-hooks");
    terminal.session(&[
        "cd project && spl session doctor --harness claude",
        "sh -c \"$(grep -m 1 '\"command\": \"' .claude/settings.json | cut -d '\"' -f 4)\" < event.json",
        "cd project && spl session doctor --harness claude",
        "spl session doctor --harness claude | grep -A1 folder",
        "cd project && spl session doctor --harness claude --json",
        "cd project && SYNCROPEL_HOME=$HOME/team spl session doctor --harness claude | grep -A1 home",
    ]);
    assert_diagnosis!(terminal);
}

#[test]
fn policy_hooks_are_tried_with_one_of_the_tests_own() {
    let mut terminal = user();
    for harness in ["claude", "codex", "gemini", "qwen", "opencode"] {
        let install = format!("cd project && spl session install-hooks --harness {harness}");
        terminal.does(&format!("{install} --with-policy"));
    }
    // Whatever the user has set up is not asked about a sample.
    terminal.does("mkdir .polyglot");
    terminal.write(
        ".polyglot/settings.json",
        r#"{"hooks":{"preToolUse":[{"command":"touch $HOME/asked"}]}}"#,
    );
    let doctor = "cd project && spl session doctor | grep -A1 -e '^[A-Z]' -e decides -e self-test | grep -v -e found -e '^--'";
    let of_one = "cd project && spl session doctor --harness qwen | grep -A1 -e decides";
    terminal.session(&[doctor, "ls asked", "spl policy off", of_one, "spl policy on"]);
    terminal.write(".polyglot/settings.json", "{");
    terminal.session(&[of_one]);
    let text = fs::read_to_string(terminal.path(".claude/settings.json")).expect("text");
    terminal.write(".claude/settings.json", &text.replacen(" --policy", "", 1));
    terminal
        .session(&["cd project && spl session doctor --harness claude | grep -A1 -e installed"]);
    assert_diagnosis!(terminal);
}

#[test]
fn hooks_that_nobody_has_accepted_are_told_of() {
    let mut terminal = user();
    terminal.does("cd project && spl session install-hooks --harness codex");
    let state = |terminal: &Terminal, events: &[&str], more: &str| {
        let path = terminal.path(".codex/hooks.json").display().to_string();
        let entry = |event: &&str| {
            format!("[hooks.state.\"{path}:{event}:0:0\"]\ntrusted_hash = \"sha256:1\"\n{more}\n")
        };
        terminal.write(".codex/config.toml", &events.iter().map(entry).collect::<String>());
    };
    let line = ["cd project && spl session doctor --harness codex | grep -A1 trust"];
    terminal.session(&line);
    state(&terminal, &ALL[..3], "");
    terminal.session(&line);
    state(&terminal, &ALL, "");
    terminal.session(&line);
    state(&terminal, &ALL, "enabled = false");
    terminal.session(&line);
    terminal.write(".codex/config.toml", "[features\n");
    terminal.session(&line);
    terminal.write(".codex/config.toml", "[features]\nhooks = false\n");
    terminal.session(&["cd project && spl session doctor --harness codex | grep -A1 policy"]);
    terminal.session(&[
        "cd project && spl session doctor --harness codex --json | grep -o '\"trust\":\"[a-z]*\"'",
    ]);
    assert_session!(terminal);
}

#[test]
fn switches_are_seen_wherever_they_stand() {
    let mut terminal = user();
    for harness in ["claude", "gemini", "qwen"] {
        terminal.does(&format!("cd project && spl session install-hooks --harness {harness}"));
    }
    terminal.does("mkdir project/.claude project/.gemini");
    terminal.write("project/.claude/settings.local.json", "{ // off\n\"disableAllHooks\": true }");
    terminal.write("project/.gemini/settings.json", r#"{"tools":{"enableHooks":false},"hooksConfig":{"disabled":["'/x/spl' session hook --harness gemini"]}}"#);
    let text = fs::read_to_string(terminal.path(".qwen/settings.json")).expect("text");
    terminal.write(".qwen/settings.json", &text.replacen('{', "{\"disableAllHooks\": true,", 1));
    terminal.session(&["cd project && spl session doctor | grep -A1 -e '^[A-Z]' -e policy | grep -v -e found -e '^--'"]);
    assert_session!(terminal);
}

#[test]
fn hooks_that_cannot_work_are_told_of() {
    let mut terminal = user();
    terminal.does("cd project && spl session install-hooks");
    let doctor = "cd project && spl session doctor --harness claude | grep -A1 -e program -e self-test -e errors";
    let settings = fs::read_to_string(terminal.path(".claude/settings.json")).expect("text");
    let with = |terminal: &Terminal, program: &str| {
        let bin = terminal.path("bin/spl").display().to_string();
        let fake = terminal.path(program).display().to_string();
        terminal.write(".claude/settings.json", &settings.replace(&bin, &fake));
    };
    for (name, script) in [
        ("gone", None),
        ("silent", Some("cat > /dev/null")),
        ("refuses", Some("echo 'no such command' >&2; exit 2")),
        ("chats", Some("echo Hello; echo '{}'")),
        ("warns", Some("echo '{}'; echo 'spl session hook: -: the disk is full' >&2")),
    ] {
        let path = format!("bin/{name}");
        with(&terminal, &path);
        if let Some(script) = script {
            program(&terminal, name, script);
        }
        let _ = terminal.run(&format!(": {name}; {doctor}"));
    }
    terminal.write(".claude/settings.json", &settings.replace("SessionEnd", "Other"));
    terminal.session(&["cd project && spl session doctor --harness claude | grep -A1 installed"]);
    terminal.write(".claude/settings.json", "{\n  \"hooks\": [}\n");
    terminal.session(&["cd project && spl session doctor --harness claude"]);
    assert_diagnosis!(terminal);
}

#[test]
fn the_last_complaint_is_shown() {
    let mut terminal = user();
    terminal.does("cd project && spl session install-hooks");
    terminal.write(".syncro/logs/session-hook.log", "spl session hook: Stop: the disk is full\nspl session hook: Stop: \u{1b}[2J\u{fffd} again\n\n");
    terminal.session(&["cd project && spl session doctor --harness claude | tail -n 1"]);
    assert_session!(terminal);
}
