//! A pack, once it is known to be one.

use std::time::Duration;

use super::{Event, HandlerSpec, Matcher, PackName};
use crate::canon::{Digest, Object};

/// A pack of hooks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pack {
    /// The stem of its file.
    pub name: PackName,
    /// What it says of itself.
    pub description: Option<String>,
    /// Its hooks, in the order in which it declares them.
    pub hooks: Vec<PackHook>,
    /// The SHA-256 of its canonical text: the same for two files that say the same.
    pub sha256: Digest,
    /// All that it says, as it is stored.
    pub written: Object,
}

/// A hook of a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackHook {
    /// Its name in the pack.
    pub id: String,
    /// When it is asked.
    pub event: Event,
    /// What it says of itself.
    pub description: Option<String>,
    /// Whether it is asked at all. One that carries a gate and is not blocks instead.
    pub enabled: bool,
    /// Whether what it answers counts.
    pub mode: Mode,
    /// Lower is asked first.
    pub priority: i32,
    /// What it is about.
    pub matcher: Matcher,
    /// What answers.
    pub handler: HandlerSpec,
    /// How long that may take, if the pack says.
    pub timeout: Option<Duration>,
    /// What a failure comes to. Has no effect inside a gate.
    pub on_failure: OnFailure,
    /// The gate that it carries.
    pub gate: Option<GateLimits>,
}

impl PackHook {
    /// Returns how long the handler may take. What the pack says always wins; a managed host gives
    /// commands a minute otherwise.
    pub fn timeout(&self, managed: bool) -> Duration {
        self.timeout.unwrap_or_else(|| self.handler.kind().default_timeout(managed))
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
