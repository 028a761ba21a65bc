//! Captured sessions at a terminal: told of by the hooks of a harness, and then looked at.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use spl::session::{Harness, session_thread};

use crate::terminal::{Terminal, assert_session};

/// Tells of an event as Claude Code does.
fn told(terminal: &Terminal, session: &str, event: &str, more: &str) {
    let payload = format!(
        r#"{{"session_id":"{session}","cwd":"/srv/shop","hook_event_name":"{event}"{more}}}"#
    );
    terminal.write("payload.json", &payload);
    let said = terminal.quietly("spl session hook --harness claude < payload.json");
    assert_eq!((said.status, said.stderr.as_str()), (0, ""), "{event}");
}

/// Tells of a session in which a command failed, and returns its thread.
fn a_session(terminal: &Terminal) -> String {
    let transcript = terminal.path(".claude/projects/shop/s1.jsonl");
    let started = format!(
        r#","source":"startup","model":"m-1","transcript_path":"{}""#,
        transcript.display()
    );
    told(terminal, "s1", "SessionStart", &started);
    told(terminal, "s1", "UserPromptSubmit", r#","prompt":"why does checkout time out?""#);
    let ok = r#","tool_name":"Read","tool_input":{"file_path":"pay.rs"},"tool_use_id":"t1",
        "tool_response":{"type":"text","file":{"content":"use std;"}}"#;
    told(terminal, "s1", "PostToolUse", ok);
    let failed = r#","tool_name":"Bash","tool_input":{"command":"make test"},"tool_use_id":"t2",
        "error":"Exit code 2\nno rule to make target"}"#;
    told(terminal, "s1", "PostToolUseFailure", failed.trim_end_matches('}'));
    told(terminal, "s1", "Stop", r#","last_assistant_message":"The timeout is 5 s.""#);
    session_thread(Harness::Claude, "s1", None).to_string()
}

fn taught(terminal: &Terminal) {
    terminal.does(
        "spl hook add read-stderr --when 'record.body.status == \"error\"' --text 'Read it first.'",
    );
}

#[test]
fn a_session_is_listed_shown_and_summed_up() {
    let mut terminal = Terminal::with_instance();
    taught(&terminal);
    let thread = a_session(&terminal);
    let short = &thread["th_".len()..][..12];
    terminal.session(&[
        "spl session list",
        &format!("spl session show {thread}"),
        &format!("spl session context th_{short}"),
        "spl session list --harness codex",
        "spl session list --state gone",
        "spl session show th_nobody",
        "spl session show th_",
        "spl --json session list",
    ]);
    told(&terminal, "s1", "SessionEnd", r#","reason":"prompt_input_exit""#);
    terminal.session(&[
        "spl session list --state ended",
        &format!("spl --json session context {thread}"),
        "spl verify",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_transcript_is_kept_when_somebody_asks_for_it_and_forgotten() {
    let mut terminal = Terminal::with_instance();
    let thread = a_session(&terminal);
    let folder = terminal.path(".claude/projects/shop");
    fs::create_dir_all(&folder).expect("made");
    terminal.session(&[&format!("spl session capture {thread}")]);
    fs::write(folder.join("s1.jsonl"), "{\"password\":\"open sesame\"}\n{\"role\":\"user\"}\n")
        .expect("written");
    symlink(folder.join("s1.jsonl"), folder.join("link.jsonl")).expect("linked");
    terminal.write("elsewhere.jsonl", "{}\n");
    terminal.session(&[
        &format!("spl session capture {thread}"),
        &format!("spl session show {thread} | grep transcript"),
        &format!("cat .syncro/sessions/{thread}/transcript.jsonl"),
        &format!("spl session capture {thread} --file elsewhere.jsonl"),
        &format!("spl session capture {thread} --file .claude/projects/shop/link.jsonl"),
        &format!("spl session capture {thread} --file .claude/projects/../settings.json"),
    ]);
    let kept = terminal.home().join("sessions").join(&thread).join("transcript.jsonl");
    assert_eq!(fs::metadata(&kept).expect("there").permissions().mode() & 0o777, 0o600);
    terminal.session(&[
        &format!("spl session forget {thread}"),
        &format!("spl session forget {thread}"),
        "spl session forget th_nobody",
        "spl verify",
    ]);
    assert!(!kept.exists());
    assert_session!(terminal);
}

#[test]
fn what_was_noted_down_is_found_on_coming_back() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&["spl resume"]);
    taught(&terminal);
    let thread = a_session(&terminal);
    terminal.does("spl intend 'paint the shed' --thread th_shed");
    terminal.session(&[
        "spl session save --thread th_shed --summary half",
        "spl session save --thread th_shed --summary half --learnings ''",
        "spl session save --thread th_shed --summary 'half is painted' \
         --learnings 'prime it first' 'buy more paint' --next-steps 'the north wall'",
        "spl session list --thread th_shed",
        "spl resume",
        "spl resume th_sh",
        &format!("spl resume {thread}"),
        "spl session save --draft --reason explicit_end",
        "spl session list --thread th_attention",
        "spl resume",
        "spl --json resume th_shed",
        "spl resume th_nobody",
    ]);
    let list = terminal.does("spl session list --thread th_shed");
    let id = list.lines().nth(1).and_then(|line| line.split(' ').next()).expect("an id");
    terminal.session(&[&format!("spl session show {id}")]);
    assert_session!(terminal);
}

#[test]
fn a_server_says_the_same() {
    let mut terminal = Terminal::with_instance();
    let thread = a_session(&terminal);
    let here = terminal.does(&format!("spl --json session show {thread}"));
    terminal.does("spl serve --daemon --port 0");
    assert_eq!(terminal.does(&format!("spl --json session show {thread}")), here);
    let folder = terminal.path(".claude/projects/shop");
    fs::create_dir_all(&folder).expect("made");
    // Longer than what a server takes of anything else.
    let line = format!("{{\"text\":\"{}\"}}\n", "x".repeat(1000));
    fs::write(folder.join("s1.jsonl"), line.repeat(5000)).expect("written");
    terminal.session(&[&format!("spl session capture {thread}")]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}
