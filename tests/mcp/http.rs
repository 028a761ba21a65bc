//! Servers over HTTP.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};

use spl::object;

use crate::{Started, error_with, faulty, ok};

/// A server over HTTP that ends with this value.
struct Server {
    child: Child,
    port: u16,
}

impl Server {
    fn start(modes: &[&str]) -> Self {
        let mut command = Command::new("python3");
        command.arg(faulty()).arg("http").args(modes).env("NOTES", "/dev/null");
        let mut child = command.stdout(Stdio::piped()).spawn().expect("python3");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a port");
        Self { child, port: line.trim().parse().expect("a port") }
    }

    fn table(&self, more: &str) -> String {
        format!(
            "[mcp.web]\nurl = \"http://127.0.0.1:{}/mcp?key=s3cret-query\"\n{more}\n",
            self.port
        )
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

const BEARER: &str = "bearer_env = \"BEARER\"\ntimeout_secs = 1";

#[test]
fn a_tool_is_called_over_http() {
    let server = Server::start(&[]);
    let started = Started::of(&server.table(BEARER));
    ok(&started.call("mcp__web__echo", &object! { "text": "hello" }), "hello");
    error_with(&started.bare("mcp__web__echo"), "`mcp__web__echo` needs `text`");
    error_with(&started.bare("mcp__web__hang"), "the MCP server `web` did not answer within 1 s");
    ok(&started.call("mcp__web__echo", &object! { "text": "on" }), "on");
}

#[test]
fn credentials_that_are_refused_are_reported_and_not_shown() {
    let server = Server::start(&[]);
    let started = Started::of(
        &server
            .table("headers = { Authorization = \"Bearer s3cret-wrong\", X-Key = \"s3cret-key\" }"),
    );
    let why = started.failed();
    assert!(why.contains("401") && !why.contains("s3cret"), "{why}");
    let started = Started::of(&server.table("bearer_env = \"NO_SUCH_VARIABLE\""));
    assert_eq!(started.failed(), "the variable `NO_SUCH_VARIABLE` is not set");
    let started = Started::of(&server.table("headers = { \"a b\" = \"c\" }"));
    assert_eq!(started.failed(), "`a b` is not the name of a header");
    let started = Started::of(&server.table("header_env = { Authorization = \"BEARER\" }"));
    assert!(started.failed().contains("401"), "{}", started.failed());
}

#[test]
fn credentials_do_not_follow_a_redirect() {
    let server = Server::start(&["redirect"]);
    let started = Started::of(&server.table(BEARER));
    assert!(started.failed().contains("307"), "{}", started.failed());
}

#[test]
fn a_server_that_hangs_or_is_gone_is_reported() {
    let server = Server::start(&["mute", "slow"]);
    let started = Started::of(&server.table("bearer_env = \"BEARER\"\nstart_timeout_secs = 1"));
    assert!(started.failed().starts_with("it did not answer within 1 s"), "{}", started.failed());
    let table = server.table(BEARER);
    drop(server);
    let why = Started::of(&table).failed().to_owned();
    assert!(!why.contains("s3cret"), "{why}");
}

#[test]
fn a_server_that_goes_away_is_an_answer() {
    let server = Server::start(&[]);
    let started = Started::of(&server.table(BEARER));
    drop(server);
    let answer = started.call("mcp__web__echo", &object! { "text": "hello" });
    error_with(&answer, "the MCP server `web` ended before it answered");
    assert!(!answer.shown.contains("s3cret"), "{}", answer.shown);
    error_with(
        &started.call("mcp__web__echo", &object! { "text": "hello" }),
        "cannot be started again",
    );
}
