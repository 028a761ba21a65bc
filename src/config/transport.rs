//! Through what a run reaches the engine (contract §3.2, §5.1).

use crate::canon::Value;
use crate::record::Draft;

/// The topic of the transport of the operator's runs.
pub const TRANSPORT_TOPIC: &str = "work_loop_transport";

/// The topic of the transport of everybody else's runs.
pub const MEMBERS_TRANSPORT_TOPIC: &str = "work_loop_transport_members";

/// Where the tools of a run work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Transport {
    /// In the process that drives the run.
    #[default]
    InProcess,
    /// In a process of their own that reaches nothing but what it was given.
    Sandboxed,
    /// Elsewhere: somebody else's loop, which only asks the hooks. No setting says so.
    External,
}

impl Transport {
    /// Returns the word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InProcess => "in_process",
            Self::Sandboxed => "sandboxed",
            Self::External => "external",
        }
    }

    /// Returns where that is.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::InProcess => "in the process that drives it",
            Self::Sandboxed => "in a sandbox",
            Self::External => "in a loop of somebody else",
        }
    }

    /// Reads the word in a record.
    pub fn parse(word: &str) -> Option<Self> {
        let all = [Self::InProcess, Self::Sandboxed, Self::External];
        all.into_iter().find(|transport| transport.as_str() == word)
    }

    /// Reads what a record sets. What is no word of a transport reads as the default of its topic,
    /// so that a slip never takes a member out of the sandbox.
    pub(super) fn read(draft: &Draft) -> Self {
        let word = draft.body.get("transport").and_then(Value::as_str);
        word.and_then(Self::parse)
            .filter(|transport| *transport != Self::External)
            .unwrap_or_else(|| Self::default_of(draft.topic().unwrap_or_default()))
    }

    /// Returns what holds where no record says otherwise.
    pub(super) fn default_of(topic: &str) -> Self {
        if topic == TRANSPORT_TOPIC { Self::InProcess } else { Self::Sandboxed }
    }
}
