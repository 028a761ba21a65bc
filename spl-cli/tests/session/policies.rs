//! Policy hooks from outside: what is set up, what it says, and what a run does about it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use spl::canon::{Limits, Value, parse};

use crate::terminal::{Finished, Terminal, assert_session};

/// A run that calls `bash` once.
const SCRIPT: &str = r#"{"turns":[
    {"text":"I try.","tool_calls":[{"id":"c1","name":"bash","args":{"command":"rm -rf /nowhere"}}]},
    {"text":"That is all."}
]}"#;

const LOOP: &str = "spl work-loop 'tidy up' --script ../script.json --workspace .";

/// Blocks whatever would remove something.
const NO_RM: &str = r#"{"hooks":{"preToolUse":[
    {"command":"grep -q 'rm ' && { echo 'no rm' >&2; exit 2; }; true","tools":["bash"]}]}}"#;

const NO_GOAL: &str = r#"{"hooks":{"userPromptSubmit":[{"command":"echo no >&2; exit 2"}]}}"#;

/// A terminal whose user has a project, and these settings.
fn house(global: &str) -> Terminal {
    let terminal = Terminal::with_instance();
    terminal.does("mkdir -p .polyglot project/.polyglot");
    terminal.write("script.json", SCRIPT);
    terminal.write(".polyglot/settings.json", global);
    terminal
}

fn here(terminal: &Terminal, line: &str) -> Finished {
    terminal.quietly(&format!("cd project && {line}"))
}

fn json(text: &str) -> Value {
    parse(text.trim().as_bytes(), Limits::DOOR).unwrap_or_else(|error| panic!("{error}: {text}"))
}

/// Returns what `spl status` says in the project, both ways.
#[track_caller]
fn status(terminal: &Terminal, before: &str) -> String {
    let text = here(terminal, &format!("{before} spl status")).well();
    let line = text.lines().find_map(|line| line.strip_prefix("hooks:")).expect("a line");
    let object = json(&here(terminal, &format!("{before} spl -o json status")).well());
    assert_eq!(object.get("hooks").and_then(Value::as_str), Some(line.trim()));
    line.trim().to_owned()
}

/// Returns the lines of the one audit file.
fn audit(terminal: &Terminal) -> Vec<Value> {
    let folder = terminal.path(".polyglot/audit");
    let mut files = fs::read_dir(&folder).expect("a folder").map(|file| file.expect("one").path());
    let file = files.next().expect("a file");
    assert_eq!(files.next(), None);
    let mode = |path: &Path| fs::metadata(path).expect("there").permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(&folder)), (0o600, 0o700));
    fs::read_to_string(file).expect("text").lines().map(json).collect()
}

fn of_kind<'a>(lines: &'a [Value], kind: &str) -> Vec<&'a Value> {
    lines.iter().filter(|line| line.get("kind") == Some(&kind.into())).collect()
}

#[test]
fn what_is_set_up_is_listed_with_where_it_comes_from() {
    let mut terminal = house(
        r#"{"hooks":{"allowProjectHooks":true,
            "preToolUse":[{"command":"./no-rm.sh","tools":["bash","mcp__*"]},
                          {"command":"./slow.sh","timeoutMs":200}],
            "userPromptSubmit":[{"command":"./frozen.sh"}]},
            "audit":{"enabled":true,"retentionDays":30},
            "permissions":{"mode":"manual","deny":["bash:*sudo*"]},"redaction":{"mode":"redact"}}"#,
    );
    terminal.write(
        "project/.polyglot/settings.json",
        r#"{"hooks":{"postToolUse":[{"command":"./leaks.sh"}]},"pricing":{}}"#,
    );
    terminal.session(&[
        "cd project && spl policy list",
        "cd project && spl policy list -o json",
        "cd project && spl status",
        "spl policy list --workspace project --json | wc -l",
        "cd project && POLYGLOT_NO_HOOKS=1 spl policy list",
        "cd project && POLYGLOT_NO_HOOKS=1 spl status",
        "spl policy list",
        "spl policy off",
        "spl policy list -o json",
        "spl policy on",
        "CLAUDECODE=1 spl policy off",
        "spl policy list --workspace nowhere",
        "spl --server http://127.0.0.1:1 policy list",
    ]);
    terminal.write(".polyglot/settings.json", r#"{"hooks":{"preToolUse":[{"command":"x"}]}}"#);
    terminal.session(&["cd project && spl policy list"]);
    terminal.write(
        ".polyglot/settings.json",
        r#"{"hooks":{"preToolUse":[{"command":"x","timeoutMs":0}]}}"#,
    );
    terminal.session(&[
        "spl policy list",
        "spl policy test userPromptSubmit --prompt hi",
        "spl status",
        "spl -o json work-loop hi --echo --workspace project",
    ]);
    assert_session!(terminal);
}

#[test]
fn hooks_are_tried_without_the_tool() {
    let mut terminal = house(
        r#"{"hooks":{
            "preToolUse":[{"command":"touch asked; exit 1","tools":["!bash"]},
                          {"command":"echo oops >&2; exit 3"},
                          {"command":"grep -q 'rm ' && { echo 'no rm' >&2; exit 2; }; true"},
                          {"command":"touch third"}],
            "postToolUse":[{"command":"grep -q '\"isError\":true' && exit 2; true"}],
            "userPromptSubmit":[{"command":"echo '{\"additionalContext\":\"The repository is frozen.\"}'"}]},
            "permissions":{"deny":["web_fetch"]}}"#,
    );
    terminal.session(&[
        r#"spl policy test preToolUse --tool bash --input '{"command":"rm -rf project"}'"#,
        r#"spl policy test preToolUse --tool bash --input '{"command":"rm -rf project"}' -o json"#,
        "spl policy test preToolUse --tool bash",
        "spl policy test preToolUse --tool web_fetch",
        "spl policy test postToolUse --tool bash --result done",
        "spl policy test postToolUse --tool bash --result done --error",
        "spl policy test userPromptSubmit --prompt 'tidy up'",
        "spl policy test userPromptSubmit --prompt 'tidy up' -o json",
        "POLYGLOT_NO_HOOKS=1 spl policy test preToolUse --tool bash",
        "spl policy test preToolUse",
        "spl policy test userPromptSubmit",
        "spl policy test preToolUse --tool bash --input '[]'",
        "spl policy test preToolUse --tool bash --input '{'",
        "spl policy test preToolUse --tool bash --result x",
        "spl policy test onFire --tool bash",
        "ls",
    ]);
    assert_session!(terminal);
}

/// Y67 to Y73 and Y84, with and without a server.
#[test]
fn the_status_counts_the_hooks_of_this_folder() {
    let three = r#"{"preToolUse":[{"command":"a"},{"command":"b"}],"postToolUse":[{"command":"c"}],
        "userPromptSubmit":[{"command":"d"},{"command":"e"},{"command":"f"}]}"#;
    let terminal = house("{}");
    let settings = |text: &str| terminal.write(".polyglot/settings.json", text);
    let project = |text: &str| terminal.write("project/.polyglot/settings.json", text);
    for server in [false, true] {
        if server {
            terminal.does("spl serve --daemon --port 0");
        }
        project("{}");
        settings("{}");
        assert_eq!(status(&terminal, ""), "none", "Y70");
        settings(
            r#"{"hooks":{"preToolUse":[{"command":"a"}],"userPromptSubmit":[{"command":"b"}]}}"#,
        );
        assert_eq!(status(&terminal, ""), "preToolUse(1) userPromptSubmit(1)", "Y71");
        settings(&format!(r#"{{"hooks":{three}}}"#));
        let all = "preToolUse(2) postToolUse(1) userPromptSubmit(3)";
        assert_eq!(status(&terminal, ""), all, "Y72");
        assert_eq!(status(&terminal, "POLYGLOT_NO_HOOKS=1"), "none", "Y67");
        assert_eq!(status(&terminal, "POLYGLOT_NO_HOOKS=true"), "none", "Y68");
        assert_eq!(status(&terminal, "POLYGLOT_NO_HOOKS=0"), all, "Y69");
        settings("{}");
        project(&format!(r#"{{"hooks":{three}}}"#));
        assert_eq!(status(&terminal, ""), "none", "Y73");
        settings(r#"{"hooks":{"allowProjectHooks":true,"preToolUse":[{"command":"a"}]}}"#);
        let home = terminal.does("spl status");
        assert!(home.contains("hooks:   preToolUse(1)\n"), "Y84: {home}");
    }
    terminal.does("spl serve --stop");
}

/// Y58: a goal that is blocked opens no run.
#[test]
fn a_goal_that_is_blocked_opens_no_run() {
    let terminal = house(NO_GOAL);
    let before = terminal.does("spl thread list");
    let line = "spl -o json work-loop hi --echo --workspace .";
    let blocked = here(&terminal, line);
    assert_eq!(blocked.status, 1, "{}", blocked.stderr);
    assert_eq!(blocked.stderr, "hook: userPromptSubmit blocked the goal: no\n");
    let said = json(&blocked.stdout);
    let has = |key: &str, value: Value| assert_eq!(said.get(key), Some(&value), "{key}: {said}");
    has("is_error", true.into());
    has("stop_reason", "hook_blocked".into());
    has("result", "no".into());
    has("cost_usd", 0.into());
    has("persisted", false.into());
    has("success", false.into());
    let blocked = here(&terminal, "spl work-loop hi --echo --workspace .");
    assert_eq!((blocked.status, blocked.stdout.as_str()), (1, "no\n"));
    let runs = terminal.does("spl runs list");
    assert!(!runs.contains("th_"), "{runs}");
    let after = terminal.does("spl thread list");
    assert_eq!(after.lines().count(), before.lines().count() + 1, "{after}");
    let records = terminal.does("spl -o json thread records th_audit_security");
    let of_goal = r#""call_id":null,"dialect":"polyglot","event":"userPromptSubmit""#;
    assert_eq!(records.matches(of_goal).count(), 2, "{records}");
    assert!(!terminal.path(".polyglot/audit").exists(), "Y78");
}

/// Y59, Y78: a call that is blocked is told of once, and the run goes on.
#[test]
fn a_call_that_is_blocked_is_told_of() {
    let terminal = house(NO_RM);
    for form in ["text", "json", "stream-json"] {
        let run = here(&terminal, &format!("{LOOP} -o {form}"));
        assert_eq!(run.status, 1, "all that it tried failed: {}", run.stdout);
        assert_eq!(run.stderr, "hook: preToolUse blocked bash: no rm\n", "{form}");
    }
    assert!(!terminal.path(".polyglot/audit").exists(), "Y78");
    let records = terminal.does("spl -o json thread records th_audit_security");
    assert_eq!(records.matches(r#""topic":"policy_blocked""#).count(), 3, "{records}");
    terminal.write(".polyglot/settings.json", &NO_RM.replace("exit 2", "exit 3"));
    let run = here(&terminal, &format!("{LOOP} -o json"));
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert_eq!(run.stderr, "hook: preToolUse: exit status 3: no rm\n");
    terminal.does("spl verify");
}

/// Y74, Y75, Y77.
#[test]
fn the_audit_file_has_each_block() {
    let audited = |settings: &str| settings.replacen('{', r#"{"audit":{"enabled":true},"#, 1);
    let terminal = house(&audited(NO_RM));
    here(&terminal, LOOP).stdout.clear();
    let lines = audit(&terminal);
    let [blocked] = of_kind(&lines, "hook_blocked")[..] else { panic!("{lines:?}") };
    assert_eq!(blocked.get("event"), Some(&"preToolUse".into()), "Y74");
    assert_eq!(blocked.get("reason"), Some(&"no rm".into()), "Y74");
    assert_eq!(blocked.get("toolName"), Some(&"bash".into()));
    let [decided] = of_kind(&lines, "permission_decision")[..] else { panic!("{lines:?}") };
    assert_eq!(decided.get("decision"), Some(&"allow".into()), "a block is no denial");

    let terminal = house(&audited(NO_GOAL));
    let _ = here(&terminal, LOOP);
    let lines = audit(&terminal);
    let [blocked] = of_kind(&lines, "hook_blocked")[..] else { panic!("{lines:?}") };
    assert_eq!(blocked.get("event"), Some(&"userPromptSubmit".into()), "Y75");
    assert_eq!(blocked.get("toolName"), Some(&Value::Null));

    let terminal = house(NO_RM.replace("exit 2", "exit 3").as_str());
    let _ = here(&terminal, &format!("POLYGLOT_AUDIT=1 {LOOP}"));
    assert!(of_kind(&audit(&terminal), "hook_blocked").is_empty(), "Y77");
}

#[test]
fn a_goal_may_name_files_of_the_workspace() {
    let mut terminal = house(
        r#"{"hooks":{"userPromptSubmit":[{"command":"cat >../seen; echo '{\"additionalContext\":\"C\"}'"}]}}"#,
    );
    terminal.write("secret", "outside\n");
    terminal.write("project/a.txt", "one\n");
    terminal.does("ln -s ../secret project/link");
    terminal.session(&[
        "cd project && spl work-loop 'shorten @a.txt, and ask @vera' --echo --workspace .",
        "cat seen",
        "cd project && spl work-loop 'read @../secret and @link' --echo --workspace .",
        "head -c 300000 /dev/zero | tr '\\0' x >project/long; \
         cd project && spl work-loop 'read @long' --echo --workspace .",
    ]);
    assert_session!(terminal);
}

/// Y34 in a house without a terminal: what nobody approves is not made, and no hook is asked.
#[test]
fn what_nobody_approves_is_not_made() {
    let terminal = house(r#"{"hooks":{"preToolUse":[{"command":"touch ../asked"}]}}"#);
    terminal.write(
        "script.json",
        r#"{"turns":[
            {"tool_calls":[{"id":"c1","name":"bash","args":{"command":"touch ../made"}}]},
            {"tool_calls":[{"id":"c2","name":"list_dir","args":{"path":"."}}]},
            {"text":"That is all."}]}"#,
    );
    let run = here(&terminal, &format!("{LOOP} --approve ask -o stream-json"));
    assert!(run.stdout.contains("not executed: nobody is there to approve it"), "{}", run.stdout);
    assert!(!terminal.path("made").exists());
    assert!(terminal.path("asked").exists(), "what only looks is not asked about");
    terminal.does("rm asked");
    terminal.write("script.json", SCRIPT);
    let _ = here(&terminal, &format!("{LOOP} --approve ask"));
    assert!(!terminal.path("asked").exists(), "no hook is asked about what is refused");
    terminal.does("spl verify");
}

#[test]
fn whoever_sits_at_the_terminal_approves_calls() {
    let terminal = house("{}");
    let call = |name: &str| {
        format!(r#"{{"tool_calls":[{{"name":"bash","args":{{"command":"touch {name}"}}}}]}}"#)
    };
    let calls: Vec<String> = ["no", "yes", "always", "later"].map(call).to_vec();
    let script = format!(r#"{{"turns":[{},{{"text":"That is all."}}]}}"#, calls.join(","));
    terminal.write("script.json", &script);
    let words = ["work-loop", "x", "--script", "script.json", "--workspace", "project"];
    let words = [&words[..], &["--approve", "ask", "-o", "stream-json"]].concat();
    let (output, shown) = terminal.typed(&words, "n not that one\nwhat?\ny\nalways\n");
    assert_eq!(output.status.code(), Some(0), "{shown}");
    let made = |name: &str| terminal.path("project").join(name).exists();
    assert_eq!(["no", "yes", "always", "later"].map(made), [false, true, true, true], "{shown}");
    assert_eq!(shown.matches("the run calls bash").count(), 3, "{shown}");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("not executed: the operator said no: not that one"), "{said}");
}
