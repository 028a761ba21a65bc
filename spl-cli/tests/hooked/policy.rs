//! Policy hooks in the sessions of other harnesses: what is refused is refused in the harness's own
//! words, and nothing else is ever decided.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::house::{Ended, House, failed, fed};

/// Keeps what it was asked, and refuses.
const REFUSES: &str = "cat >> \"$HOME/asked\"; echo 'not in this house' >&2; exit 2";

/// Keeps what it was asked, and has nothing to say.
const PROCEEDS: &str = "cat >> \"$HOME/asked\"";

fn samples(harness: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/session").join(harness);
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(path).expect("a sample"))
    };
    paths.into_iter().map(read).collect()
}

/// A call of Claude Code that is about to be made, by a harness that works in `cwd`.
fn proposed(call: &str, cwd: &Path) -> String {
    let cwd = spl::canon::Value::from(cwd.to_str().expect("text"));
    format!(
        r#"{{"session_id":"7b0e2c9a","cwd":{cwd},"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"rm {call}"}},"tool_use_id":"{call}"}}"#
    )
}

fn prompted(text: &str) -> String {
    format!(
        r#"{{"session_id":"7b0e2c9a","cwd":"/home/dev/shop","hook_event_name":"UserPromptSubmit","prompt":"{text}"}}"#
    )
}

impl House {
    fn decided(&self, harness: &str, payload: &str) -> Ended {
        self.hook(&["--harness", harness, "--policy"], payload)
    }

    /// Returns what hooks were asked that keep it, and forgets it.
    fn asked(&self) -> String {
        let path = self.path("asked");
        let asked = fs::read_to_string(&path).unwrap_or_default();
        let _ = fs::remove_file(path);
        asked
    }
}

/// Every sample of every harness: what it says is refused, in which words, and what the hook was
/// asked about it.
#[test]
fn each_harness_is_refused_in_its_own_words() {
    let house = House::taught();
    let hook = format!("[{{\"command\":{}}}]", spl::canon::Value::from(REFUSES));
    house.set_policy(
        "",
        &format!(
            r#"{{"hooks":{{"preToolUse":{hook},"postToolUse":{hook},"userPromptSubmit":{hook}}}}}"#
        ),
    );
    let mut shown = String::new();
    let mut refused = 0;
    for harness in ["claude", "codex", "gemini", "qwen", "copilot", "opencode"] {
        for (name, payload) in samples(harness) {
            let said = house.decided(harness, &payload).well();
            let asked = house.asked();
            assert_eq!(asked.is_empty(), !said.contains("not in this house"), "{name}: {said}");
            if !asked.is_empty() {
                refused += 1;
                write!(shown, "{harness} {name}\n< {asked}> {said}\n").expect("text");
            }
        }
    }
    insta::assert_snapshot!(shown);
    assert_eq!(house.count("core.audit.policy.v1"), refused);
    house.verify();
}

#[test]
fn what_is_not_refused_is_left_to_the_harness() {
    let house = House::taught();
    let here = house.path("");
    for (number, (command, warned)) in [
        ("true", false),
        ("echo '{\"decision\":\"allow\",\"reason\":\"r\",\"additionalContext\":\"c\"}'", false),
        ("echo '{\"hookSpecificOutput\":{\"permissionDecision\":\"allow\"}}'", false),
        ("echo no", false),
        ("echo no >&2; exit 1", true),
        ("no-such-command", true),
        ("kill -9 $$", true),
        ("head -c 70000 /dev/zero", true),
    ]
    .into_iter()
    .enumerate()
    {
        house.set_hook("preToolUse", command);
        let ended = house.decided("claude", &proposed(&format!("c{number}"), &here));
        assert_eq!(ended.stdout, "", "{command}");
        let lines = ended.stderr.lines().count();
        assert_eq!(lines, usize::from(warned), "{command}: {}", ended.stderr);
        assert_eq!(ended.stderr.contains("hook: preToolUse: "), warned, "{command}");
        assert_eq!(house.count("core.session.event.v1"), number + 1, "{command}");
    }
    assert_eq!(house.count("core.audit.policy.v1"), 0);
}

#[test]
fn nothing_of_theirs_is_read_elsewhere() {
    let house = House::taught();
    house.set_policy("", "no JSON at all");
    let here = house.path("");
    assert_eq!(house.hook(&["--harness", "claude"], proposed("c1", &here)).well(), "");
    assert!(house.decided("claude", &failed("c2")).well().contains("it-failed"));
    // And where they are asked, a mistake in the settings is a warning, and refuses nothing.
    let ended = house.decided("claude", &proposed("c3", &here));
    assert_eq!(ended.stdout, "");
    assert!(ended.stderr.contains("settings.json"), "{}", ended.stderr);
    assert_eq!(house.count("core.session.event.v1"), 2);
}

#[test]
fn a_project_cannot_switch_them_off_and_the_user_can() {
    let house = House::taught();
    house.set_hook("preToolUse", REFUSES);
    let here = house.path("");
    let switches = ["POLYGLOT_NO_HOOKS", "POLYGLOT_AUDIT", "SPL_POLICY"];
    let mut command = house.spl(&["session", "hook", "--harness", "claude", "--policy"]);
    command.envs(switches.map(|name| (name, "1")));
    assert!(fed(command, proposed("c1", &here)).well().contains("deny"));
    let switch = |word: &str| {
        let output = house.spl(&["policy", word]).output().expect("spl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    switch("off");
    assert_eq!(house.decided("claude", &proposed("c2", &here)).well(), "");
    switch("on");
    assert!(house.decided("claude", &proposed("c3", &here)).well().contains("deny"));
}

#[test]
fn hooks_run_where_their_process_stands_and_are_told_where_the_harness_works() {
    let house = House::taught();
    house.set_hook("preToolUse", "pwd >> \"$HOME/asked\"; cat >> \"$HOME/asked\"");
    fs::create_dir(house.path("shop")).expect("made");
    let mut command = house.spl(&["session", "hook", "--harness", "claude", "--policy"]);
    command.current_dir(house.path("shop"));
    fed(command, proposed("c1", Path::new("/elsewhere"))).well();
    let asked = house.asked();
    let (stood, told) = asked.split_once('\n').expect("two lines");
    let shop = house.path("shop").canonicalize().expect("a folder");
    assert_eq!(stood, shop.display().to_string());
    insta::assert_snapshot!(told.trim_end(), @r#"{"cwd":"/elsewhere","event":"preToolUse","toolInput":{"command":"rm c1"},"toolName":"bash"}"#);
}

/// Whose words are in the folder is known only if the harness works in it.
#[test]
fn hooks_of_a_project_are_asked_in_it_if_the_user_wants_them() {
    let house = House::taught();
    let hooks = |say: &str| {
        format!(r#"{{"hooks":{{{say}"preToolUse":[{{"command":"echo theirs >&2; exit 2"}}]}}}}"#)
    };
    house.set_policy("shop", &hooks(""));
    let audit = r#""audit":{"enabled":true}"#;
    let decided = |house: &House, call: &str, cwd: &Path| {
        let mut command = house.spl(&["session", "hook", "--harness", "claude", "--policy"]);
        command.current_dir(house.path("shop"));
        fed(command, proposed(call, cwd)).well()
    };
    let shop = house.path("shop");
    house.set_policy("", &format!("{{{audit}}}"));
    assert_eq!(decided(&house, "c1", &shop), "");
    house.set_policy("", &format!(r#"{{{audit},"hooks":{{"allowProjectHooks":true}}}}"#));
    assert!(decided(&house, "c2", &shop).contains("theirs"));
    std::os::unix::fs::symlink(&shop, house.path("link")).expect("linked");
    assert!(decided(&house, "c3", &house.path("link")).contains("theirs"));
    assert_eq!(decided(&house, "c4", Path::new("/elsewhere")), "");
    let lines = fs::read_to_string(house.path(".polyglot/audit/7b0e2c9a.jsonl")).expect("a file");
    let noted: Vec<&str> = lines.lines().filter(|line| line.contains("\"note\"")).collect();
    let [noted] = noted[..] else { panic!("{lines}") };
    assert!(noted.contains("\"kind\":\"tool_call\""), "{noted}");
    assert!(noted.contains("the hooks of the project were not asked"), "{noted}");
    assert_eq!(lines.matches("\"kind\":\"hook_blocked\"").count(), 2, "{lines}");
}

#[test]
fn a_project_cannot_spoil_what_the_user_has_set_up() {
    let house = House::taught();
    house.set_policy("shop", "{");
    house.set_hook("preToolUse", REFUSES);
    let mut command = house.spl(&["session", "hook", "--harness", "claude", "--policy"]);
    command.current_dir(house.path("shop"));
    let ended = fed(command, proposed("c1", &house.path("shop")));
    assert!(ended.stdout.contains("not in this house"), "{}", ended.stdout);
    assert!(ended.stderr.contains("shop/.polyglot/settings.json"), "{}", ended.stderr);
}

#[test]
fn what_the_user_has_spoilt_is_told_of_once() {
    let house = House::taught();
    house.set_policy("", "{");
    house.set_policy("shop", "{}");
    let mut command = house.spl(&["session", "hook", "--harness", "claude", "--policy"]);
    command.current_dir(house.path("shop"));
    let ended = fed(command, proposed("c1", &house.path("shop")));
    assert_eq!(ended.stderr.matches("policy settings are not in force").count(), 1);
    assert_eq!(ended.stdout, "");
}

#[test]
fn what_the_settings_forbid_needs_no_hook() {
    let house = House::taught();
    house.set_policy("", r#"{"permissions":{"deny":["bash:rm *"]}}"#);
    let said = house.decided("codex", &proposed("c1", &house.path(""))).well();
    assert!(said.contains("\"permissionDecision\":\"deny\""), "{said}");
    assert_eq!(house.count("core.audit.policy.v1"), 1);
}

#[test]
fn a_decision_is_told_whatever_becomes_of_the_store() {
    let house = House::taught();
    house.set_hook("preToolUse", REFUSES);
    for part in ["hub.db", "hub.db-wal", "hub.db-shm"] {
        let _ = fs::remove_file(house.home().join(part));
    }
    fs::create_dir(house.home().join("hub.db")).expect("made");
    let ended = house.decided("claude", &proposed("c1", &house.path("")));
    assert!(ended.stdout.contains("not in this house"), "{}", ended.stdout);
    assert_eq!(ended.stdout.matches('\n').count(), 1);
    assert!(ended.stderr.starts_with("spl session hook: PreToolUse: "), "{}", ended.stderr);
    house.set_hook("userPromptSubmit", "echo '{\"additionalContext\":\"the tree is frozen\"}'");
    let ended = house.decided("claude", &prompted("hi"));
    insta::assert_snapshot!(ended.stdout.trim_end(), @r#"{"hookSpecificOutput":{"additionalContext":"the tree is frozen","hookEventName":"UserPromptSubmit"}}"#);
}

/// What waits to be said, and what is decided, at one event.
#[test]
fn words_and_a_decision_meet_at_a_prompt() {
    insta::allow_duplicates! {
        meet_at_a_prompt(false);
        meet_at_a_prompt(true);
    }
}

fn meet_at_a_prompt(served: bool) {
    let house = House::taught();
    let running = served.then(|| house.serve());
    let gemini = |event: &str, more: &str| {
        format!(
            r#"{{"session_id":"s","timestamp":"2026-11-30T10:00:00.000Z","cwd":"/p","hook_event_name":"{event}",{more}}}"#
        )
    };
    let fails = |call: &str| {
        let more = format!(
            r#""tool_name":"run_shell_command","tool_input":{{"command":"{call}"}},"tool_response":{{"llmContent":"no","error":{{"message":"no"}}}}"#
        );
        gemini("AfterTool", &more)
    };
    // Beside an error it drops what is said, so that waits.
    assert_eq!(house.decided("gemini", &fails("one")).well(), "");
    house.set_hook("userPromptSubmit", REFUSES);
    let said = house.decided("gemini", &gemini("BeforeAgent", r#""prompt":"a""#)).well();
    insta::assert_snapshot!(said.trim_end(), @r#"{"decision":"deny","reason":"not in this house"}"#);
    house.set_hook("userPromptSubmit", "echo '{\"additionalContext\":\"the tree is frozen\"}'");
    let said = house.decided("gemini", &gemini("BeforeAgent", r#""prompt":"b""#)).well();
    insta::assert_snapshot!(said.trim_end(), @r#"{"hookSpecificOutput":{"additionalContext":"the tree is frozen\n\nit-failed: run_shell_command ended with error; read stderr first.","hookEventName":"BeforeAgent"}}"#);
    let said = house.decided("gemini", &gemini("BeforeAgent", r#""prompt":"c""#)).well();
    insta::assert_snapshot!(said.trim_end(), @r#"{"hookSpecificOutput":{"additionalContext":"the tree is frozen","hookEventName":"BeforeAgent"}}"#);
    assert_eq!(house.count("core.session.prompt.v1"), 3);
    assert_eq!(house.count("core.audit.policy.v1"), 1);
    drop(running);
    house.verify();
}

#[test]
fn what_a_block_leaves_behind_says_where_it_was() {
    let house = House::taught();
    house.set_hook("preToolUse", PROCEEDS);
    house.decided("claude", &proposed("c1", &house.path(""))).well();
    assert_eq!(house.count("core.audit.policy.v1"), 0);
    house.set_hook("preToolUse", "echo 'no: password=hunter2hunter2' >&2; exit 2");
    assert!(house.decided("claude", &proposed("c2", &house.path(""))).well().contains("hunter2"));
    let store = rusqlite::Connection::open(house.home().join("hub.db")).expect("a store");
    let sql =
        "SELECT json_extract(canonical, '$.body') FROM records WHERE kind = 'core.audit.policy.v1'";
    let body: String = store.query_row(sql, [], |row| row.get(0)).expect("a record");
    let home = house.path("").display().to_string();
    let body = body.replace(home.trim_end_matches('/'), "~");
    insta::assert_snapshot!(body);
    assert!(!body.contains("hunter2"));
}
