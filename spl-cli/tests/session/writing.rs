//! Writing records.

use std::process::Stdio;

use crate::terminal::{Terminal, assert_session};

#[test]
fn a_goal_is_stated_pursued_and_fulfilled() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl intend 'paint the shed' --thread th_shed",
        "spl do 'primed the walls' --thread th_shed --actor did:sync:agent:painter",
        "spl thread show th_shed",
        "spl know 'painted' --thread th_shed --fulfills",
        "spl thread show th_shed",
        "spl learn 'two coats are enough' --thread th_shed",
        "spl thread records th_shed",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_thread_is_minted_where_none_is_named() {
    let terminal = Terminal::with_instance();
    let first = terminal.does("spl intend 'the same'");
    let second = terminal.does("spl intend 'the same'");
    let thread = |line: &str| line.split(' ').nth(2).expect("a thread").to_owned();
    assert_eq!(thread(&first).len(), 67, "{first}");
    assert_ne!(thread(&first), thread(&second));
}

#[test]
fn a_body_comes_from_the_line_a_file_or_standard_input() {
    let mut terminal = Terminal::with_instance();
    terminal.write(
        "body.json",
        "{\"text\": \"from a file\", \"n\": [1.0, 1e22, 18446744073709551616]}",
    );
    terminal.session(&[
        "spl know --thread th_a --body '{\"text\":\"from the line\",\"n\":-0.0}'",
        "spl know --thread th_a --body @body.json",
        "echo '{\"text\":\"from standard input\"}' | spl know --thread th_a --body -",
        "spl know --thread th_a --act put --body '{}'",
        "spl -o stream-json thread records th_a",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_is_no_record_is_refused_before_anything_is_written() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl know",
        "spl know text --body '{}'",
        "spl know --thread th_a --body '{'",
        "spl know --thread th_a --body '[1]'",
        "spl know --thread th_a --body '{\"a\":1,\"a\":2}'",
        "spl know --thread th_a --body '{\"a\":\"\\ud800\"}'",
        "spl know --thread th_a --body @missing.json",
        "spl know --thread th_a --act SHOUT text",
        "spl know --thread th_a --actor nobody text",
        "spl know --thread \"$(printf 'a\\tb')\" text",
        "spl know --thread '' text",
        "spl know --thread th_a --fulfills",
        "spl know --thread th_a --fulfills abcdef12 text",
        "spl know --thread th_a --fulfills nothex text",
        "spl know --thread th_a --fulfills --body '{\"fulfills\":\"x\"}'",
        "spl know --thread th_a --body '{\"kind\":\"core.work.observation.v1\",\"rule\":\"\"}'",
        "spl know --thread th_a --body '{\"namespace\":\"Not One\"}'",
        "head -c 5000000 /dev/zero | tr '\\0' x | spl know --thread th_a --body -",
        "spl thread list",
    ]);
    assert_session!(terminal);
}

#[test]
fn who_writes_is_said_by_the_line_then_the_environment_then_the_settings() {
    let mut terminal = Terminal::with_instance();
    let actor = |terminal: &Terminal, line: &str| {
        let written = terminal.does(&format!("{line} -o json"));
        let (_, rest) = written.split_once("\"actor\":\"").expect("an actor");
        rest.split('"').next().expect("its end").to_owned()
    };
    assert_eq!(actor(&terminal, "spl know x"), "did:sync:user:vera");
    terminal.set("SPL_ACTOR", "did:sync:agent:env");
    assert_eq!(actor(&terminal, "spl know x"), "did:sync:agent:env");
    assert_eq!(actor(&terminal, "spl know x --actor did:sync:agent:line"), "did:sync:agent:line");
}

/// Twenty commands at once in a home that is not there yet. They all read the same next clock, and
/// some say the same words. Once only two tries were made for a clock, and most of them failed.
#[test]
fn many_writers_at_once_all_get_a_clock() {
    const WRITERS: usize = 20;
    let terminal = Terminal::new();
    let start = |number: usize| {
        let text = format!("word {}", number % 5);
        let mut command = terminal.spl(&["know", &text, "--thread", "th_race"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started")
    };
    let racers: Vec<_> = (0..WRITERS).map(start).collect();
    let mut makers = 0;
    for racer in racers {
        let output = racer.wait_with_output().expect("ended");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        makers += said.matches("made an instance").count();
    }
    assert_eq!(makers, 1, "one of them made the instance");
    let state = terminal.does("spl -o json thread show th_race");
    assert!(state.contains(&format!("\"record_count\":{WRITERS}")), "{state}");
    assert!(state.contains(&format!("\"last_clock\":{}", WRITERS - 1)), "{state}");
}

/// A client that writes clocks in milliseconds is followed by a command that does not.
#[test]
fn the_next_clock_follows_whatever_is_there() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0 --insecure-localhost");
    let envelope =
        r#"{"act":"KNOW","actor":"did:sync:user:vera","thread":"th_c","clock":1790000000000}"#;
    let answer = terminal.post("/v1/records", envelope);
    assert!(answer.starts_with("HTTP/1.1 201"), "{answer}");
    let written = terminal.does("spl -o json know x --thread th_c");
    assert!(written.contains("\"clock\":1790000000001"), "{written}");
    terminal.does("spl serve --stop");
}

/// The record is written, since its id is its content; whoever writes it is told.
#[test]
fn what_looks_like_a_secret_is_pointed_out() {
    let mut terminal = Terminal::with_instance();
    let key = format!("ghp_{}", "a1B2".repeat(9));
    terminal.write(
        "body.json",
        &format!(r#"{{"a":{{"b":["fine","token {key}"]}},"password":"hunter2"}}"#),
    );
    terminal.session(&[
        "spl know --thread th_x --body @body.json",
        "spl know --thread th_x 'my password is not in here'",
        "spl -o json know --thread th_x --body '{\"api_key\":\"0123456789\"}'",
    ]);
    assert_session!(terminal);
}
