//! One event, recorded and answered.

use super::{Event, Spoken};
use crate::code::{Code, Coded};
use crate::engine::Engine;
use crate::record::{Namespace, ThreadId};

/// What came of an event.
#[derive(Debug)]
pub struct Received {
    /// The session's thread.
    pub thread: ThreadId,
    /// The JSON object to print.
    pub output: Option<String>,
    /// The words in it.
    pub words: Vec<Spoken>,
}

/// Why an event could not be recorded.
#[derive(Debug, thiserror::Error)]
#[error("sessions are not recorded yet")]
pub struct SessionError;

impl Coded for SessionError {
    fn code(&self) -> Code {
        Code::Internal
    }
}

/// Records an event and asks the hooks about it.
pub fn receive(
    _engine: &Engine,
    _event: &Event,
    _namespace: Option<&Namespace>,
    _attempt: &str,
) -> Result<Received, SessionError> {
    Err(SessionError)
}
