//! Runs on a server: started from a terminal, followed, killed with their server, taken up.

use std::time::Duration;

use spl::time::Stopwatch;

use crate::terminal::Terminal;

const HELD: &str = r#"{"turns":[
    {"text":"I look.","tool_calls":[{"name":"bash","args":{"command":"echo once >>done"}}]},
    {"text":"That is all.","wait_for":"go"}
]}"#;

/// Waits until the only run stands like this, and returns its thread.
fn until(terminal: &Terminal, state: &str) -> String {
    let began = Stopwatch::start();
    loop {
        let list = terminal.does("spl -o json runs list");
        if list.contains(&format!("\"state\":\"{state}\"")) {
            let at = list.find("\"thread\":\"").expect("a thread") + "\"thread\":\"".len();
            return list[at..].split('"').next().expect("a thread").to_owned();
        }
        assert!(began.elapsed() < Duration::from_secs(20), "not {state}: {list}");
    }
}

#[test]
fn a_run_on_a_server_is_started_and_followed_to_its_end() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0 --echo");
    let said = terminal.does("spl work-loop 'say it' --remote");
    assert!(said.contains("goal say it") && said.contains("done 1 turns"), "{said}");
    let thread = until(&terminal, "done");
    assert!(terminal.does(&format!("spl runs show {thread}")).contains("state             done"));
    assert!(terminal.does(&format!("spl runs tail {thread}")).contains("completed"));
    terminal.does("spl serve --stop && spl verify");
}

#[test]
fn a_killed_server_leaves_runs_that_the_next_one_marks_and_takes_up() {
    let terminal = Terminal::with_instance();
    terminal.write("held.json", HELD);
    let serve = "spl serve --daemon --port 0 --script held.json --workspace .";
    terminal.does(serve);
    terminal.does("spl work-loop 'hold' --remote >/dev/null 2>&1 &");
    until(&terminal, "running");
    let began = Stopwatch::start();
    while !terminal.does("spl -o json runs list").contains("\"tool_calls_ok\":1") {
        assert!(began.elapsed() < Duration::from_secs(20));
    }
    terminal.kill_server();
    terminal.does(serve);
    let thread = until(&terminal, "stopped_short");
    terminal.does(&format!("spl runs resume {thread}"));
    terminal.write("go", "");
    until(&terminal, "done");
    assert_eq!(terminal.does("cat done"), "once\n", "what completed is not done again");
    terminal.does("spl serve --stop && spl verify");
}

/// Whoever is not the operator is confined to the workspace of the server; where there is no place to
/// confine them to, nothing is begun.
#[test]
fn a_members_run_on_a_server_is_confined() {
    let mut terminal = Terminal::with_instance();
    terminal.does("mkdir ground && echo 'what is seen' >ground/seen.txt");
    terminal.write(
        "script.json",
        r#"{"turns":[{"tool_calls":[
            {"name":"read_file","args":{"path":"seen.txt"}},
            {"name":"bash","args":{"command":"true"}}]},{"text":"done"}]}"#,
    );
    terminal.does("spl serve --daemon --port 0 --script script.json --workspace ground");
    let bearer =
        terminal.does("spl token create --name member --scopes records:read,records:write");
    let url = std::fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    let is_confined =
        terminal.quietly("spl work-loop x --echo --workspace ground --sandbox").status == 0;
    terminal.set("SPL_SERVE_URL", url.trim());
    terminal.set("SPL_TOKEN", bearer.trim());
    let started = terminal.quietly("spl work-loop 'look' --remote");
    let rows = terminal.does("spl -o json runs list");
    if is_confined {
        assert_eq!(started.status, 0, "{}", started.stderr);
        let row = rows.split("{\"actor\"").find(|row| row.contains("\"goal\":\"look\""));
        let row = row.expect("a row");
        assert!(row.contains("\"transport\":\"sandboxed\""), "{row}");
        assert!(row.contains("\"tool_calls_ok\":1") && row.contains("\"tool_calls_failed\":1"));
    } else {
        assert!(started.stderr.contains("SANDBOX_UNAVAILABLE"), "{}", started.stderr);
    }
    terminal.set("SPL_SERVE_URL", "");
    terminal.does("spl serve --stop && spl verify");
}
