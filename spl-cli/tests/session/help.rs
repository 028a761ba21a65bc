//! The help of every command, as it is printed.

use crate::terminal::{Terminal, assert_session};

#[test]
fn the_overview_needs_no_argument() {
    let mut terminal = Terminal::new();
    terminal.session(&["spl"]);
    let overview = terminal.does("spl");
    assert_eq!(overview, terminal.does("spl -h"));
    assert_session!(terminal);
}

/// `spl help` was no command, and whoever typed it was told of `spl health`.
#[test]
fn help_may_be_asked_for_in_a_word() {
    let terminal = Terminal::new();
    assert_eq!(terminal.does("spl help"), terminal.does("spl --help"));
    assert_eq!(terminal.does("spl help hook add"), terminal.does("spl hook add --help"));
}

#[test]
fn every_command_explains_itself() {
    let mut terminal = Terminal::new();
    for command in commands(&terminal, "spl") {
        let _ = terminal.run(&format!("{command} --help"));
    }
    assert_session!(terminal);
}

/// Returns every command below `command`, as its own help lists them.
fn commands(terminal: &Terminal, command: &str) -> Vec<String> {
    let help = terminal.does(&format!("{command} --help"));
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| line.starts_with("  "))
        .filter(|line| !line.starts_with("   "))
        .filter_map(|line| line.split_whitespace().next())
        // It says again what the others say.
        .filter(|name| *name != "help");
    let mut found = Vec::new();
    for name in listed {
        let command = format!("{command} {name}");
        let below = commands(terminal, &command);
        found.push(command);
        found.extend(below);
    }
    found
}

#[test]
fn every_shell_gets_its_completions() {
    let terminal = Terminal::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = terminal.does(&format!("spl completions {shell}"));
        assert!(script.contains("fulfills"), "{shell}: {script}");
    }
    assert_eq!(terminal.quietly("spl completions csh").status, 2);
}

#[test]
fn a_line_that_is_none_is_explained() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "spl nonsense",
        "spl hok list",
        "spl hook",
        "spl hook add",
        "spl thread records",
        "spl serve --daemon --stop",
        "spl serve -n 3",
        "spl --version",
    ]);
    assert_session!(terminal);
}
