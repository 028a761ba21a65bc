//! Whether an invocation with a gate may begin (contract-polpo §11.3, §14).
//!
//! A gate that is configured and cannot be kept blocks. It never just vanishes.

use super::{GateCause, GateCode, GateFailure};
use crate::policy::polpo::{PackHook, Runtime};

/// How an invocation stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// Whether it outlives its process.
    pub durable: bool,
    /// Whether it stands in a branch beside others.
    pub parallel: bool,
}

/// A gate that matches the invocation, also one that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Configured {
    /// Whether its pack has it enabled.
    pub enabled: bool,
    /// How its handler stands.
    pub handling: Handling,
}

impl Configured {
    /// Returns how a hook stands that carries a gate. `handling` is what the host says of its handler.
    pub const fn of(hook: &PackHook, handling: Handling) -> Self {
        let deterministic = hook.handler.kind().is_deterministic();
        let handling = if deterministic { handling } else { Handling::NotDeterministic };
        Self { enabled: hook.enabled, handling }
    }
}

/// How the handler of a gate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Handling {
    /// As far as is known, it can be asked.
    Able,
    /// Handlers of its kind are switched off here.
    SwitchedOff,
    /// It asks a model or an agent, which no gate may.
    NotDeterministic,
    /// It is a tool that the agent may not use.
    ToolRefused,
}

/// Says why an invocation may not begin, before any inference. Without a gate, nothing keeps it.
pub fn precondition(
    runtime: &Runtime,
    standing: Standing,
    gates: &[Configured],
) -> Result<(), GateFailure> {
    let handling = |one: Handling| gates.iter().any(|gate| gate.handling == one);
    let unavailable = |cause| Err(GateFailure::because(GateCode::Unavailable, cause));
    if gates.is_empty() {
        Ok(())
    } else if runtime.killed {
        unavailable(GateCause::KillSwitch)
    } else if !runtime.gates() {
        unavailable(GateCause::Rollout)
    } else if gates.iter().any(|gate| !gate.enabled) {
        unavailable(GateCause::Disabled)
    } else if handling(Handling::SwitchedOff) || handling(Handling::NotDeterministic) {
        unavailable(GateCause::Handler)
    } else if standing.durable && standing.parallel {
        Err(GateFailure::of(GateCode::ParallelUnsupported))
    } else if handling(Handling::ToolRefused) {
        unavailable(GateCause::ToolRefused)
    } else {
        Ok(())
    }
}
