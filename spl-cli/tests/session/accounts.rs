//! Service accounts.

use crate::terminal::{Terminal, assert_session};

#[test]
fn an_account_is_made_shown_and_revoked() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl service-account create --name ci --actors did:sync:agent:ci",
        "spl service-account create --name docs --with-token --scopes thread:th_docs:read >bearer",
        "cut -c1-12 <bearer",
        "spl service-account create --name x --scopes root",
        "spl service-account create --name x --actors did:sync:system:engine",
        "spl service-account list",
        "spl service-account describe docs",
        "spl token create --sa ci --expires 30d --env-tag dev | cut -c1-11",
        "spl token create --sa ci --scopes admin",
        "spl token create --sa nobody",
        "spl token create --sa ci --expires soon",
        "spl token list | cut -c1-20",
        "spl token info \"$(cat bearer)\" | grep -v ^id",
        "spl token info - <bearer | grep -c th_docs",
        "spl token info spl_prod_sa-x_0",
        "spl token info nothing",
        "spl token rotate docs >second && cmp -s bearer second || echo another",
        "spl token info \"$(cat bearer)\" | grep -c revoked",
        "spl service-account revoke docs --reason 'the laptop is gone'",
        "spl service-account describe docs | grep -v token",
        "spl service-account revoke docs",
        "spl -o json service-account create --name j --with-token 2>/dev/null | grep -c api_key || true",
        "spl thread list",
        "spl verify",
    ]);
    assert_session!(terminal);
}

/// What an account may read and write, and in whose name, over the wire.
#[test]
fn an_account_does_what_it_may() {
    let mut terminal = Terminal::new();
    let create = "spl service-account create --name ci --actors did:sync:agent:ci --bootstrap \
                  --scopes thread:th_ci:read,thread:th_ci:write";
    let made = terminal.quietly(create);
    let bearer = made.stdout.trim().to_owned();
    assert!(bearer.starts_with("spl_prod_sa-"), "{}", made.stderr);
    terminal.does("spl know 'a secret' --thread th_other");
    terminal.does("spl serve --daemon --port 0");
    let url = std::fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    terminal.set("SPL_SERVE_URL", url.trim());
    terminal.set("BEARER", &bearer);
    terminal.session(&[
        "SPL_TOKEN=spl_prod_x_y spl token show-source",
        "spl token show-source",
        "spl token save \"$BEARER\" >/dev/null && stat -c %a .syncro/secrets/bearer",
        "spl token show-source",
        "spl know hello --thread th_ci --actor did:sync:agent:ci",
        "spl know hello --thread th_ci --actor did:sync:user:vera",
        "spl know hello --thread th_other --actor did:sync:agent:ci",
        "spl thread list",
        "spl thread show th_other",
        "spl token rotate ci",
        "spl service-account list",
        "spl service-account create --name x --bootstrap",
        "spl --token '' -o json token show-source",
    ]);
    terminal.does("spl serve --stop");
    assert_session!(terminal);
}
