//! Through what a run reaches the engine (contract §3.2, §5.1).

use crate::canon::Value;
use crate::record::Draft;

/// The topic of the transport of the operator's runs.
pub const TRANSPORT_TOPIC: &str = "work_loop_transport";

/// The topic of the transport of everybody else's runs.
pub const MEMBERS_TRANSPORT_TOPIC: &str = "work_loop_transport_members";

/// Where runs take place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// In the process of the engine.
    InProcess,
    /// In a process of their own that reaches nothing but what it was given.
    Sandboxed,
}

impl Transport {
    /// Returns the word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in_process",
            Self::Sandboxed => "sandboxed",
        }
    }

    /// Reads what a record sets. What is no word of a transport reads as the default of its topic,
    /// so that a slip never takes a member out of the sandbox.
    pub(super) fn read(draft: &Draft) -> Self {
        match draft.body.get("transport").and_then(Value::as_str) {
            Some("in_process") => Self::InProcess,
            Some("sandboxed") => Self::Sandboxed,
            _ => Self::default_of(draft.topic().unwrap_or_default()),
        }
    }

    /// Returns what holds where no record says otherwise.
    pub(super) fn default_of(topic: &str) -> Self {
        if topic == TRANSPORT_TOPIC { Self::InProcess } else { Self::Sandboxed }
    }
}
