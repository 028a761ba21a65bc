//! The engine's end of a worker.

use std::ffi::OsString;
use std::fmt;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::plan::Plan;
use super::{
    FrameError, FrameReader, Landlock, Place, Refusal, SandboxError, Tried, Way, write_frame,
};
use crate::canon::Value;
use crate::time::Stopwatch;

/// How long a start may take.
const START: Duration = Duration::from_secs(20);

/// How long the end of a worker is waited for before its keeper is killed too.
const END: Duration = Duration::from_secs(10);

/// How long a socket is listened to before looking up.
const TICK: Duration = Duration::from_millis(100);

/// How long a worker may leave unread what it is told.
const WRITE: Duration = Duration::from_secs(30);

/// The most bytes of what a worker has said last on its standard error.
const MOST_SAID: usize = 16 * 1024;

/// Which walls stand around a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Enforced {
    /// The way it went.
    pub way: Way,
    /// How much of the second wall stands.
    pub landlock: Landlock,
}

/// `bubblewrap, Landlock 6`
impl fmt::Display for Enforced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.way, self.landlock)
    }
}

/// A program in a place. It ends with this value, and so does whatever it has started.
#[derive(Debug)]
pub struct Worker {
    keeper: Child,
    /// The pipe that tells the keeper that this process is there.
    life: Option<ChildStdout>,
    socket: UnixStream,
    reader: FrameReader,
    said: Arc<Mutex<Vec<u8>>>,
    enforced: Enforced,
}

/// Starts `program` in `place` by the first of `ways` that works. Its standard input is the other
/// end of [`Worker::socket`]; without a program, only the place is tried.
///
/// `stager` is an executable that hands its arguments behind the word `worker` to
/// [`stage`](super::stage()); [`INSIDE`](super::INSIDE) is its name inside.
pub fn start(
    stager: &Path,
    place: &Place,
    program: &[OsString],
    ways: &[Way],
) -> Result<Worker, SandboxError> {
    let mut tried = Vec::new();
    for way in ways {
        let plan = Plan::of(*way, stager.to_owned(), place, program);
        let mut worker = Worker::begin(&plan, place).map_err(SandboxError::Start)?;
        match worker.wait_until_ready() {
            Ok(landlock) => {
                worker.enforced.landlock = landlock;
                return Ok(worker);
            }
            Err(refusal) => {
                let refusal = worker.refused_by(refusal);
                tried.push(Tried { way: *way, refusal });
            }
        }
    }
    Err(SandboxError::Unavailable { tried })
}

impl Worker {
    fn begin(plan: &Plan, place: &Place) -> io::Result<Self> {
        let (socket, theirs) = UnixStream::pair()?;
        let own = |name: &str| name == "HOME" || name == "TMPDIR";
        let passed = place.environment.iter().filter(|(name, _)| !own(name));
        let mut keeper = Command::new(&plan.stager)
            .args(["worker", "enter"])
            .args(plan.to_args())
            .current_dir("/")
            .env_clear()
            .envs(passed.map(|(name, value)| (name, value)))
            .envs([("HOME", "/tmp"), ("TMPDIR", "/tmp")])
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A key pressed in a terminal is for the engine.
            .process_group(0)
            .spawn()?;
        let (life, said) = (keeper.stdout.take(), Arc::default());
        if let Some(stderr) = keeper.stderr.take() {
            drain(stderr, Arc::clone(&said));
        }
        let enforced = Enforced { way: plan.way, landlock: Landlock::None };
        socket.set_read_timeout(Some(TICK))?;
        socket.set_write_timeout(Some(WRITE))?;
        Ok(Self { keeper, life, socket, reader: FrameReader::new(), said, enforced })
    }

    /// Waits for the word of the first process inside. Nothing that could lie has run before it.
    fn wait_until_ready(&mut self) -> Result<Landlock, Option<Refusal>> {
        let watch = Stopwatch::start();
        while watch.elapsed() < START {
            let Some(said) = self.reader.next(&mut self.socket).map_err(|_| None)? else {
                continue;
            };
            let text = |key| said.get(key).and_then(Value::as_str);
            return match (text("object"), text("step"), text("why")) {
                (Some("ready"), ..) => Ok(landlock_of(&said)),
                (Some("refused"), Some(step), Some(why)) => Err(Some(Refusal::new(step, why))),
                _ => Err(None),
            };
        }
        Err(Some(Refusal::new("start", "it took too long")))
    }

    /// Returns what went wrong, from what was written to the standard error if nothing was said.
    fn refused_by(mut self, refusal: Option<Refusal>) -> Refusal {
        self.end();
        refusal.unwrap_or_else(|| {
            let said = self.said();
            let line = said.lines().rev().find(|line| !line.trim().is_empty());
            Refusal::new("start", line.unwrap_or("it ended without a word"))
        })
    }

    /// Says something to the program.
    pub fn send(&mut self, value: &Value) -> Result<(), FrameError> {
        write_frame(&mut self.socket, value)
    }

    /// Returns what the program says next; `None` if it has said nothing for a moment.
    pub fn next(&mut self) -> Result<Option<Value>, FrameError> {
        self.reader.next(&mut self.socket)
    }

    /// Returns the socket whose other end is the standard input of the program.
    pub fn socket(&self) -> &UnixStream {
        &self.socket
    }

    /// Returns which walls stand around it.
    pub fn enforced(&self) -> Enforced {
        self.enforced
    }

    /// Returns what it has written last to its standard error. It may be about anything, and lie.
    pub fn said(&self) -> String {
        let said = self.said.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&said).into_owned()
    }

    /// Returns the id of the process that keeps it, outside.
    pub fn keeper(&self) -> u32 {
        self.keeper.id()
    }

    /// Waits until the program has ended by itself, but not longer than `at_most`, and returns its
    /// exit status.
    pub fn wait(&mut self, at_most: Duration) -> Option<i32> {
        let watch = Stopwatch::start();
        loop {
            match self.keeper.try_wait() {
                Ok(Some(status)) => return status.code(),
                Ok(None) if watch.elapsed() < at_most => thread::sleep(Duration::from_millis(2)),
                _ => return None,
            }
        }
    }

    /// Ends it. When this returns, nothing of it is left.
    pub fn end(&mut self) {
        self.life = None;
        let _ = self.socket.shutdown(std::net::Shutdown::Both);
        if self.wait(END).is_none() {
            // Held up in the kernel. The inside has its death signal; this is all that can be done.
            let _ = self.keeper.kill();
            let _ = self.keeper.try_wait();
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.end();
    }
}

fn landlock_of(said: &Value) -> Landlock {
    match said.get("landlock").and_then(Value::as_i64) {
        None => Landlock::None,
        Some(version) => u32::try_from(version).map_or(Landlock::Full, Landlock::Partial),
    }
}

/// Reads to the end, so that the worker is never held up by it, and keeps what came last.
fn drain(mut stderr: ChildStderr, said: Arc<Mutex<Vec<u8>>>) {
    let read = move || {
        let mut chunk = [0; 4096];
        while let Ok(len @ 1..) = stderr.read(&mut chunk) {
            let mut said = said.lock().unwrap_or_else(PoisonError::into_inner);
            said.extend_from_slice(chunk.get(..len).unwrap_or_default());
            let over = said.len().saturating_sub(MOST_SAID);
            said.drain(..over);
        }
    };
    // Without the thread the pipe fills up and the worker waits; that is for its timeout then.
    let _ = thread::Builder::new().name("worker-stderr".into()).spawn(read);
}
