//! An event, taken by the store of a home in this process.

use spl::engine::{Engine, EngineOptions, Home};
use spl::record::Namespace;
use spl::session::{Event, Moment, Received, receive, report, report_silent};

use crate::home;

/// An event that was taken, and the store that has it.
pub(super) struct Taken {
    engine: Engine,
    received: Received,
    /// Whether it is a call of a tool.
    waited_for: bool,
}

/// Records an event. A home that is not there yet is made.
pub(super) fn receive_here(
    home: &Home,
    event: &Event,
    namespace: Option<&Namespace>,
    attempt: &str,
) -> Result<Taken, String> {
    if !home.is_initialised() {
        home.initialise(&home::login()).map_err(|error| told(&error))?;
    }
    let options = EngineOptions { brief: true, ..EngineOptions::default() };
    let engine = Engine::open(home, options).map_err(|error| told(&error))?;
    let received = receive(&engine, event, namespace, attempt).map_err(|error| told(&error))?;
    let waited_for = matches!(event.moment, Moment::Returned(_));
    Ok(Taken { engine, received, waited_for })
}

impl Taken {
    /// Returns what is to be printed.
    pub(super) fn output(&self) -> Option<&str> {
        self.received.output.as_deref()
    }

    /// Reports the session if this was its end, and those that went silent: where no server runs,
    /// whoever opens the store does. Not at a call of a tool: an agent waits for that, and the next
    /// event of another kind is never far.
    pub(super) fn report(self) -> Result<(), String> {
        let Self { engine, received, waited_for } = self;
        if received.ended {
            report(&engine, &received.thread).map_err(|error| told(&error))?;
        }
        if !waited_for {
            report_silent(&engine).map_err(|error| told(&error))?;
        }
        engine.leave();
        Ok(())
    }
}

/// Returns an error with what led to it.
fn told(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}
