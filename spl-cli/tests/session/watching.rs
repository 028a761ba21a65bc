//! Watching a thread.

use std::io::{BufRead as _, BufReader, Lines};
use std::process::{Child, ChildStdout, Stdio};

use crate::terminal::{Terminal, assert_session};

fn watch(terminal: &Terminal, arguments: &[&str]) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut command = terminal.spl(arguments);
    let mut child = command.stdout(Stdio::piped()).spawn().expect("started");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    (child, lines)
}

fn next(lines: &mut Lines<BufReader<ChildStdout>>) -> String {
    lines.next().expect("a line").expect("read")
}

#[test]
fn what_is_there_and_what_arrives_is_printed_without_a_server() {
    let terminal = Terminal::with_instance();
    terminal.does("spl know 'first' --thread th_x");
    let (mut child, mut lines) =
        watch(&terminal, &["thread", "watch", "th_x", "--since", "0", "-n", "2"]);
    assert!(next(&mut lines).ends_with("first"));
    terminal.does("spl know 'second' --thread th_x");
    assert!(next(&mut lines).ends_with("second"));
    assert!(child.wait().expect("ended").success());
}

/// A watch goes on where it stood when its server goes away, and when another comes.
#[test]
fn a_watch_outlives_its_server() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    terminal.does("spl know 'first' --thread th_x");
    let (mut child, mut lines) = watch(
        &terminal,
        &["-o", "stream-json", "thread", "watch", "th_x", "--since", "0", "-n", "3"],
    );
    assert!(next(&mut lines).contains("\"text\":\"first\""));
    terminal.does("spl serve --stop");
    terminal.does("spl know 'second' --thread th_x");
    assert!(next(&mut lines).contains("\"text\":\"second\""));
    terminal.does("spl serve --daemon --port 0");
    terminal.does("spl know 'third\u{2028}and more' --thread th_x");
    assert!(next(&mut lines).contains("third\u{2028}and more"));
    assert!(child.wait().expect("ended").success());
    assert!(lines.next().is_none());
    terminal.does("spl serve --stop");
}

#[test]
fn a_watch_as_one_object_needs_an_end() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl know 'first' --thread th_x");
    terminal.session(&[
        "spl -o json thread watch th_x",
        "spl -o json thread watch th_x --since 0 --count 1",
        "spl thread watch th_x --count 0",
    ]);
    assert_session!(terminal);
}
