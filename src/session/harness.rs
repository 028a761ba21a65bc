//! The harnesses whose events are understood.

use super::Payload;
use crate::record::ActorId;

/// A program that runs an agent and tells its hooks what happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Harness {
    /// Claude Code.
    Claude,
    /// Codex CLI.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// Qwen Code.
    Qwen,
    /// GitHub Copilot CLI.
    Copilot,
    /// opencode, through the plugin that is installed for it.
    Opencode,
}

/// The most that a harness hands on of one text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cap {
    /// So many units of UTF-16, which is what a harness written in JavaScript counts.
    Utf16(usize),
    /// So many bytes.
    Bytes(usize),
    /// Any length.
    None,
}

impl Harness {
    /// Every harness there is.
    pub const ALL: [Self; 6] =
        [Self::Claude, Self::Codex, Self::Gemini, Self::Qwen, Self::Copilot, Self::Opencode];

    /// Returns the name, as on a command line and in records.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Qwen => "qwen",
            Self::Copilot => "copilot",
            Self::Opencode => "opencode",
        }
    }

    /// Reads a name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|harness| harness.name() == name)
    }

    /// Returns who states what happens in a session of this harness.
    pub fn actor(self) -> ActorId {
        // The name holds nothing that an actor's may not.
        ActorId::parse(&format!("did:sync:agent:{}", self.name()))
            .unwrap_or_else(|_| ActorId::engine())
    }

    /// Returns the most that this harness hands on of one text.
    pub const fn cap(self) -> Cap {
        match self {
            Self::Claude => Cap::Utf16(10_000),
            _ => Cap::None,
        }
    }

    /// Returns whether the model hears what is answered to an event of this name.
    pub fn delivers(self, event: &str) -> bool {
        !event.is_empty()
    }

    /// Returns the harness that a payload comes from.
    pub fn detect(_payload: &Payload) -> Self {
        Self::Claude
    }
}
