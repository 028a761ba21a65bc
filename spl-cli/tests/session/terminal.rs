//! A terminal: runs lines in a shell, and keeps a transcript in which nothing changes from run to
//! run.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use rustix::fs::{FlockOperation, flock};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

/// A shell in a folder of its own, which is also the user's home folder.
pub(crate) struct Terminal {
    folder: tempfile::TempDir,
    variables: Vec<(String, String)>,
    transcript: String,
}

/// What a line has left behind.
#[must_use = "either snapshot the session or look at this"]
pub(crate) struct Finished {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

impl Finished {
    pub(crate) fn of(output: Output) -> Self {
        let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
        let status = output.status.code().expect("ended by itself");
        Self { stdout: text(output.stdout), stderr: text(output.stderr), status }
    }

    /// Returns what was printed by a line that went well.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(self.status, 0, "{}{}", self.stdout, self.stderr);
        self.stdout
    }
}

impl Terminal {
    /// Returns a terminal whose user has no instance yet.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        Self { folder, variables: Vec::new(), transcript: String::new() }
    }

    /// Returns a terminal whose user has an instance.
    pub(crate) fn with_instance() -> Self {
        let terminal = Self::new();
        terminal.does("spl init");
        terminal
    }

    /// Sets a variable for the lines that follow.
    pub(crate) fn set(&mut self, variable: &str, value: &str) {
        self.variables.push((variable.into(), value.into()));
    }

    /// Returns a path in the user's folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the user's home of the instance.
    pub(crate) fn home(&self) -> PathBuf {
        self.path(".syncro")
    }

    /// Registers these namespaces, one after another.
    pub(crate) fn register(&self, paths: &[&str]) {
        for path in paths {
            self.does(&format!("spl namespace create {path}"));
        }
    }

    /// Writes a file into the user's folder.
    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    /// Returns a program that runs in this terminal's environment and nothing else of ours.
    pub(crate) fn program(&self, program: &str) -> Command {
        let spl = Path::new(env!("CARGO_BIN_EXE_spl"));
        let folder = spl.parent().expect("a folder").display();
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", format!("{folder}:/usr/local/bin:/usr/bin:/bin"))
            .env("HOME", self.folder.path())
            .env("USER", "vera")
            .env("COLUMNS", "100")
            .envs(self.variables.iter().cloned())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    /// Returns the command itself, ready to be started with these arguments.
    pub(crate) fn spl(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_spl"));
        command.args(arguments);
        command
    }

    /// Runs a line without a word in the transcript.
    pub(crate) fn quietly(&self, line: &str) -> Finished {
        let mut shell = self.program("/bin/sh");
        Finished::of(shell.args(["-c", line]).output().expect("a shell"))
    }

    /// Runs a line that must go well, without a word in the transcript, and returns what it prints.
    #[track_caller]
    pub(crate) fn does(&self, line: &str) -> String {
        self.quietly(line).well()
    }

    /// Runs a line, and adds it to the transcript with all that it says.
    pub(crate) fn run(&mut self, line: &str) -> Finished {
        let finished = self.quietly(line);
        self.transcript.push_str(&format!("$ {line}\n{}", finished.stdout));
        for line in finished.stderr.lines() {
            self.transcript.push_str(&format!("stderr: {line}\n"));
        }
        if finished.status != 0 {
            self.transcript.push_str(&format!("[exit {}]\n", finished.status));
        }
        self.transcript.push('\n');
        finished
    }

    /// Runs lines, one after another, whatever becomes of each.
    pub(crate) fn session(&mut self, lines: &[&str]) {
        for line in lines {
            let _ = self.run(line);
        }
    }

    /// Runs the command with these words where somebody types `answer` at its controlling terminal.
    /// Returns what it said, and what the terminal showed.
    pub(crate) fn confirmed(&self, words: &[&str], answer: &str) -> (Output, String) {
        self.at_a_terminal(words, answer, |_| Stdio::piped())
    }

    /// The same, where errors and questions are shown at the terminal as well.
    pub(crate) fn typed(&self, words: &[&str], answer: &str) -> (Output, String) {
        self.at_a_terminal(words, answer, |slave| slave.try_clone().expect("a copy").into())
    }

    fn at_a_terminal(
        &self,
        words: &[&str],
        answer: &str,
        stderr: impl FnOnce(&File) -> Stdio,
    ) -> (Output, String) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
        grantpt(&master).expect("granted");
        unlockpt(&master).expect("unlocked");
        let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("text");
        let slave = OpenOptions::new().read(true).write(true).open(name).expect("opened");
        let mut command = self.program("setsid");
        command.args(["--ctty", "--wait", env!("CARGO_BIN_EXE_spl")]).args(words);
        command.stderr(stderr(&slave));
        let child = command.stdin(slave).stdout(Stdio::piped()).spawn();
        drop(command);
        let mut master = File::from(master);
        master.write_all(answer.as_bytes()).expect("typed");
        let output = child.expect("started").wait_with_output().expect("ended");
        let mut shown = Vec::new();
        let mut chunk = [0; 1024];
        // A terminal that nobody holds any more ends with an error.
        while let Ok(len @ 1..) = master.read(&mut chunk) {
            shown.extend_from_slice(&chunk[..len]);
        }
        (output, String::from_utf8_lossy(&shown).into_owned())
    }

    /// Posts JSON to the port of this terminal's server as a client without a bearer does, and
    /// returns the whole answer.
    pub(crate) fn post(&self, path: &str, json: &str) -> String {
        self.post_with("", path, json)
    }

    /// Posts JSON as a client with this bearer does.
    pub(crate) fn post_as(&self, bearer: &str, path: &str, json: &str) -> String {
        self.post_with(&format!("authorization: Bearer {bearer}\r\n"), path, json)
    }

    fn post_with(&self, headers: &str, path: &str, json: &str) -> String {
        let url = fs::read_to_string(self.home().join("run/spl.url")).expect("a server");
        let authority = url.trim().strip_prefix("http://").expect("a URL");
        let mut stream = TcpStream::connect(authority).expect("connected");
        let length = json.len();
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nhost: {authority}\r\ncontent-type: application/json\r\n\
             content-length: {length}\r\n{headers}connection: close\r\n\r\n{json}"
        )
        .expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("an answer");
        answer
    }

    /// Returns the transcript, with names for what differs from run to run.
    pub(crate) fn transcript(&self) -> String {
        let folder = self.folder.path().display().to_string();
        named_ids(&self.transcript.replace(&folder, "~"))
    }

    /// Kills the server in the background, and waits until the kernel has buried it.
    pub(crate) fn kill_server(&self) {
        let lock = fs::File::open(self.home().join("run/spl.lock")).expect("a lock");
        let pid = fs::read_to_string(self.home().join("run/spl.pid")).expect("a pid");
        let pid = Pid::from_raw(pid.trim().parse().expect("a number")).expect("not zero");
        kill_process(pid, Signal::KILL).expect("killed");
        flock(&lock, FlockOperation::LockShared).expect("its lock is free");
    }

    /// Stops a server that a failed test would leave behind.
    fn stop_server(&self) {
        if self.home().join("run/spl.pid").exists() {
            let _ = self.spl(&["serve", "--stop"]).output();
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.stop_server();
    }
}

/// How much of an id is printed where it is not printed whole.
const SHORT: usize = 12;

/// Numbers the ids as they appear, whole ones of 64 hex digits and the beginnings of them.
fn named_ids(text: &str) -> String {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut out = String::new();
    let mut run = String::new();
    for c in text.chars().chain(['\n']) {
        if c.is_ascii_digit() || ('a'..='f').contains(&c) {
            run.push(c);
            continue;
        }
        let is_short = run.len() == SHORT && !c.is_alphanumeric();
        if is_short || run.len() == 64 {
            let next = numbers.len() + 1;
            let number = numbers.entry(run[..SHORT].to_owned()).or_insert(next);
            out.push_str(&format!("<id {number}{}>", if is_short { "…" } else { "" }));
        } else {
            out.push_str(&run);
        }
        run.clear();
        out.push(c);
    }
    out.pop();
    out
}

/// Compares the transcript of a session with its snapshot.
macro_rules! assert_session {
    ($terminal:expr) => {
        let mut settings = insta::Settings::clone_current();
        settings.set_omit_expression(true);
        settings.set_prepend_module_to_snapshot(false);
        settings.add_filter(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", "<time>");
        settings.add_filter(r"127\.0\.0\.1:\d+", "127.0.0.1:<port>");
        settings.add_filter(r#"pid("?[ :])\d+"#, "pid$1<pid>");
        settings.add_filter(r"(?m)^sig +\S+$", "sig         <signature>");
        settings.add_filter(r#""sig":"[^"]+""#, r#""sig":"<signature>""#);
        // What kind there is depends on the machine.
        settings.add_filter(r"(?m)^✓ sandbox .*\n(  hint: .*\n)?", "✓ sandbox   <sandbox>\n");
        settings.add_filter(r#"\{"hint":[^{}]*"name":"sandbox"[^{}]*\}"#, r#"{"name":"sandbox"}"#);
        settings.add_filter("sa-[0-9a-f]{16}", "sa-<account>");
        settings.add_filter("did:key:z[1-9A-Za-z]+", "did:key:<key>");
        settings.add_filter(r"\d+ bytes\)", "<n> bytes)");
        settings.add_filter(r#""(bytes|elapsed_us|total_bytes|uptime_secs)":\d+"#, r#""$1":<n>"#);
        settings.add_filter(r"took \d+ ms", "took <n> ms");
        settings.add_filter(r#""ms":\d+"#, r#""ms":<n>"#);
        let transcript = $terminal.transcript();
        settings.bind(|| insta::assert_snapshot!(transcript));
    };
}
pub(crate) use assert_session;

#[test]
fn ids_are_numbered_as_they_appear() {
    let (a, b) = ("a".repeat(64), "b".repeat(64));
    let text = format!("th_{a} {b} {}, {} cafe 12 {a}", &b[..12], "c".repeat(12));
    let named = "th_<id 1> <id 2> <id 2…>, <id 3…> cafe 12 <id 1>";
    assert_eq!(named_ids(&text), named);
}
