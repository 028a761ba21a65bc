//! `GET /v1/threads/{id}/watch`: the records of a thread as they arrive (contract §2.6).
//!
//! A watcher is a position in the store that is pulled along. It holds nothing that a writer waits
//! for, and what it has not read yet is in the store, so it can be slow and loses nothing. One that
//! has fallen behind and does not catch up is told that it `lagged` and sent away, so that it does
//! not take its news for new; when it comes back it goes on where it was, at its own pace.
//!
//! The `id:` of a frame is the sequence up to which everything was sent, whatever the frame is
//! about: a client that comes back with it misses nothing. So a client that has heard nothing but a
//! heartbeat has a position too, and the first heartbeat comes as soon as the past is told.

use std::collections::VecDeque;
use std::convert::Infallible;

use axum::http::HeaderMap;
use axum::response::sse::{Event, Sse};
use axum::response::{IntoResponse as _, Response};
use tokio::sync::watch;
use tokio::task::spawn_blocking;
use tokio::time::{Interval, MissedTickBehavior, interval};

use super::call::Call;
use super::news::Subscription;
use super::problem::Problem;
use super::{ApiState, access};
use crate::canon::Value;
use crate::object;
use crate::record::{Sequence, ThreadId};
use crate::run::RowState;
use crate::store::{Stored, ThreadRange};
use crate::time::Stopwatch;

/// How many records are read at once.
const PAGE: usize = 100;

/// When a client that was sent away may come back.
const RETRY_AFTER_MS: u64 = 5000;

pub(super) async fn watch(state: ApiState, call: Call) -> Result<Response, Problem> {
    let thread = call.thread()?;
    let since = call.query.number("since_clock")?;
    follow(state, call.headers, thread, since, None).await
}

/// `GET /v1/runs/{id}/events`: the same, and how the run stands; ends with the run.
pub(super) async fn watch_run(state: ApiState, call: Call) -> Result<Response, Problem> {
    let thread = call.thread()?;
    let since = match call.query.get("replay") {
        None | Some("false" | "0") => None,
        Some("true" | "1") => Some(0),
        Some(_) => return Err(Problem::invalid("replay", "`replay` is `true` or `false`")),
    };
    let (engine, own) = (state.engine().clone(), thread.clone());
    blocking(move || super::runs::known(&engine, &own).map(drop)).await?;
    follow(state, call.headers, thread, since, Some(Standing::default())).await
}

async fn follow(
    state: ApiState,
    headers: HeaderMap,
    thread: ThreadId,
    since: Option<i64>,
    run: Option<Standing>,
) -> Result<Response, Problem> {
    let resumed = last_event_id(&headers)?;
    // The past ends where the store does now; what is written from here on is news.
    let news = Subscription::new(&state);
    let engine = state.engine().clone();
    let now = blocking(move || Ok(engine.store().read(|reader| reader.last())?)).await?;
    let position = match (resumed, since) {
        // A position that this store has never had is one of another: nothing is known to be sent.
        (Some(at), _) if at > now => Position::Live { after: Sequence::default() },
        (Some(at), _) => Position::Live { after: at },
        (None, Some(since)) => Position::Past { after: Sequence::default(), since, until: now },
        (None, None) => Position::Live { after: now },
    };
    let mut heartbeat = interval(state.limits().heartbeat);
    heartbeat.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watching = Watching {
        leaving: state.leaving(),
        state,
        headers,
        run,
        thread,
        position,
        news,
        heartbeat,
        behind: true,
        current: None,
        lags: false,
        queue: VecDeque::new(),
        over: false,
    };
    let frames = futures_util::stream::unfold(watching, |mut watching| async {
        let frame = watching.next().await?;
        Some((Ok::<Event, Infallible>(frame), watching))
    });
    Ok(Sse::new(frames).into_response())
}

/// Returns the position that a client comes back with.
fn last_event_id(headers: &HeaderMap) -> Result<Option<Sequence>, Problem> {
    const NAME: &str = "last-event-id";
    let Some(value) = headers.get(NAME) else { return Ok(None) };
    let text = value.to_str().unwrap_or("?");
    if text.is_empty() {
        return Ok(None);
    }
    let sequence = text.parse::<i64>().ok().filter(|sequence| *sequence >= 0);
    match sequence {
        Some(sequence) => Ok(Some(Sequence::new(sequence))),
        None => Err(Problem::invalid(NAME, "`last-event-id` must be the `id` of a frame")),
    }
}

/// How far a watcher has come.
#[derive(Debug, Clone, Copy)]
enum Position {
    /// Among the records that were there on the first connect, of which only those from a clock on
    /// are wanted.
    Past { after: Sequence, since: i64, until: Sequence },
    /// Behind `after`; everything that follows is wanted.
    Live { after: Sequence },
}

/// What a watcher of a run has been told of how it stands.
#[derive(Default)]
struct Standing {
    told: Option<(RowState, u32)>,
    /// Whether everything up to here has been looked at.
    looked: bool,
}

struct Watching {
    state: ApiState,
    /// The run, of a watcher of one.
    run: Option<Standing>,
    headers: HeaderMap,
    thread: ThreadId,
    position: Position,
    news: Subscription,
    leaving: watch::Receiver<bool>,
    heartbeat: Interval,
    /// Whether there may be something to read.
    behind: bool,
    /// Runs since it was last known to have been told all there was; `None` before the first time.
    current: Option<Stopwatch>,
    /// Whether that is longer ago than it may be.
    lags: bool,
    queue: VecDeque<Stored>,
    over: bool,
}

impl Watching {
    /// Returns the next frame; `None` after the last one.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if self.over {
                return None;
            }
            let leaving = *self.leaving.borrow();
            if leaving {
                let data = object! { "retry_after_ms": RETRY_AFTER_MS }.into();
                return Some(self.end("server_shutdown", &data));
            }
            if let Some(stored) = self.queue.pop_front() {
                return Some(match self.frame(&stored) {
                    Ok(frame) => frame,
                    Err(problem) => self.end("error", &error(&problem)),
                });
            }
            if self.lags {
                return Some(self.end("error", &lagged()));
            }
            if self.behind {
                self.news.catch_up();
                if let Err(problem) = self.read().await {
                    return Some(self.end("error", &error(&problem)));
                }
                continue;
            }
            if self.run.as_ref().is_some_and(|run| !run.looked) {
                match self.stands().await {
                    Ok(Some(frame)) => return Some(frame),
                    Ok(None) => continue,
                    Err(problem) => return Some(self.end("error", &error(&problem))),
                }
            }
            // Whoever was kept from here by a client that does not read has missed news already.
            let waits = !self.news.is_behind();
            tokio::select! {
                biased;
                () = told(&mut self.leaving) => {}
                // Before the news, which may come faster than they are read.
                _ = self.heartbeat.tick() => return Some(self.beat()),
                () = self.news.written() => {
                    self.behind = true;
                    if waits {
                        self.current = self.current.map(|_| Stopwatch::start());
                    }
                }
            }
        }
    }

    /// Looks how the run stands, now that all before is told; returns a frame if that is new.
    async fn stands(&mut self) -> Result<Option<Event>, Problem> {
        let (state, thread) = (self.state.clone(), self.thread.clone());
        let row = blocking(move || super::runs::known(state.engine(), &thread)).await?;
        let Some(run) = &mut self.run else { return Ok(None) };
        let now = (row.state, row.life);
        if run.told.replace(now) != Some(now) {
            let data = one_line(&Value::from(row.to_object()).to_string());
            return Ok(Some(Event::default().event("status").data(data)));
        }
        run.looked = true;
        if row.state.is_over() && !row.goes_on() {
            let data = Value::from(row.to_object());
            return Ok(Some(self.end("end", &data)));
        }
        Ok(None)
    }

    /// Reads the next page. Whoever may no longer read is told nothing more.
    async fn read(&mut self) -> Result<(), Problem> {
        let (state, headers) = (self.state.clone(), self.headers.clone());
        let (thread, position) = (self.thread.clone(), self.position);
        let page = blocking(move || {
            let caller = access::caller(&state, &headers)?;
            let state = state.seen_by(&caller);
            let range = match position {
                Position::Past { after, since, .. } => {
                    ThreadRange { since_clock: Some(since), after }
                }
                Position::Live { after } => ThreadRange { since_clock: None, after },
            };
            Ok(state.engine().store().read(|reader| reader.thread_page(&thread, range, PAGE))?)
        });
        let (page, more) = page.await?;
        if let Some(run) = &mut self.run {
            run.looked &= page.is_empty();
        }
        self.take(page, more);
        Ok(())
    }

    fn take(&mut self, page: Vec<Stored>, more: bool) {
        match self.position {
            Position::Live { after } => {
                let lag = self.state.limits().lag;
                // Whoever comes back after a long while has never been up to date here, and reads
                // at its own pace.
                self.lags = more && self.current.is_some_and(|current| current.elapsed() >= lag);
                if self.lags {
                    return;
                }
                if !more {
                    self.current = Some(Stopwatch::start());
                }
                let after = page.last().map_or(after, |stored| stored.sequence);
                self.position = Position::Live { after };
                self.behind = more;
                self.queue.extend(page);
            }
            Position::Past { since, until, .. } => {
                // Whatever arrived since is told with everything else that is new.
                let last = page.last().map(|stored| stored.sequence);
                self.position = match last.filter(|last| more && *last < until) {
                    Some(after) => Position::Past { after, since, until },
                    None => Position::Live { after: until },
                };
                self.queue.extend(page.into_iter().filter(|stored| stored.sequence <= until));
            }
        }
    }

    fn beat(&self) -> Event {
        let event = Event::default().event("heartbeat").data("{}");
        match self.position {
            Position::Live { after } => event.id(after.to_string()),
            Position::Past { .. } => event,
        }
    }

    /// Returns the frame of a record.
    fn frame(&self, stored: &Stored) -> Result<Event, Problem> {
        let record = self.state.engine().store().shown(stored)?;
        let data = object! { "id": stored.record.id(), "record": record };
        Ok(Event::default()
            .event("record.created")
            .id(stored.sequence.to_string())
            .data(one_line(&Value::from(data).to_string())))
    }

    fn end(&mut self, event: &str, data: &Value) -> Event {
        self.over = true;
        Event::default().event(event).data(one_line(&data.to_string()))
    }
}

fn error(problem: &Problem) -> Value {
    let said = problem.said();
    object! { "code": said.code.as_str(), "message": said.message }.into()
}

/// What a watcher hears that reads more slowly than others write (contract §2.6).
fn lagged() -> Value {
    let message = "more is written than is read here; come back with the `id` of the last frame";
    object! { "code": "lagged", "message": message }.into()
}

/// Escapes the line ends that JSON leaves raw: clients that split at them would lose the frame, and
/// with it the record.
fn one_line(json: &str) -> String {
    // All three stand inside strings, for they are nothing to JSON itself.
    json.replace('\u{85}', "\\u0085").replace('\u{2028}', "\\u2028").replace('\u{2029}', "\\u2029")
}

async fn told(leaving: &mut watch::Receiver<bool>) {
    // The sender lives as long as the state that the watcher holds.
    let _ = leaving.wait_for(|leaving| *leaving).await;
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work).await.unwrap_or_else(|failure| Err(Problem::internal(failure.to_string())))
}
