//! What the routes share.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::limit::{Limiter, Peer};
use super::news::News;
use super::{Access, Front};
use crate::engine::{Caller, Engine};
use crate::policy::polpo::Runtime;
use crate::run::Host;
use crate::time::Stopwatch;

/// How much a request may ask for, and how long it may take.
#[derive(Debug, Clone, Copy)]
pub struct ServerLimits {
    /// How long a client may take to send the head of a request; also how long a connection is
    /// kept between two requests.
    pub head: Duration,
    /// How long a client may take to send the body of a request.
    pub body: Duration,
    /// How long an answer may take. Does not hold for streams.
    pub answer: Duration,
    /// How long a client may read nothing of an answer that waits for it.
    pub unread: Duration,
    /// The most bytes of a body.
    pub body_bytes: usize,
    /// The most connections of one listener.
    pub connections: usize,
    /// How long a stream may be silent.
    pub heartbeat: Duration,
    /// How long a watcher that was up to date may be behind before it is sent away.
    pub lag: Duration,
    /// How often a server with watchers asks whether another process has written.
    pub tick: Duration,
    /// How often a server looks for lessons whose time is over.
    pub sweep: Duration,
    /// How long requests may go on after the server was told to stop.
    pub farewell: Duration,
    /// How many requests of one peer may fail in a minute to say who makes them; `None` is no limit.
    pub failed_auth_per_minute: Option<u32>,
    /// How many requests one caller may make in a minute; `None` is no limit.
    pub requests_per_minute: Option<u32>,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(10),
            body: Duration::from_secs(30),
            answer: Duration::from_mins(1),
            unread: Duration::from_mins(1),
            body_bytes: crate::canon::Limits::DOOR.bytes,
            connections: 512,
            heartbeat: Duration::from_secs(30),
            lag: Duration::from_secs(10),
            tick: Duration::from_millis(100),
            sweep: Duration::from_mins(1),
            farewell: Duration::from_secs(5),
            failed_auth_per_minute: Some(10),
            requests_per_minute: None,
        }
    }
}

impl Shared {
    fn over(engine: Engine, limits: ServerLimits, host: Option<Host>) -> Self {
        Self {
            engine,
            limits,
            news: News::default(),
            leaving: watch::Sender::new(false),
            host,
            failures: Limiter::new(limits.failed_auth_per_minute),
            requests: Limiter::new(limits.requests_per_minute),
            up: Stopwatch::start(),
        }
    }
}

/// An engine with a face. Cheap to clone; all clones share one engine and one set of watchers.
#[derive(Clone)]
pub struct ApiState {
    shared: Arc<Shared>,
    front: Arc<Front>,
    /// How far hooks of packs count on this host.
    runtime: Arc<Runtime>,
    access: Access,
    /// The engine as whoever asks may see it.
    engine: Engine,
}

struct Shared {
    engine: Engine,
    limits: ServerLimits,
    news: News,
    leaving: watch::Sender<bool>,
    /// The runs that this server drives, if it drives any.
    host: Option<Host>,
    /// Requests that failed to say who makes them.
    failures: Limiter<Peer>,
    /// Requests, by the name of who makes them.
    requests: Limiter<String>,
    /// The time of the limits.
    up: Stopwatch,
}

impl ApiState {
    /// Returns the state of a server over `engine`.
    pub fn new(engine: Engine, access: Access) -> Self {
        Self::with_limits(engine, access, ServerLimits::default())
    }

    /// Returns the state of a server over `engine`, with limits of its own.
    pub fn with_limits(engine: Engine, access: Access, limits: ServerLimits) -> Self {
        let shared = Arc::new(Shared::over(engine.clone(), limits, None));
        Self { shared, front: Arc::default(), runtime: Arc::default(), access, engine }
    }

    /// Returns the state of a server that drives the runs of `host`.
    pub fn hosting(host: Host, access: Access, limits: ServerLimits) -> Self {
        let engine = host.engine().clone();
        let shared = Arc::new(Shared::over(engine.clone(), limits, Some(host)));
        Self { shared, front: Arc::default(), runtime: Arc::default(), access, engine }
    }

    /// Returns the runs that this server drives, if it drives any.
    pub fn host(&self) -> Option<&Host> {
        self.shared.host.as_ref()
    }

    /// Returns this state for requests that come in another way.
    #[must_use]
    pub fn with_access(&self, access: Access) -> Self {
        Self { access, ..self.clone() }
    }

    /// Returns this state behind a front of its own.
    #[must_use]
    pub fn behind(self, front: Front) -> Self {
        Self { front: Arc::new(front), ..self }
    }

    /// Returns this state on a host with these switches.
    #[must_use]
    pub fn on(self, runtime: Runtime) -> Self {
        Self { runtime: Arc::new(runtime), ..self }
    }

    pub(super) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// Returns the engine. That which a route is handed shows its caller what they may read.
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Returns this state as a caller sees it: what they may not read is not there.
    pub(super) fn seen_by(&self, caller: &Caller) -> Self {
        Self { engine: self.shared.engine.seen_by(caller), ..self.clone() }
    }

    pub(super) fn access(&self) -> Access {
        self.access
    }

    pub(super) fn limits(&self) -> ServerLimits {
        self.shared.limits
    }

    pub(super) fn front(&self) -> &Front {
        &self.front
    }

    pub(super) fn failures(&self) -> &Limiter<Peer> {
        &self.shared.failures
    }

    pub(super) fn requests(&self) -> &Limiter<String> {
        &self.shared.requests
    }

    /// Returns the time since the server began.
    pub(super) fn up(&self) -> Duration {
        self.shared.up.elapsed()
    }

    pub(super) fn news(&self) -> &News {
        &self.shared.news
    }

    /// Returns what becomes true when the server goes away.
    pub(super) fn leaving(&self) -> watch::Receiver<bool> {
        self.shared.leaving.subscribe()
    }

    /// Tells every stream that the server goes away.
    pub(super) fn leave(&self) {
        self.shared.leaving.send_replace(true);
    }
}
