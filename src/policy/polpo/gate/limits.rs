//! How far an invocation may go until an answer is accepted (contract-polpo §11.2, §11.7).

use super::GateCode;
use crate::policy::polpo::GateLimits;
use crate::policy::polpo::trace::Remaining;

/// The limits that hold: of several gates, the strictest of each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Those of the gates.
    pub gate: GateLimits,
    /// The most turns of the agent.
    pub max_turns: u64,
}

/// What has been used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Used {
    /// Repairs that have begun.
    pub cycles: u64,
    /// Turns that have begun.
    pub turns: u64,
    /// Tokens of the agent and of compactions.
    pub tokens: u64,
    /// Answers that there have been.
    pub attempts: u64,
    /// Ungated answers that have been mended.
    pub recoveries: u64,
}

impl Limits {
    /// Returns the limits of several gates together; `None` without any.
    pub fn of(gates: impl IntoIterator<Item = GateLimits>, max_turns: u64) -> Option<Self> {
        let gate = gates.into_iter().reduce(GateLimits::tighter)?;
        Some(Self { gate, max_turns })
    }

    /// Returns the stricter of two, limit by limit. Nothing is ever loosened.
    #[must_use]
    pub fn tighter(self, other: Self) -> Self {
        Self { gate: self.gate.tighter(other.gate), max_turns: self.max_turns.min(other.max_turns) }
    }

    /// Returns what keeps the model from being called: the first in this order.
    pub(super) const fn exhausted(
        &self,
        used: &Used,
        elapsed_ms: u64,
        turn: bool,
    ) -> Option<GateCode> {
        if elapsed_ms >= self.gate.max_duration_ms {
            Some(GateCode::TimeExhausted)
        } else if turn && used.turns >= self.max_turns {
            Some(GateCode::TurnsExhausted)
        } else if used.tokens >= self.gate.max_tokens {
            Some(GateCode::TokensExhausted)
        } else {
            None
        }
    }

    /// Returns what keeps a repair from beginning. The cycles come last.
    pub(super) fn keeps_from_repair(&self, used: &Used, elapsed_ms: u64) -> Option<GateCode> {
        let cycles = used.cycles >= self.gate.max_cycles;
        self.exhausted(used, elapsed_ms, true)
            .or_else(|| cycles.then_some(GateCode::CyclesExhausted))
    }

    /// Returns what keeps a validator from being asked: it needs time, and no tokens beyond those
    /// that the answer has cost.
    pub(super) const fn keeps_from_validation(
        &self,
        used: &Used,
        elapsed_ms: u64,
    ) -> Option<GateCode> {
        if elapsed_ms >= self.gate.max_duration_ms {
            Some(GateCode::TimeExhausted)
        } else if used.tokens > self.gate.max_tokens {
            Some(GateCode::TokensExhausted)
        } else {
            None
        }
    }

    /// Returns what is left.
    pub const fn remaining(&self, used: &Used, elapsed_ms: u64) -> Remaining {
        Remaining {
            cycles: self.gate.max_cycles.saturating_sub(used.cycles),
            ms: self.gate.max_duration_ms.saturating_sub(elapsed_ms),
            tokens: self.gate.max_tokens.saturating_sub(used.tokens),
            turns: self.max_turns.saturating_sub(used.turns),
        }
    }
}
