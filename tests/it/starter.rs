//! The hooks of the starter blueprint, asked about what real tools have said: in our own loop, and in
//! the sessions of other harnesses.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use spl::blueprint::{BlueprintSet, Sort, Vouched, Voucher, install, plan, starter};
use spl::canon::{Limits, Object, Value, hex, parse};
use spl::engine::{Caller, Engine, ObservedCall};
use spl::hook::{MAX_TEXT_CHARS, head};
use spl::object;
use spl::predicate::{Context, Predicate};
use spl::record::{ActorId, ThreadId};
use spl::session::{Event, Harness, Moment, Payload, receive};

/// The most characters of what one of these hooks says.
const MAX_CHARS: usize = 300;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/blueprint/starter")
}

/// An engine with the starter installed.
fn taught() -> Engine {
    let engine = Engine::in_memory().expect("an engine");
    let set = BlueprintSet::assemble(starter().expect("the starter"), Vec::new()).expect("a set");
    let (caller, by) = (Caller::operator(), ActorId::engine());
    let accepted = hex(&set.plan_hash());
    install(&engine, &caller, &by, &set, &accepted).expect("installed");
    engine
}

/// A call that hooks are asked about, as somebody tells of it.
enum Told {
    /// Our own loop.
    Own(ObservedCall),
    /// A harness.
    Harness(Harness, Object),
}

/// Returns a call of a fixture as everybody would tell of it who can.
fn told(case: &Object) -> Vec<(String, Told)> {
    let known = [
        "about", "args", "command", "content", "exit", "harness", "output", "payload", "status",
        "tool", "unheard",
    ];
    let unknown = case.keys().find(|key| !known.contains(&key.as_str()));
    assert_eq!(unknown, None);
    let text = |key: &str| case.get(key).and_then(Value::as_str);
    if let Some(harness) = text("harness") {
        let known = Harness::parse(harness).expect("a harness");
        let payload = case["payload"].as_object().expect("a payload").clone();
        return vec![(harness.to_owned(), Told::Harness(known, payload))];
    }
    if let Some(tool) = text("tool") {
        let args = case["args"].as_object().expect("arguments").clone();
        let content = text("content").expect("content").to_owned();
        let call = ObservedCall::new("c1", tool, args, text("status").expect("a status"));
        return vec![("own".into(), Told::Own(ObservedCall { content, ..call }))];
    }
    let command = text("command").expect("a command");
    let output = text("output").expect("an output");
    let exit = case["exit"].as_i64().expect("an exit status");
    let unheard = case.get("unheard").and_then(Value::as_array).unwrap_or_default();
    let mut all = vec![("own".to_owned(), Told::Own(own(command, output, exit)))];
    all.extend(
        shells(command, output, exit)
            .into_iter()
            .map(|(harness, payload)| (harness.name().to_owned(), Told::Harness(harness, payload))),
    );
    all.retain(|(who, _)| !unheard.contains(&Value::from(who.as_str())));
    all
}

/// What our own tool `bash` makes of a command.
fn own(command: &str, output: &str, exit: i64) -> ObservedCall {
    let mut content = output.to_owned();
    if exit != 0 {
        if !content.is_empty() && !content.ends_with('\n') {
            content.push('\n');
        }
        content.push_str(&format!("[exit status {exit}]"));
    }
    let status = if exit == 0 { "ok" } else { "error" };
    let args = object! { "command": command };
    // As the loop does: what predicates see is cut, and the rest is not asked about.
    let content = head(&content).to_owned();
    ObservedCall { content, ..ObservedCall::new("c1", "bash", args, status) }
}

/// What the shells of the harnesses make of it.
#[expect(clippy::too_many_lines, reason = "one payload a harness")]
fn shells(command: &str, output: &str, exit: i64) -> Vec<(Harness, Object)> {
    let shown = if output.is_empty() { "(empty)" } else { output.trim_end() };
    let event = |name: &str| {
        object! { "session_id": "s", "cwd": "/home/dev/orchard", "hook_event_name": name }
    };
    let with = |name: &str, more: Object| {
        let mut payload = event(name);
        payload.extend(more);
        payload
    };
    let input = object! { "command": command };
    let claude = if exit == 0 {
        with(
            "PostToolUse",
            object! {
                "tool_name": "Bash", "tool_input": input.clone(), "tool_use_id": "toolu_1",
                "tool_response": object! {
                    "stdout": output, "stderr": "", "interrupted": false, "isImage": false,
                },
            },
        )
    } else {
        with(
            "PostToolUseFailure",
            object! {
                "tool_name": "Bash", "tool_input": input.clone(), "tool_use_id": "toolu_1",
                "error": format!("Exit code {exit}\n{output}").trim_end(),
            },
        )
    };
    // Codex does not say how a command ended.
    let codex = with(
        "PostToolUse",
        object! {
            "turn_id": "t", "tool_name": "Bash", "tool_input": input.clone(), "tool_use_id": "call_1",
            "tool_response": output,
        },
    );
    let ended = if exit == 0 { String::new() } else { format!("Exit Code: {exit}\n") };
    let gemini = with(
        "AfterTool",
        object! {
            "timestamp": "2026-11-30T10:00:02.000Z", "tool_name": "run_shell_command",
            "tool_input": input.clone(),
            "tool_response": object! {
                "llmContent": format!(
                    "<untrusted_context>\nOutput: {shown}\n{ended}Process Group PGID: 5120\n\
                     </untrusted_context>"
                ),
                "returnDisplay": output,
            },
        },
    );
    let qwen = if exit == 0 {
        with(
            "PostToolUse",
            object! {
                "tool_name": "run_shell_command", "tool_input": input.clone(),
                "tool_use_id": "toolu_1", "tool_call_id": "call_1",
                "tool_response": object! {
                    "llmContent": format!(
                        "Command: {command}\nDirectory: (root)\nOutput: {shown}\nError: (none)\n\
                         Exit Code: 0\nSignal: (none)\nProcess Group PGID: (none)"
                    ),
                    "returnDisplay": output,
                },
            },
        )
    } else {
        with(
            "PostToolUseFailure",
            object! {
                "tool_name": "run_shell_command", "tool_input": input.clone(),
                "tool_use_id": "toolu_1", "tool_call_id": "call_1",
                "error": format!("Command: {command}\nOutput: {shown}\nExit Code: {exit}"),
            },
        )
    };
    let opencode = with(
        "tool.execute.after",
        object! {
            "tool_name": "bash", "tool_use_id": "call_1", "tool_input": input.clone(),
            "tool_response": object! {
                "title": "", "output": output,
                "metadata": object! { "output": output, "exit": exit, "truncated": false },
            },
        },
    );
    let copilot = if exit == 0 {
        with(
            "postToolUse",
            object! {
                "toolName": "bash", "toolArgs": input,
                "toolResult": object! { "resultType": "success", "textResultForLlm": output },
            },
        )
    } else {
        with(
            "postToolUseFailure",
            object! {
                "toolName": "bash", "toolArgs": input,
                "error": format!("{output}exited with {exit}"),
            },
        )
    };
    vec![
        (Harness::Claude, claude),
        (Harness::Codex, codex),
        (Harness::Gemini, gemini),
        (Harness::Qwen, qwen),
        (Harness::Opencode, opencode),
        (Harness::Copilot, copilot),
    ]
}

/// Tells an engine of a call, each in a run of its own, and returns the rules that spoke.
fn spoke(engine: &Engine, call: Told, number: usize) -> Vec<String> {
    match call {
        Told::Own(call) => {
            let thread = ThreadId::parse(&format!("th_own_{number}")).expect("a thread");
            let spoken = engine.observe(&Caller::operator(), &thread, &call).expect("observed");
            spoken.into_iter().map(|spoken| spoken.rule).collect()
        }
        Told::Harness(harness, mut payload) => {
            payload.insert("session_id".into(), format!("s{number}").into());
            let bytes = Value::from(payload).to_string().into_bytes();
            let payload = Payload::read(&bytes).expect("a payload");
            let mut event = Event::read(&payload, Some(harness)).expect("an event");
            assert!(matches!(event.moment, Moment::Returned(_)), "{event:?}");
            // Some deliver with a later event what is said to this one.
            event.deaf = false;
            let received = receive(engine, &event, None, "one").expect("received");
            spoken_on(engine, &received.thread)
        }
    }
}

/// Returns the rules that have spoken on a thread, delivered or not.
fn spoken_on(engine: &Engine, thread: &ThreadId) -> Vec<String> {
    let range = spl::store::ThreadRange::default();
    let records = engine.store().read(|reader| reader.thread(thread, range, usize::MAX));
    let records = records.expect("read");
    let of_kind = records.iter().filter(|it| it.record.kind() == Some("core.work.observation.v1"));
    of_kind.filter_map(|it| it.record.body.get("rule")?.as_str().map(str::to_owned)).collect()
}

#[test]
fn each_hook_speaks_where_it_should_and_nowhere_else() {
    let engine = taught();
    let mut failures = Vec::new();
    let mut asked = 0;
    let mut names = BTreeSet::new();
    for entry in fs::read_dir(folder()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let fixture = parse(&fs::read(&path).expect("a file"), Limits::DOOR).expect("JSON");
        let hook = fixture.get("hook").and_then(Value::as_str).expect("a hook").to_owned();
        assert_eq!(path.file_stem().and_then(|it| it.to_str()), Some(hook.as_str()));
        for (key, wanted) in [("speaks", true), ("silent", false)] {
            let cases = fixture.get(key).and_then(Value::as_array).expect("cases");
            assert!(cases.len() >= 4, "{hook}: {key}");
            for case in cases.iter().map(|case| case.as_object().expect("an object")) {
                let about = case["about"].as_str().expect("about");
                for (who, call) in told(case) {
                    asked += 1;
                    let rules = spoke(&engine, call, asked);
                    if rules.contains(&hook) != wanted {
                        failures.push(format!("{hook} {key}: {about}, told by {who}: {rules:?}"));
                    }
                }
            }
        }
        names.insert(hook);
    }
    assert!(failures.is_empty(), "{} of {asked}:\n{}", failures.len(), failures.join("\n"));
    assert!(asked > 500, "{asked}");
    let starter = starter().expect("the starter");
    let hooks: BTreeSet<String> =
        starter.seeds.iter().filter_map(|seed| seed.text("name").map(str::to_owned)).collect();
    assert_eq!(hooks, names);
    // None of these predicates fails on anything that was asked here.
    let rows = engine.hook_rows().expect("rows");
    for row in &rows {
        let errors = row.get("errors").and_then(Value::as_u64);
        assert!(matches!(errors, None | Some(0)), "{row:?}");
    }
}

#[test]
fn the_starter_is_ten_hooks_and_vouched_for_as_it_is() {
    let starter = starter().expect("the starter");
    assert_eq!(starter.seeds.len(), 10);
    for seed in &starter.seeds {
        assert_eq!(seed.sort(), Sort::Hook);
        let name = seed.text("name").expect("a name");
        let text = seed.text("text").expect("a text");
        assert!(text.chars().count() <= MAX_CHARS.min(MAX_TEXT_CHARS), "{name}");
        let when = Predicate::compile(seed.text("when").expect("a predicate"), Context::Hook);
        assert_eq!(when.expect(name).warnings(), [], "{name}");
    }
    let engine = Engine::in_memory().expect("an engine");
    let vouched = |starter| {
        let set = BlueprintSet::assemble(starter, Vec::new()).expect("a set");
        plan(&engine, &Caller::operator(), &ActorId::engine(), &set).expect("a plan").vouched
    };
    assert_eq!(vouched(starter.clone()), Vouched::By(Voucher::Program));
    let mut changed = starter.to_object();
    changed.insert("version".into(), "1.0.1".into());
    let changed = spl::blueprint::Blueprint::read(changed.into()).expect("a blueprint");
    assert!(matches!(vouched(changed), Vouched::Nobody(_)));
}

#[test]
fn a_call_of_another_tool_is_not_spoken_about() {
    let engine = taught();
    assert_eq!(engine.live().expect("live").hooks.len(), 10);
    let content = "bash: line 1: frobnicate: command not found".to_owned();
    let call = ObservedCall::new("c1", "mcp__time__now", object! { "command": "x" }, "error");
    let call = ObservedCall { content, ..call };
    assert_eq!(spoke(&engine, Told::Own(call), 0), Vec::<String>::new());
}
