//! The store: proved, copied, tampered with.

use rusqlite::Connection;

use crate::terminal::{Terminal, assert_session};

fn with_records() -> Terminal {
    let terminal = Terminal::with_instance();
    for number in 0..5 {
        terminal.does(&format!("spl know 'note {number}' --thread th_notes"));
    }
    terminal
}

/// Opens a store behind the back of the engine, with the triggers out of the way.
fn tampered(terminal: &Terminal, file: &str, sql: &str) {
    let connection = Connection::open(terminal.path(file)).expect("opened");
    let triggers: Vec<String> = connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
        .expect("prepared")
        .query_map([], |row| row.get(0))
        .expect("asked")
        .collect::<Result<_, _>>()
        .expect("read");
    for trigger in triggers {
        connection.execute(&format!("DROP TRIGGER {trigger}"), []).expect("dropped");
    }
    let changed = connection.execute(sql, []).expect("executed");
    assert_eq!(changed, 1, "{sql}");
}

#[test]
fn a_changed_row_is_named() {
    let mut terminal = with_records();
    terminal.session(&["spl verify", "spl -o json verify"]);
    tampered(
        &terminal,
        ".syncro/hub.db",
        "UPDATE records SET received_at = received_at + 1 WHERE seq = 3",
    );
    terminal.session(&["spl verify", "spl -o json verify"]);
    assert_session!(terminal);
}

#[test]
fn a_row_that_was_cut_off_is_noticed_by_the_doctor_too() {
    let mut terminal = with_records();
    tampered(&terminal, ".syncro/hub.db", "DELETE FROM records WHERE seq = 5");
    terminal.session(&["spl verify", "spl doctor | grep -A 1 'store  '"]);
    assert_session!(terminal);
}

#[test]
fn a_copy_is_made_beside_a_server_and_verifies() {
    let mut terminal = with_records();
    terminal.does("spl serve --daemon --port 0");
    terminal.session(&[
        "spl backup copy.db",
        "spl backup copy.db",
        "spl verify --store copy.db",
        "spl backup nowhere/copy.db",
        "spl verify --store nowhere.db",
        "spl -o json backup other.db",
    ]);
    terminal.does("spl serve --stop");
    tampered(&terminal, "copy.db", "UPDATE records SET actor = 'did:sync:user:else' WHERE seq = 2");
    let _ = terminal.run("spl verify --store copy.db");
    terminal.does("rm .syncro/hub.db* && mv other.db .syncro/hub.db");
    terminal.session(&["spl verify", "spl thread records th_notes --limit 1"]);
    assert_session!(terminal);
}

#[test]
fn a_file_that_is_no_store_is_reported_and_left() {
    let mut terminal = Terminal::with_instance();
    terminal.does("rm .syncro/hub.db* && echo 'not a database at all' > .syncro/hub.db");
    terminal.session(&["spl know x", "spl verify", "spl doctor | tail -n 3", "cat .syncro/hub.db"]);
    assert_session!(terminal);
}

#[test]
fn a_store_of_a_newer_version_is_reported_and_left() {
    let mut terminal = Terminal::with_instance();
    let file = terminal.path(".syncro/hub.db");
    let connection = Connection::open(&file).expect("opened");
    connection.pragma_update(None, "user_version", 9999).expect("set");
    drop(connection);
    terminal.session(&["spl know x", "spl serve --daemon --port 0", "spl status"]);
    assert_session!(terminal);
}

/// What is to be kept of a home is its keys and its store. From these alone no server started.
#[test]
fn a_home_is_put_back_from_its_keys_and_a_copy_of_the_store() {
    let terminal = Terminal::with_instance();
    terminal.does("spl know kept --thread th_a && spl backup hub.db");
    terminal.does("mv .syncro old && mkdir -m 700 .syncro");
    terminal.does("cp -r old/keys old/secrets old/config.toml .syncro && mv hub.db .syncro");
    terminal.does("spl serve --daemon --port 0");
    assert!(terminal.does("spl thread records th_a").contains("kept"));
    terminal.does("spl serve --stop && spl verify");
}
