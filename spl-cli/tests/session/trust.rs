//! Verdicts on runs, and the trust that they earn.

use crate::terminal::{Terminal, assert_session};

/// Plays a run that is over and returns its thread.
fn played(terminal: &Terminal) -> String {
    terminal.write("script.json", r#"{"turns":[{"text":"done"}]}"#);
    let said = terminal.does("spl work-loop 'say done' --script script.json --workspace .");
    let thread = said.lines().next().and_then(|line| line.strip_prefix("loop "));
    thread.expect("a thread").to_owned()
}

#[test]
fn a_run_is_judged_by_somebody_else() {
    let mut terminal = Terminal::with_instance();
    let thread = played(&terminal);
    terminal.session(&[
        "spl trust",
        &format!("spl work-loop-review {thread} --accept"),
        "spl work-loop-review th_none --accept",
        &format!("spl work-loop-review {thread}"),
        &format!("spl work-loop-review {thread} --accept --reject"),
        &format!("spl work-loop-review {thread} --reject --actor did:sync:user:paul --notes poor"),
        &format!("spl work-loop-review {thread} --accept --domain code --actor did:sync:user:paul"),
        &format!("spl work-loop-review {thread} --accept --actor did:sync:agent:spl"),
        "spl trust",
        "spl trust --domain code",
        "spl trust did:sync:agent:nobody --domain code",
    ]);
    let history = terminal.does("spl trust did:sync:agent:spl --domain code");
    let lines: Vec<&str> = history.lines().collect();
    assert_eq!(lines[0], "did:sync:agent:spl in code: 0.21 from 1 verdict");
    assert!(lines[1].starts_with("VERDICT"), "{history}");
    assert!(lines[2].starts_with("accept   1.00    "), "{history}");
    assert!(lines[2].ends_with("  did:sync:user:paul"), "{history}");
    assert_session!(terminal);
}
