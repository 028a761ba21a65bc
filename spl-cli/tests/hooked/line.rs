//! The command line: what is wrong with it is one line, and what it says goes before the environment.

use crate::house::{House, failed, fed};

const LONG: usize = 2 * 1024 * 1024;

#[test]
fn a_line_that_is_none_is_one_line_and_the_payload_is_read() {
    let house = House::taught();
    for options in [
        ["--harness", "clod"].as_slice(),
        &["--harness"],
        &["--namespace", "Not A Namespace"],
        &["--env", "NOVALUE"],
        &["--env", "=x"],
        &["--env"],
        &["--bogus"],
        &["extra"],
        &["--output", "nonsense"],
        &["--harness", "claude", "--harness", "codex"],
    ] {
        let complaint = house.hook(options, vec![b'x'; LONG]).complaint();
        assert!(complaint.starts_with("spl session hook: -: "), "{options:?}: {complaint}");
    }
    // What every command takes may stand before it too.
    let odd = house.spl(&["--json", "-o", "text", "session", "hook", "--bogus"]);
    fed(odd, vec![b'x'; LONG]).complaint();
    assert_eq!(house.recorded(), 0);
}

#[test]
fn help_is_that_of_the_other_commands() {
    let house = House::empty();
    let asked = house.hook(&["--help"], "").well();
    assert!(asked.contains("Usage: spl session hook"), "{asked}");
    assert!(asked.contains("Examples:"), "{asked}");
    let helped = fed(house.spl(&["help", "session", "hook"]), "").well();
    assert_eq!(asked, helped);
}

#[test]
fn the_line_goes_before_the_environment_and_its_last_word_counts() {
    let house = House::taught();
    let home = house.home().display().to_string();
    let given = format!("SYNCROPEL_HOME={home}");
    let options =
        ["session", "hook", "--env", "SYNCROPEL_HOME=/nonexistent/a", "--env", "OTHER=x=y"];
    let mut command = house.spl(&[options.as_slice(), &["--env", &given]].concat());
    // Neither is read: a hook works for the home of this machine.
    command.env("SPL_SERVE_URL", "http://127.0.0.1:1").env("SPL_TOKEN", "none");
    command.env("SYNCROPEL_HOME", "/nonexistent/b").env_remove("HOME");
    assert!(fed(command, failed("toolu_1")).well().contains("it-failed"));
    assert_eq!(house.count("core.session.tool.v1"), 1);
}

#[test]
fn a_home_that_is_not_there_yet_is_made_without_a_word() {
    let house = House::empty();
    assert_eq!(house.hook(&[], failed("toolu_1")).well(), "");
    assert_eq!(house.count("core.session.tool.v1"), 1);
}

#[test]
fn a_session_is_in_the_namespace_that_the_line_says() {
    let house = House::taught();
    for path in ["shop", "shop/web"] {
        house.register(path);
    }
    let options = ["--harness", "qwen", "--namespace", "shop/web"];
    house.hook(&options, failed("toolu_1")).well();
    let store = rusqlite::Connection::open(house.home().join("hub.db")).expect("a store");
    let sql = "SELECT actor || ' ' || namespace FROM records WHERE kind = 'core.session.tool.v1'";
    let said: String = store.query_row(sql, [], |row| row.get(0)).expect("a record");
    assert_eq!(said, "did:sync:agent:qwen shop/web");
}
