//! Serving connections, and stopping.

mod patient;

use std::io;
use std::sync::Arc;

use axum::Router;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::{Semaphore, watch};
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use super::limit::Peer;
use super::{Access, ApiState, ServerLimits, router};
use crate::engine::Due;
use crate::session;
use patient::Patient;

/// The most bytes of the head of a request.
const MAX_HEAD_BYTES: usize = 64 * 1024;

/// Something that is already listening.
#[derive(Debug)]
pub enum Listener {
    /// A TCP port.
    Tcp(TcpListener),
    /// A Unix socket.
    Unix(UnixListener),
}

/// Serves what listens, each in its own way, until `shutdown` is ready; then takes no more
/// connections, tells every stream, and returns when the requests that are going on have ended or
/// had their time.
pub async fn serve(
    state: ApiState,
    listeners: Vec<(Listener, Access)>,
    shutdown: impl Future<Output = ()>,
) {
    let stop = watch::Sender::new(false);
    for (listener, access) in listeners {
        let router = router(state.with_access(access));
        let serving = Serving { router, limits: state.limits(), stop: stop.subscribe() };
        tokio::spawn(serving.accept(listener));
    }
    tokio::spawn(sweep(state.clone(), stop.subscribe()));
    shutdown.await;
    tracing::info!("stopping");
    state.leave();
    stop.send_replace(true);
    if let Some(host) = state.host().cloned() {
        let farewell = state.limits().farewell;
        match spawn_blocking(move || host.leave(farewell)).await {
            Ok(true) => {}
            Ok(false) => tracing::warn!("runs go on that did not end in time"),
            Err(error) => tracing::error!(%error, "runs could not be interrupted"),
        }
    }
    // Each loop and each connection holds a receiver for as long as it lasts.
    stop.closed().await;
    write_denials(&state, Due::All).await;
}

/// Puts lessons out of force whose time is over, reports sessions that have gone silent, and writes
/// down who was refused what: at once, and then again and again.
async fn sweep(state: ApiState, mut stop: watch::Receiver<bool>) {
    loop {
        let engine = state.engine().clone();
        match spawn_blocking(move || engine.sweep()).await {
            Ok(Ok(swept)) if swept.is_empty() => {}
            Ok(Ok(swept)) => tracing::info!(count = swept.len(), "lessons have expired"),
            Ok(Err(error)) => tracing::error!(%error, "expired lessons could not be looked for"),
            Err(error) => tracing::error!(%error, "looking for expired lessons broke"),
        }
        let engine = state.engine().clone();
        match spawn_blocking(move || session::report_silent(&engine)).await {
            Ok(Ok(0)) => {}
            Ok(Ok(count)) => tracing::info!(count, "silent sessions were reported"),
            Ok(Err(error)) => tracing::error!(%error, "silent sessions could not be reported"),
            Err(error) => tracing::error!(%error, "reporting silent sessions broke"),
        }
        write_denials(&state, Due::Over).await;
        tokio::select! {
            () = told(&mut stop) => return,
            () = sleep(state.limits().sweep) => {}
        }
    }
}

/// Writes down who was refused what.
async fn write_denials(state: &ApiState, due: Due) {
    let engine = state.engine().clone();
    match spawn_blocking(move || engine.write_denials(due)).await {
        Ok(Ok(_)) => {}
        Ok(Err(error)) => tracing::error!(%error, "denials could not be written down"),
        Err(error) => tracing::error!(%error, "writing denials down broke"),
    }
}

#[derive(Clone)]
struct Serving {
    router: Router,
    limits: ServerLimits,
    stop: watch::Receiver<bool>,
}

impl Serving {
    async fn accept(mut self, listener: Listener) {
        // Each listener has connections of its own, so that a crowd on the port leaves the socket
        // free.
        let places = Arc::new(Semaphore::new(self.limits.connections));
        loop {
            let next = async {
                let place = Arc::clone(&places).acquire_owned().await;
                (place, listener.accept().await)
            };
            let (place, accepted) = tokio::select! {
                biased;
                () = told(&mut self.stop) => return,
                next = next => next,
            };
            match accepted {
                Ok(None) => {}
                Ok(Some((stream, peer))) => {
                    let connection = self.clone().converse(stream, peer);
                    tokio::spawn(async move {
                        let _place = place;
                        connection.await;
                    });
                }
                Err(error) => self.rest(&error).await,
            }
        }
    }

    /// Waits a moment if accepting failed for a reason of our own: too many open files, say. A
    /// client that has left meanwhile is no such reason.
    async fn rest(&self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
        if !matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset) {
            tracing::error!(%error, "a connection could not be accepted");
            sleep(self.limits.tick).await;
        }
    }

    async fn converse(mut self, stream: Box<dyn Stream>, peer: Option<Peer>) {
        let routes = TowerToHyperService::new(self.router);
        let service = service_fn(move |mut request: Request<Incoming>| {
            if let Some(peer) = peer {
                request.extensions_mut().insert(peer);
            }
            routes.call(request)
        });
        let stream = Patient::new(stream, self.limits.unread);
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.head)
            .max_buf_size(MAX_HEAD_BYTES)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        let ended = tokio::select! {
            ended = connection.as_mut() => ended,
            () = told(&mut self.stop) => {
                connection.as_mut().graceful_shutdown();
                timeout(self.limits.farewell, connection).await.unwrap_or(Ok(()))
            }
        };
        if let Err(error) = ended {
            tracing::debug!(%error, "a connection broke");
        }
    }
}

/// Waits until the server is told to stop.
async fn told(stop: &mut watch::Receiver<bool>) {
    // A sender that is gone has nothing more to say than that.
    let _ = stop.wait_for(|stop| *stop).await;
}

trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

impl Listener {
    /// Waits for a connection. `None` is one of another user, which is closed without a word: the
    /// folder and the mode of the socket keep others out, and this holds where somebody has opened
    /// them.
    async fn accept(&self) -> io::Result<Option<(Box<dyn Stream>, Option<Peer>)>> {
        match self {
            Self::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                stream.set_nodelay(true)?;
                Ok(Some((Box::new(stream), Some(Peer::at(address.ip())))))
            }
            Self::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let (uid, own) = (stream.peer_cred()?.uid(), rustix::process::geteuid().as_raw());
                if uid != own {
                    tracing::warn!(uid, "another user has tried the socket");
                    return Ok(None);
                }
                Ok(Some((Box::new(stream), None)))
            }
        }
    }
}
