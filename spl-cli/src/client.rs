//! One way to ask the engine, however it is reached.
//!
//! A command speaks HTTP and does not know to whom: the Unix socket of a running server, a server
//! behind a URL, or, where there is neither, the same router in this process over the store that
//! it has opened itself. So a command is written once, and says the same with and without a server.

mod download;
mod events;
mod target;
mod transport;

use std::cell::OnceCell;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::{BodyExt as _, Full};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use spl::canon::{Limits, Object, Value, parse};
use spl::engine::{Engine, Home};
use spl::http::AGENT_HEADER;
use spl::policy::polpo::Runtime as PackRuntime;
use tokio::runtime::Runtime;

use crate::failure::Failure;
use crate::home;
use crate::policy;
use crate::shell::AgentShell;
pub(crate) use download::Download;
pub(crate) use events::{Event, Events};
pub(crate) use target::Target;
use transport::{Body, Here, Question, Transport};

/// How long a server may take for one answer. Streams may take as long as they like.
const PATIENCE: Duration = Duration::from_mins(1);

/// Asks the engine.
pub(crate) struct Client {
    runtime: Runtime,
    transport: Transport,
    /// The home of the server on the socket, which can do without it.
    home: Option<Home>,
    /// The instance of that home, once its server has gone away.
    instead: OnceCell<Here>,
    /// The mark of the agent in whose shell this asks.
    agent: Option<HeaderValue>,
}

/// An answer that is no error.
pub(crate) struct Reply {
    /// The HTTP status.
    pub(crate) status: u16,
    /// The object.
    pub(crate) body: Object,
}

impl Client {
    /// Returns a client of the server that listens on this socket.
    pub(crate) fn over_socket(path: PathBuf) -> Result<Self, Failure> {
        Self::over(Transport::Socket(path))
    }

    /// Returns a client of the server at this URL.
    pub(crate) fn over_tcp(url: &str, bearer: Option<&str>) -> Result<Self, Failure> {
        let authority = authority_of(url)?;
        let bearer = bearer.map(header_of).transpose()?;
        Self::over(Transport::Tcp { authority, bearer })
    }

    /// Returns a client of an engine in this process, on a host with these switches.
    pub(crate) fn here(engine: Engine, runtime: PackRuntime) -> Result<Self, Failure> {
        Self::over(Transport::Here(Here::over(engine, runtime)))
    }

    /// Tells whether this asks in the shell of an agent.
    pub(crate) const fn is_an_agents(&self) -> bool {
        self.agent.is_some()
    }

    fn over(transport: Transport) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::local("the runtime could not be started", &error))?;
        Ok(Self { runtime, transport, home: None, instead: OnceCell::new(), agent: None })
    }

    /// Returns a client that says in whose shell it asks, if that is an agent's. It may do less then,
    /// never more.
    pub(crate) fn in_shell_of(mut self, shell: Option<AgentShell>) -> Self {
        self.agent = shell.map(|shell| HeaderValue::from_static(shell.mark));
        self
    }

    /// Returns a client that opens the instance of `home` itself if the server goes away while it
    /// is asked.
    pub(crate) fn or_open(self, home: Home) -> Self {
        Self { home: Some(home), ..self }
    }

    /// Asks for what is at `target`.
    pub(crate) fn get(&self, target: &Target) -> Result<Object, Failure> {
        Ok(self.ask(Method::GET, target, None)?.body)
    }

    /// Sends `body` to `target`.
    pub(crate) fn post(&self, target: &Target, body: Object) -> Result<Reply, Failure> {
        self.ask(Method::POST, target, Some(body))
    }

    /// Sends lines that are JSON each to `target`.
    pub(crate) fn send_lines(&self, target: &Target, lines: Vec<u8>) -> Result<Reply, Failure> {
        self.send(Method::POST, target, Some(("application/x-ndjson", lines)))
    }

    /// Takes away what is at `target`.
    pub(crate) fn delete(&self, target: &Target) -> Result<Object, Failure> {
        Ok(self.ask(Method::DELETE, target, None)?.body)
    }

    fn ask(&self, method: Method, target: &Target, body: Option<Object>) -> Result<Reply, Failure> {
        let json = |body| ("application/json", Value::Object(body).to_string().into_bytes());
        self.send(method, target, body.map(json))
    }

    fn send(
        &self,
        method: Method,
        target: &Target,
        body: Option<(&'static str, Vec<u8>)>,
    ) -> Result<Reply, Failure> {
        let request = self.request(method, target, body)?;
        self.runtime.block_on(async {
            let answered =
                tokio::time::timeout(PATIENCE, async { read(self.exchange(request).await?).await });
            answered.await.map_err(|_| self.transport.silent())?
        })
    }

    /// Tells whether a question went to a server that went away, and then to the store.
    pub(crate) fn has_asked_twice(&self) -> bool {
        self.instead.get().is_some()
    }

    /// Follows the stream of events at `target`, from after the event with this id.
    pub(crate) fn follow(
        &self,
        target: &Target,
        last_id: Option<&str>,
    ) -> Result<Events<'_>, Failure> {
        let mut request = self.request(Method::GET, target, None)?;
        let headers = request.headers_mut();
        headers.insert(ACCEPT, HeaderValue::from_static("text/event-stream"));
        if let Some(id) = last_id.and_then(|id| HeaderValue::try_from(id).ok()) {
            headers.insert("last-event-id", id);
        }
        Ok(Events::new(&self.runtime, self.begin(request)?.into_body()))
    }

    /// Asks for what is at `target` and is too long to be held whole.
    pub(crate) fn download(&self, target: &Target) -> Result<Download<'_>, Failure> {
        let request = self.request(Method::GET, target, None)?;
        Ok(Download::new(&self.runtime, self.begin(request)?))
    }

    /// Asks, and returns an answer that goes on once its head says that it is none of failure.
    fn begin(&self, request: Question) -> Result<Response<Body>, Failure> {
        self.runtime.block_on(async {
            let response = self.exchange(request).await?;
            if response.status().as_u16() < 400 {
                return Ok(response);
            }
            Err(match read(response).await {
                Err(failure) => failure,
                Ok(reply) => Failure::sent(reply.status, reply.body.into()),
            })
        })
    }

    fn request(
        &self,
        method: Method,
        target: &Target,
        body: Option<(&'static str, Vec<u8>)>,
    ) -> Result<Question, Failure> {
        let mut request = Request::builder().method(method).uri(target.as_str());
        if let Some((media, _)) = &body {
            request = request.header(CONTENT_TYPE, *media);
        }
        let (host, bearer) = match &self.transport {
            Transport::Tcp { authority, bearer } => (authority.as_str(), bearer.as_ref()),
            Transport::Socket(_) | Transport::Here(_) => ("localhost", None),
        };
        request = request.header(HOST, host);
        if let Some(bearer) = bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        if let Some(mark) = &self.agent {
            request = request.header(AGENT_HEADER, mark);
        }
        let bytes = body.map(|(_, bytes)| bytes).unwrap_or_default();
        request
            .body(Full::from(bytes))
            .map_err(|error| Failure::local(format!("`{target}` cannot be asked for"), &error))
    }

    async fn exchange(&self, question: Question) -> Result<Response<Body>, Failure> {
        if let Some(here) = self.instead.get() {
            return Ok(here.ask(question).await);
        }
        let Some(home) = self.home.as_ref().filter(|_| is_repeatable(&question)) else {
            return self.transport.ask(question).await;
        };
        match self.transport.ask(question.clone()).await {
            Err(failure) if failure.is_unreachable() => {
                let here = Here::over(home::open(home)?, policy::runtime_of(Some(home))?);
                Ok(self.instead.get_or_init(|| here).ask(question).await)
            }
            answered => answered,
        }
    }
}

/// Tells whether asking twice does what asking once does. A record has its id from its content, so
/// the same one again is the same record; only accounts and tokens are made anew each time.
fn is_repeatable(question: &Question) -> bool {
    let path = question.uri().path();
    let makes = path.starts_with("/v1/tokens") || path.starts_with("/v1/service-accounts");
    question.method() == Method::GET || !makes
}

/// Returns host and port of a URL.
fn authority_of(url: &str) -> Result<String, Failure> {
    let wrong = |why: &str| {
        Failure::usage(format!("`{url}` is not the URL of a server: {why}"))
            .with_hint("A server is named as in `http://127.0.0.1:9100`.")
    };
    let uri: Uri = url.parse().map_err(|_| wrong("it does not read"))?;
    match uri.scheme_str() {
        Some("http") => {}
        Some("https") => return Err(wrong("TLS is not spoken here; put a proxy in front")),
        _ => return Err(wrong("it does not start with `http://`")),
    }
    if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
        return Err(wrong("it has a path"));
    }
    let authority = uri.authority().ok_or_else(|| wrong("it names no host"))?;
    if authority.as_str().contains('@') {
        return Err(wrong("it holds a user; a token goes into SPL_TOKEN"));
    }
    Ok(format!("{}:{}", authority.host(), authority.port_u16().unwrap_or(80)))
}

fn header_of(bearer: &str) -> Result<HeaderValue, Failure> {
    let mut value = HeaderValue::try_from(format!("Bearer {bearer}"))
        .map_err(|_| Failure::usage("the token holds characters that no token has"))?;
    value.set_sensitive(true);
    Ok(value)
}

/// Reads an answer to its end. What is no object is an error, whatever its status says.
async fn read(response: Response<Body>) -> Result<Reply, Failure> {
    let cut_off = |error| Failure::unreachable(format!("the answer was cut off: {error}"));
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.map_err(cut_off)?.to_bytes();
    match parse(&bytes, Limits::STORED).unwrap_or(Value::Null) {
        Value::Object(body) if status < 400 => Ok(Reply { status, body }),
        body => Err(Failure::sent(status, body)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_a_host_and_a_port() {
        let authority = |url| authority_of(url).map_err(|failure| failure.message().to_owned());
        assert_eq!(authority("http://127.0.0.1:9100/").as_deref(), Ok("127.0.0.1:9100"));
        assert_eq!(authority("http://[::1]:9100").as_deref(), Ok("[::1]:9100"));
        assert_eq!(authority("http://box").as_deref(), Ok("box:80"));
        for wrong in ["", "box:9100", "https://box", "http://box/v1", "http://a:b@box", "ftp://x"] {
            assert!(authority(wrong).is_err(), "{wrong}");
        }
    }
}
