//! `[runtime]`: how far the hooks of packs count on this host.

use serde::Deserialize;

/// How far the hooks of packs count. A switch that is misspelt is refused, since it would say nothing.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct RuntimeSettings {
    /// Whether this host says that it is a managed one.
    pub managed: bool,
    /// Tools that the providers of models run themselves, so that no hook can stop them.
    pub provider_native_tools: Vec<String>,
    hooks: Switch,
    termination_gate: Switch,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Switch {
    mode: Option<Rollout>,
}

/// How far something has come on a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rollout {
    /// It is not there.
    Off,
    /// It is asked, and what it says is noted.
    Observe,
    /// It counts.
    Enforce,
}

impl Rollout {
    /// Returns the word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Observe => "observe",
            Self::Enforce => "enforce",
        }
    }
}

impl RuntimeSettings {
    /// Returns how far hooks count: wholly, unless `hooks.mode` says otherwise.
    pub fn hooks(&self) -> Rollout {
        self.hooks.mode.unwrap_or(Rollout::Enforce)
    }

    /// Returns how far gates count, unless `termination-gate.mode` says so: wholly, and on a managed
    /// host not at all.
    pub fn termination_gate(&self) -> Rollout {
        let by_host = if self.managed { Rollout::Off } else { Rollout::Enforce };
        self.termination_gate.mode.unwrap_or(by_host)
    }
}
