//! Reading threads and records.

use crate::terminal::{Terminal, assert_session};

#[test]
fn a_long_thread_is_read_page_by_page() {
    let mut terminal = Terminal::with_instance();
    for number in 0..5 {
        terminal.does(&format!("spl know 'note {number}' --thread th_notes"));
    }
    terminal.session(&[
        "spl thread records th_notes --limit 2",
        "spl thread records th_notes --limit 2 --cursor 2",
        "spl thread records th_notes --since 3",
        "spl -o stream-json thread records th_notes --limit 1",
        "spl thread list --limit 1",
        "spl thread records th_nobody_wrote_to",
        "spl thread show th_nobody_wrote_to",
        "spl thread records th_notes --since x",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_thread_may_have_any_name() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl know x --thread 'a/b?c=#d e%2F&ü'",
        "spl thread show 'a/b?c=#d e%2F&ü'",
        "spl know y --thread 'a/b?c=#d e%2F&ü'",
        "spl thread records 'a/b?c=#d e%2F&ü'",
        "spl know x --thread ..",
        "spl thread show ..",
        "spl thread list",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_record_is_found_by_a_prefix_that_is_its_own() {
    let mut terminal = Terminal::with_instance();
    let written = terminal.does("spl know 'hello' --thread th_notes");
    let id = written.trim().rsplit(' ').next().expect("an id").to_owned();
    for number in 0..17 {
        terminal.does(&format!("spl know 'note {number}' --thread th_notes"));
    }
    let _ = terminal.run(&format!("spl record show {id}"));
    let _ = terminal.run(&format!("spl record show {}", &id[..10]));
    let _ = terminal.run(&format!("spl record show {} --receipt", &id[..10].to_uppercase()));
    let mut first_digits: Vec<char> = terminal
        .does("spl -o stream-json thread records th_notes")
        .lines()
        .map(|line| {
            let (_, rest) = line.split_once("\"id\":\"").expect("an id");
            rest.chars().next().expect("a digit")
        })
        .collect();
    first_digits.sort_unstable();
    // Eighteen ids and sixteen digits: two ids begin alike.
    let twice = first_digits.windows(2).find(|pair| pair[0] == pair[1]).expect("two")[0];
    let ambiguous = terminal.quietly(&format!("spl record show {twice}"));
    assert_eq!(ambiguous.status, 2, "{}", ambiguous.stderr);
    assert!(ambiguous.stderr.contains("more than one record"), "{}", ambiguous.stderr);
    terminal.session(&[
        "spl record show ''",
        "spl record show not-hex",
        "spl record show 0000000000000000000000000000000000000000000000000000000000000000",
        "spl record show 00000000000000",
    ]);
    assert_session!(terminal);
}

/// What a stranger wrote must not act on the terminal of whoever reads it.
#[test]
fn control_characters_do_not_reach_the_terminal() {
    let mut terminal = Terminal::with_instance();
    terminal.write(
        "body.json",
        r#"{"text":"red\u001b[31m \u009b2J\u202e\u0007","\u001bkey":"\u007f"}"#,
    );
    terminal.does("spl know --thread th_x --body @body.json");
    // A program gets them as they are.
    let json = terminal.does("spl -o stream-json thread records th_x");
    assert!(json.contains("\\u001b[31m \u{9b}2J\u{202e}") && json.contains('\u{7f}'), "{json:?}");
    let shown = terminal.does("spl thread records th_x");
    assert!(!shown.trim_end().chars().any(char::is_control), "{shown:?}");
    let record = terminal.does("spl thread records th_x | cut -c1-12 | xargs spl record show");
    assert!(record.chars().all(|c| c == '\n' || !c.is_control()), "{record:?}");
    let _ = terminal.run("spl thread records th_x");
    assert_session!(terminal);
}
