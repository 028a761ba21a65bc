//! One way to ask the engine, however it is reached.
//!
//! A command speaks HTTP and does not know to whom: the Unix socket of a running server, a server
//! behind a URL, or, where there is neither, the same router in this process over the store that
//! it has opened itself. So a command is written once, and says the same with and without a server.

mod events;
mod target;

use std::convert::Infallible;
use std::path::PathBuf;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HOST, HeaderValue};
use hyper::{Method, Request, Response, Uri};
use hyper_util::rt::TokioIo;
use spl::canon::{Limits, Object, Value, parse};
use spl::engine::Engine;
use spl::http::{Access, ApiState};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tokio::runtime::Runtime;
use tower::ServiceExt as _;
use tower::util::BoxCloneService;

use crate::failure::Failure;
pub(crate) use events::{Event, Events};
pub(crate) use target::Target;

/// How long a server may take for one answer. Streams may take as long as they like.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// The engine's router, in this process.
type Here = BoxCloneService<Request<Full<Bytes>>, Response<Body>, Infallible>;

/// Asks the engine.
pub(crate) struct Client {
    runtime: Runtime,
    transport: Transport,
}

enum Transport {
    Socket(PathBuf),
    Tcp(Remote),
    Here(Here),
}

/// A server behind a URL.
struct Remote {
    /// Host and port.
    authority: String,
    bearer: Option<HeaderValue>,
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
        Self::over(Transport::Tcp(Remote { authority, bearer }))
    }

    /// Returns a client of an engine in this process.
    pub(crate) fn here(engine: Engine) -> Result<Self, Failure> {
        let router = spl::http::router(ApiState::new(engine, Access::SameUser));
        let boxed = tower::util::MapResponse::new(router, |answer: Response<_>| answer.map(unsync));
        Self::over(Transport::Here(BoxCloneService::new(boxed)))
    }

    fn over(transport: Transport) -> Result<Self, Failure> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|error| Failure::local("the runtime could not be started", &error))?;
        Ok(Self { runtime, transport })
    }

    /// Asks for what is at `target`.
    pub(crate) fn get(&self, target: &Target) -> Result<Object, Failure> {
        Ok(self.ask(Method::GET, target, None)?.body)
    }

    /// Sends `body` to `target`.
    pub(crate) fn post(&self, target: &Target, body: Object) -> Result<Reply, Failure> {
        self.ask(Method::POST, target, Some(body))
    }

    /// Takes away what is at `target`.
    pub(crate) fn delete(&self, target: &Target) -> Result<Object, Failure> {
        Ok(self.ask(Method::DELETE, target, None)?.body)
    }

    fn ask(&self, method: Method, target: &Target, body: Option<Object>) -> Result<Reply, Failure> {
        let request = self.request(method, target, body)?;
        self.runtime.block_on(async {
            let answered =
                tokio::time::timeout(PATIENCE, async { read(self.exchange(request).await?).await });
            answered.await.map_err(|_| self.silent())?
        })
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
        let response = self.runtime.block_on(async {
            let response = self.exchange(request).await?;
            if response.status().as_u16() < 400 {
                return Ok(response);
            }
            Err(match read(response).await {
                Err(failure) => failure,
                Ok(reply) => Failure::sent(reply.status, reply.body.into()),
            })
        })?;
        Ok(Events::new(&self.runtime, response.into_body()))
    }

    fn request(
        &self,
        method: Method,
        target: &Target,
        body: Option<Object>,
    ) -> Result<Request<Full<Bytes>>, Failure> {
        let mut request = Request::builder().method(method).uri(target.as_str());
        if body.is_some() {
            request = request.header(CONTENT_TYPE, "application/json");
        }
        let (host, bearer) = match &self.transport {
            Transport::Tcp(remote) => (remote.authority.as_str(), remote.bearer.as_ref()),
            Transport::Socket(_) | Transport::Here(_) => ("localhost", None),
        };
        request = request.header(HOST, host);
        if let Some(bearer) = bearer {
            request = request.header(AUTHORIZATION, bearer);
        }
        let bytes = body.map(|body| Value::from(body).to_string().into_bytes());
        request
            .body(Full::from(bytes.unwrap_or_default()))
            .map_err(|error| Failure::local(format!("`{target}` cannot be asked for"), &error))
    }

    async fn exchange(&self, request: Request<Full<Bytes>>) -> Result<Response<Body>, Failure> {
        match &self.transport {
            Transport::Here(router) => {
                Ok(router.clone().oneshot(request).await.unwrap_or_else(|never| match never {}))
            }
            Transport::Socket(path) => {
                let stream = self.connected(UnixStream::connect(path)).await?;
                self.send(stream, request).await
            }
            Transport::Tcp(remote) => {
                let stream = self.connected(TcpStream::connect(&remote.authority)).await?;
                self.send(stream, request).await
            }
        }
    }

    async fn connected<S>(
        &self,
        connecting: impl Future<Output = std::io::Result<S>>,
    ) -> Result<S, Failure> {
        match tokio::time::timeout(CONNECT, connecting).await {
            Ok(Ok(stream)) => Ok(stream),
            Ok(Err(error)) => Err(self.unreachable(&error)),
            Err(_) => Err(self.silent()),
        }
    }

    async fn send(
        &self,
        stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        request: Request<Full<Bytes>>,
    ) -> Result<Response<Body>, Failure> {
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| self.unreachable(&error))?;
        tokio::spawn(connection);
        let response = sender.send_request(request).await;
        let response: Response<Incoming> = response.map_err(|error| self.unreachable(&error))?;
        Ok(response.map(unsync))
    }

    fn unreachable(&self, cause: &dyn std::error::Error) -> Failure {
        Failure::unreachable(format!("no server answers at {}: {cause}", self.place()))
            .with_hint("See `spl status`, or start one with `spl serve --daemon`.")
    }

    fn silent(&self) -> Failure {
        Failure::unreachable(format!("the server at {} does not answer in time", self.place()))
            .with_hint("See `spl serve --logs`.")
    }

    fn place(&self) -> String {
        match &self.transport {
            Transport::Socket(path) => format!("`{}`", path.display()),
            Transport::Tcp(remote) => format!("`http://{}`", remote.authority),
            Transport::Here(_) => "this process".into(),
        }
    }
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

fn unsync<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    body.map_err(Into::into).boxed_unsync()
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
