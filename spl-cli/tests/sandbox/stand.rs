//! A machine to get out to: listeners, secrets, a bystander, and a workspace.

use std::ffi::OsString;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, UdpSocket};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use spl::sandbox::{Hidden, Place, SandboxError, Way, Worker, start};
use tempfile::TempDir;

/// What nobody inside may come to know.
pub(crate) const SECRET: &str = "hunter2-hunter2-hunter2";

/// The executable of the stages.
pub(crate) fn stager() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_spl"))
}

/// What there is to get out to.
pub(crate) struct Stand {
    dir: TempDir,
    bystander: Child,
    targets: Vec<(&'static str, String)>,
}

impl Stand {
    pub(crate) fn new() -> Self {
        // Not below `/tmp`, of which a place has its own.
        let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"));
        let dir = dir.or_else(|_| tempfile::tempdir_in("/var/tmp")).expect("a folder");
        let at = |path: &str| dir.path().join(path);
        for folder in ["home/.syncro", "home/.ssh", "home/project", "outside"] {
            fs::create_dir_all(at(folder)).expect("made");
        }
        for file in ["home/.syncro/hub.db", "home/.ssh/id_ed25519", "outside/notes"] {
            fs::write(at(file), SECRET).expect("written");
        }
        std::os::unix::fs::symlink(at("outside"), at("home/project/out")).expect("linked");
        std::os::unix::fs::symlink(at("home/.syncro"), at("home/project/store")).expect("linked");
        // It ends with whoever holds its input.
        let bystander = Command::new("cat")
            .env("BYSTANDER_KEY", SECRET)
            .current_dir(at("outside"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .expect("a bystander");
        let name = format!("spl-{}", bystander.id());
        let path = |path: &str| at(path).display().to_string();
        let targets = vec![
            ("TCP", listen_tcp()),
            ("UDP", listen_udp()),
            ("PATHNAME", listen_pathname(&at("outside/sock"))),
            ("ABSTRACT", listen_abstract(&name)),
            ("BYSTANDER", bystander.id().to_string()),
            ("ENGINE", std::process::id().to_string()),
            ("HOMES", path("home")),
            ("OUTSIDE", path("outside")),
        ];
        Self { dir, bystander, targets }
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().join(path)
    }

    /// Returns what the attacks are told under `name`.
    pub(crate) fn target(&self, name: &str) -> &str {
        let found = self.targets.iter().find(|(known, _)| *known == name);
        &found.expect("a target").1
    }

    pub(crate) fn place(&self) -> Place {
        let (home, instance) = (self.path("home"), self.path("home/.syncro"));
        let hidden = Hidden { home: Some(&home), instance: Some(&instance) };
        let own = std::env::current_exe().expect("this program");
        let folder = own.parent().expect("a folder");
        let variables =
            self.targets.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        Place::of_workspace(&self.path("home/project"), hidden)
            .and_then(|place| place.with_readable(folder, hidden))
            .expect("a place")
            .with_environment(variables.collect())
    }

    /// Starts one of the attacks in a place.
    pub(crate) fn attack(&self, name: &str, way: Way) -> Worker {
        start(stager(), &self.place(), &attack(name), &[way]).expect("a worker")
    }

    /// Lets an attack run to its end in a place, and returns what it has to report.
    pub(crate) fn report_of(&self, name: &str, way: Way) -> Vec<String> {
        let mut worker = self.attack(name, way);
        let status = worker.wait(Duration::from_mins(1));
        assert_eq!(status, Some(0), "{name}: {}", worker.said());
        self.reported(name)
    }

    /// Lets an attack run outside of any place.
    pub(crate) fn report_outside(&self, name: &str) -> Vec<String> {
        let words = attack(name);
        let (program, args) = words.split_first().expect("a program");
        let done = Command::new(program)
            .args(args)
            .envs(self.targets.iter().map(|(name, value)| (name, value)))
            .env("UNCONFINED", "1")
            .current_dir(self.path("home/project"))
            .stdin(Stdio::null())
            .output()
            .expect("run");
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        self.reported(name)
    }

    fn reported(&self, name: &str) -> Vec<String> {
        let path = self.path("home/project").join(format!("{name}.report"));
        let text = fs::read_to_string(&path).expect("a report");
        fs::remove_file(path).expect("removed");
        text.lines().map(str::to_owned).collect()
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.bystander.kill();
        let _ = self.bystander.wait();
    }
}

/// Returns the program that tries `name`.
pub(crate) fn attack(name: &str) -> Vec<OsString> {
    let own = std::env::current_exe().expect("this program");
    let test = format!("attacks::{name}");
    let words = ["--exact", &test, "--ignored", "--nocapture", "--test-threads", "1"];
    std::iter::once(own.into()).chain(words.map(OsString::from)).collect()
}

/// Returns the ways that are to be had here. Of one that is not, the refusal is asserted.
pub(crate) fn ways() -> Vec<Way> {
    let is_there = |way: &&Way| match start(stager(), &Place::bare(), &[], &[**way]) {
        Ok(_) => true,
        Err(SandboxError::Unavailable { tried }) => {
            let [tried] = tried.as_slice() else { panic!("{tried:?}") };
            assert!(!tried.refusal.step.is_empty() && !tried.refusal.why.is_empty(), "{tried:?}");
            eprintln!("no {way} here: {}", tried.refusal);
            false
        }
        Err(error) => panic!("{error}"),
    };
    Way::ALL.iter().filter(is_there).copied().collect()
}

fn listen_tcp() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("bound");
    let address = listener.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"hello");
        }
    });
    address
}

fn listen_udp() -> String {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
    let address = socket.local_addr().expect("an address").to_string();
    thread::spawn(move || {
        while let Ok((_, from)) = socket.recv_from(&mut [0; 16]) {
            let _ = socket.send_to(b"hello", from);
        }
    });
    address
}

fn listen_pathname(path: &Path) -> String {
    greet(UnixListener::bind(path).expect("bound"));
    path.display().to_string()
}

fn listen_abstract(name: &str) -> String {
    let address = SocketAddr::from_abstract_name(name).expect("a name");
    greet(UnixListener::bind_addr(&address).expect("bound"));
    name.to_owned()
}

fn greet(listener: UnixListener) {
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.write_all(b"hello");
            let _ = stream.read(&mut [0]);
        }
    });
}
