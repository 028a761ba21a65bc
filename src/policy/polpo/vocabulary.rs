//! Words of packs.

use std::fmt;

/// Where a hook is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A call is about to be made.
    ToolBefore,
    /// A call has returned.
    ToolAfter,
    /// The model makes no further call.
    TurnStop,
}

impl Event {
    /// Every event.
    pub const ALL: [Self; 3] = [Self::ToolBefore, Self::ToolAfter, Self::TurnStop];

    /// Returns the word in packs, envelopes and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ToolBefore => "tool:before",
            Self::ToolAfter => "tool:after",
            Self::TurnStop => "turn:stop",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|event| event.as_str() == word)
    }
}

/// What a pack was assigned to, broadest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// The host.
    Platform,
    /// The project.
    Project,
    /// The agent.
    Agent,
    /// The loop.
    Loop,
    /// A node of a loop.
    Step,
}

impl Scope {
    /// Returns the word in envelopes and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Platform => "platform",
            Self::Project => "project",
            Self::Agent => "agent",
            Self::Loop => "loop",
            Self::Step => "step",
        }
    }
}

/// Whether what a hook answers counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// It decides.
    Control,
    /// It is told, and changes nothing.
    Observe,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 2] = [Self::Control, Self::Observe];

    /// Returns the word in packs, envelopes and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::Observe => "observe",
        }
    }
}

/// What the failure of a handler comes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The event fails closed.
    Fail,
    /// As if the hook had no opinion.
    Continue,
}

impl OnFailure {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Fail, Self::Continue];

    /// Returns the word in packs and traces.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Fail => "fail",
            Self::Continue => "continue",
        }
    }
}

/// The limits of a termination gate, cumulative over an invocation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GateLimits {
    /// The most repairs.
    pub max_cycles: u64,
    /// The longest time since the invocation began, in milliseconds.
    pub max_duration_ms: u64,
    /// The most tokens of agent and compaction.
    pub max_tokens: u64,
}

impl GateLimits {
    /// The most that a pack may allow.
    pub const MOST: Self =
        Self { max_cycles: 20, max_duration_ms: 3_600_000, max_tokens: 10_000_000 };

    /// Returns the stricter of two, limit by limit.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self {
            max_cycles: self.max_cycles.min(other.max_cycles),
            max_duration_ms: self.max_duration_ms.min(other.max_duration_ms),
            max_tokens: self.max_tokens.min(other.max_tokens),
        }
    }
}

/// Which hook it is: packs have names, and their hooks have ids of their own.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HookName {
    /// The pack.
    pub pack: String,
    /// The id in it.
    pub hook: String,
}

impl fmt::Display for HookName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.pack, self.hook)
    }
}
