//! From nothing to an instance.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::terminal::{Terminal, assert_session};

#[test]
fn an_instance_is_made_once() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl status",
        "spl init",
        "spl init --yes",
        "cat .syncro/config.toml",
        "spl status",
        "spl health",
        "spl doctor",
        "spl version",
    ]);
    assert_session!(terminal);
}

#[test]
fn the_first_write_makes_the_instance_and_says_so_once() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl know 'hello' --thread th_notes",
        "spl know 'hello again' --thread th_notes",
        "spl thread records th_notes",
    ]);
    assert_session!(terminal);
}

#[test]
fn what_only_reads_makes_nothing() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl thread list",
        "spl health",
        "spl verify",
        "spl doctor",
        "spl hook disable shell-failed",
        "spl expr eval '1 + 1 == 2' --context hook",
        "ls -A",
    ]);
    assert_session!(terminal);
}

#[test]
fn everything_in_the_home_is_its_owners_alone() {
    let terminal = Terminal::new();
    terminal.does("umask 000; spl know hello --thread th_notes; spl serve --daemon --port 0");
    let mut folders = vec![terminal.home()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("read") {
            let path = entry.expect("an entry").path();
            let mode = fs::symlink_metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o077, 0, "{} is {mode:o}", path.display());
            if path.is_dir() {
                folders.push(path);
            }
        }
    }
    terminal.does("spl serve --stop");
}

#[test]
fn the_doctor_names_what_is_wrong() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "chmod 755 .syncro && chmod 644 .syncro/token && spl doctor",
        "chmod -R go-rwx .syncro && spl doctor | grep -v signing",
        "spl token revoke admin && spl doctor | grep token",
        "echo 12345 > .syncro/run/spl.pid; spl doctor | tail -n 2",
        "echo '[server' > .syncro/config.toml; spl doctor | head -n 4",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_key_that_is_lost_is_not_made_anew() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl know x --thread th_a");
    terminal.session(&[
        "rm .syncro/secrets/operator-identity.key && spl doctor | grep -A1 keys",
        "rm .syncro/keys/primary && spl know y --thread th_a",
        "spl init",
        "spl status",
        "spl doctor | grep -A1 keys",
        "mv .syncro/hub.db aside && rm .syncro/hub.db-* && spl init",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_home_may_be_anywhere() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "SYNCROPEL_HOME=elsewhere spl init",
        "SYNCROPEL_HOME=elsewhere/in/here spl init",
        "env -u HOME SYNCROPEL_HOME=elsewhere spl status | head -n 1",
        "env -u USER LOGNAME='DOMAIN\\v e' SYNCROPEL_HOME=named spl init",
        "touch file && SYNCROPEL_HOME=file spl init",
        "SYNCROPEL_HOME=file/below spl status",
    ]);
    assert_session!(terminal);
}
