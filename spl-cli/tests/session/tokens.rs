//! Bearers.

use crate::terminal::{Terminal, assert_session};

#[test]
fn a_bearer_is_shown_once_and_opens_what_its_scopes_say() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let bearer =
        terminal.does("spl token create --name reader --scopes records:read").trim().to_owned();
    assert!(bearer.starts_with("spl_prod_sa-"), "{bearer}");
    assert!(!terminal.does("spl -o json token list; spl token list").contains(&bearer));
    let url = std::fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    terminal.set("SPL_SERVE_URL", url.trim());
    terminal.set("SPL_TOKEN", &bearer);
    terminal.session(&[
        "spl thread list",
        "spl know x --thread th_x --actor did:sync:user:vera",
        "spl hook add h --when true --text t",
        "spl token list",
        "spl --token spl_prod_reader_wrong thread list",
        "SPL_TOKEN= spl know x --thread th_x",
        "SPL_TOKEN= spl status",
        "SPL_TOKEN= spl token revoke reader",
        "spl thread list",
        "spl -o json thread list",
        "spl verify",
    ]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}

/// Only the operator writes a hook; the scope to write other configuration is not enough.
#[test]
fn a_hook_takes_more_than_config_write() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    let create =
        "spl token create --name w --scopes records:read,records:write,config:read,config:write";
    let bearer = terminal.does(create);
    let url = std::fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    terminal.set("SPL_SERVE_URL", url.trim());
    terminal.set("SPL_TOKEN", bearer.trim());
    terminal.session(&[
        "spl hook add h --when true --text t --actor did:sync:user:w",
        "spl hook add h --when '1 +' --text t --actor did:sync:user:w",
        "spl hook add h --when true --text t",
        "spl learn --thread th_engine_config --actor did:sync:user:w --body '{\"topic\":\"days\"}'",
        "spl health",
    ]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}

#[test]
fn tokens_are_made_listed_and_revoked_without_a_server() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl token create --name ci --scopes records:read,records:write >bearer && wc -l <bearer",
        "spl token create --name ci --scopes everything",
        "spl token create --name ci --scopes ''",
        "spl token create --name '' --scopes admin",
        "spl token list",
        "spl token revoke ci",
        "spl token revoke ci",
        "spl -o json token list | tr ',' '\\n' | grep -c bearer || true",
    ]);
    let json = terminal.quietly("spl -o json token create --name j --scopes admin");
    assert_eq!(json.status, 0);
    assert!(!json.stdout.contains("spl_prod_"), "{}", json.stdout);
    assert!(json.stderr.contains("spl_prod_sa-"), "{}", json.stderr);
    assert_session!(terminal);
}
