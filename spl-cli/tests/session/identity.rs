//! Keys, proofs, and a store held against what was kept of it.

use crate::terminal::{Terminal, assert_session};

#[test]
fn keys_are_made_shown_replaced_and_put_back() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl identity verify",
        "spl identity generate did:sync:agent:clerk",
        "spl identity generate did:sync:agent:clerk",
        "spl know x --thread th_a --actor did:sync:agent:clerk",
        "spl identity rotate",
        "spl identity rotate did:sync:agent:nobody",
        "spl identity rotate --instance",
        "spl identity verify",
        "spl -o json identity verify did:sync:agent:clerk | sed 's/\"fingerprint\":\"[0-9a-f]*\"/<fingerprint>/'",
        "spl verify",
        "spl identity backup vera.backup",
        "spl identity backup vera.backup --plaintext && stat -c %a vera.backup",
        "spl identity backup vera.backup --plaintext",
        "rm .syncro/secrets/operator-identity.key && spl identity verify",
        "spl identity recover vera.backup",
        "spl identity recover vera.backup",
        "spl identity verify did:sync:user:vera",
        "spl doctor | grep keys",
    ]);
    assert_session!(terminal);
}

#[test]
fn each_key_is_shown_with_its_fingerprint_and_its_place() {
    let terminal = Terminal::with_instance();
    terminal.does("spl identity generate did:sync:agent:clerk");
    let shown = terminal.does("spl identity show");
    for part in [
        "did:sync:system:engine",
        "did:sync:user:vera",
        "did:sync:agent:clerk",
        "keys/primary",
        "secrets/operator-identity.key",
        "secrets/actors/did:sync:agent:clerk.key",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    assert_eq!(shown.matches("did:key:z6Mk").count(), 3, "{shown}");
    let seed = std::fs::read(terminal.home().join("keys/primary")).expect("a key");
    let secret = spl::canon::hex(&seed);
    assert!(!terminal.does("spl -o json identity show").contains(&secret));
}

#[test]
fn keys_are_not_an_agent_s_to_touch() {
    let mut terminal = Terminal::with_instance();
    terminal.set("SPL_RUN", "th_run");
    terminal.session(&[
        "spl identity verify",
        "spl identity generate did:sync:agent:clerk",
        "spl identity rotate",
        "spl identity backup mine.backup --plaintext",
        "spl identity recover mine.backup",
        "ls",
    ]);
    assert_session!(terminal);
}

#[test]
fn keys_do_not_change_under_a_server() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl identity backup instance.backup --instance --plaintext");
    terminal.does("spl serve --daemon --port 0");
    terminal.session(&[
        "spl identity rotate --instance",
        "spl identity generate did:sync:agent:clerk",
        "spl identity recover instance.backup",
    ]);
    terminal.does("spl identity show && spl serve --stop && spl identity rotate --instance");
    assert_session!(terminal);
}

#[test]
fn a_record_is_proved_on_a_machine_without_an_instance() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl know 'a thing that matters' --thread th_a");
    let id = terminal.does("spl -o json thread records th_a");
    let id = id.split("\"id\":\"").nth(1).expect("an id")[..64].to_owned();
    terminal.does(&format!("spl proof {id} --out note.proof && spl proof {} >same", &id[..12]));
    terminal.does("cmp same note.proof");
    terminal.session(&[
        &format!("spl proof {id} --out note.proof"),
        "spl proof ffffffffffff",
        "spl verify --proof note.proof",
        "SYNCROPEL_HOME=~/nowhere spl verify --proof note.proof",
        "spl verify --proof note.proof --key did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK",
        "spl -o json verify --proof note.proof --key $(spl -o json identity show did:sync:system:engine | sed 's/.*\"did\":\"\\([^\"]*\\)\".*/\\1/')",
        "sed 's/matters/mattered/' note.proof >other.proof; spl verify --proof other.proof",
        "sed 's/\"seq\":1,/\"seq\": 1,/' note.proof >other.proof; spl verify --proof other.proof",
        "spl verify --proof nowhere.proof",
        "spl verify --proof .syncro/config.toml",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_store_that_was_put_back_is_found_by_a_head_that_was_kept() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&["spl verify --head"]);
    terminal.does("spl know one --thread th_a && spl backup older.db");
    terminal.does("spl know two --thread th_a && spl verify --head >head.json");
    terminal.session(&["spl verify --against head.json"]);
    terminal.does("rm .syncro/hub.db* && mv older.db .syncro/hub.db");
    terminal.session(&["spl verify", "spl verify --against head.json"]);
    terminal.does("spl know 'something else' --thread th_a");
    terminal.session(&[
        "spl verify",
        "spl -o json verify --against head.json",
        "spl verify --against .syncro/config.toml",
    ]);
    assert_session!(terminal);
}
