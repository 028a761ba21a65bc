//! What names one execution of a hook, however often it is tried (contract-polpo §9.3, §9.4).

use std::fmt;

use super::{Event, HookName};
use crate::canon::{Canonical, hex};
use crate::object;

/// What an execution is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Identity<'a> {
    /// The run, where it is durable; else the request.
    pub invocation: &'a str,
    /// The step of a loop, if it is one.
    pub step_invocation: Option<&'a str>,
    /// The agent.
    pub agent: &'a str,
    /// The hook.
    pub hook: &'a HookName,
    /// Where it is asked.
    pub event: Event,
    /// Which time.
    pub occurrence: Occurrence<'a>,
}

/// Which of the many times that a hook is asked in an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Occurrence<'a> {
    /// About a call.
    Tool {
        /// The turn that made it, from 1.
        turn: u64,
        /// The id of the call.
        call_id: &'a str,
    },
    /// At the n-th look at a final answer without a gate, from 1.
    Stop(u64),
    /// At the n-th candidate of a gate, from 1.
    Gate(u64),
}

impl fmt::Display for Occurrence<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { turn, call_id } => write!(f, "tool:{turn}:{call_id}"),
            Self::Stop(look) => write!(f, "stop:{look}"),
            Self::Gate(attempt) => write!(f, "gate:{attempt}"),
        }
    }
}

impl Identity<'_> {
    /// Returns the key of this execution. Neither time nor payload is part of it, so one that is
    /// tried again has the same.
    pub fn key(&self) -> IdempotencyKey {
        let members = object! {
            "v": 1,
            "invocation": self.invocation,
            "stepInvocation": self.step_invocation,
            "agent": self.agent,
            "pack": self.hook.pack.as_str(),
            "hook": self.hook.hook.as_str(),
            "event": self.event.as_str(),
            "occurrence": self.occurrence.to_string(),
        };
        IdempotencyKey(hex(&Canonical::of_object(&members).sha256()))
    }
}

/// By which a handler knows that it has been asked the same before.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    const PREFIX: &str = "hk1_";

    /// Returns the id of the execution in traces.
    pub fn execution_id(&self) -> ExecutionId {
        ExecutionId(self.0.chars().take(32).collect())
    }

    /// Reads a key that was stored.
    pub fn parse(text: &str) -> Option<Self> {
        let hash = text.strip_prefix(Self::PREFIX)?;
        crate::canon::unhex::<32>(hash).map(|_| Self(hash.to_owned()))
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", Self::PREFIX, self.0)
    }
}

/// An execution of a hook, in traces.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExecutionId(String);

impl fmt::Display for ExecutionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hx1_{}", self.0)
    }
}
