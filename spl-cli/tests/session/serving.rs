//! The server: started, found, killed, stopped.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};

use rustix::process::{Pid, Signal, kill_process};

use crate::terminal::{Terminal, assert_session};

/// Starts a server in the foreground, and returns it with the first line that it prints.
fn start(terminal: &Terminal, arguments: &[&str]) -> (Child, String) {
    let mut command = terminal.spl(arguments);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("started");
    let mut line = String::new();
    let stdout = child.stdout.as_mut().expect("piped");
    BufReader::new(stdout).read_line(&mut line).expect("a line");
    (child, line)
}

fn stop(mut child: Child, signal: Signal) -> (i32, String) {
    let raw = i32::try_from(child.id()).expect("small");
    kill_process(Pid::from_raw(raw).expect("not zero"), signal).expect("told");
    let status = child.wait().expect("ended").code().expect("by itself");
    let mut log = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut log).expect("read");
    (status, log)
}

#[test]
fn a_server_is_started_found_and_stopped() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl serve --status",
        "spl serve --daemon --port 0",
        "spl serve --status",
        "spl status",
        "ls .syncro/run",
        "spl know 'through the socket' --thread th_x",
        "spl health",
        "spl doctor | grep server",
        "spl serve --daemon --port 0",
        "spl serve --port 0",
        "spl serve --restart --port 0",
        "spl serve --status",
        "spl -o json serve --status",
        "spl serve --stop",
        "spl serve --stop",
        "ls .syncro/run",
        "spl thread records th_x",
        "spl -o json serve --stop",
        "spl -o json serve --daemon --port 0",
        "spl -o json serve --stop",
    ]);
    assert_session!(terminal);
}

/// The pid and the socket of a killed server are there, and mean nothing.
#[test]
fn a_killed_server_stops_nobody() {
    let mut terminal = Terminal::with_instance();
    terminal.does("spl serve --daemon --port 0");
    terminal.does("spl know 'before' --thread th_x");
    terminal.kill_server();
    terminal.session(&[
        "ls .syncro/run",
        "spl serve --status",
        "spl status",
        "spl doctor | tail -n 2",
        "spl know 'after' --thread th_x",
        "spl serve --stop",
        "spl serve --daemon --port 0",
        "spl serve --status",
        "spl thread records th_x",
        "spl verify",
        "spl serve --stop",
        "ls .syncro/run",
    ]);
    assert_session!(terminal);
}

/// A server may end between the moment in which it is found and the one in which it is asked.
#[test]
fn a_server_that_goes_away_while_it_is_asked_is_done_without() {
    let mut terminal = Terminal::with_instance();
    let socket = UnixListener::bind(terminal.home().join("run/spl.sock")).expect("bound");
    // Takes every connection and says nothing on any, as a server that is going away does.
    let going = std::thread::spawn(move || {
        for connection in socket.incoming() {
            let mut asked = [0; 4];
            if connection.expect("accepted").read(&mut asked).is_ok_and(|_| asked == *b"stop") {
                return;
            }
        }
    });
    terminal.session(&[
        "spl know hello --thread th_x",
        "spl thread records th_x",
        "spl thread watch th_x --since 0 -n 1",
        "spl token list >/dev/null",
        // Asked twice, it might make two.
        "spl token create --name ci --scopes admin 2>&1 | grep -o NOT_REACHABLE",
        "spl doctor | tail -n 2",
    ]);
    let mut stop = UnixStream::connect(terminal.home().join("run/spl.sock")).expect("connected");
    stop.write_all(b"stop").expect("told");
    going.join().expect("ended");
    assert_session!(terminal);
}

#[test]
fn two_homes_have_a_server_each() {
    let mut terminal = Terminal::new();
    terminal.session(&[
        "SYNCROPEL_HOME=one spl serve --daemon --port 0 >/dev/null",
        "SYNCROPEL_HOME=two spl serve --daemon --port 0 >/dev/null",
        "SYNCROPEL_HOME=one spl know 'in one' --thread th_x",
        "SYNCROPEL_HOME=two spl know 'in two' --thread th_x",
        "SYNCROPEL_HOME=one spl thread records th_x",
        "SYNCROPEL_HOME=two spl thread records th_x",
        "SYNCROPEL_HOME=one spl serve --stop >/dev/null",
        "SYNCROPEL_HOME=one spl serve --status",
        "SYNCROPEL_HOME=two spl serve --status",
        "SYNCROPEL_HOME=two spl serve --stop",
    ]);
    assert_session!(terminal);
}

#[test]
fn a_socket_path_that_is_too_long_is_named_and_done_without() {
    let mut terminal = Terminal::new();
    let long = "d".repeat(120);
    terminal.set("SYNCROPEL_HOME", &terminal.path(&long).display().to_string());
    terminal.session(&[
        "spl know 'without a server' --thread th_x",
        "spl serve --daemon --port 0",
        "spl know 'beside a server' --thread th_x 2>/dev/null",
        "spl serve --status",
        "spl doctor | tail -n 2",
        "spl thread records th_x 2>/dev/null",
        "spl serve --stop",
    ]);
    let transcript = terminal.transcript().replace(&long, "<120 characters>");
    insta::with_settings!({ filters => vec![
        (r"127\.0\.0\.1:\d+", "127.0.0.1:<port>"),
        (r#"pid("?[ :])\d+"#, "pid$1<pid>"),
        (r"has \d+ bytes", "has <n> bytes"),
        ("did:key:z[1-9A-Za-z]+", "did:key:<key>"),
    ], prepend_module_to_snapshot => false, omit_expression => true }, {
        insta::assert_snapshot!(transcript);
    });
}

#[test]
fn a_port_that_is_taken_is_refused() {
    let mut terminal = Terminal::with_instance();
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("bound").port();
    let in_front = terminal.run(&format!("spl serve --port {port}"));
    let behind = terminal.run(&format!("spl serve --daemon --port {port}"));
    assert_eq!((in_front.status, behind.status), (1, 1));
    for said in [in_front.stderr, behind.stderr] {
        assert!(said.contains("[ADDRESS_IN_USE]"), "{said}");
    }
    assert_eq!(terminal.quietly("spl serve --status").status, 3);
}

#[test]
fn a_signal_ends_a_server_in_order() {
    let terminal = Terminal::with_instance();
    for signal in [Signal::TERM, Signal::INT] {
        let (server, said) = start(&terminal, &["serve", "--port", "0"]);
        assert!(said.contains("listening at http://127.0.0.1:"), "{said}");
        terminal.does("spl know x --thread th_x");
        let (status, log) = stop(server, signal);
        assert_eq!(status, 0, "{log}");
        assert!(log.lines().all(|line| line.starts_with('{') && line.ends_with('}')), "{log}");
        assert!(log.contains("\"message\":\"stopping\""), "{log}");
        assert!(!terminal.home().join("run/spl.sock").exists());
        assert!(!terminal.home().join("run/spl.pid").exists());
        // What was in the write-ahead log is in the file.
        assert!(!terminal.home().join("hub.db-wal").exists());
    }
}

#[test]
fn an_instance_in_memory_needs_no_home_and_leaves_nothing() {
    let mut terminal = Terminal::new();
    let (server, said) = start(&terminal, &["serve", "--memory", "--port", "0", "-o", "json"]);
    let member = |key: &str| {
        let (_, rest) = said.split_once(&format!("\"{key}\":\"")).expect("a member");
        rest.split('"').next().expect("its end").to_owned()
    };
    terminal.set("SPL_SERVE_URL", &member("url"));
    terminal.set("SPL_TOKEN", &member("bearer"));
    terminal.session(&[
        "spl know 'kept nowhere' --thread th_x",
        "spl know 'kept nowhere' --thread th_x --actor did:sync:user:vera",
        "spl thread records th_x",
        "spl status",
        "SPL_TOKEN= spl thread records th_x",
        "ls -A",
    ]);
    let (status, log) = stop(server, Signal::TERM);
    assert_eq!(status, 0);
    assert!(!log.contains(&member("bearer")), "{log}");
    let _ = terminal.run("spl thread records th_x");
    assert_session!(terminal);
}

#[test]
fn nobody_is_asked_who_they_are_where_that_was_wished() {
    let mut terminal = Terminal::with_instance();
    let arguments = ["serve", "--insecure-localhost", "--host", "0.0.0.0", "--port", "0"];
    let (server, said) = start(&terminal, &arguments);
    assert!(said.contains("http://127.0.0.1:"), "{said}");
    let url = fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    terminal.set("SPL_SERVE_URL", url.trim());
    terminal.set("SPL_TOKEN", "no-token-at-all");
    assert!(terminal.does("spl know x --thread th_x").contains("th_x"));
    let (status, log) = stop(server, Signal::TERM);
    assert_eq!(status, 0);
    assert!(log.contains("\"level\":\"WARN\""), "{log}");
}

#[test]
fn the_log_is_shown_and_holds_no_secret() {
    let terminal = Terminal::with_instance();
    terminal.does("RUST_LOG=debug spl serve --daemon --port 0");
    let token = fs::read_to_string(terminal.home().join("token")).expect("a token");
    let url = fs::read_to_string(terminal.home().join("run/spl.url")).expect("a url");
    terminal.does(&format!("spl --server {} know 'words of mine' --thread th_x", url.trim()));
    terminal.does("spl serve --stop");
    let log = fs::read_to_string(terminal.home().join("logs/spl.log")).expect("a log");
    assert!(log.lines().count() > 3, "{log}");
    assert!(!log.contains(token.trim()), "{log}");
    assert!(!log.contains("words of mine"), "{log}");
    let all = terminal.does("spl serve --logs -n 1000 --no-follow");
    assert_eq!(all, log);
    let last = terminal.does("spl serve --logs -n 1 --no-follow");
    assert_eq!(Some(last.trim_end()), log.lines().last());
    let none = Terminal::with_instance().quietly("spl serve --logs");
    assert_eq!((none.status, none.stdout.as_str()), (3, ""));
}

#[test]
fn another_store_is_served_by_its_path() {
    let mut terminal = Terminal::with_instance();
    terminal.session(&[
        "spl serve --daemon --port 0 --store sqlite://$PWD/other.db >/dev/null",
        "spl know 'in the other' --thread th_x",
        "spl serve --stop >/dev/null",
        "spl thread list",
        "spl verify --store other.db",
    ]);
    assert_session!(terminal);
}

/// A server in the background that could not start did not say why, and took a wrong line for an
/// error of its own.
#[test]
fn a_server_in_the_background_says_why_it_did_not_start() {
    let terminal = Terminal::with_instance();
    terminal.does("mkdir .syncro/run/spl.sock");
    let finished = terminal.quietly("spl serve --daemon --port 0");
    assert_eq!(finished.status, 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("caused by: "), "{}", finished.stderr);
    let finished = terminal.quietly("spl serve --daemon --host '' --port 0");
    assert_eq!(finished.status, 2, "{}", finished.stderr);
}

/// Whoever closes the terminal of a server found its pid and its socket left behind.
#[test]
fn a_server_whose_terminal_is_closed_leaves_in_order() {
    let terminal = Terminal::with_instance();
    let mut command = terminal.spl(&["serve", "--port", "0"]);
    let mut server = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("started");
    let mut said = BufReader::new(server.stdout.take().expect("piped"));
    said.read_line(&mut String::new()).expect("it listens");
    terminal.does(&format!("kill -HUP {}", server.id()));
    assert!(server.wait().expect("ended").success());
    assert!(!terminal.home().join("run/spl.sock").exists());
}
