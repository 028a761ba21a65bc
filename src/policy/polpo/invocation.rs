//! What an invocation of an agent is, as far as hooks are told (contract §3, §9.1).

use std::fmt;

/// Where an agent was called from. All of them run the same packs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Surface {
    /// A chat over HTTP, which no restart survives.
    Chat,
    /// A chat that a durable run stands behind.
    Run,
    /// A channel, such as a messenger.
    Channel,
    /// An agent node of a project's loop.
    Loop,
}

impl Surface {
    /// Every surface.
    pub const ALL: [Self; 4] = [Self::Chat, Self::Run, Self::Channel, Self::Loop];

    /// Returns the word in matchers and envelopes.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Run => "run",
            Self::Channel => "channel",
            Self::Loop => "loop",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|surface| surface.as_str() == word)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How far a pack reaches, the broadest first: in this order its hooks are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Scope {
    /// Whatever the host runs.
    Platform,
    /// A project.
    Project,
    /// An agent.
    Agent,
    /// A loop of a project.
    Loop,
    /// A node of a loop.
    Step,
}

impl Scope {
    /// Every scope, the broadest first.
    pub const ALL: [Self; 5] = [Self::Platform, Self::Project, Self::Agent, Self::Loop, Self::Step];

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

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|scope| scope.as_str() == word)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One invocation of an agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Invocation {
    /// Where it was called from.
    pub surface: Surface,
    /// The agent.
    pub agent: String,
    /// The loop, at a node of one.
    pub loop_name: Option<String>,
    /// The title of the node.
    pub step: Option<String>,
    /// The key of the node in its graph, by which matchers know it.
    pub step_key: Option<String>,
    /// Which time this node is entered.
    pub step_invocation: Option<String>,
    /// Whether the node, or one around it, stands in a branch beside others.
    pub parallel: bool,
}

impl Invocation {
    /// Returns an invocation that is no node of a loop.
    pub fn of(surface: Surface, agent: impl Into<String>) -> Self {
        Self {
            surface,
            agent: agent.into(),
            loop_name: None,
            step: None,
            step_key: None,
            step_invocation: None,
            parallel: false,
        }
    }
}
