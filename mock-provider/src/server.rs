//! The server, and what it has been asked.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use futures_util::StreamExt as _;
use futures_util::stream;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::answer::{Answer, Format};
use crate::anthropic::Anthropic;
use crate::gemini::Gemini;
use crate::openai::OpenAi;
use crate::script::{Fault, Script, Turn};

/// A request that was made.
#[derive(Debug, Clone)]
pub struct Request {
    /// The path and the query.
    pub path: String,
    /// The headers, names in lower case.
    pub headers: BTreeMap<String, String>,
    /// The body.
    pub body: Value,
}

/// A provider that plays a script until it is dropped.
#[derive(Debug)]
pub struct MockProvider {
    address: SocketAddr,
    shared: Arc<Shared>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug)]
struct Shared {
    played: Mutex<Played>,
    requests: Mutex<Vec<Request>>,
    log: Option<Mutex<File>>,
}

#[derive(Debug)]
struct Played {
    script: Script,
    /// How many turns were answered.
    answered: usize,
    /// How often each turn went wrong.
    faults: BTreeMap<usize, u32>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MockProvider {
    /// Starts to play a script.
    ///
    /// # Panics
    ///
    /// If there is no port to be had, which leaves a test nothing to do.
    pub fn start(script: Script) -> Self {
        Self::start_on("127.0.0.1:0", script, None).expect("a port on loopback")
    }

    /// Starts to play a script on this address, and appends each request to `log` as one line.
    pub fn start_on(address: &str, script: Script, log: Option<File>) -> io::Result<Self> {
        let played = Played { script, answered: 0, faults: BTreeMap::new() };
        let shared = Arc::new(Shared {
            played: Mutex::new(played),
            requests: Mutex::default(),
            log: log.map(Mutex::new),
        });
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let (stop, stopped) = oneshot::channel();
        let app = axum::Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let thread = std::thread::spawn(move || {
            runtime.block_on(async {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let serve = std::future::IntoFuture::into_future(axum::serve(listener, app));
                tokio::select! {
                    _ = serve => {}
                    _ = stopped => {}
                }
            });
            // A turn that hangs would be waited for.
            runtime.shutdown_background();
        });
        Ok(Self { address, shared, stop: Some(stop), thread: Some(thread) })
    }

    /// Returns `http://127.0.0.1:<port>`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the base URL of the Anthropic format.
    pub fn anthropic(&self) -> String {
        format!("{}/v1/", self.url())
    }

    /// Returns the base URL of the `OpenAI` format.
    pub fn openai(&self) -> String {
        format!("{}/v1/", self.url())
    }

    /// Returns the base URL of the Gemini format.
    pub fn gemini(&self) -> String {
        format!("{}/v1beta/", self.url())
    }

    /// Returns the body of each request so far, in order.
    pub fn requests(&self) -> Vec<Value> {
        lock(&self.shared.requests).iter().map(|request| request.body.clone()).collect()
    }

    /// Returns each request so far, in order.
    pub fn requests_whole(&self) -> Vec<Request> {
        lock(&self.shared.requests).clone()
    }
}

impl Drop for MockProvider {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn answer(
    State(shared): State<Arc<Shared>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response<Body> {
    let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
    let header = |value: &axum::http::HeaderValue| value.to_str().unwrap_or_default().to_owned();
    let request = Request {
        path: uri.to_string(),
        headers: headers.iter().map(|(name, value)| (name.to_string(), header(value))).collect(),
        body: body.clone(),
    };
    if let Some(log) = &shared.log {
        let line = json!({"path": request.path, "body": request.body});
        let _ = writeln!(lock(log), "{line}");
    }
    lock(&shared.requests).push(request);
    let path = uri.path();
    if path.ends_with("/messages") {
        play::<Anthropic>(&shared, path, &body).await
    } else if path.ends_with("/chat/completions") {
        play::<OpenAi>(&shared, path, &body).await
    } else if path.ends_with(":generateContent") || path.ends_with(":streamGenerateContent") {
        play::<Gemini>(&shared, path, &body).await
    } else {
        let body = OpenAi::error(404, "there is no such path");
        respond(StatusCode::NOT_FOUND, "application/json", body.to_string())
    }
}

fn respond(status: StatusCode, media: &str, body: impl Into<Body>) -> Response<Body> {
    let mut response = Response::new(body.into());
    *response.status_mut() = status;
    if let Ok(media) = media.parse() {
        response.headers_mut().insert("content-type", media);
    }
    response
}

/// Returns the turn that answers, its number, and what goes wrong in its place.
fn pick(shared: &Shared, replies: usize) -> (Turn, usize, Option<Fault>) {
    let mut played = lock(&shared.played);
    let asked = if played.script.in_order { played.answered } else { replies };
    let turns = played.script.turns.len();
    let number = if played.script.again && turns > 0 { asked % turns } else { asked };
    let turn = played.script.turns.get(number).cloned().unwrap_or_else(|| Turn::text("done"));
    let fault = turn.fault.clone().and_then(|(fault, times)| {
        let seen = played.faults.entry(asked).or_default();
        (*seen < times).then(|| {
            *seen += 1;
            fault
        })
    });
    if fault.is_none() {
        played.answered += 1;
    }
    (turn, asked, fault)
}

async fn play<F: Format>(shared: &Shared, path: &str, request: &Value) -> Response<Body> {
    let (turn, number, fault) = pick(shared, F::replies(request));
    let before = lock(&shared.played).script.before.remove(&number);
    if let Some(before) = before {
        // It may take its time, and a request of its own.
        let _ = tokio::task::spawn_blocking(before).await;
    }
    if turn.delay_ms > 0 {
        tokio::time::sleep(Duration::from_millis(turn.delay_ms)).await;
    }
    let counted = request["stream_options"]["include_usage"] == true;
    let model = F::model(path, request);
    let answer = Answer::of(&turn, number, &model, counted);
    let plain = |body: &Value| respond(StatusCode::OK, "application/json", body.to_string());
    let streams = F::streams(path, request);
    match fault {
        None if streams => stream_of(F::events(&answer), End::Whole),
        None | Some(Fault::Plain) => plain(&F::plain(&answer)),
        Some(Fault::Status { status, retry_after, message }) => {
            let message = message.unwrap_or_else(|| "scripted fault".to_owned());
            let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            let body = F::error(status, &message).to_string();
            let mut response = respond(code, "application/json", body);
            if let Some(seconds) = retry_after {
                response.headers_mut().insert("retry-after", seconds.into());
            }
            response
        }
        Some(Fault::Hang) => std::future::pending().await,
        Some(Fault::ErrorBody) => plain(&F::error(400, "scripted fault")),
        Some(Fault::Html) => {
            let page = "<html><body><h1>502 Bad Gateway</h1></body></html>";
            respond(StatusCode::OK, "text/html", page)
        }
        Some(Fault::Empty) if streams => stream_of(F::empty().1, End::Whole),
        Some(Fault::Empty) => plain(&F::empty().0),
        Some(Fault::NotJson) => stream_of(
            vec!["event: content_block_start\ndata: {\"this is\": no json}".into()],
            End::Whole,
        ),
        Some(Fault::HangAfter(events)) => stream_of(first(F::events(&answer), events), End::Open),
        Some(Fault::CutAfter(events)) => stream_of(first(F::events(&answer), events), End::Lost),
        Some(Fault::EndAfter(events)) => stream_of(first(F::events(&answer), events), End::Whole),
        Some(Fault::ErrorAfter(events)) => {
            let mut events = first(F::events(&answer), events);
            events.push(F::error_event("scripted fault"));
            stream_of(events, End::Whole)
        }
    }
}

fn first(mut events: Vec<String>, count: usize) -> Vec<String> {
    events.truncate(count);
    events
}

/// What comes behind the events of a stream.
#[derive(Debug, Clone, Copy)]
enum End {
    Whole,
    Open,
    Lost,
}

fn stream_of(events: Vec<String>, end: End) -> Response<Body> {
    let events =
        events.into_iter().map(|event| Ok::<_, io::Error>(Bytes::from(format!("{event}\n\n"))));
    let events = stream::iter(events);
    let body = match end {
        End::Whole => Body::from_stream(events),
        End::Open => Body::from_stream(events.chain(stream::pending())),
        End::Lost => Body::from_stream(events.chain(stream::once(async {
            // What was written is on its way before the connection is closed.
            tokio::time::sleep(Duration::from_millis(20)).await;
            Err(io::Error::other("cut"))
        }))),
    };
    respond(StatusCode::OK, "text/event-stream", body)
}
