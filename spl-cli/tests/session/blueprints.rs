//! Blueprints at a terminal.

use spl::canon::{Limits, Value, parse};

use crate::terminal::{Terminal, assert_session};

/// Returns the hash of the plan that a line shows.
fn plan(terminal: &Terminal, line: &str) -> String {
    let shown = terminal.quietly(line);
    let shown = parse(shown.stdout.as_bytes(), Limits::DOOR).expect("JSON");
    shown.get("plan").and_then(Value::as_str).expect("a plan").to_owned()
}

#[test]
fn the_starter_is_shown_accepted_and_installed_once() {
    let mut terminal = Terminal::with_instance();
    let hash = plan(&terminal, "spl -o json blueprint plan starter");
    terminal.session(&[
        "spl blueprint install starter",
        "spl hook list",
        &format!("spl blueprint install starter --accept-plan {hash}"),
        &format!("spl blueprint install starter --accept-plan {hash}"),
        "spl blueprint list",
        "spl hook list",
        "spl blueprint plan starter | tail -2",
        "spl blueprint starter > mine.json && spl blueprint plan mine.json | tail -2",
        "sed -i 's/1.0.0/1.0.1/' mine.json && spl blueprint plan mine.json | tail -4",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_blueprint_is_begun_signed_and_installed() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl blueprint init house-rules",
        "spl blueprint init house-rules",
        "spl blueprint plan house-rules.json",
        "spl blueprint sign house-rules.json",
        "spl blueprint plan house-rules.json",
    ]);
    let hash = plan(&terminal, "spl -o json blueprint plan house-rules.json");
    terminal.session(&[
        &format!("spl blueprint install house-rules.json --accept-plan {}", "ab".repeat(32)),
        &format!("spl blueprint materialize house-rules.json --accept-plan {hash}"),
        "spl hook list",
        "sed -i 's/read stderr/skip stderr/' house-rules.json",
        "spl blueprint plan house-rules.json",
        "spl blueprint plan nothing.json",
        "echo '{' > broken.json; spl blueprint plan broken.json",
    ]);
    assert_session!(terminal);
}

/// Two authors: one whom nobody trusts, then one whom the operator does, then one who is revoked.
#[test]
fn an_author_is_trusted_and_revoked() {
    let mut terminal = Terminal::with_instance();
    terminal.does("head -c 32 /dev/zero > author.key");
    let signed = terminal.does(
        "spl blueprint init theirs --author did:web:orchard.example > /dev/null && \
         spl -o json blueprint sign theirs.json --key-file author.key",
    );
    let signed = parse(signed.as_bytes(), Limits::DOOR).expect("JSON");
    let key = signed.get("signature").and_then(|it| it.get("key_id")).and_then(Value::as_str);
    let trust = format!(
        "spl blueprint trust-author --author-did did:web:orchard.example --public-key {}",
        key.expect("a key")
    );
    terminal.session(&[
        "spl blueprint plan theirs.json | tail -4",
        "spl blueprint trust-author --author-did did:web:orchard.example",
        &trust,
        "spl blueprint plan theirs.json | tail -2",
        &format!("{trust} --revoked-after 0"),
        "spl blueprint plan theirs.json | tail -4",
        "spl blueprint sign theirs.json --key-file theirs.json",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_extends_is_installed_with_what_it_extends() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl blueprint init base");
    terminal.session(&[
        "spl blueprint init ours --extends base.json",
        "spl blueprint sign ours.json",
        "spl blueprint plan ours.json",
        "spl blueprint plan ours.json --extends base.json",
        "spl blueprint install ours.json --extends base.json | tail -3",
    ]);
    assert_session!(terminal);
}
