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
