//! Readers who leave, and terminals that are none.

use std::fs::File;
use std::io::Read as _;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::terminal::Terminal;

/// Whoever stops reading has read enough: that is success, and nothing is said about it.
#[test]
fn a_reader_may_leave() {
    let terminal = Terminal::with_instance();
    let body = format!("{{\"text\":\"{}\"}}", "x".repeat(200_000));
    terminal.write("body.json", &body);
    for _ in 0..3 {
        terminal.does("spl know --thread th_x --body @body.json");
    }
    for arguments in [
        &["-o", "json", "thread", "records", "th_x"][..],
        &["-o", "stream-json", "thread", "records", "th_x"],
        &["completions", "bash"],
        &["thread", "watch", "th_x", "--since", "0", "-o", "stream-json"],
        &["--help"],
    ] {
        let mut command = terminal.spl(arguments);
        let mut child =
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut said).expect("read");
        let status = child.wait().expect("ended").code();
        assert_eq!((status, said.as_str()), (Some(0), ""), "{arguments:?}");
    }
}

#[test]
fn there_are_no_colours_where_there_is_no_terminal() {
    let terminal = Terminal::with_instance();
    for line in ["spl status", "spl doctor", "spl hook list", "spl --help", "spl know"] {
        let finished = terminal.quietly(line);
        let said = finished.stdout + &finished.stderr;
        assert!(!said.contains('\u{1b}'), "{line}: {said:?}");
    }
}

/// Runs a command whose output is a terminal, and returns what that terminal was sent.
fn on_a_terminal(mut command: Command) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("its name").into_string().expect("text");
    let theirs = File::options().read(true).write(true).open(name).expect("its other side");
    let mut child = command
        .stdout(theirs.try_clone().expect("cloned"))
        .stderr(theirs)
        .spawn()
        .expect("started");
    // The other side is closed when the child has ended, for nobody else has it open any more.
    drop(command);
    let mut sent = Vec::new();
    let mut ours = File::from(ours);
    let mut chunk = [0; 4096];
    while let Ok(length @ 1..) = ours.read(&mut chunk) {
        sent.extend_from_slice(&chunk[..length]);
    }
    assert!(child.wait().expect("ended").success());
    String::from_utf8(sent).expect("UTF-8")
}

#[test]
fn a_terminal_gets_colours_and_progress_unless_it_wants_none() {
    let terminal = Terminal::with_instance();
    terminal.does("spl know hello --thread th_x");
    let run = |arguments: &[&str], no_color: &str| {
        let mut command = terminal.spl(arguments);
        command.env("TERM", "xterm").env("NO_COLOR", no_color);
        on_a_terminal(command)
    };
    let coloured = run(&["status"], "");
    assert!(coloured.contains("\u{1b}[2mrecords"), "{coloured:?}");
    let plain = run(&["status"], "1");
    assert!(plain.contains("records  1") && !plain.contains('\u{1b}'), "{plain:?}");
    let json = run(&["-o", "json", "status"], "");
    assert!(!json.contains('\u{1b}'), "{json:?}");
    let verified = run(&["verify"], "1");
    assert!(verified.contains("\rverify: 100%"), "{verified:?}");
    assert!(verified.ends_with("✓ 1 record verified\r\n"), "{verified:?}");
}
