//! A run whose tools work in a place that reaches nothing: the worker, and who oversees it.
//!
//! How it fits. The worker is a process in a [`Place`](crate::sandbox::Place). It is told what the
//! run is (the `Briefing`) and runs the same pure step as its engine, over the one socket it has:
//! for each effect it says what it wishes done, and is answered with the event. The tools of the
//! workspace it executes itself, once the call and its ruling are durable and the engine says so.
//! Everything else is the engine's: records, model turns, rulings, hooks, tools over the store.
//!
//! **Invariant:** the engine takes the same steps and performs the effect that *it* has come to. A
//! worker that wishes for anything else is ended, and the run with it. So a worker adds to a run the
//! answers of its own tools and nothing more: it cannot forge or skip a record, a ruling or an
//! observation, and it holds no key.

mod briefing;
mod oversee;
mod wire;

use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};

pub(super) use briefing::Briefing;
pub use oversee::Confined;
pub(super) use oversee::Overseer;

use super::step::advance;
use super::{Effect, Execution, RunState};
use crate::cancel::Cancel;
use crate::canon::Value;
use crate::object;
use crate::sandbox::{FrameError, FrameReader, engine_end, write_frame};
use crate::tool::{Surroundings, Toolbox, Workspace};

/// Why a worker did not come to the end of its run. Its engine sees its end and knows more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkerError {
    /// There is no engine at the other end.
    #[error("this is for the engine to start")]
    NoEngine,
    /// The engine says something that this version does not understand.
    #[error("the engine cannot be understood")]
    Misunderstood,
    /// The workspace is not there.
    #[error(transparent)]
    Workspace(#[from] crate::tool::WorkspaceError),
    /// The socket failed.
    #[error(transparent)]
    Frame(#[from] FrameError),
}

/// Works on a run to its end: what a process does that was started in a place for it. Commands see
/// `environment`.
pub fn work(environment: Vec<(String, String)>) -> Result<(), WorkerError> {
    let mut engine = engine_end().map_err(|_| WorkerError::NoEngine)?;
    let stop = Stop::default();
    let words = listen(&engine, &stop)?;
    let briefing = words.recv().map_err(|_| WorkerError::NoEngine)?;
    let briefing = Briefing::of(&briefing).ok_or(WorkerError::Misunderstood)?;
    let workspace = Workspace::open(&briefing.workspace)?;
    let surroundings = Surroundings::of(environment).in_run(&briefing.spec.thread);
    let tools = Toolbox::of_workspace(&workspace, surroundings);
    let mut state = RunState::new(briefing.spec, briefing.tools);
    let mut effect = None;
    while let Ok(said) = words.recv() {
        let said = said.as_object().ok_or(WorkerError::Misunderstood)?;
        let (word, value) = said.iter().next().ok_or(WorkerError::Misunderstood)?;
        match (word.as_str(), effect.take()) {
            ("event" | "past", _) => {
                let event = wire::event_of(value).ok_or(WorkerError::Misunderstood)?;
                effect = advance(&mut state, event);
                // Of what has happened before it was started, nothing is wished for again.
                if let Some(effect) = effect.as_ref().filter(|_| word == "event") {
                    let wish = Value::from(object! { "wish": wire::wish(effect) });
                    write_frame(&mut engine, &wish)?;
                }
            }
            ("execute", Some(Effect::Execute(execution))) => {
                let Execution { request, .. } = &execution;
                let cancel = stop.arm();
                let answer = tools.call(&request.name, &request.args, &cancel);
                let answer = object! { "answer": wire::answer_object(&answer) };
                write_frame(&mut engine, &Value::from(answer))?;
                effect = Some(Effect::Execute(execution));
            }
            _ => return Err(WorkerError::Misunderstood),
        }
    }
    Ok(())
}

/// The wish that the call which is executed stop.
#[derive(Debug, Clone, Default)]
struct Stop(Arc<Mutex<Cancel>>);

impl Stop {
    /// Returns a flag that is not raised, for the next call.
    fn arm(&self) -> Cancel {
        let cancel = Cancel::new();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = cancel.clone();
        cancel
    }

    fn raise(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).cancel();
    }
}

/// Reads what the engine says on a thread of its own: it may want a call to stop that is executed.
/// When the engine is gone, whatever is executed stops.
fn listen(engine: &UnixStream, stop: &Stop) -> Result<Receiver<Value>, FrameError> {
    let (mut engine, stop) = (engine.try_clone()?, stop.clone());
    let (to, words) = channel();
    let read = move || {
        let mut reader = FrameReader::new();
        while let Ok(said) = reader.look(&mut engine) {
            let Some(said) = said else { continue };
            if said.get("stop").is_some() {
                stop.raise();
            } else if to.send(said).is_err() {
                break;
            }
        }
        stop.raise();
    };
    std::thread::Builder::new().name("engine".into()).spawn(read)?;
    Ok(words)
}
