use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use super::*;
use crate::canon::{Limits, Object, parse};
use crate::policy::{Block, Decision, Ran, Reply, Scope, Seam, Source, Verdict};
use crate::record::{ActorId, Namespace, ThreadId};

const Y85: &str = include_str!("../../../fixtures/policy/polyglot/cases/Y85.json");

/// 2026-11-30T13:37:00Z.
const NOW: Timestamp = Timestamp::from_millis(1_796_045_820_000);

fn settings(folder: &Path) -> AuditSettings {
    AuditSettings { folder: folder.to_owned(), hash_args: true, retention_days: None }
}

fn read(path: &Path) -> Value {
    parse(&fs::read(path).expect("a file"), Limits::STORED).expect("JSON")
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).expect("a file");
    let line = |line: &str| parse(line.as_bytes(), Limits::STORED).expect("JSON");
    text.lines().map(line).collect()
}

fn verdict(reason: &str) -> Verdict {
    let source = Source {
        path: "/home/vera/.polyglot/settings.json".into(),
        scope: Scope::Global,
        event: "preToolUse",
        position: 0,
    };
    let reason = reason.to_owned();
    let block = Block { seam: Seam::Before, event: "preToolUse", reason: reason.clone() };
    let reply = Reply::Block { reason };
    let ran = Ran { source, command: "./no-rm.sh".into(), exit: Some(2), took_ms: 1, reply };
    Verdict { decision: Decision::Block(block), ran: vec![ran] }
}

/// Y85.
#[test]
fn arguments_hash_as_in_the_vectors() {
    let case = parse(Y85.as_bytes(), Limits::STORED).expect("a case");
    let vectors = case.get("command").and_then(|command| command.get("hashes"));
    let vectors = vectors.and_then(Value::as_array).expect("a list");
    assert_eq!(vectors.len(), 3);
    for vector in vectors {
        let [args, hash] = vector.as_array().expect("a pair") else { panic!("{vector}") };
        let args = args.as_object().expect("arguments");
        let fields = Entry::ToolCall { tool: "bash", args }.fields(true);
        assert_eq!(fields.get("argsHash"), Some(hash));
        assert!(!fields.contains_key("args"));
    }
}

#[test]
fn without_settings_there_is_no_file() {
    let folder = tempfile::tempdir().expect("a folder");
    Audit::open(None, "th_1", "echo", NOW).write(&Entry::TurnStart { turn: 1 }, NOW);
    assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn each_line_says_whose_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let folder = folder.path().join("home/.polyglot/audit");
    let audit = Audit::open(Some(&settings(&folder)), "th_1", "echo", NOW);
    let args = object! { "command": "export TOKEN=1" };
    audit.write(&Entry::TurnStart { turn: 1 }, NOW);
    audit.write(&Entry::ToolCall { tool: "bash", args: &args }, NOW);
    audit.write(&Entry::PermissionDecision { tool: "bash", allowed: true, reason: None }, NOW);
    audit.write(&Entry::ToolResult { tool: "bash", text: "hi", failed: false }, NOW);
    audit.write(&Entry::ContentFindings { tool: "bash", labels: &["aws-key"] }, NOW);
    audit.write(&Entry::Usage { input_tokens: 3, output_tokens: 4 }, NOW);
    audit.write(&Entry::ToolParseError { tool: "bash", reason: "no command" }, NOW);
    audit.write(&Entry::AgentStop { reason: "COMPLETED" }, NOW);
    let path = folder.join("th_1.jsonl");
    assert_eq!((mode(&path), mode(&folder)), (0o600, 0o700));
    let written = lines(&path);
    for line in &written {
        assert_eq!(line.get("sessionId"), Some(&"th_1".into()));
        assert_eq!(line.get("model"), Some(&"echo".into()));
        assert_eq!(line.get("at"), Some(&"2026-11-30T13:37:00.000Z".into()));
    }
    let kinds: Vec<&str> = written.iter().filter_map(|line| line.get("kind")?.as_str()).collect();
    assert_eq!(
        kinds.join(" "),
        "turn_start tool_call permission_decision tool_result content_findings usage \
         tool_parse_error agent_stop"
    );
    let again = Audit::open(Some(&settings(&folder)), "th_1", "echo", NOW);
    again.write(&Entry::TurnStart { turn: 2 }, NOW);
    assert_eq!(lines(&path).len(), written.len() + 1, "a run that is taken up goes on in its file");
}

#[test]
fn a_block_is_remembered_without_the_secrets_in_its_words() {
    let folder = tempfile::tempdir().expect("a folder");
    let audit = Audit::open(Some(&settings(folder.path())), "th_1", "echo", NOW);
    let verdict = verdict("no: password=hunter2hunter2");
    let thread = ThreadId::parse("th_1").expect("a thread");
    let actor = ActorId::parse("did:sync:agent:spl").expect("an actor");
    let namespace = Namespace::root();
    let prompt = Blocked::prompt(&verdict, &thread, &actor, &namespace).expect("a block");
    let call = prompt.of_call("bash", "c1");
    audit.write(&Entry::HookBlocked(&prompt), NOW);
    audit.write(&Entry::HookBlocked(&call), NOW);
    let path = folder.path().join("th_1.jsonl");
    let text = fs::read_to_string(&path).expect("a file");
    assert!(!text.contains("hunter2"), "{text}");
    let [of_prompt, of_call] = &lines(&path)[..] else { panic!("{text}") };
    for line in [of_prompt, of_call] {
        assert_eq!(line.get("kind"), Some(&"hook_blocked".into()));
        assert_eq!(line.get("event"), Some(&"preToolUse".into()));
        assert_eq!(line.get("reason"), Some(&"no: password=[masked:assignment]".into()));
    }
    assert_eq!(of_prompt.get("toolName"), Some(&Value::Null));
    assert_eq!(of_prompt.get("toolCallId"), Some(&Value::Null));
    assert_eq!(of_call.get("toolName"), Some(&"bash".into()));
    assert_eq!(of_call.get("toolCallId"), Some(&"c1".into()));
    assert_eq!(
        Value::from(call.to_draft().body).to_string(),
        [
            r#"{"actor":"did:sync:agent:spl","call_id":"c1","dialect":"polyglot","#,
            r#""event":"preToolUse","kind":"core.audit.policy.v1","namespace":"default","#,
            r#""reason":"no: password=[masked:assignment]","#,
            r#""source":"/home/vera/.polyglot/settings.json preToolUse[0]","#,
            r#""thread":"th_1","tool":"bash","topic":"policy_blocked"}"#,
        ]
        .concat()
    );
    let of_prompt = prompt.to_draft();
    assert_eq!(of_prompt.thread, ThreadId::security());
    assert_eq!(of_prompt.body.get("call_id"), Some(&Value::Null));
}

#[test]
fn arguments_stand_in_the_file_only_if_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let settings = AuditSettings { hash_args: false, ..settings(folder.path()) };
    let audit = Audit::open(Some(&settings), "th_1", "echo", NOW);
    let args = object! { "command": "ls", "password": "hunter2hunter2" };
    audit.write(&Entry::ToolCall { tool: "bash", args: &args }, NOW);
    let line = read(&folder.path().join("th_1.jsonl"));
    let shown = line.get("args").expect("arguments").to_string();
    assert_eq!(shown, r#"{"command":"ls","password":"[masked:assignment]"}"#);
}

#[test]
fn what_cannot_be_written_is_forgotten() {
    let folder = tempfile::tempdir().expect("a folder");
    let not_a_folder = folder.path().join("file");
    fs::write(&not_a_folder, "").expect("written");
    Audit::open(Some(&settings(&not_a_folder)), "th_1", "echo", NOW)
        .write(&Entry::TurnStart { turn: 1 }, NOW);
    let elsewhere = folder.path().join("elsewhere");
    fs::write(&elsewhere, "").expect("written");
    std::os::unix::fs::symlink(&elsewhere, folder.path().join("th_2.jsonl")).expect("a link");
    Audit::open(Some(&settings(folder.path())), "th_2", "echo", NOW)
        .write(&Entry::TurnStart { turn: 1 }, NOW);
    assert_eq!(fs::read(&elsewhere).expect("a file"), b"");
}

#[test]
fn a_name_leads_nowhere_else() {
    assert_eq!(file_name("th_4f0c"), "th_4f0c.jsonl");
    assert_eq!(file_name("../../x"), "..-..-x.jsonl");
}

#[test]
fn old_files_go_and_only_those() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let kept = settings(folder.path());
    for session in ["old", "young"] {
        Audit::open(Some(&kept), session, "echo", NOW).write(&Entry::TurnStart { turn: 1 }, NOW);
    }
    let line: Object = object! { "kind": "usage", "sessionId": "somebody" };
    fs::write(at("notes.jsonl"), format!("{}\n", Value::from(line))).expect("written");
    fs::write(at("old.txt"), "").expect("written");
    let days = |days: i64| {
        let secs = u64::try_from(NOW.as_secs() - days * 24 * 60 * 60).expect("a time");
        std::time::UNIX_EPOCH + std::time::Duration::from_secs(secs)
    };
    for (name, age) in
        [("old.jsonl", 31), ("young.jsonl", 29), ("notes.jsonl", 99), ("old.txt", 99)]
    {
        let file = File::options().write(true).open(at(name)).expect("a file");
        file.set_modified(days(age)).expect("set");
    }
    let pruned = AuditSettings { retention_days: Some(30), ..kept };
    Audit::open(Some(&pruned), "new", "echo", NOW);
    let mut left: Vec<String> = fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    left.sort();
    assert_eq!(left, ["new.jsonl", "notes.jsonl", "old.txt", "young.jsonl"]);
}
