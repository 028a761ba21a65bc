//! Who approves a call that nothing forbids.

use crate::model::CallRequest;

/// Somebody who is asked about each call that the rules let pass, before any policy hook is.
pub trait Approver {
    /// Says whether the call is made.
    fn approve(&mut self, request: &CallRequest) -> Approval;
}

/// What somebody says to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// It is made.
    Granted,
    /// It is not, and this is what the actor is told.
    Refused(String),
}

/// Nobody is asked: what the rules let pass is made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Auto;

impl Approver for Auto {
    fn approve(&mut self, _: &CallRequest) -> Approval {
        Approval::Granted
    }
}
