//! The ways to whoever answers.

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::HeaderValue;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use spl::engine::{Due, Engine};
use spl::http::{Access, ApiState};
use spl::policy::polpo::Runtime;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpStream, UnixStream};
use tower::ServiceExt as _;
use tower::util::{BoxCloneService, MapResponse};

use crate::failure::Failure;

/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(5);

/// What is asked.
pub(super) type Question = Request<Full<Bytes>>;

/// What is answered, as far as it has come.
pub(super) type Body = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// The engine's router, in this process.
#[derive(Clone)]
pub(super) struct Here {
    router: BoxCloneService<Question, Response<Body>, Infallible>,
    _refused: Arc<Refused>,
}

/// The engine of this process. What it has refused is written down before it goes.
struct Refused(Engine);

impl Drop for Refused {
    fn drop(&mut self) {
        if let Err(error) = self.0.write_denials(Due::All) {
            tracing::warn!(%error, "denials could not be written down");
        }
    }
}

impl Here {
    /// Returns the router over an engine, for whoever has opened it.
    pub(super) fn over(engine: Engine, runtime: Runtime) -> Self {
        let state = ApiState::new(engine.clone(), Access::SameUser).on(runtime);
        let router = spl::http::router(state);
        let boxed = MapResponse::new(router, |answer: Response<_>| answer.map(unsync));
        Self { router: BoxCloneService::new(boxed), _refused: Arc::new(Refused(engine)) }
    }

    /// Asks, and waits for the head of the answer.
    pub(super) async fn ask(&self, question: Question) -> Response<Body> {
        self.router.clone().oneshot(question).await.unwrap_or_else(|never| match never {})
    }
}

/// A way to whoever answers.
pub(super) enum Transport {
    /// The socket of a server that runs as the same user.
    Socket(PathBuf),
    /// A server behind a URL.
    Tcp {
        /// Host and port.
        authority: String,
        /// Who asks.
        bearer: Option<HeaderValue>,
    },
    /// This process.
    Here(Here),
}

impl Transport {
    /// Asks, and waits for the head of the answer.
    pub(super) async fn ask(&self, question: Question) -> Result<Response<Body>, Failure> {
        match self {
            Self::Here(here) => Ok(here.ask(question).await),
            Self::Socket(path) => {
                let stream = self.connected(UnixStream::connect(path)).await?;
                self.send(stream, question).await
            }
            Self::Tcp { authority, .. } => {
                let stream = self.connected(TcpStream::connect(authority)).await?;
                self.send(stream, question).await
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
        question: Question,
    ) -> Result<Response<Body>, Failure> {
        let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream));
        let (mut sender, connection) = handshake.await.map_err(|error| self.unreachable(&error))?;
        tokio::spawn(connection);
        let answer = sender.send_request(question).await;
        Ok(answer.map_err(|error| self.unreachable(&error))?.map(unsync))
    }

    fn unreachable(&self, cause: &dyn std::error::Error) -> Failure {
        Failure::unreachable(format!("no server answers at {}: {cause}", self.place()))
            .with_hint("See `spl status`, or start one with `spl serve --daemon`.")
    }

    /// Returns the failure of a server that takes too long.
    pub(super) fn silent(&self) -> Failure {
        Failure::unreachable(format!("the server at {} does not answer in time", self.place()))
            .with_hint("See `spl serve --logs`.")
    }

    fn place(&self) -> String {
        match self {
            Self::Socket(path) => format!("`{}`", path.display()),
            Self::Tcp { authority, .. } => format!("`http://{authority}`"),
            Self::Here(_) => "this process".into(),
        }
    }
}

fn unsync<B>(body: B) -> Body
where
    B: hyper::body::Body<Data = Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    body.map_err(Into::into).boxed_unsync()
}
