//! The place as the one server of a home, held by a lock on a file.
//!
//! The kernel frees the lock when its holder is gone, however it went. So a pid or a socket that a
//! killed server has left says nothing, and whoever holds the lock next removes it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;
use rustix::process::Pid;
use spl::canon::Object;
use spl::code::Code;
use spl::engine::Home;
use spl::object;

use crate::failure::{Exit, Failure};

/// How long a server that was told to stop may take.
const PATIENCE: Duration = Duration::from_secs(30);

/// Whoever only looks at the lock holds it for a moment, so it is tried more than once.
const TRIES: u32 = 10;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// The place as the one server of a home, until it is dropped.
pub(crate) struct Seat {
    home: Home,
    _lock: File,
}

impl Seat {
    /// Takes the place, and removes what a killed server has left.
    pub(crate) fn take(home: &Home) -> Result<Self, Failure> {
        let lock = lock(home)?.ok_or_else(|| taken(home))?;
        let seat = Self { home: home.clone(), _lock: lock };
        seat.clear();
        write(&home.pid_path(), &format!("{}\n", std::process::id()))?;
        Ok(seat)
    }

    /// Returns the home.
    pub(crate) const fn home(&self) -> &Home {
        &self.home
    }

    /// Writes down where the server listens, for `spl status`.
    pub(crate) fn tell_url(&self, url: &str) -> Result<(), Failure> {
        write(&url_path(&self.home), &format!("{url}\n"))
    }

    fn clear(&self) {
        for path in [self.home.pid_path(), url_path(&self.home), self.home.socket_path()] {
            let _ = fs::remove_file(path);
        }
    }
}

/// The files go before the lock does.
impl Drop for Seat {
    fn drop(&mut self) {
        self.clear();
    }
}

/// The lock of a home while no server runs on it, and none can be started, until it is dropped.
pub(crate) struct Alone(#[expect(dead_code, reason = "held until it is dropped")] File);

impl Alone {
    /// Takes the lock.
    pub(crate) fn on(home: &Home) -> Result<Self, Failure> {
        let lock = lock(home)?.ok_or_else(|| {
            let message = "a server of this home is running, and this is for when none is";
            Failure::new(Exit::Error, Code::ServerRunning.as_str(), message)
                .with_hint("Stop it with `spl serve --stop` and start it again afterwards.")
        })?;
        Ok(Self(lock))
    }
}

/// Locks a home, unless somebody else keeps it locked.
fn lock(home: &Home) -> Result<Option<File>, Failure> {
    let lock = open_lock(home).map_err(|error| {
        Failure::local(
            format!("`{}` could not be opened", home.server_lock_path().display()),
            &error,
        )
    })?;
    for attempt in 1.. {
        match flock(&lock, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => break,
            Err(Errno::WOULDBLOCK) if attempt < TRIES => std::thread::sleep(BETWEEN_TRIES),
            Err(Errno::WOULDBLOCK) => return Ok(None),
            Err(Errno::INTR) => {}
            Err(error) => return Err(Failure::local("the home could not be locked", &error)),
        }
    }
    Ok(Some(lock))
}

fn taken(home: &Home) -> Failure {
    let pid = read_pid(home).map(|pid| format!(" (pid {})", pid.as_raw_nonzero()));
    let message = format!("a server of this home is running already{}", pid.unwrap_or_default());
    Failure::new(Exit::Error, "ALREADY_RUNNING", message)
        .with_hint("Stop it with `spl serve --stop`, or use another SYNCROPEL_HOME.")
}

/// The server that runs on a home.
pub(crate) struct Holder {
    /// Its process; none in the moment in which it starts.
    pub(crate) pid: Option<Pid>,
    /// Where it listens.
    pub(crate) url: Option<String>,
}

impl Holder {
    /// Returns the server that runs on `home`, if one does.
    pub(crate) fn of(home: &Home) -> Result<Option<Self>, Failure> {
        let failed = |error: io::Error| Failure::local("the lock could not be looked at", &error);
        let lock = match File::open(home.server_lock_path()) {
            Ok(lock) => lock,
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(failed(error)),
        };
        match flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(None),
            Err(Errno::WOULDBLOCK) => {
                let url = fs::read_to_string(url_path(home)).ok();
                let url = url.map(|url| url.trim().to_owned());
                Ok(Some(Self { pid: read_pid(home), url }))
            }
            Err(error) => Err(failed(error.into())),
        }
    }

    /// Returns what a program is told about the server.
    pub(crate) fn to_object(&self, home: &Home) -> Object {
        let socket = home.socket_path();
        object! {
            "object": "server",
            "pid": self.pid.map(|pid| pid.as_raw_nonzero().get()),
            "running": true,
            "socket": socket.exists().then(|| socket.display().to_string()),
            "url": self.url.as_deref(),
        }
    }

    /// Returns what a person is told about the server.
    pub(crate) fn in_words(&self) -> String {
        let pid = self.pid.map(|pid| format!(", pid {}", pid.as_raw_nonzero()));
        let url = self.url.as_ref().map(|url| format!(", at {url}"));
        format!("running{}{}", pid.unwrap_or_default(), url.unwrap_or_default())
    }
}

/// Waits until nobody holds the place any more; `false` if that takes too long.
pub(super) fn is_freed(home: &Home) -> Result<bool, Failure> {
    let lock = open_lock(home)
        .map_err(|error| Failure::local("the lock could not be looked at", &error))?;
    let (freed, waiting) = mpsc::channel();
    // Ends with this process at the latest.
    std::thread::spawn(move || {
        while flock(&lock, FlockOperation::LockShared) == Err(Errno::INTR) {}
        let _ = freed.send(());
    });
    Ok(waiting.recv_timeout(PATIENCE).is_ok())
}

fn open_lock(home: &Home) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(home.server_lock_path())
}

fn url_path(home: &Home) -> PathBuf {
    home.path().join("run/spl.url")
}

fn read_pid(home: &Home) -> Option<Pid> {
    let number: i32 = fs::read_to_string(home.pid_path()).ok()?.trim().parse().ok()?;
    // Zero and below would name a group of processes.
    Pid::from_raw(number).filter(|_| number > 0)
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        Failure::local(format!("`{}` could not be written", path.display()), &error)
    })
}
