//! Where the runs of a server work, and whose policy hooks are asked about them.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use spl::canon::{Limits, Value, parse};

use crate::house::{Connection, House, Server};

/// A run that says where it works.
const SCRIPT: &str =
    r#"{"turns":[{"tool_calls":[{"name":"bash","args":{"command":"pwd"}}]},{"text":"done"}]}"#;

/// A house with two folders in which runs may work, and one in which they may not.
fn house() -> House {
    let house = House::new();
    for folder in ["served", "work/inside", "secret"] {
        fs::create_dir_all(house.path(folder)).expect("made");
    }
    symlink(house.path("secret"), house.path("work/away")).expect("linked");
    symlink(house.path("work/inside"), house.path("secret/back")).expect("linked");
    fs::write(house.path("work/file"), "").expect("written");
    fs::write(house.path("turns.json"), SCRIPT).expect("written");
    let config = house.home().join("config.toml");
    let settings = fs::read_to_string(&config).expect("settings");
    let root = house.path("work");
    let settings = format!("{settings}workspace_roots = [\"{}\"]\n", root.display());
    fs::write(config, settings).expect("written");
    house
}

fn serve(house: &House) -> Server {
    house.serve(&["--script", "turns.json", "--workspace", "served"])
}

fn set_policy(house: &House, folder: &str, settings: &str) {
    let folder = house.path(folder).join(".polyglot");
    fs::create_dir_all(&folder).expect("made");
    fs::write(folder.join("settings.json"), settings).expect("written");
}

fn json(text: &str) -> Value {
    parse(text.as_bytes(), Limits::STORED).expect("JSON")
}

fn text(value: &Value, name: &str) -> String {
    value.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// Starts a run that is to work in a folder.
fn start(wire: &mut Connection, workspace: Option<&Path>) -> (u16, Value) {
    let mut body = spl::object! { "goal": "say where" };
    if let Some(workspace) = workspace {
        body.insert("workspace".into(), workspace.to_str().expect("text").into());
    }
    let (status, answer) = wire.ask("POST", "/v1/work/loop", &Value::from(body).to_string());
    (status, json(&answer))
}

/// Returns the headers of somebody who writes records, and is not the operator.
fn of_a_member(house: &House) -> String {
    let scopes = ["--name", "member", "--scopes", "records:read,records:write"];
    let bearer = house.well(&[["token", "create"].as_slice(), &scopes].concat());
    let bearer = bearer.trim();
    format!("authorization: Bearer {bearer}\r\ncontent-type: application/json\r\n")
}

/// Waits until a run is over, and returns how its calls went.
fn tool_results(wire: &mut Connection, thread: &str) -> Vec<Value> {
    loop {
        let (_, row) = wire.ask("GET", &format!("/v1/runs/{thread}"), "");
        if text(&json(&row), "state") != "running" {
            break;
        }
        std::thread::yield_now();
    }
    let path = format!("/v1/threads/{thread}/records?limit=100");
    let (_, records) = wire.ask("GET", &path, "");
    let records = json(&records);
    let records = records.get("data").and_then(Value::as_array).expect("records");
    let body = |record: &Value| record.get("body").cloned();
    let is_result = |body: &Value| text(body, "kind") == "core.work.tool_result.v1";
    records.iter().filter_map(body).filter(is_result).collect()
}

#[test]
fn a_run_works_below_a_root_and_nowhere_else() {
    let house = house();
    let server = serve(&house);
    let mut wire = server.connect();
    for (asked, works) in [
        (None, "served"),
        (Some("served"), "served"),
        (Some("work"), "work"),
        (Some("work/inside"), "work/inside"),
        (Some("work/inside/.."), "work"),
        // What counts is where a path leads.
        (Some("secret/back"), "work/inside"),
    ] {
        let asked = asked.map(|asked| house.path(asked));
        let (status, started) = start(&mut wire, asked.as_deref());
        assert_eq!(status, 201, "{asked:?}: {started}");
        let results = tool_results(&mut wire, &text(&started, "thread"));
        let shown: Vec<String> = results.iter().map(|result| text(result, "content")).collect();
        let place = house.path(works).canonicalize().expect("there");
        assert!(shown.concat().contains(&place.display().to_string()), "{asked:?}: {shown:?}");
    }
    let outside = ["secret", "work/away", "work/../secret", "work/none", "work/file", "", ".."];
    let outside = outside.map(|name| house.path(name));
    let others = ["/", "work/inside", "", "\u{0}"].map(Into::into);
    for asked in outside.iter().chain(&others) {
        let (status, refused) = start(&mut wire, Some(asked));
        let said = (status, text(&refused, "code"), text(&refused, "field"));
        assert_eq!(said, (403, "WORKSPACE_FORBIDDEN".into(), "workspace".into()), "{asked:?}");
        // It does not say what is there.
        let message = text(&refused, "message");
        assert!(message.contains("no folder in which runs may work"), "{message}");
    }
    let headers = of_a_member(&house);
    let body = format!(r#"{{"goal":"g","workspace":"{}"}}"#, house.path("work").display());
    let (status, refused) = wire.say("POST", "/v1/work/loop", &headers, &body);
    assert_eq!((status, text(&json(&refused), "code")), (403, "SCOPE_FORBIDDEN".into()));
    server.stop();
}

#[test]
fn a_goal_that_is_blocked_begins_no_run() {
    let house = house();
    let block = r#"{"hooks":{"userPromptSubmit":[{"command":"echo 'not today' >&2; exit 2"}]}}"#;
    set_policy(&house, "", block);
    let server = serve(&house);
    let mut wire = server.connect();
    let (status, refused) = start(&mut wire, None);
    assert_eq!((status, text(&refused, "code")), (403, "PROMPT_BLOCKED".into()), "{refused}");
    assert!(text(&refused, "message").contains("not today"), "{refused}");
    let (_, runs) = wire.ask("GET", "/v1/runs", "");
    assert_eq!(json(&runs).get("data").and_then(Value::as_array).map(<[_]>::len), Some(0));
    let count = |wire: &mut Connection, kind: &str| {
        let filter = format!(r#"{{"filter":{{"body.kind":"{kind}"}}}}"#);
        let (_, found) = wire.ask("POST", "/v1/records/query", &filter);
        json(&found).get("data").and_then(Value::as_array).map_or(usize::MAX, <[_]>::len)
    };
    assert_eq!(count(&mut wire, "core.work.admission.v1"), 0);
    assert_eq!(count(&mut wire, "core.audit.policy.v1"), 1);
    // It has given back its place, and the next is asked about anew.
    set_policy(&house, "", "{}");
    assert_eq!(start(&mut wire, None).0, 201);
    server.stop();
}

/// What is in the folder of a run may be anybody's.
#[test]
fn hooks_of_a_folder_are_asked_in_runs_of_the_operator_alone() {
    let house = house();
    set_policy(&house, "", r#"{"hooks":{"allowProjectHooks":true}}"#);
    let theirs = r#"{"hooks":{"userPromptSubmit":[{"command":"echo theirs >&2; exit 2"}]}}"#;
    set_policy(&house, "served", theirs);
    let calls =
        r#"{"hooks":{"preToolUse":[{"tools":["bash"],"command":"echo no-calls >&2; exit 2"}]}}"#;
    set_policy(&house, "work/inside", calls);
    let server = serve(&house);
    let mut wire = server.connect();
    let (status, refused) = start(&mut wire, None);
    assert_eq!((status, text(&refused, "code")), (403, "PROMPT_BLOCKED".into()), "{refused}");
    let (status, started) = start(&mut wire, Some(&house.path("work/inside")));
    assert_eq!(status, 201, "{started}");
    let results = tool_results(&mut wire, &text(&started, "thread"));
    assert!(text(&results[0], "content").contains("no-calls"), "{results:?}");
    let headers = of_a_member(&house);
    let (status, started) = wire.say("POST", "/v1/work/loop", &headers, r#"{"goal":"g"}"#);
    assert_eq!(status, 201, "{started}");
    // Settings that do not read begin no run, and say which file it is.
    set_policy(&house, "work", "{");
    let (status, refused) = start(&mut wire, Some(&house.path("work")));
    assert_eq!((status, text(&refused, "code")), (422, "POLICY_REFUSED".into()), "{refused}");
    server.stop();
}
