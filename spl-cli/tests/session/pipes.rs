//! Readers who leave, and terminals that are none.

use std::io::Read as _;
use std::process::Stdio;

use crate::terminal::Terminal;

/// Whoever stops reading has read enough: that is success, and nothing is said about it.
#[test]
fn a_reader_may_leave() {
    let terminal = Terminal::with_instance();
    let body = format!("{{\"text\":\"{}\"}}", "x".repeat(200_000));
    terminal.write("body.json", &body);
    for _ in 0..3 {
        terminal.does("spl know --thread th_x --body @body.json");
    }
    for arguments in [
        &["-o", "json", "thread", "records", "th_x"][..],
        &["-o", "stream-json", "thread", "records", "th_x"],
        &["completions", "bash"],
        &["thread", "watch", "th_x", "--since", "0", "-o", "stream-json"],
        &["--help"],
    ] {
        let mut command = terminal.spl(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("read");
        let status = child.wait().expect("ended").code();
        assert_eq!((status, said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn there_are_no_colours_where_there_is_no_terminal() {
    let terminal = Terminal::with_instance();
    for line in ["spl status", "spl doctor", "spl hook list", "spl --help", "spl know"] {
        let finished = terminal.quietly(line);
        let said = finished.stdout + &finished.stderr;
        assert!(!said.contains('\u{1b}'), "{line}: {said:?}");
    }
}
