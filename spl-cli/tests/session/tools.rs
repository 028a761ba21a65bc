//! What a run may call: listed, shown and granted.

use crate::terminal::{Terminal, assert_session};

/// A server of two tools, in a few lines.
const SERVER: &str = r#"
import json, sys
schema = {"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]}
tools = [{"name": "say", "description": "Says the words.", "inputSchema": schema},
         {"name": "odd", "inputSchema": {"$ref": "https://example.org/schema.json"}}]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    params = message.get("params") or {}
    result = {
        "initialize": lambda: {"protocolVersion": params["protocolVersion"],
                               "capabilities": {"tools": {}},
                               "serverInfo": {"name": "echo", "version": "1"}},
        "tools/list": lambda: {"tools": tools},
        "tools/call": lambda: {"content": [{"type": "text", "text": params["arguments"]["words"]}]},
    }[message["method"]]()
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

const SETTINGS: &str = "\n[mcp.echo]\ncommand = \"python3\"\nargs = [\"server.py\"]\n\
    \n[mcp.gone]\ncommand = \"there-is-no-such-program\"\n";

const SCRIPT: &str = r#"{"turns":[
    {"tool_calls":[{"name":"mcp__echo__say","args":{"words":"hello"}}]},
    {"tool_calls":[{"name":"mcp__echo__say","args":{"word":"hello"}}]},
    {"tool_calls":[{"name":"bash","args":{"command":"true"}}]},
    {"text":"That is all."}
]}"#;

fn with_servers() -> Terminal {
    let terminal = Terminal::with_instance();
    terminal.write("server.py", SERVER);
    terminal.write("script.json", SCRIPT);
    let path = terminal.home().join("config.toml");
    let settings = std::fs::read_to_string(&path).expect("settings") + SETTINGS;
    std::fs::write(path, settings).expect("written");
    terminal
}

#[test]
fn tools_are_listed_and_shown_with_their_servers() {
    let mut terminal = with_servers();
    terminal.session(&[
        "spl tool list",
        "spl tool show mcp__echo__say",
        "spl tool show bash",
        "spl tool show mcp__echo__say -o json",
        "spl tool show mcp__gone__x",
        "spl tool show nothing",
    ]);
    let listed = terminal.does("spl tool list --json");
    assert!(listed.contains(r#""name":"echo","refused":[{"tool":"odd","why":"#), "{listed}");
    assert!(listed.contains(r#""name":"gone","refused":[],"state":"failed""#), "{listed}");
    assert_session!(terminal);
}

#[test]
fn a_run_has_the_tools_that_it_was_granted() {
    let mut terminal = with_servers();
    let line = "spl work-loop 'say it' --script script.json --workspace .";
    for tools in ["mcp__echo__*", "mcp__gone__x", "bsh,mcp__echo__say", "bash,,", "m*p"] {
        let _ = terminal.run(&format!("{line} --tools '{tools}'"));
    }
    assert_session!(terminal);
}

/// Whoever asks for nothing that a server has gets a run, and a warning.
#[test]
fn a_server_that_cannot_be_started_keeps_no_run_from_it() {
    let terminal = with_servers();
    let finished = terminal.quietly("spl work-loop 'say it' --echo --workspace .");
    assert_eq!(finished.status, 0, "{}", finished.stderr);
    assert!(finished.stderr.contains("the MCP server `gone` could not be started"));
    let granted = terminal.quietly("spl work-loop 'say it' --echo --workspace . --tools bash");
    assert_eq!((granted.status, granted.stderr.as_str()), (0, ""));
}

/// Nothing can be cleaned up by whoever is killed like this, and its command ran on.
#[test]
fn a_command_does_not_outlive_a_loop_that_is_killed() {
    let terminal = Terminal::with_instance();
    terminal.write(
        "script.json",
        r#"{"turns":[{"tool_calls":[{"name":"bash","args":{"command":"sleep 600 & echo $! >pipe; wait"}}]}]}"#,
    );
    terminal.does("mkfifo pipe");
    let mut command =
        terminal.spl(&["work-loop", "wait", "--script", "script.json", "--workspace", "."]);
    let mut child = command.stdout(std::process::Stdio::null()).spawn().expect("started");
    let asleep = std::fs::read_to_string(terminal.path("pipe")).expect("the command runs");
    child.kill().expect("killed");
    child.wait().expect("ended");
    let stat = format!("/proc/{}/stat", asleep.trim());
    let ended = || std::fs::read_to_string(&stat).map_or(true, |stat| stat.contains(") Z "));
    for _ in 0..6000 {
        if ended() {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("it still runs: {asleep}");
}
