//! A home in a folder of its own, a server over it, and connections to that.

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

/// How long somebody waits for an answer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A folder that is the user's, with the home of an instance in it.
pub(crate) struct House {
    folder: tempfile::TempDir,
    environment: Vec<(String, String)>,
}

impl House {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let house = Self { folder, environment: Vec::new() };
        house.well(&["init"]);
        house
    }

    /// Sets a variable for every process from now on.
    pub(crate) fn set(&mut self, name: &str, value: &str) {
        self.environment.push((name.into(), value.into()));
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.path(".syncro")
    }

    /// Returns the command with these arguments, in this house's environment and nothing of ours.
    pub(crate) fn spl(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_spl"));
        command
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("HOME", self.folder.path())
            .env("USER", "vera")
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(self.folder.path())
            .stdin(Stdio::null())
            .args(arguments);
        command
    }

    /// Runs a command to its end, whatever that is.
    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.spl(arguments).output().expect("spl")
    }

    /// Runs a command that must succeed, and returns what it prints.
    #[track_caller]
    pub(crate) fn well(&self, arguments: &[&str]) -> String {
        let output = self.run(arguments);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "spl {arguments:?}: {stderr}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Starts a server. What it logs is in `server.log` of the folder.
    pub(crate) fn serve(&self, arguments: &[&str]) -> Server {
        let log = self.path("server.log");
        let stderr = File::options().create(true).append(true).open(&log).expect("a log");
        let mut command = self.spl(&[["serve", "--port", "0"].as_slice(), arguments].concat());
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().expect("spl");
        let mut said = String::new();
        let stdout = child.stdout.as_mut().expect("piped");
        BufReader::new(stdout).read_line(&mut said).expect("a line");
        let port = said.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(' ').next());
        let port = port.and_then(|port| port.trim().parse().ok());
        let port =
            port.unwrap_or_else(|| panic!("{said}{}", fs::read_to_string(&log).expect("read")));
        let token = fs::read_to_string(self.home().join("token")).expect("the admin's token");
        let socket = self.home().join("run/spl.sock");
        Server { child, port, token: token.trim().to_owned(), socket }
    }
}

/// A server, which is killed at the end.
pub(crate) struct Server {
    child: Child,
    pub(crate) port: u16,
    /// The bearer of the operator.
    pub(crate) token: String,
    pub(crate) socket: PathBuf,
}

impl Server {
    /// Returns the memory that the process has, in KiB.
    pub(crate) fn resident(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("a status");
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
        line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
    }

    pub(crate) fn connect(&self) -> Connection {
        let host = format!("127.0.0.1:{}", self.port);
        Connection {
            bearer: Some(self.token.clone()),
            ..Connection::new(Box::new(tcp(self.port)), host)
        }
    }

    /// Tells the server to end, and waits until it has ended in order.
    pub(crate) fn stop(mut self) {
        let raw = i32::try_from(self.child.id()).expect("small");
        kill_process(Pid::from_raw(raw).expect("not zero"), Signal::TERM).expect("told");
        assert!(self.child.wait().expect("ended").success());
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // One that was stopped has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn tcp(port: u16) -> TcpStream {
    let stream = TcpStream::connect(("127.0.0.1", port)).expect("connected");
    stream.set_nodelay(true).expect("set");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

pub(crate) fn unix(path: &Path) -> UnixStream {
    let stream = UnixStream::connect(path).expect("connected");
    stream.set_read_timeout(Some(PATIENCE)).expect("set");
    stream
}

trait Both: std::io::Read + Write + Send {}
impl<T: std::io::Read + Write + Send> Both for T {}

/// A connection on which one request follows another.
pub(crate) struct Connection {
    stream: BufReader<Box<dyn Both>>,
    host: String,
    bearer: Option<String>,
}

impl Connection {
    fn new(stream: Box<dyn Both>, host: String) -> Self {
        Self { stream: BufReader::new(stream), host, bearer: None }
    }

    /// Returns a connection of the operator's.
    pub(crate) fn over(stream: UnixStream) -> Self {
        Self::new(Box::new(stream), "localhost".into())
    }

    /// Makes one request and returns the status and the body.
    pub(crate) fn ask(&mut self, method: &str, path: &str, body: &str) -> (u16, String) {
        let bearer = self.bearer.as_ref();
        let mut headers =
            bearer.map_or_else(String::new, |it| format!("authorization: Bearer {it}\r\n"));
        if !body.is_empty() {
            headers.push_str("content-type: application/json\r\n");
        }
        self.say(method, path, &headers, body)
    }

    /// Makes one request with these headers and nothing that proves who makes it.
    pub(crate) fn say(
        &mut self,
        method: &str,
        path: &str,
        headers: &str,
        body: &str,
    ) -> (u16, String) {
        let (host, length) = (&self.host, body.len());
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {length}\r\n{headers}\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes()).expect("written");
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut length = 0;
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.trim().parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).expect("a body");
        (status.expect("a status"), String::from_utf8(body).expect("UTF-8"))
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }
}
