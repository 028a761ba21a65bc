//! An event, taken by the store of a home in this process.

use spl::engine::{Engine, EngineOptions, Home};
use spl::record::Namespace;
use spl::session::{Event, receive};

use crate::home;

/// Records an event, and returns what is to be printed. A home that is not there yet is made.
pub(super) fn receive_here(
    home: &Home,
    event: &Event,
    namespace: Option<&Namespace>,
    attempt: &str,
) -> Result<Option<String>, String> {
    if !home.is_initialised() {
        home.initialise(&home::login()).map_err(|error| told(&error))?;
    }
    let engine = Engine::open(home, EngineOptions::default()).map_err(|error| told(&error))?;
    let received = receive(&engine, event, namespace, attempt).map_err(|error| told(&error))?;
    Ok(received.output)
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
