//! The switches of a host, and what it says that it can do (contract §14, §15).

use super::{Event, GateLimits, HandlerKind, Word};
use crate::canon::{Object, Value};
use crate::engine::{Rollout, RuntimeSettings};
use crate::object;

/// The variable that switches hooks off, whatever else is set.
pub const KILL_SWITCH: &str = "POLPO_RUNTIME_HOOKS";

/// The switches of a host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Runtime {
    /// Whether it says that it is a managed host.
    pub managed: bool,
    /// How far hooks count.
    pub hooks: Rollout,
    /// How far gates do.
    pub gate: Rollout,
    /// Whether the kill switch is on. It wins over both.
    pub killed: bool,
    /// The tools that its providers run themselves.
    pub provider_native: Vec<String>,
}

impl Default for Runtime {
    fn default() -> Self {
        Self::new(&RuntimeSettings::default(), None)
    }
}

impl Runtime {
    /// Returns the switches that settings and the value of [`KILL_SWITCH`] come to.
    pub fn new(settings: &RuntimeSettings, kill_switch: Option<&str>) -> Self {
        Self {
            managed: settings.managed,
            hooks: settings.hooks(),
            gate: settings.termination_gate(),
            killed: kill_switch.is_some_and(|value| value.trim().eq_ignore_ascii_case("off")),
            provider_native: settings.provider_native_tools.clone(),
        }
    }

    /// Returns how far hooks that carry no gate count here.
    pub fn ordinary(&self) -> Rollout {
        if self.killed { Rollout::Off } else { self.hooks }
    }

    /// Returns whether a gate is asked here. Where it is not, what it matches is blocked.
    pub fn gates(&self) -> bool {
        !self.killed && self.hooks == Rollout::Enforce && self.gate == Rollout::Enforce
    }

    /// Returns what the host says that it can do. It names no pack, no host and no secret. `applied` is
    /// our own: whether runs ask packs.
    pub fn capabilities(&self) -> Object {
        let kinds = |kinds: &mut dyn Iterator<Item = HandlerKind>| -> Vec<&'static str> {
            kinds.map(HandlerKind::as_str).collect()
        };
        let command_timeout = |managed: bool| {
            let timeout = HandlerKind::Command.default_timeout(managed).as_millis();
            object! { "commandTimeoutMs": u64::try_from(timeout).unwrap_or(u64::MAX) }
        };
        let managed = self.managed.then(|| {
            object! {
                "defaults": command_timeout(true),
                "enabled": self.ordinary() != Rollout::Off,
                "mode": self.hooks.as_str(),
                "terminationGate": object! {
                    "enabled": self.gates(),
                    "mode": self.gate.as_str(),
                },
            }
        });
        let most = GateLimits::MOST;
        object! {
            "applied": false,
            "envelopeVersion": 1,
            "killSwitch": object! { "active": self.killed, "env": KILL_SWITCH },
            "managed": managed.map(Value::from),
            "portable": object! {
                "decisions": Word::ALL.map(Word::as_str).to_vec(),
                "defaults": command_timeout(false),
                "events": Event::ALL.map(Event::as_str).to_vec(),
                "handlers": kinds(&mut HandlerKind::ALL.into_iter()),
                "terminationGate": object! {
                    "handlers": kinds(
                        &mut HandlerKind::ALL.into_iter().filter(|kind| kind.is_deterministic())
                    ),
                    "limits": object! {
                        "maxCycles": most.max_cycles,
                        "maxDurationMs": most.max_duration_ms,
                        "maxTokens": most.max_tokens,
                    },
                    "supported": true,
                },
            },
            "version": 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kill_switch_is_one_word() {
        for (value, killed) in [
            (None, false),
            (Some(""), false),
            (Some("off"), true),
            (Some(" OFF\n"), true),
            (Some("on"), false),
            (Some("0"), false),
            (Some("false"), false),
        ] {
            assert_eq!(
                Runtime::new(&RuntimeSettings::default(), value).killed,
                killed,
                "{value:?}"
            );
        }
    }

    /// Contract §14.
    #[test]
    fn a_gate_is_asked_where_both_enforce() {
        use Rollout::{Enforce, Observe, Off};
        for hooks in [Off, Observe, Enforce] {
            for gate in [Off, Observe, Enforce] {
                for killed in [false, true] {
                    let runtime = Runtime { hooks, gate, killed, ..Runtime::default() };
                    let both = hooks == Enforce && gate == Enforce;
                    assert_eq!(runtime.gates(), both && !killed);
                    assert_eq!(runtime.ordinary(), if killed { Off } else { hooks });
                }
            }
        }
    }
}
