//! A process that is started again and again.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the least is called.
pub const FLOOR: &str = "the floor: C, one durable append";

/// What the least is called that leaves the log where it is.
const KEEPING: &str = "the same, and the log is left beside the store";

/// A command, and how much it is given to read.
pub struct Contender {
    pub name: String,
    line: Vec<String>,
    bytes: Option<usize>,
}

impl Contender {
    pub fn new<T: AsRef<str>>(name: &str, line: &[T]) -> Self {
        let line = line.iter().map(|word| word.as_ref().to_owned()).collect();
        Self { name: name.to_owned(), line, bytes: None }
    }

    /// Returns the same with a payload of so many bytes on its standard input.
    pub fn fed(self, bytes: usize) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Starts it and waits for its end, as a harness does.
    pub fn start(&self, number: usize) -> Duration {
        let (program, arguments) = self.line.split_first().expect("a program");
        let mut command = Command::new(program);
        command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
        let payload = self.bytes.map(|bytes| payload(&self.name, number, bytes));
        command.stdin(if payload.is_some() { Stdio::piped() } else { Stdio::null() });
        let begun = Instant::now();
        let mut child = command.spawn().expect("a process");
        if let Some(payload) = payload {
            let mut stdin = child.stdin.take().expect("piped");
            stdin.write_all(payload.as_bytes()).expect("read to its end");
        }
        let mut said = String::new();
        child.stdout.take().expect("piped").read_to_string(&mut said).expect("text");
        let status = child.wait().expect("its end");
        let took = begun.elapsed();
        let mut wrong = String::new();
        child.stderr.take().expect("piped").read_to_string(&mut wrong).expect("text");
        assert!(status.success() && wrong.is_empty(), "{}: {wrong}", self.name);
        took
    }
}

/// What Claude Code sends when a command has failed and said a lot.
fn payload(session: &str, number: usize, bytes: usize) -> String {
    let line = "error[E0425]: cannot find value `timeout` in this scope\\n --> src/pay.rs:41\\n";
    let said = line.repeat(bytes / line.len());
    format!(
        r#"{{"session_id":"{session} {}","cwd":"/home/vera/shop","hook_event_name":"PostToolUseFailure","tool_name":"Bash","tool_input":{{"command":"cargo test {number}"}},"tool_use_id":"toolu_{number}","error":"Exit code 101\n{said}"}}"#,
        number / 100,
    )
}

/// Compiles the least that there is, and returns it for a store like this one, in both ways of
/// closing it.
pub fn floor(store: &Path, bytes: usize) -> [Contender; 2] {
    let source = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("floor.c");
    let program = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("target/floor");
    let made = |path: &Path| path.metadata().and_then(|found| found.modified()).ok();
    if made(&program) < made(&source) {
        let sqlite = Path::new(env!("SQLITE_SOURCE"));
        let mut cc = Command::new("cc");
        cc.args(["-O2", "-w", "-I"]).arg(sqlite).arg(&source).arg(sqlite.join("sqlite3.c"));
        assert!(
            cc.args(["-lpthread", "-ldl", "-lm", "-o"])
                .arg(&program)
                .status()
                .expect("cc")
                .success()
        );
    }
    // It writes no chain, so it has a copy of its own.
    let line = |name: &str, more: &[&str]| {
        let copy = store.with_file_name(name);
        std::fs::copy(store, &copy).expect("a copy of a store that nobody has open");
        let line = [program.display().to_string(), copy.display().to_string(), bytes.to_string()];
        line.into_iter().chain(more.iter().map(|word| (*word).to_owned())).collect::<Vec<_>>()
    };
    [
        Contender::new(FLOOR, &line("floor.db", &[])),
        Contender::new(KEEPING, &line("floor-keeping.db", &["keep"])),
    ]
}
