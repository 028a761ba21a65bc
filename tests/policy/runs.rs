//! Policy hooks in whole runs, as people set them up.

use std::fs;
use std::path::Path;

use spl::canon::Value;
use spl::engine::Caller;
use spl::model::Message;
use spl::record::ThreadId;
use spl::run::{Approval, Approver, replay};

use crate::stage::{Stage, text, thread};

/// The script of a run that makes these calls, a turn each.
fn calls(calls: &[(&str, &str)]) -> String {
    let turn = |(name, args): &(&str, &str)| {
        format!(r#"{{"tool_calls":[{{"name":"{name}","args":{args}}}]}}"#)
    };
    let turns: Vec<String> = calls.iter().map(turn).collect();
    format!(r#"{{"turns":[{},{{"text":"done"}}]}}"#, turns.join(","))
}

fn bash(command: &str) -> String {
    let args = serde_json::json!({ "command": command }).to_string();
    calls(&[("bash", &args)])
}

/// Settings with one hook for an event.
fn hook(event: &str, members: &str) -> String {
    format!(r#"{{"hooks":{{"{event}":[{{{members}}}]}}}}"#)
}

/// A deny list as people write one: it names what is dangerous, and lets the rest through.
const DENY: &str = r#"#!/bin/bash
command=$(cat | sed -n 's/.*"command":"\([^"]*\)".*/\1/p')
case "$command" in
  *"rm -rf"*|*mkfs*|*"dd if="*) echo "refused by policy: $command" >&2; exit 2 ;;
  *sudo*) echo "sudo was used" >&2; exit 1 ;;
esac
"#;

#[test]
fn a_list_of_dangerous_commands_blocks_warns_and_lets_through() {
    let stage = Stage::new();
    stage.desk.program("deny-dangerous-commands.sh", DENY);
    stage.set_up(&hook(
        "preToolUse",
        r#""command":"./deny-dangerous-commands.sh","tools":["bash"]"#,
    ));
    fs::create_dir(stage.workspace().join("keep")).expect("a folder");
    let played = stage.play(&calls(&[
        ("bash", r#"{"command":"rm -rf keep"}"#),
        ("bash", r#"{"command":"echo sudo"}"#),
        ("bash", r#"{"command":"echo fine"}"#),
        ("list_dir", r#"{"path":"."}"#),
    ]));
    played.outcome.as_ref().expect("a run");
    assert!(stage.workspace().join("keep").exists(), "the command was not executed");
    let results = stage.results();
    let statuses: Vec<&str> = results.iter().map(|result| text(result, "status")).collect();
    assert_eq!(statuses, ["error", "ok", "ok", "ok"]);
    let first = text(&results[0], "content");
    assert_eq!(first, "not executed: blocked by a preToolUse hook: refused by policy: rm -rf keep");
    assert!(played.heard().contains(first), "the model reads it");
    assert_eq!(
        played.shown,
        [
            "bash preToolUse: refused by policy: rm -rf keep",
            "preToolUse: exit status 1: sudo was used",
        ]
    );
    // The rules allowed it; the block stands beside that.
    let records = stage.records(&thread());
    let verdict = records.iter().find(|it| it.record.kind() == Some("core.work.tool_verdict.v1"));
    let verdict = &verdict.expect("a ruling").record.draft().body;
    assert_eq!((text(verdict, "decision"), text(verdict, "layer")), ("allow", "allow"));
    let policy = verdict["policy"].as_object().expect("the block");
    assert_eq!(text(policy, "event"), "preToolUse");
    let blocks = stage.blocks();
    assert_eq!(blocks.len(), 1);
    assert_eq!((text(&blocks[0], "tool"), text(&blocks[0], "thread")), ("bash", "th_run"));
    assert_eq!(text(&blocks[0], "call_id"), "c1");
    replay(&records, &|_| None).expect("a run with blocks replays");
}

#[test]
fn a_script_with_jq_refuses_to_remove() {
    let stage = Stage::new();
    let script = r#"#!/bin/bash
if jq -e '.toolInput.command | test("(^|[ ;&|])rm([ ]|$)")' >/dev/null; then
  echo '{"decision":"block","reason":"rm is not allowed here"}'
fi
"#;
    stage.desk.program("no-rm.sh", script);
    stage.set_up(&hook("preToolUse", r#""command":"./no-rm.sh","tools":["bash"]"#));
    let has_jq = std::process::Command::new("jq").arg("--version").output().is_ok();
    let played = stage.play(&bash("rm kept"));
    played.outcome.as_ref().expect("a run");
    if has_jq {
        let read = "blocked by a preToolUse hook: rm is not allowed here";
        assert!(played.heard().contains(read));
        assert_eq!(stage.blocks().len(), 1);
    } else {
        // Without the program the hook fails, and a hook that fails stops nothing.
        assert!(played.shown.is_empty() && stage.blocks().is_empty());
    }
}

#[test]
fn a_frozen_repository_is_told_of_with_the_goal() {
    let stage = Stage::new();
    let freeze = r#""command":"test -f FREEZE && printf '{\"additionalContext\":\"%s\"}' \"$(cat FREEZE)\"""#;
    stage.set_up(&hook("userPromptSubmit", freeze));
    fs::write(stage.workspace().join("FREEZE"), "main is frozen until friday").expect("written");
    let played = stage.play(r#"{"turns":[{"text":"then I wait"}]}"#);
    played.outcome.expect("a run");
    assert_eq!(
        played.told[0].messages,
        [Message::User {
            text: "hi\n\n<context>\nmain is frozen until friday\n</context>".to_owned()
        }]
    );
    let records = stage.records(&thread());
    let opening = &records[0].record.draft().body;
    assert_eq!(text(opening, "goal"), "hi");
    assert!(text(opening, "prompt").contains("frozen until friday"));
    replay(&records, &|_| None).expect("it replays with what was added");
}

#[test]
fn a_goal_that_is_blocked_opens_no_run() {
    let stage = Stage::new();
    let no = r#""command":"echo 'not on fridays' >&2; exit 2""#;
    stage.set_up(&hook("userPromptSubmit", no));
    let played = stage.play(r#"{"turns":[{"text":"never"}]}"#);
    let error = played.outcome.expect_err("blocked");
    assert_eq!(error.to_string(), "a userPromptSubmit hook blocked the goal: not on fridays");
    assert!(played.told.is_empty(), "no model was asked");
    assert!(stage.records(&thread()).is_empty(), "no run stands there");
    let blocks = stage.blocks();
    assert_eq!(text(&blocks[0], "reason"), "not on fridays");
    assert_eq!(blocks[0].get("tool"), Some(&Value::Null));
    let kept: Vec<String> = stage
        .records(&ThreadId::security())
        .iter()
        .map(|stored| Value::from(stored.record.to_object()).to_string())
        .collect();
    assert!(kept.iter().all(|record| !record.contains("\"hi\"")), "nor anything of the goal");
}

#[test]
fn a_result_that_is_withheld_is_read_by_nobody() {
    let stage = Stage::new();
    let withhold =
        r#""command":"grep -q classified && { echo 'not for you' >&2; exit 2; }; exit 0""#;
    stage.set_up(&hook("postToolUse", withhold));
    let played = stage.play(&bash("echo classified > /dev/null; printf 'top %s' clas''sified"));
    played.outcome.as_ref().expect("a run");
    assert!(!played.heard().contains("top"), "{}", played.heard());
    let results = stage.results();
    let told = "executed, but a postToolUse hook withheld the result: not for you";
    assert_eq!(text(&results[0], "content"), told);
    assert_eq!(text(&results[0], "status"), "error");
    assert!(!results[0].contains_key("data"), "and nothing for programs either");
    let records = stage.records(&thread());
    let whole: Vec<String> =
        records.iter().map(|it| Value::from(it.record.to_object()).to_string()).collect();
    assert!(whole.iter().all(|record| !record.contains("top classified")));
    replay(&records, &|_| None).expect("it replays");
}

/// Somebody who approves nothing that writes.
struct Careful {
    asked: Vec<String>,
}

impl Approver for Careful {
    fn approve(&mut self, request: &spl::model::CallRequest) -> Approval {
        self.asked.push(request.name.clone());
        match request.name.as_str() {
            "bash" => Approval::Refused("the user declined".to_owned()),
            _ => Approval::Granted,
        }
    }
}

#[test]
fn what_is_refused_before_is_asked_of_no_policy_hook() {
    let stage = Stage::new();
    stage.set_up(
        r#"{"hooks":{"preToolUse":[{"command":"cat >> asked; exit 2"}]},
            "permissions":{"deny":["write_file"]}}"#,
    );
    let script = calls(&[
        ("bash", r#"{"command":"true"}"#),
        ("write_file", r#"{"path":"a","content":"b"}"#),
        ("nope", "{}"),
        ("list_dir", r#"{"path":17}"#),
        ("list_dir", r#"{"path":"."}"#),
    ]);
    let mut careful = Careful { asked: Vec::new() };
    let played = stage.play_goal("hi", &script, &mut careful);
    played.outcome.expect("a run");
    assert_eq!(careful.asked, ["bash", "list_dir", "list_dir"], "nor is anybody asked in vain");
    let records = stage.records(&thread());
    let layers: Vec<&str> = records
        .iter()
        .filter(|it| it.record.kind() == Some("core.work.tool_verdict.v1"))
        .map(|it| text(&it.record.draft().body, "layer"))
        .collect();
    assert_eq!(layers, ["grant", "rule", "grant", "allow", "allow"]);
    let asked = stage.desk.text("asked");
    assert_eq!(asked.lines().count(), 1, "{asked}");
    assert!(asked.contains(r#""toolInput":{"path":"."}"#), "{asked}");
    replay(&records, &|_| None).expect("it replays");
}

#[test]
fn policy_hooks_are_asked_in_tasks_too_and_prompt_hooks_are_not() {
    let stage = Stage::new();
    stage.set_up(
        r#"{"hooks":{"preToolUse":[{"command":"echo 'not here' >&2; exit 2","tools":["bash"]}],
            "userPromptSubmit":[{"command":"cat >> prompts"}]}}"#,
    );
    let script = r#"{"turns":[
        {"tool_calls":[{"name":"task","args":{"description":"d","prompt":"a part"}}]},{"text":"done"}],
        "tasks":{"a part":[{"tool_calls":[{"name":"bash","args":{"command":"touch made"}}]},
                           {"text":"so"}]}}"#;
    let played = stage.play(script);
    played.outcome.as_ref().expect("a run");
    assert_eq!(played.shown, ["bash preToolUse: not here"]);
    assert!(!stage.workspace().join("made").exists());
    let blocks = stage.blocks();
    assert_eq!(blocks.len(), 1);
    assert_ne!(text(&blocks[0], "thread"), "th_run", "it names the task");
    let prompts = stage.desk.text("prompts");
    assert_eq!(prompts.lines().count(), 1, "{prompts}");
}

#[test]
fn lessons_are_heard_about_a_call_that_policy_blocked() {
    let stage = Stage::new();
    stage.set_up(&hook("preToolUse", r#""command":"exit 2""#));
    let lesson =
        br#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":0,
        "body":{"kind":"core.hook.v1","topic":"hook","name":"blocked","text":"do not insist",
        "when":"record.body.content.contains('blocked by a preToolUse hook')"}}"#;
    stage.engine.ingest(&Caller::operator(), lesson).expect("a lesson");
    let played = stage.play(&bash("true"));
    played.outcome.expect("a run");
    let heard =
        played.told.last().expect("a turn").messages.iter().any(
            |message| matches!(message, Message::Observation { rule, .. } if rule == "blocked"),
        );
    assert!(heard);
}

#[test]
fn the_audit_file_has_all_of_it_in_order() {
    let stage = Stage::new();
    stage.set_up(
        r#"{"hooks":{"preToolUse":[{"command":"grep -q forbidden && exit 2; exit 0"}]},
            "audit":{"enabled":true}}"#,
    );
    let script = r#"{"turns":[
        {"tool_calls":[{"name":"bash","args":{"command":"echo fine"}}],
         "usage":{"input_tokens":5,"output_tokens":2}},
        {"tool_calls":[{"name":"task","args":{"description":"d","prompt":"a part"}}]},{"text":"done"}],
        "tasks":{"a part":[{"tool_calls":[{"name":"bash","args":{"command":"forbidden"}}]},{}]}}"#;
    stage.play(script).outcome.expect("a run");
    let path = stage.desk.home.join(".polyglot/audit/th_run.jsonl");
    let lines = fs::read_to_string(&path).expect("an audit file");
    let kinds: Vec<String> = lines
        .lines()
        .map(|line| {
            let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
            assert_eq!(line["sessionId"], "th_run", "a task is part of its run");
            line["kind"].as_str().expect("a kind").to_owned()
        })
        .collect();
    let call = ["tool_call", "permission_decision", "tool_result"];
    let blocked = ["tool_call", "permission_decision", "hook_blocked", "tool_result"];
    let mut wanted = vec!["turn_start", "usage"];
    wanted.extend(call);
    wanted.extend(["turn_start", "usage", "tool_call", "permission_decision"]);
    wanted.extend(["turn_start", "usage"]);
    wanted.extend(blocked);
    wanted.extend(["turn_start", "usage", "agent_stop", "tool_result"]);
    wanted.extend(["turn_start", "usage", "agent_stop"]);
    assert_eq!(kinds, wanted, "{lines}");
    assert_eq!(mode(&path), 0o600);
}

/// What looks like a secret in a result is what the settings say, and nobody looks who is told not to.
#[test]
fn the_audit_file_tells_of_what_the_settings_look_for() {
    let key = ["AKIA", "ABCDEFGHIJKLMNOP"].concat();
    let told = |variables: &[(&str, &str)]| -> Vec<serde_json::Value> {
        let mut stage = Stage::new();
        stage.set_up(
            r#"{"redaction":{"extraPatterns":[{"label":"ticket","regex":"T-[0-9]+"}]},
                "audit":{"enabled":true}}"#,
        );
        let pairs = variables.iter().map(|(name, value)| ((*name).into(), (*value).into()));
        stage.variables = pairs.collect();
        stage.play(&bash(&format!("echo {key} T-17"))).outcome.expect("a run");
        let lines = fs::read_to_string(stage.desk.home.join(".polyglot/audit/th_run.jsonl"));
        let lines = lines.expect("an audit file");
        let lines = lines.lines().map(|line| serde_json::from_str(line).expect("JSON"));
        lines.filter(|line: &serde_json::Value| line["kind"] == "content_findings").collect()
    };
    let found = told(&[]);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0]["findings"], serde_json::json!(["aws-key", "ticket"]));
    assert!(told(&[("POLYGLOT_NO_OUTPUT_SCAN", "1")]).is_empty());
}

fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}
