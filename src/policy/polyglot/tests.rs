use std::ffi::OsString;
use std::fs;

use rustix::fs::{CWD, FileType, Mode as FileMode, mknodat};
use tempfile::TempDir;

use super::*;
use crate::cancel::Cancel;
use crate::canon::Object;
use crate::code::Coded as _;
use crate::object;
use crate::policy::{Decision, Mode, Question, Reply};

const HOME: &str = "/home/vera";

fn none(_: &str) -> Option<String> {
    None
}

fn files() -> Files<'static> {
    Files { home: Some(Path::new(HOME)), workspace: Path::new("/work"), project: Project::Asked }
}

fn laid(global: &str, project: &str, variables: &[(&str, &str)]) -> Result<Policy, SettingsError> {
    let text = |text: &str| (!text.is_empty()).then(|| text.as_bytes().to_vec());
    let texts = Texts { global: text(global), project: text(project) };
    load_texts(&texts, &files(), &|name| {
        variables.iter().find(|(own, _)| *own == name).map(|(_, value)| (*value).to_owned())
    })
}

#[track_caller]
fn policy(global: &str, project: &str) -> Policy {
    laid(global, project, &[]).expect("settings")
}

#[track_caller]
fn refused(global: &str) -> String {
    laid(global, "", &[]).expect_err(global).to_string()
}

#[test]
fn a_refusal_names_the_file_and_the_place_and_shows_no_value() {
    for (settings, said) in [
        ("{", "is not JSON at byte 1"),
        ("{} x", "is not JSON at byte 3"),
        ("// a comment\n{}", "is not JSON at byte 0"),
        ("[]", "holds an array, and must hold an object"),
        (
            r#"{"hooks":{},"hooks":{}}"#,
            "cannot be taken: the key `hooks` stands twice in one object",
        ),
        (r#"{"hooks":null}"#, "`hooks` is null, and must be an object"),
        (
            r#"{"hooks":{"preToolUse":[{"command":"a"},{"command":"b","timeoutMs":"s3cret"}]}}"#,
            "`hooks.preToolUse[1].timeoutMs` is a string, and must be a positive whole number",
        ),
        (r#"{"hooks":{"postToolUse":[{}]}}"#, "`hooks.postToolUse[0]` has no `command`"),
        (
            r#"{"hooks":{"preToolUse":[{"command":" \n"}]}}"#,
            "`hooks.preToolUse[0].command` is empty, and must be a command",
        ),
        (
            r#"{"hooks":{"preToolUse":[{"command":"a","tools":["b",7]}]}}"#,
            "`hooks.preToolUse[0].tools[1]` is a number, and must be a string",
        ),
        (
            r#"{"hooks":{"preToolUse":[{"command":"a","tools":["{1..99999}"]}]}}"#,
            "`hooks.preToolUse[0].tools[0]` is a pattern that stands for too much",
        ),
        (
            r#"{"hooks":{"allowProjectHooks":1}}"#,
            "`hooks.allowProjectHooks` is a number, and must be true or false",
        ),
        (
            r#"{"permissions":{"deny":["bash:"]}}"#,
            "`permissions.deny[0]` must be `tool` or `tool:pattern`",
        ),
        (r#"{"redaction":{"mode":"s3cret"}}"#, "`redaction.mode` must be `warn` or `redact`"),
        (
            r#"{"redaction":{"extraPatterns":[{"label":"a","regex":"(?=s3cret)"}]}}"#,
            "`redaction.extraPatterns[0].regex` is no regular expression of this engine, which has \
             neither look-around nor back-references",
        ),
        (
            r#"{"audit":{"retentionDays":0}}"#,
            "`audit.retentionDays` is 0, and must be a positive whole number",
        ),
    ] {
        let error = refused(settings);
        assert_eq!(error, format!("{HOME}/.polyglot/settings.json: {said}"), "{settings}");
        assert!(!error.contains("s3cret"), "{error}");
    }
}

#[test]
fn what_is_not_known_is_passed_over_and_what_is_known_and_not_done_is_listed() {
    let policy = policy(
        r#"{"theme":"dark","hooks":{"onIdle":7,"preToolUse":[{"command":"a","name":1}]},
            "permissions":{"mode":"auto","allow":["bash"],"deny":["bash"]},
            "models":[7],"pricing":{},"mcpServers":{}}"#,
        r#"{"permissions":{"mode":"plan"}}"#,
    );
    let listed = policy.not_applied().iter().map(|it| format!("{} {}", it.scope.as_str(), it.key));
    assert_eq!(
        listed.collect::<Vec<_>>(),
        [
            "global permissions.mode",
            "global permissions.allow",
            "global pricing",
            "global mcpServers",
            "global models",
            "project permissions.mode",
        ]
    );
    assert_eq!(policy.summary(), "preToolUse(1)");
}

#[test]
fn an_editor_may_put_a_mark_in_front() {
    assert_eq!(policy("\u{feff}{}", "").summary(), "none");
}

#[test]
fn a_project_that_is_not_opted_into_only_tightens() {
    let global = r#"{"permissions":{"deny":["bash:rm *"]},"redaction":{"mode":"redact"},
        "audit":{"enabled":true,"path":"/audit","hashArgs":true,"retentionDays":7}}"#;
    let project = r#"{"permissions":{"deny":["fetch"]},
        "redaction":{"mode":"warn","extraPatterns":[{"label":"mine","regex":"x+"}]},
        "audit":{"enabled":false,"path":"elsewhere","hashArgs":false,"retentionDays":1}}"#;
    let over = policy(global, project);
    let own = policy(global, "");
    assert_eq!(over.audit(), own.audit());
    assert_eq!(over.shown("a xx"), "a [redacted:mine]");
    assert!(over.denies("bash", &object! { "command": "rm it" }).is_some());
    assert!(over.denies("fetch", &Object::new()).is_some());
    let listed: Vec<&str> = over.not_applied().iter().map(|it| it.key).collect();
    assert_eq!(
        listed,
        ["audit.enabled", "audit.path", "audit.hashArgs", "audit.retentionDays", "redaction.mode"]
    );
    // It may ask for more.
    let more =
        policy("", r#"{"redaction":{"mode":"redact"},"audit":{"enabled":true,"path":"/etc"}}"#);
    assert_eq!(more.redaction().mode, Mode::Redact);
    let folder = &more.audit().expect("a file").folder;
    assert_eq!(folder, Path::new("/home/vera/.polyglot/audit"));
    // With the user's word, it says what it says.
    let opted = global.replacen('{', r#"{"hooks":{"allowProjectHooks":true},"#, 1);
    let over = policy(&opted, project);
    assert_eq!((over.audit(), over.redaction().mode), (None, Mode::Warn));
    assert!(over.denies("bash", &object! { "command": "rm it" }).is_some());
}

#[test]
fn a_denial_names_its_rule_and_its_file() {
    let policy = policy(r#"{"permissions":{"deny":["bash:rm *"]}}"#, "");
    let why = policy.denies("bash", &object! { "command": "rm it" });
    assert_eq!(why.as_deref(), Some("`bash:rm *` of /home/vera/.polyglot/settings.json denies it"));
    assert_eq!(policy.denies("bash", &object! { "command": "ls" }), None);
}

#[test]
fn the_switches_of_audit_and_redaction() {
    let on = r#"{"audit":{"enabled":true}}"#;
    let with = |settings: &str, name: &str, value: &str| {
        laid(settings, "", &[(name, value)]).expect("settings")
    };
    let audited = |settings: &str, value| with(settings, "POLYGLOT_AUDIT", value).audit().is_some();
    assert!(audited("", "1") && audited("", "true") && audited(on, "yes"));
    assert!(!audited(on, "0") && !audited(on, "false") && !audited("", "") && !audited("", "2"));
    let days =
        |value| with(on, "POLYGLOT_RETENTION_DAYS", value).audit().expect("on").retention_days;
    assert_eq!([days("9"), days("0"), days("-1"), days("x")], [Some(9), None, None, None]);
    let redact = r#"{"redaction":{"mode":"redact"}}"#;
    let mode = |settings: &str, name, value| with(settings, name, value).redaction().mode;
    assert_eq!(mode("", "POLYGLOT_REDACT_OUTPUT", "1"), Mode::Redact);
    assert_eq!(mode("", "POLYGLOT_REDACT_OUTPUT", "0"), Mode::Warn);
    assert_eq!(mode(redact, "POLYGLOT_NO_OUTPUT_SCAN", "true"), Mode::Off);
    assert_eq!(mode(redact, "POLYGLOT_NO_OUTPUT_SCAN", "no"), Mode::Redact);
}

#[test]
fn where_audit_files_are() {
    let folder = |path: &str| {
        let settings = format!(r#"{{"audit":{{"enabled":true,"path":"{path}"}}}}"#);
        policy(&settings, "").audit().expect("on").folder.to_string_lossy().into_owned()
    };
    assert_eq!(folder("/var/audit"), "/var/audit");
    assert_eq!(folder("~/audit"), "/home/vera/audit");
    assert_eq!(folder("audit"), "/work/audit");
    let nowhere = Files { home: None, ..files() };
    let texts = Texts { project: Some(br#"{"audit":{"enabled":true}}"#.to_vec()), global: None };
    assert!(load_texts(&texts, &nowhere, &none).expect("settings").audit().is_none());
}

#[test]
fn hooks_of_a_project_that_are_not_asked_are_listed_with_why() {
    let project = r#"{"hooks":{"preToolUse":[{"command":"a"},{"timeoutMs":0}],
                               "userPromptSubmit":[{"command":"b"}]}}"#;
    let listed = |policy: &Policy| -> Vec<String> {
        let skipped = policy.skipped().iter();
        skipped.map(|it| format!("{:?} {:?} {:?}", it.event, it.position, it.command)).collect()
    };
    let closed = policy("", project);
    assert_eq!(
        listed(&closed),
        [
            r#"Some("preToolUse") Some(0) Some("a")"#,
            r#"Some("preToolUse") Some(1) None"#,
            r#"Some("userPromptSubmit") Some(0) Some("b")"#,
        ]
    );
    assert_eq!(listed(&policy("", r#"{"hooks":[]}"#)), ["None None None"]);
    let ignored = Files { project: Project::Ignored("not yours"), ..files() };
    let texts = Texts {
        global: Some(br#"{"hooks":{"allowProjectHooks":true}}"#.to_vec()),
        project: Some(project.as_bytes().to_vec()),
    };
    let policy = load_texts(&texts, &ignored, &none).expect("settings");
    assert!(policy.hooks().is_empty());
    assert_eq!(policy.skipped().len(), 3);
    assert!(policy.skipped().iter().all(|it| it.why == "not yours"));
}

#[test]
fn a_place_without_a_file_is_empty_and_one_with_something_else_is_refused() {
    let folder = TempDir::new().expect("a folder");
    let files = Files { home: None, workspace: folder.path(), project: Project::Asked };
    let place = folder.path().join(".polyglot");
    let path = place.join("settings.json");
    assert_eq!(load(&files, &none).expect("nothing").summary(), "none");
    fs::write(&place, "a file where a folder would be").expect("a file");
    assert_eq!(load(&files, &none).expect("nothing").summary(), "none");
    fs::remove_file(&place).expect("removed");
    fs::create_dir_all(&path).expect("a folder");
    let error = load(&files, &none).expect_err("a folder");
    assert_eq!((error.reason(), &error.path), (Some("unreadable"), &path));
    fs::remove_dir(&path).expect("removed");
    // Whoever opens it waits for a writer.
    let mode = FileMode::RUSR | FileMode::WUSR;
    mknodat(CWD, &path, FileType::Fifo, mode, 0).expect("a pipe");
    assert_eq!(load(&files, &none).expect_err("a pipe").reason(), Some("unreadable"));
    fs::remove_file(&path).expect("removed");
    fs::write(&path, vec![b' '; Limits::DOOR.bytes + 1]).expect("a large file");
    assert_eq!(load(&files, &none).expect_err("too large").reason(), Some("unreadable"));
}

/// Settings whose one hook, for prompts, is this command; in a folder of their own.
fn asking(command: &str) -> (TempDir, Policy) {
    let folder = TempDir::new().expect("a folder");
    let hook = object! { "command": command };
    let settings = object! { "hooks": object! { "userPromptSubmit": vec![hook] } };
    let policy = policy(&Value::from(settings).to_string(), "");
    let environment: Vec<(OsString, OsString)> = vec![("PATH".into(), "/usr/bin:/bin".into())];
    let policy = policy.at(folder.path().to_owned(), environment);
    (folder, policy)
}

#[test]
fn a_hook_whose_folder_is_gone_fails_and_tells_so() {
    let (folder, policy) = asking("true");
    folder.close().expect("removed");
    let verdict = policy.ask(&Question::Prompt { text: "hi" }, &Cancel::new());
    assert_eq!(verdict.decision, Decision::Proceed { context: None });
    let warning = verdict.warnings().next().expect("a warning");
    assert_eq!(warning.how, "could not be started");
}

#[test]
fn whoever_cancels_hears_nothing() {
    let (folder, policy) = asking("touch began; sleep 60; exit 2");
    let cancel = Cancel::new();
    let verdict = std::thread::scope(|scope| {
        let asking = scope.spawn(|| policy.ask(&Question::Prompt { text: "hi" }, &cancel));
        while !folder.path().join("began").exists() && !asking.is_finished() {
            std::thread::yield_now();
        }
        cancel.cancel();
        asking.join().expect("a verdict")
    });
    assert_eq!(verdict.ran.len(), 1);
    assert_eq!(verdict.ran[0].reply, Reply::Cancelled);
    assert_eq!((verdict.block(), verdict.warnings().count()), (None, 0));
    // And nobody is asked once it is so.
    fs::remove_file(folder.path().join("began")).expect("it began");
    policy.ask(&Question::Prompt { text: "hi" }, &cancel);
    assert!(!folder.path().join("began").exists());
}

#[test]
fn what_is_told_of_the_folder_may_differ_from_where_it_runs() {
    let (folder, policy) = asking("cat >payload; pwd -P >where");
    let policy = policy.telling(PathBuf::from("/elsewhere"));
    policy.ask(&Question::Prompt { text: "hi" }, &Cancel::new());
    let text = |name: &str| fs::read_to_string(folder.path().join(name)).expect(name);
    assert!(text("payload").contains(r#""cwd":"/elsewhere""#));
    assert_eq!(Path::new(text("where").trim()), folder.path().canonicalize().expect("a path"));
}

#[test]
fn a_question_that_concerns_no_hook_allocates_nothing() {
    let policy = policy(
        r#"{"hooks":{"preToolUse":[
            {"command":"a","tools":["bash"]},{"command":"b","tools":["web_*","mcp__*__{a,b}"]},
            {"command":"c","tools":["!(read|write|list)_*", "!read_*"]},
            {"command":"d","tools":["+(x|y)","*_dir"]}],
          "userPromptSubmit":[{"command":"e"}]}}"#,
        "",
    );
    let (input, cancel) = (object! { "path": "a" }, Cancel::new());
    let question = Question::Before { tool: "read_file", input: &input };
    assert!(policy.ask(&question, &cancel).ran.is_empty(), "none is concerned");
    let counted = allocation_counter::measure(|| {
        policy.ask(&question, &cancel);
    });
    assert_eq!(counted.count_total, 0);
}
