//! The cases of the dialect that are about what a command prints (contract-polyglot §17). The others
//! are read by `tests/policy/`.

use std::fs;
use std::path::{Path, PathBuf};

use spl::canon::{Limits, Object, Value, parse};
use spl::object;

use crate::terminal::{Finished, Terminal};

/// What may stand in the part of a case that is about a command, and in what it expects.
const PARTS: [&str; 7] =
    ["expect", "global", "home_is_workspace", "project", "run", "status", "variables"];
const EXPECTED: [&str; 6] =
    ["exit", "hooks_line", "spawned", "stderr_lines_with", "stdout", "tool_ran"];

/// A case, and the terminal in which it is played.
struct Case {
    id: String,
    command: Value,
    terminal: Terminal,
    workspace: PathBuf,
}

#[test]
fn what_a_command_prints_is_as_in_the_cases() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/policy/polyglot/cases");
    let files = fs::read_dir(folder).expect("a folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.sort();
    let mut played = 0;
    for file in files {
        let case = parse(&fs::read(&file).expect("a case"), Limits::STORED).expect("JSON");
        let id = text(&case, "id").to_owned();
        // The vectors of a hash are held where it is made (`src/policy/audit/tests.rs`).
        if case.get("surface") == Some(&"command".into()) && id != "Y85" {
            let command = case.get("command").cloned();
            Case::set_up(id, command.expect("what the command does")).play();
            played += 1;
        }
    }
    assert!(played >= 9, "{played} cases");
}

impl Case {
    fn set_up(id: String, command: Value) -> Self {
        let mut terminal = Terminal::with_instance();
        refuse_unknown(&id, &command, &PARTS);
        let at_home = command.get("home_is_workspace") == Some(&true.into());
        let workspace = if at_home { "." } else { "project" };
        for (key, folder) in [("global", "."), ("project", workspace)] {
            terminal.does(&format!("mkdir -p {folder}/.polyglot {workspace}"));
            if let Some(settings) = command.get(key) {
                terminal.write(&format!("{folder}/.polyglot/settings.json"), &settings.to_string());
            }
        }
        for (name, value) in members(command.get("variables")) {
            terminal.set(name, value.as_str().expect("text"));
        }
        let workspace = terminal.path(workspace);
        Self { id, command, terminal, workspace }
    }

    fn play(&self) {
        let expected = self.command.get("expect").expect("what is expected");
        refuse_unknown(&self.id, expected, &EXPECTED);
        if self.command.get("status") == Some(&true.into()) {
            self.compare_status(text(expected, "hooks_line"));
        }
        if let Some(run) = self.command.get("run") {
            self.compare_run(&self.run(run), expected);
        }
    }

    fn compare_status(&self, hooks: &str) {
        let workspace = self.workspace.display();
        let said = self.terminal.does(&format!("cd '{workspace}' && spl status"));
        let line = said.lines().find_map(|line| line.strip_prefix("hooks:")).map(str::trim);
        assert_eq!(line, Some(hooks), "{}: {said}", self.id);
    }

    /// Runs the goal: with the turns of the case, and then a call that goes well, so that it shows
    /// whether the run goes on.
    fn run(&self, run: &Value) -> Finished {
        let calls = run.get("turns").and_then(Value::as_array).unwrap_or_default();
        let mut turns: Vec<Object> = calls.iter().map(turn).collect();
        if !turns.is_empty() {
            let look = object! { "args": object! { "path": "." }, "name": "list_dir" };
            turns.push(object! { "text": "I look.", "tool_calls": vec![look] });
        }
        turns.push(object! { "text": "That is all." });
        self.terminal.write("script.json", &Value::from(object! { "turns": turns }).to_string());
        let (goal, form) = (text(run, "goal"), text(run, "output"));
        let script = self.terminal.path("script.json");
        let words = ["work-loop", goal, "--workspace", ".", "-o", form, "--script"];
        let mut command = self.terminal.spl(&words);
        let output = command.arg(script).current_dir(&self.workspace).output().expect("started");
        Finished::of(output)
    }

    fn compare_run(&self, run: &Finished, expected: &Value) {
        let Self { id, .. } = self;
        let all = format!("{id}: {}\n{}", run.stdout, run.stderr);
        let exit = expected.get("exit").and_then(Value::as_i64).expect("an exit status");
        assert_eq!(i64::from(run.status), exit, "{all}");
        if let Some(wanted) = expected.get("stdout") {
            let said = parse(run.stdout.trim().as_bytes(), Limits::DOOR).expect("one object");
            for (key, value) in members(Some(wanted)) {
                assert_eq!(said.get(key), Some(value), "{key}, {all}");
            }
        }
        for (word, count) in members(expected.get("stderr_lines_with")) {
            let lines = run.stderr.lines().filter(|line| line.contains(word.as_str())).count();
            assert_eq!(Some(lines as u64), count.as_u64(), "{word}, {all}");
        }
        if let Some(ran) = expected.get("tool_ran") {
            assert_eq!(Value::from(self.workspace.join("tool-ran").exists()), *ran, "{all}");
        }
        if let Some(spawned) = expected.get("spawned") {
            let found = fs::read_to_string(self.workspace.join("spawned")).unwrap_or_default();
            let found: Vec<&str> = found.lines().collect();
            assert_eq!(Value::from(found), *spawned, "{all}");
        }
    }
}

/// Returns a turn of a script with the calls of a turn of a case.
fn turn(calls: &Value) -> Object {
    let calls = calls.as_array().expect("calls");
    let call = |call: &Value| {
        let args = call.get("input").cloned().expect("an input");
        object! { "args": args, "name": text(call, "tool") }
    };
    object! { "text": "I try.", "tool_calls": calls.iter().map(call).collect::<Vec<_>>() }
}

fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_else(|| panic!("`{key}` of {value}"))
}

fn members(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

/// A part of a case that nobody looks at would hold nothing.
fn refuse_unknown(id: &str, part: &Value, known: &[&str]) {
    for (key, _) in members(Some(part)) {
        assert!(known.contains(&key.as_str()), "{id}: nobody looks at `{key}`");
    }
}
