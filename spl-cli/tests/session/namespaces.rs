//! Namespaces, at a terminal.

use crate::terminal::{Terminal, assert_session};

#[test]
fn namespaces_are_registered_listed_and_archived() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl namespace list",
        "spl know hello --thread th_a --body '{\"namespace\":\"acme/site\",\"text\":\"hello\"}'",
        "spl namespace create acme/site",
        "spl namespace create acme",
        "spl namespace create acme",
        "spl namespace create acme/site",
        "spl know hello --thread th_a --body '{\"namespace\":\"acme/site\",\"text\":\"hello\"}'",
        "spl hook add lesson --when true --text t --namespace acme/web",
        "spl namespace archive acme",
        "spl namespace list",
        "spl know again --thread th_a --body '{\"namespace\":\"acme/site\",\"text\":\"again\"}'",
        "spl work-loop 'say it' --echo --workspace . --namespace acme/site",
        "spl namespace archive acme/site --delete",
        "spl namespace list",
        "spl -o json namespace list --status deleted",
        "spl namespace archive default",
        "spl namespace archive nobody",
        "spl namespace create Acme",
        "spl namespace list --status gone",
        "spl namespace create acme && spl namespace list",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_server_says_the_same() {
    let terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    terminal.register(&["acme", "acme/site"]);
    terminal.does("spl namespace archive acme/site");
    let listed = terminal.does("spl namespace list | cut -c 1-28");
    terminal.does("spl serve --stop");
    assert!(listed.contains("acme/site  project  archived"), "{listed}");
    assert_eq!(terminal.does("spl namespace list | cut -c 1-28"), listed);
}
