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
        "spl trust",
        "spl trust --domain code",
        "spl trust did:sync:agent:nobody --domain code",
    ]);
    assert_session!(terminal);
}
