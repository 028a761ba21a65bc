//! The first account, made from elsewhere; and what becomes of the word that opens the door.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::Terminal;

const VARIABLE: &str = "SPL_BOOTSTRAP_TOKEN";
const TOKEN: &str = "a first word, once";
const PATH: &str = "/v1/bootstrap/service-account";

/// Starts a server in the foreground, and returns it with what it says first.
fn start(terminal: &Terminal, arguments: &[&str]) -> (Child, String) {
    let mut command = terminal.spl(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("piped");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    (child, line)
}

fn stop(mut child: Child) {
    let raw = i32::try_from(child.id()).expect("small");
    kill_process(Pid::from_raw(raw).expect("not zero"), Signal::TERM).expect("told");
    assert!(child.wait().expect("ended").success());
}

/// Nothing that the system shows of a process has the word, or the name of the variable.
#[track_caller]
fn nothing_is_shown_of(pid: &str) {
    for file in ["environ", "cmdline"] {
        let shown = fs::read(format!("/proc/{pid}/{file}")).expect("a process");
        let shown = String::from_utf8_lossy(&shown).into_owned();
        assert!(shown.contains("serve") || shown.contains("HOME="), "{file}: {shown}");
        assert!(!shown.contains(TOKEN) && !shown.contains(VARIABLE), "{file}: {shown}");
    }
}

#[track_caller]
fn opens_once(terminal: &Terminal) {
    assert!(!terminal.home().join("token").exists());
    let required = terminal.post("/v1/records", "{}");
    assert!(required.starts_with("HTTP/1.1 503 "), "{required}");
    assert!(required.contains("BOOTSTRAP_REQUIRED"), "{required}");
    let made = terminal.post_as(TOKEN, PATH, "{}");
    assert!(made.starts_with("HTTP/1.1 201 "), "{made}");
    let bearer = made.split('"').find(|it| it.starts_with("spl_prod_sa-bootstrap-env_"));
    let bearer = bearer.expect("a bearer");
    let wrote =
        r#"{"act":"KNOW","actor":"did:sync:user:vera","thread":"th_a","clock":0,"body":{}}"#;
    let wrote = terminal.post_as(bearer, "/v1/records", wrote);
    assert!(wrote.starts_with("HTTP/1.1 201 "), "{wrote}");
    let again = terminal.post_as(TOKEN, PATH, "{}");
    assert!(again.contains("BOOTSTRAP_CLOSED"), "{again}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_takes_the_word_and_puts_it_away() {
    let mut terminal = Terminal::new();
    terminal.set(VARIABLE, TOKEN);
    let (child, said) = start(&terminal, &["serve", "--port", "0", "--output", "json"]);
    assert!(said.contains("\"running\":true"), "{said}");
    // The process that was started is the one that serves.
    assert!(said.contains(&format!("\"pid\":{}", child.id())), "{said}");
    nothing_is_shown_of(&child.id().to_string());
    opens_once(&terminal);
    stop(child);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_in_the_background_does_so_too() {
    let mut terminal = Terminal::new();
    terminal.set(VARIABLE, TOKEN);
    terminal.does("spl serve --daemon --port 0");
    let pid = fs::read_to_string(terminal.home().join("run/spl.pid")).expect("a pid");
    nothing_is_shown_of(pid.trim());
    opens_once(&terminal);
    let log = fs::read_to_string(terminal.home().join("logs/spl.log")).expect("a log");
    assert!(!log.contains(TOKEN), "{log}");
    // Once there is an account, the word changes nothing at the next start.
    terminal.does("spl serve --restart --port 0");
    let closed = terminal.post_as(TOKEN, PATH, "{}");
    assert!(closed.contains("BOOTSTRAP_CLOSED"), "{closed}");
    terminal.does("spl serve --stop");
}

#[test]
fn a_word_that_is_none_is_warned_of_and_not_used() {
    let mut terminal = Terminal::new();
    terminal.set(VARIABLE, "too short");
    let started = terminal.quietly("spl serve --daemon --port 0");
    assert_eq!(started.status, 0, "{}", started.stderr);
    assert_eq!(
        started.stderr.matches("16 to 256 printable ASCII").count(),
        1,
        "{}",
        started.stderr
    );
    assert!(!started.stderr.contains("too short"), "{}", started.stderr);
    assert!(terminal.home().join("token").exists());
    let refused = terminal.post_as("too short", PATH, "{}");
    assert!(refused.contains("BOOTSTRAP_REQUIRED"), "{refused}");
    terminal.does("spl serve --stop");
}

#[test]
fn other_commands_go_without_it() {
    let mut terminal = Terminal::new();
    terminal.set(VARIABLE, TOKEN);
    let wrote = terminal.quietly("spl know hello --thread th_a");
    assert_eq!(wrote.status, 0, "{}", wrote.stderr);
    assert!(terminal.home().join("token").exists());
    let (child, said) = start(&terminal, &["serve", "--memory", "--port", "0", "--output", "json"]);
    assert!(said.contains("\"running\":true") && !said.contains("bearer"), "{said}");
    stop(child);
    let by_hand = terminal.quietly(
        "unset SPL_BOOTSTRAP_TOKEN; echo nothing | spl serve --bootstrap-on-stdin --port 0",
    );
    assert_eq!(by_hand.status, 2, "{}", by_hand.stderr);
    assert!(by_hand.stderr.contains(VARIABLE), "{}", by_hand.stderr);
}
