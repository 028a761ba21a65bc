//! Answers for programs: one object at the end, or one a line, and errors as the server's envelope.

use crate::terminal::{Terminal, assert_session};

#[test]
fn every_command_answers_in_json() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl -o json status",
        "spl -o json doctor",
        "spl -o json init",
        "spl -o json know hello --thread th_x",
        "spl know hello --thread th_x --json",
        "spl -o json hook add h --when true --text t",
        "spl -o json hook list",
        "spl -o json hook show h",
        "spl -o json hook disable h",
        "spl -o json thread list",
        "spl -o json thread show th_x",
        "spl -o json thread records th_x",
        "spl -o json health",
        "spl -o json status",
        "spl -o json doctor",
        "spl -o json verify",
        "spl -o json token list",
        "spl -o json token revoke admin",
        "spl -o json version",
    ]);
    assert_session!(terminal);
}

#[test]
fn an_error_is_the_envelope_on_standard_output() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl -o json record show 0000000000000000000000000000000000000000000000000000000000000000",
        "spl -o json know --thread th_x --body '[]'",
        "spl --json know",
        "spl -o json nonsense",
        "spl -o json thread",
        "spl -o yaml status",
        "spl -o json --server http://127.0.0.1:1 health",
        "spl --server http://127.0.0.1:1 health",
        "spl --server https://example.org health",
        "SPL_SERVE_URL=nonsense spl status",
        "spl --server http://127.0.0.1:1 doctor",
    ]);
    assert_session!(terminal);
}

/// Each line is one whole value, and each value is one line.
#[test]
fn a_list_is_streamed_row_by_row() {
    let terminal = Terminal::with_instance();
    for text in ["one", "two", "three"] {
        terminal.does(&format!("spl know {text} --thread th_x"));
    }
    let lines = terminal.does("spl -o stream-json thread records th_x");
    assert_eq!(lines.lines().count(), 3);
    assert!(lines.lines().all(|line| line.starts_with("{\"act\":") && line.ends_with('}')));
    let rows = terminal.does("spl -o stream-json hook list");
    assert_eq!(rows.lines().count(), 2);
}
