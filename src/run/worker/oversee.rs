//! The engine's side of a worker.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use super::super::{Effect, Event};
use super::{Briefing, wire};
use crate::cancel::Cancel;
use crate::canon::Value;
use crate::model::CallRequest;
use crate::object;
use crate::sandbox::{FrameError, INSIDE, Place, SandboxError, Way, Worker, start};
use crate::time::Stopwatch;
use crate::tool::{Answer, WORKSPACE_TOOLS};

/// How long a worker may usually take to say what it wishes. It has one small step to take.
const WISH: Duration = Duration::from_secs(30);

/// How long a call may take that nothing else limits: more than a command is ever given.
const CALL: Duration = Duration::from_mins(15);

/// How long a worker may take to stop a call.
const STOP: Duration = Duration::from_secs(5);

/// Where and how the tools of a run are confined.
#[derive(Debug, Clone)]
pub struct Confined {
    /// The executable that is started as the stages of the place, and works in it.
    pub stager: PathBuf,
    /// What the worker is given.
    pub place: Place,
    /// The ways into it, the first that works is taken.
    pub ways: Vec<Way>,
    /// The program that works: by default the stager, as `worker run`.
    pub program: Vec<OsString>,
    /// How long a worker may take from one step to the next.
    pub patience: Duration,
}

impl Confined {
    /// Returns what is usual.
    pub fn new(stager: PathBuf, place: Place) -> Self {
        let program = [INSIDE, "worker", "run"].map(OsString::from).to_vec();
        Self { stager, place, ways: Way::ALL.to_vec(), program, patience: WISH }
    }
}

/// What ended a worker before its run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Breach {
    Ended,
    Silent,
    Forward,
    Unreadable,
}

impl Breach {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ended => "the sandboxed worker ended before the run",
            Self::Silent => "the sandboxed worker did not answer in time and was ended",
            Self::Forward => {
                "the sandboxed worker wished for what the run does not come to, and was ended"
            }
            Self::Unreadable => "the sandboxed worker sent what cannot be read, and was ended",
        }
    }

    /// A worker that is only gone may be followed by another.
    const fn resumable(self) -> bool {
        matches!(self, Self::Ended | Self::Silent)
    }
}

/// Holds a worker to the steps of its run.
///
/// Once it is found to have taken another one, it is ended; then the run begins nothing more, and
/// what has begun is recorded without it.
#[derive(Debug)]
pub(in super::super) struct Overseer {
    worker: Worker,
    patience: Duration,
    breach: Option<Breach>,
}

impl Overseer {
    /// Starts a worker and tells it what its run is.
    pub(in super::super) fn start(
        confined: &Confined,
        briefing: &Briefing,
        past: &[Value],
    ) -> Result<Self, SandboxError> {
        let Confined { stager, place, ways, program, patience } = confined;
        let worker = start(stager, place, program, ways)?;
        tracing::info!(walls = %worker.enforced(), "the worker has started");
        let mut overseer = Self { worker, patience: *patience, breach: None };
        overseer.send(briefing.to_object().into());
        for event in past {
            overseer.send(object! { "past": event.clone() }.into());
        }
        Ok(overseer)
    }

    /// Returns an event as [`Self::start`] is told of the past.
    pub(in super::super) fn past(event: &Event) -> Value {
        wire::event_object(event).into()
    }

    /// Tells whether calls of this tool are the worker's.
    pub(in super::super) fn executes(tool: &str) -> bool {
        WORKSPACE_TOOLS.contains(&tool)
    }

    /// Holds what the worker wishes for against what the run has come to.
    pub(in super::super) fn heed(&mut self, effect: &Effect) {
        let wished = self.hear("wish", self.patience, None);
        if wished.is_some_and(|wished| wished != Value::Object(wire::wish(effect))) {
            self.end(Breach::Forward);
        }
    }

    /// Tells the worker what has happened.
    pub(in super::super) fn tell(&mut self, event: &Event) {
        self.send(object! { "event": wire::event_object(event) }.into());
    }

    /// Returns why the run cannot go on, if it cannot.
    pub(in super::super) fn failed(&self) -> Option<Event> {
        let breach = self.breach?;
        Some(Event::Failed { why: breach.as_str().to_owned(), resumable: breach.resumable() })
    }

    /// Lets the worker execute a call and returns what it answers; where it does not, that.
    pub(in super::super) fn execute(&mut self, request: &CallRequest, stop: &Cancel) -> Answer {
        self.send(object! { "execute": request.id.as_str() }.into());
        let answer = self.hear("answer", CALL, Some(stop));
        match answer.as_ref().map(wire::answer_of) {
            Some(Some(answer)) => return answer,
            Some(None) => self.end(Breach::Unreadable),
            None => {}
        }
        let why = self.breach.map_or("", Breach::as_str);
        Answer::error(format!("{why}: whether this call took effect is not known"))
    }

    fn send(&mut self, value: Value) {
        if self.breach.is_none()
            && let Err(error) = self.worker.send(&value)
        {
            self.end(of_error(&error));
        }
    }

    /// Returns what the worker says under `word`. One that says anything else, or nothing, is
    /// ended.
    fn hear(&mut self, word: &str, within: Duration, stop: Option<&Cancel>) -> Option<Value> {
        let (watch, mut stopped) = (Stopwatch::start(), None);
        while self.breach.is_none() {
            match self.worker.next() {
                Ok(Some(said)) => match said.get(word) {
                    Some(value) => return Some(value.clone()),
                    None => self.end(Breach::Forward),
                },
                Ok(None) => {}
                Err(error) => self.end(of_error(&error)),
            }
            let is_stopped = stop.is_some_and(Cancel::is_cancelled);
            if is_stopped && stopped.is_none() {
                stopped = Some(Stopwatch::start());
                self.send(object! { "stop": true }.into());
            }
            if watch.elapsed() > within || stopped.is_some_and(|since| since.elapsed() > STOP) {
                self.end(Breach::Silent);
            }
        }
        None
    }

    fn end(&mut self, breach: Breach) {
        if self.breach.is_some() {
            return;
        }
        self.breach = Some(breach);
        self.worker.end();
        tracing::warn!(said = %self.worker.said(), "{}", breach.as_str());
    }
}

const fn of_error(error: &FrameError) -> Breach {
    match error {
        FrameError::NotJson | FrameError::TooLarge { .. } => Breach::Unreadable,
        FrameError::Closed | FrameError::Io(_) => Breach::Ended,
    }
}
