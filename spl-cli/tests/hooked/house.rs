//! A home in a folder of its own, and hook processes that work for it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

/// A folder that is the user's, with the home of an instance in it.
pub(crate) struct House {
    folder: tempfile::TempDir,
}

/// What a hook process has left behind.
pub(crate) struct Ended {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl House {
    /// Returns a house in which there is no instance yet.
    pub(crate) fn empty() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder") }
    }

    /// Returns a house with an instance, and a lesson about shells that fail, which speaks twice.
    pub(crate) fn taught() -> Self {
        let house = Self::empty();
        let lesson = [
            ["hook", "add", "it-failed", "--max", "2"].as_slice(),
            &["--when", "resource == \"tool:bash\" && record.body.status == \"error\""],
            &["--text", "${tool} ended with ${status}; read stderr first."],
        ];
        let output = house.spl(&lesson.concat()).output().expect("spl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        house
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns the home of the instance.
    pub(crate) fn home(&self) -> PathBuf {
        self.path(".syncro")
    }

    /// Returns a program in this house's environment and nothing else of ours.
    pub(crate) fn program(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("USER", "vera")
            .current_dir(self.folder.path());
        command
    }

    /// Returns the command with these arguments.
    pub(crate) fn spl(&self, arguments: &[&str]) -> Command {
        let mut command = self.program(env!("CARGO_BIN_EXE_spl"));
        command.args(arguments);
        command
    }

    /// Registers a namespace.
    pub(crate) fn register(&self, path: &str) {
        let output = self.spl(&["namespace", "create", path]).output().expect("spl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// Writes the policy settings of the user, or of a folder of theirs.
    pub(crate) fn set_policy(&self, folder: &str, settings: &str) {
        let folder = self.path(folder).join(".polyglot");
        fs::create_dir_all(&folder).expect("a folder");
        fs::write(folder.join("settings.json"), settings).expect("written");
    }

    /// Sets up one policy hook of the user, for an event.
    pub(crate) fn set_hook(&self, event: &str, command: &str) {
        let command = spl::canon::Value::from(command);
        self.set_policy("", &format!(r#"{{"hooks":{{"{event}":[{{"command":{command}}}]}}}}"#));
    }

    /// Runs a hook process with these options, and gives it `payload`.
    pub(crate) fn hook(&self, options: &[&str], payload: impl AsRef<[u8]>) -> Ended {
        fed(self.spl(&[["session", "hook"].as_slice(), options].concat()), payload)
    }

    /// Returns how many records of a kind the store has.
    pub(crate) fn count(&self, kind: &str) -> usize {
        let path = self.home().join("hub.db");
        if !path.exists() {
            return 0;
        }
        let store = rusqlite::Connection::open(path).expect("a store");
        let sql = "SELECT count(*) FROM records WHERE kind GLOB ?1";
        store.query_row(sql, [kind], |row| row.get(0)).expect("a count")
    }

    /// Returns how many records there are of sessions.
    pub(crate) fn recorded(&self) -> usize {
        self.count("core.session.*")
    }

    /// Returns the lines of the log of hook processes.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.home().join("logs/session-hook.log")).unwrap_or_default()
    }

    /// Starts a server of this house's home.
    pub(crate) fn serve(&self) -> Server {
        let mut command = self.spl(&["serve", "--port", "0"]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("spl");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("piped");
        BufReader::new(stdout).read_line(&mut line).expect("a line");
        assert!(line.contains("127.0.0.1"), "{line}");
        Server(child)
    }

    /// Holds the store against its signatures.
    pub(crate) fn verify(&self) {
        let output = self.spl(&["verify"]).output().expect("spl");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}

/// A server, which is killed at the end.
pub(crate) struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a hook process that must read all of its payload, and end well.
#[track_caller]
pub(crate) fn fed(mut command: Command, payload: impl AsRef<[u8]>) -> Ended {
    let command = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("a process");
    let mut stdin = child.stdin.take().expect("piped");
    stdin.write_all(payload.as_ref()).expect("read to its end");
    drop(stdin);
    Ended::of(&child.wait_with_output().expect("its end"))
}

impl Ended {
    #[track_caller]
    pub(crate) fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("UTF-8");
        let ended = Self { stdout: text(&output.stdout), stderr: text(&output.stderr) };
        assert_eq!(output.status.code(), Some(0), "{}", ended.stderr);
        ended
    }

    /// Returns what was printed by a process that had nothing to complain of.
    #[track_caller]
    pub(crate) fn well(self) -> String {
        assert_eq!(self.stderr, "");
        self.stdout
    }

    /// Returns the one line of a process that printed no answer.
    #[track_caller]
    pub(crate) fn complaint(self) -> String {
        assert_eq!(self.stdout, "", "{}", self.stderr);
        assert!(self.stderr.starts_with("spl session hook: "), "{}", self.stderr);
        assert_eq!(self.stderr.matches('\n').count(), 1, "{}", self.stderr);
        self.stderr
    }
}

/// What Claude Code sends when a command has failed.
pub(crate) fn failed(call: &str) -> String {
    format!(
        r#"{{"session_id":"7b0e2c9a","cwd":"/home/dev/shop","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{{"command":"cargo test {call}"}},"tool_use_id":"{call}","error":"Exit code 101\nerror: test failed in {call}"}}"#
    )
}

/// Makes something others can write to.
pub(crate) fn open_to_others(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("set");
}
