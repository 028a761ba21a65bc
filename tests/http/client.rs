//! A server in a folder of its own, and a client that can also send what no client should.

use std::io::{BufRead as _, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use spl::canon::{Limits, Value, parse};
use spl::engine::{
    Actors, Caller, Engine, EngineOptions, Expiry, Home, HomeError, Made, Minted, NewAccount,
    Scopes, Wish,
};
use spl::http::{Access, ApiState, Front, Listener, ServerLimits, serve};
use spl::time::{TimeSource, Timestamp};
use tokio::sync::oneshot;

use crate::described;

/// How long a test waits for something that must come.
const PATIENCE: Duration = Duration::from_secs(20);

/// A running server with three doors.
pub(crate) struct Server {
    pub(crate) engine: Engine,
    pub(crate) home: Home,
    /// Where bearers are asked for.
    pub(crate) port: u16,
    /// Where nobody is asked.
    pub(crate) insecure_port: u16,
    /// Where only the operator gets to.
    pub(crate) socket: PathBuf,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
    _folder: tempfile::TempDir,
}

pub(crate) fn open(home: &Home) -> Engine {
    let time = TimeSource::stepped(Timestamp::from_millis(1_796_000_000_000), 1000);
    Engine::open(home, EngineOptions { time, ..EngineOptions::default() }).expect("an engine")
}

/// What a server takes that lets anybody fail as often as a test does.
pub(crate) fn unlimited() -> ServerLimits {
    ServerLimits { failed_auth_per_minute: None, ..ServerLimits::default() }
}

impl Server {
    /// Starts a server that lets anybody fail as often as a test does.
    pub(crate) fn start() -> Self {
        Self::with_limits(unlimited())
    }

    /// Starts a server behind a front.
    pub(crate) fn behind(front: &Front) -> Self {
        let state = |engine| ApiState::with_limits(engine, Access::SameUser, unlimited());
        Self::over(&|engine| state(engine).behind(front.clone()))
    }

    /// Starts a server in a home without a token, behind a front.
    pub(crate) fn without_token(front: &Front, limits: ServerLimits) -> Self {
        let state = |engine| ApiState::with_limits(engine, Access::SameUser, limits);
        Self::of(Home::initialise_without_token, &|engine| state(engine).behind(front.clone()))
    }

    pub(crate) fn with_limits(limits: ServerLimits) -> Self {
        Self::over(&|engine| ApiState::with_limits(engine, Access::SameUser, limits))
    }

    /// Starts a server in a home of its own, with the state that is made for its engine.
    pub(crate) fn over(state: &dyn Fn(Engine) -> ApiState) -> Self {
        Self::of(Home::initialise, state)
    }

    fn of(
        initialise: fn(&Home, &str) -> Result<Made, HomeError>,
        state: &dyn Fn(Engine) -> ApiState,
    ) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let home = Home::at(folder.path().join("home"));
        initialise(&home, "vera").expect("a home");
        // Keys that two servers have in common, so that they sign alike.
        for (key, seed) in [("keys/primary", [1; 32]), ("secrets/operator-identity.key", [2; 32])] {
            std::fs::write(home.path().join(key), seed).expect("a key");
        }
        let engine = open(&home);
        let bind = || {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            listener.set_nonblocking(true).expect("set");
            let port = listener.local_addr().expect("an address").port();
            (listener, port)
        };
        let ((bearers, port), (insecure, insecure_port)) = (bind(), bind());
        let socket = folder.path().join("spl.sock");
        let unix = std::os::unix::net::UnixListener::bind(&socket).expect("a socket");
        unix.set_nonblocking(true).expect("set");
        let state = state(engine.clone());
        let (stop, stopped) = oneshot::channel();
        let running = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread()
                .worker_threads(2)
                .enable_all()
                .build()
                .expect("a runtime");
            runtime.block_on(async {
                let tcp = |listener| {
                    Listener::Tcp(tokio::net::TcpListener::from_std(listener).expect("tcp"))
                };
                let unix = Listener::Unix(tokio::net::UnixListener::from_std(unix).expect("unix"));
                let listeners = vec![
                    (tcp(bearers), Access::Bearer { port }),
                    (tcp(insecure), Access::InsecureLocalhost { port: insecure_port }),
                    (unix, Access::SameUser),
                ];
                serve(state, listeners, async { drop(stopped.await) }).await;
            });
        });
        Self {
            engine,
            home,
            port,
            insecure_port,
            socket,
            stop: Some(stop),
            running: Some(running),
            _folder: folder,
        }
    }

    /// Makes a token with these scopes and returns its bearer.
    pub(crate) fn token(&self, scopes: &str) -> String {
        let scopes = Scopes::parse(scopes).expect("scopes");
        self.engine.mint_token("test", &scopes).expect("a token").bearer
    }

    /// Makes a token of an account for these actors that reads and writes records.
    fn minted(&self, actors: &str, wish: &Wish) -> Minted {
        let scopes = Scopes::parse("records:read,records:write").expect("scopes");
        let actors = Actors::parse(actors).expect("actors");
        let account = NewAccount { actors, ..NewAccount::named("member", scopes) };
        let made = self.engine.create_account(&Caller::operator(), account, Some(wish));
        made.expect("an account").1.expect("a token")
    }

    /// Returns the bearer of an account that speaks as these actors, or as itself alone.
    pub(crate) fn member(&self, actors: &str) -> String {
        self.minted(actors, &Wish::default()).bearer
    }

    /// Returns the bearer of a token whose time is over.
    pub(crate) fn expired_token(&self) -> String {
        // Here each look at the time is a second after the last.
        let wish = Wish { expires: Some(Expiry::After(1)), ..Wish::default() };
        self.minted("*", &wish).bearer
    }

    /// Returns the bearer of a token that was taken back.
    pub(crate) fn revoked_token(&self) -> String {
        let minted = self.minted("*", &Wish::default());
        let revoked = self.engine.revoke_tokens(&Caller::operator(), minted.id.as_str());
        assert_eq!(revoked.expect("revoked"), 1);
        minted.bearer
    }

    /// Returns a request over the socket, by a process in the shell of an agent.
    pub(crate) fn agent(&self, method: &str, path: &str) -> Request {
        self.request(method, path).header("x-syncropel-agent", "SPL_RUN")
    }

    /// Registers a namespace, as the operator does.
    pub(crate) fn register(&self, path: &str) {
        let reply = self.post("/v1/namespaces", format!(r#"{{"id":"{path}"}}"#));
        assert_eq!(reply.status, 201, "{}", reply.text());
    }

    /// Returns a request of the operator, over the socket.
    pub(crate) fn request(&self, method: &str, path: &str) -> Request {
        Request::new(Door::Unix(self.socket.clone()), method, path).header("host", "localhost")
    }

    /// Returns a request over the port where bearers are asked for.
    pub(crate) fn tcp(&self, method: &str, path: &str) -> Request {
        Request::to_port(self.port, method, path)
    }

    /// Returns a request over the port where nobody is asked.
    pub(crate) fn insecure(&self, method: &str, path: &str) -> Request {
        Request::to_port(self.insecure_port, method, path)
    }

    pub(crate) fn get(&self, path: &str) -> Reply {
        self.request("GET", path).send()
    }

    pub(crate) fn post(&self, path: &str, body: impl AsRef<[u8]>) -> Reply {
        self.request("POST", path).json(body).send()
    }

    /// Stores a note of vera's and returns its id.
    pub(crate) fn note(&self, thread: &str, clock: i64, text: &str) -> String {
        let reply = self.post("/v1/records", note(thread, clock, text));
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.string("id")
    }

    /// Tells the server to stop; does not wait.
    pub(crate) fn tell_to_stop(&mut self) {
        drop(self.stop.take());
    }

    /// Waits until the server has stopped.
    pub(crate) fn wait(&mut self) {
        if let Some(running) = self.running.take() {
            running.join().expect("the server stopped without a panic");
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.tell_to_stop();
        if !std::thread::panicking() {
            self.wait();
        }
    }
}

/// Spells every byte of a text as a URL may.
pub(crate) fn percent(text: &str) -> String {
    text.bytes().fold(String::new(), |url, byte| format!("{url}%{byte:02X}"))
}

/// A note as a client sends it.
pub(crate) fn note(thread: &str, clock: i64, text: &str) -> String {
    let record = spl::object! {
        "act": "KNOW",
        "actor": "did:sync:user:vera",
        "body": spl::object! { "text": text },
        "clock": clock,
        "thread": thread,
    };
    Value::from(record).to_string()
}

#[derive(Clone)]
pub(crate) enum Door {
    Tcp(u16),
    Unix(PathBuf),
}

/// A request, byte by byte.
#[derive(Clone)]
pub(crate) struct Request {
    door: Door,
    method: String,
    path: String,
    headers: Vec<(String, String)>,
    body: Option<Vec<u8>>,
    /// The address that it comes from, if not the usual one.
    from: Option<String>,
}

impl Request {
    fn new(door: Door, method: &str, path: &str) -> Self {
        let (method, path) = (method.into(), path.into());
        Self { door, method, path, headers: Vec::new(), body: None, from: None }
    }

    fn to_port(port: u16, method: &str, path: &str) -> Self {
        Self::new(Door::Tcp(port), method, path).header("host", &format!("127.0.0.1:{port}"))
    }

    /// Adds a header; `host` replaces the one there is.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        if name == "host" {
            self.headers.retain(|(name, _)| name != "host");
        }
        self.headers.push((name.into(), value.into()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(there, _)| there != name);
        self
    }

    /// Sends it from this address of this machine.
    pub(crate) fn from(mut self, address: &str) -> Self {
        self.from = Some(address.into());
        self
    }

    pub(crate) fn bearer(self, bearer: &str) -> Self {
        self.header("authorization", &format!("Bearer {bearer}"))
    }

    pub(crate) fn body(mut self, body: impl AsRef<[u8]>) -> Self {
        self.body = Some(body.as_ref().to_vec());
        self
    }

    pub(crate) fn json(self, body: impl AsRef<[u8]>) -> Self {
        self.header("content-type", "application/json").body(body)
    }

    fn head(&self) -> String {
        let mut head = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            head.push_str(&format!("content-length: {}\r\n", body.len()));
        }
        head
    }

    /// Sends the request and reads the whole answer.
    pub(crate) fn send(&self) -> Reply {
        let mut wire = match (&self.from, &self.door) {
            (Some(from), Door::Tcp(port)) => Wire::over(from_address(from, *port)),
            _ => Wire::to(&self.door),
        };
        wire.write(format!("{}connection: close\r\n\r\n", self.head()).as_bytes());
        wire.write(self.body.as_deref().unwrap_or_default());
        let reply = wire.reply();
        // What is no HTTP is refused in front of what is described.
        if reply.header("x-request-id").is_some() {
            described::check(&self.method, &self.path, reply.status);
        }
        reply
    }

    /// Sends the request and keeps the connection, to read a stream from it.
    pub(crate) fn open(&self) -> Wire {
        let mut wire = Wire::to(&self.door);
        wire.write(format!("{}\r\n", self.head()).as_bytes());
        wire
    }
}

/// Connects to a port of this machine from another of its addresses.
fn from_address(from: &str, port: u16) -> TcpStream {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
    let at = |address: &str, port| SocketAddr::new(address.parse().expect("an address"), port);
    bind(&socket, &at(from, 0)).expect("bound");
    connect(&socket, &at("127.0.0.1", port)).expect("connected");
    TcpStream::from(socket)
}

/// An answer.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(there, _)| there == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8(self.body.clone()).expect("UTF-8")
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.header("content-type"), Some("application/json"), "{}", self.text());
        parse(&self.body, Limits::STORED).expect("JSON")
    }

    /// Returns the text of a member.
    pub(crate) fn string(&self, key: &str) -> String {
        self.json().get(key).and_then(Value::as_str).expect("a string").to_owned()
    }

    pub(crate) fn code(&self) -> String {
        self.string("code")
    }

    /// Returns the elements of a list.
    pub(crate) fn data(&self) -> Vec<Value> {
        assert_eq!(self.status, 200, "{}", self.text());
        self.json().get("data").and_then(Value::as_array).expect("a list").to_vec()
    }

    /// Returns the answer for a snapshot.
    pub(crate) fn shown(&self) -> String {
        // In canonical order, whether or not another crate makes `serde_json` keep the sent one.
        let sorted = self.json().to_string();
        let mut json: serde_json::Value = serde_json::from_str(&sorted).expect("JSON");
        name_signatures(&mut json);
        format!("{}\n{}", self.status, serde_json::to_string_pretty(&json).expect("JSON"))
    }
}

/// Puts names in the place of signatures and keys, which differ from run to run.
fn name_signatures(json: &mut serde_json::Value) {
    match json {
        serde_json::Value::Object(members) => {
            for (key, value) in members {
                match key.as_str() {
                    "sig" => *value = "<signature>".into(),
                    "signer" => *value = "<key>".into(),
                    _ => name_signatures(value),
                }
            }
        }
        serde_json::Value::Array(elements) => elements.iter_mut().for_each(name_signatures),
        _ => {}
    }
}

/// A connection.
pub(crate) struct Wire {
    reader: BufReader<Box<dyn ReadWrite>>,
    /// What a stream has sent and nobody has looked at.
    unread: String,
}

pub(crate) trait ReadWrite: Read + Write + Send {}
impl<T: Read + Write + Send> ReadWrite for T {}

/// One frame of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Frame {
    pub(crate) event: String,
    pub(crate) id: Option<String>,
    pub(crate) data: String,
}

impl Frame {
    /// Returns the clock of the record in it.
    pub(crate) fn clock(&self) -> i64 {
        let data = parse(self.data.as_bytes(), Limits::STORED).expect("JSON");
        let record = data.get("record").expect("a record");
        assert_eq!(data.get("id"), record.get("id"));
        record.get("clock").and_then(Value::as_i64).expect("a clock")
    }
}

impl Wire {
    pub(crate) fn to(door: &Door) -> Self {
        let stream: Box<dyn ReadWrite> = match door {
            Door::Tcp(port) => {
                let stream = TcpStream::connect(("127.0.0.1", *port)).expect("connected");
                stream.set_read_timeout(Some(PATIENCE)).expect("set");
                Box::new(stream)
            }
            Door::Unix(path) => {
                let stream = UnixStream::connect(path).expect("connected");
                stream.set_read_timeout(Some(PATIENCE)).expect("set");
                Box::new(stream)
            }
        };
        Self::of(stream)
    }

    /// Returns the connection over a stream.
    pub(crate) fn over(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("set");
        Self::of(Box::new(stream))
    }

    fn of(stream: Box<dyn ReadWrite>) -> Self {
        Self { reader: BufReader::new(stream), unread: String::new() }
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) {
        self.reader.get_mut().write_all(bytes).expect("written");
    }

    /// Reads until the other end closes the connection.
    pub(crate) fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        match self.reader.read_to_end(&mut rest) {
            Ok(_) => {}
            // The other end had not read all that was sent to it.
            Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionReset),
        }
        rest
    }

    /// Reads an answer whose end is the end of the connection.
    pub(crate) fn reply(&mut self) -> Reply {
        let (status, headers) = self.reply_head();
        let mut reply = Reply { status, headers, body: Vec::new() };
        if reply.header("transfer-encoding") == Some("chunked") {
            while let Some(chunk) = self.chunk() {
                reply.body.extend(chunk);
            }
        } else {
            reply.body = self.rest();
        }
        reply
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    pub(crate) fn reply_head(&mut self) -> (u16, Vec<(String, String)>) {
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|status| status.parse().ok());
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            let Some((name, value)) = line.split_once(':') else { break };
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        (status.expect("a status"), headers)
    }

    fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(&self.line(), 16).expect("a size");
        let mut chunk = vec![0; size + 2];
        self.reader.read_exact(&mut chunk).expect("a chunk");
        chunk.truncate(size);
        (size > 0).then_some(chunk)
    }

    /// Reads the next frame; `None` if the stream has ended.
    pub(crate) fn frame(&mut self) -> Option<Frame> {
        loop {
            if let Some((frame, rest)) = self.unread.split_once("\n\n") {
                let mut parsed = Frame { event: String::new(), id: None, data: String::new() };
                for line in frame.split('\n') {
                    let (field, value) = line.split_once(": ").expect("a field");
                    match field {
                        "event" => parsed.event = value.into(),
                        "id" => parsed.id = Some(value.into()),
                        "data" => parsed.data.push_str(value),
                        other => panic!("a field `{other}`"),
                    }
                }
                self.unread = rest.to_owned();
                return Some(parsed);
            }
            let chunk = self.chunk()?;
            self.unread.push_str(&String::from_utf8(chunk).expect("UTF-8"));
        }
    }

    /// Reads the next frame with this event.
    pub(crate) fn next(&mut self, event: &str) -> Frame {
        loop {
            let frame = self.frame().expect("a frame");
            if frame.event == event {
                return frame;
            }
        }
    }

    /// Reads the head of a stream, and then the next frame with this event.
    pub(crate) fn next_after_head(&mut self, event: &str) -> Frame {
        assert_eq!(self.reply_head().0, 200);
        self.next(event)
    }

    /// Waits until the server asks for the body, so that it is known to be in the middle of it.
    pub(crate) fn is_asked_for_the_body(&mut self) {
        assert_eq!(self.reply_head().0, 100);
    }

    /// Reads that many bytes.
    pub(crate) fn take(&mut self, count: usize) {
        self.reader.read_exact(&mut vec![0; count]).expect("bytes");
    }

    /// Reads the clocks of the next `count` records.
    pub(crate) fn clocks(&mut self, count: usize) -> Vec<i64> {
        (0..count).map(|_| self.next("record.created").clock()).collect()
    }
}
