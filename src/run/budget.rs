//! How far a run may go, and how far it has come.
//!
//! Money is counted in whole millionths of a dollar, so that what is added up on replay is what was
//! added up the first time.

use std::time::Duration;

use crate::canon::{Object, Value};
use crate::config::show_usd;
use crate::model::{Price, Usage};
use crate::object;

/// How far a run may go; what is not said has no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Limits {
    /// The most turns.
    pub max_turns: Option<u32>,
    /// The most tokens, read and written.
    pub token_budget: Option<u64>,
    /// The most seconds that the model and the tools may take together. A run that waits for a
    /// decision does not spend them.
    pub wall_clock_secs: Option<u64>,
    /// The most money, in millionths of a US dollar.
    pub usd_budget: Option<u64>,
}

/// What a run has too little of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetKind {
    /// Turns of the model.
    Turns,
    /// Tokens.
    Tokens,
    /// Time.
    WallClock,
    /// Money.
    Usd,
}

impl BudgetKind {
    /// Returns the word in the record of an outcome.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Turns => "turns",
            Self::Tokens => "tokens",
            Self::WallClock => "wall_clock",
            Self::Usd => "usd",
        }
    }
}

/// How far a run has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Turns that the model has taken.
    pub turns: u32,
    /// Tokens that were read.
    pub input_tokens: u64,
    /// Tokens that were written.
    pub output_tokens: u64,
    /// Money, in millionths of a US dollar; nothing where the price is not known.
    pub usd_micros: u64,
    /// What the model and the tools took, in milliseconds.
    pub millis: u64,
}

impl Spent {
    /// Adds a turn.
    pub(super) fn add_turn(&mut self, usage: &Usage, price: Option<Price>, took_ms: u64) {
        self.turns = self.turns.saturating_add(1);
        self.input_tokens = self.input_tokens.saturating_add(usage.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(usage.output_tokens);
        let cost = price.map_or(0, |price| price.cost(usage));
        self.usd_micros = self.usd_micros.saturating_add(cost);
        self.add_time(took_ms);
    }

    /// Adds what a tool took.
    pub(super) fn add_time(&mut self, took_ms: u64) {
        self.millis = self.millis.saturating_add(took_ms);
    }

    /// Returns what a task has spent, as the result of its call has it.
    pub(super) fn to_object(self) -> Object {
        object! {
            "duration_ms": self.millis,
            "input_tokens": self.input_tokens,
            "output_tokens": self.output_tokens,
            "turns": self.turns,
            "cost_usd_micros": self.usd_micros,
        }
    }

    /// Reads it back.
    pub(super) fn of_object(value: &Value) -> Option<Self> {
        let number = |name: &str| value.get(name)?.as_u64();
        Some(Self {
            turns: u32::try_from(number("turns")?).ok()?,
            input_tokens: number("input_tokens")?,
            output_tokens: number("output_tokens")?,
            usd_micros: number("cost_usd_micros")?,
            millis: number("duration_ms")?,
        })
    }

    /// Adds what a task has read, written and cost. What it took is what the call took.
    pub(super) fn add_task(&mut self, task: &Self) {
        self.input_tokens = self.input_tokens.saturating_add(task.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(task.output_tokens);
        self.usd_micros = self.usd_micros.saturating_add(task.usd_micros);
    }

    /// Returns all tokens.
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl Limits {
    /// No limit at all.
    pub const NONE: Self =
        Self { max_turns: None, token_budget: None, wall_clock_secs: None, usd_budget: None };

    /// The turns of a run that does not say how many.
    pub const DEFAULT_MAX_TURNS: u32 = 20;

    /// Returns the tighter of these limits and `others`, each for itself.
    #[must_use]
    pub fn within(self, others: Self) -> Self {
        fn tighter<T: Ord>(one: Option<T>, other: Option<T>) -> Option<T> {
            match (one, other) {
                (Some(one), Some(other)) => Some(one.min(other)),
                (one, other) => one.or(other),
            }
        }
        Self {
            max_turns: tighter(self.max_turns, others.max_turns),
            token_budget: tighter(self.token_budget, others.token_budget),
            wall_clock_secs: tighter(self.wall_clock_secs, others.wall_clock_secs),
            usd_budget: tighter(self.usd_budget, others.usd_budget),
        }
    }

    /// Returns what is left of these limits, for a task of so many turns at most.
    #[must_use]
    pub(super) fn of_task(&self, spent: &Spent, turns: u32) -> Self {
        let left = |limit: u64, spent: u64| limit.saturating_sub(spent);
        Self {
            max_turns: Some(turns),
            token_budget: self.token_budget.map(|limit| left(limit, spent.tokens())),
            wall_clock_secs: self
                .time_left(spent)
                .map(|left| left.as_millis().div_ceil(1000))
                .map(|secs| u64::try_from(secs).unwrap_or(u64::MAX)),
            usd_budget: self.usd_budget.map(|limit| left(limit, spent.usd_micros)),
        }
    }

    /// Returns what there is nothing left of.
    pub fn exhausted(&self, spent: &Spent) -> Option<BudgetKind> {
        let over = |used: u64, limit: Option<u64>| limit.is_some_and(|limit| used >= limit);
        if over(spent.turns.into(), self.max_turns.map(Into::into)) {
            Some(BudgetKind::Turns)
        } else if over(spent.tokens(), self.token_budget) {
            Some(BudgetKind::Tokens)
        } else if over(spent.millis, self.wall_clock_millis()) {
            Some(BudgetKind::WallClock)
        } else if over(spent.usd_micros, self.usd_budget) {
            Some(BudgetKind::Usd)
        } else {
            None
        }
    }

    /// Returns how much time is left, if it is limited.
    pub fn time_left(&self, spent: &Spent) -> Option<Duration> {
        let limit = self.wall_clock_millis()?;
        Some(Duration::from_millis(limit.saturating_sub(spent.millis)))
    }

    fn wall_clock_millis(&self) -> Option<u64> {
        self.wall_clock_secs.map(|secs| secs.saturating_mul(1000))
    }

    /// Returns the limits in words, such as `20 turns, 5000 tokens, 60 s, 1.25 USD`.
    pub fn in_words(&self) -> String {
        let parts = [
            self.max_turns.map(|turns| format!("{turns} turns")),
            self.token_budget.map(|tokens| format!("{tokens} tokens")),
            self.wall_clock_secs.map(|secs| format!("{secs} s")),
            self.usd_budget.map(|micros| format!("{} USD", show_usd(micros))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if parts.is_empty() { "no limit".to_owned() } else { parts.join(", ") }
    }

    /// Returns a word of warning once four fifths of something are used up, and on the last turn.
    pub(super) fn warning(&self, spent: &Spent) -> Option<String> {
        let nearly = |used: u64, limit: u64| used.saturating_mul(5) >= limit.saturating_mul(4);
        if self.max_turns.is_some_and(|turns| spent.turns.saturating_add(1) == turns) {
            return Some("this is your last turn: answer without a call".to_owned());
        }
        let parts = [
            self.token_budget
                .filter(|limit| nearly(spent.tokens(), *limit))
                .map(|limit| format!("{} of {limit} tokens", limit.saturating_sub(spent.tokens()))),
            self.wall_clock_secs
                .filter(|_| {
                    self.wall_clock_millis().is_some_and(|limit| nearly(spent.millis, limit))
                })
                .map(|limit| format!("{} of {limit} s", limit.saturating_sub(spent.millis / 1000))),
            self.usd_budget.filter(|limit| nearly(spent.usd_micros, *limit)).map(|limit| {
                format!(
                    "{} of {} USD",
                    show_usd(limit.saturating_sub(spent.usd_micros)),
                    show_usd(limit)
                )
            }),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        (!parts.is_empty()).then(|| format!("you have {} left", parts.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tighter_limit_holds() {
        let tier = Limits { max_turns: Some(5), token_budget: Some(100), ..Limits::NONE };
        let asked = Limits { max_turns: Some(9), wall_clock_secs: Some(3), ..Limits::NONE };
        let both = Limits {
            max_turns: Some(5),
            token_budget: Some(100),
            wall_clock_secs: Some(3),
            usd_budget: None,
        };
        assert_eq!(asked.within(tier), both);
        assert_eq!(tier.within(asked), both);
        assert_eq!(Limits::NONE.within(tier), tier);
    }

    #[test]
    fn what_is_used_up_is_named() {
        let limits = Limits {
            max_turns: Some(2),
            token_budget: Some(10),
            wall_clock_secs: Some(1),
            usd_budget: Some(5),
        };
        let spent =
            Spent { turns: 1, input_tokens: 4, output_tokens: 5, usd_micros: 4, millis: 999 };
        assert_eq!(limits.exhausted(&spent), None);
        assert_eq!(limits.time_left(&spent), Some(Duration::from_millis(1)));
        let cases = [
            (Spent { turns: 2, ..spent }, BudgetKind::Turns),
            (Spent { output_tokens: 6, ..spent }, BudgetKind::Tokens),
            (Spent { millis: 1000, ..spent }, BudgetKind::WallClock),
            (Spent { usd_micros: 5, ..spent }, BudgetKind::Usd),
        ];
        for (spent, kind) in cases {
            assert_eq!(limits.exhausted(&spent), Some(kind));
        }
        assert_eq!(Limits::NONE.exhausted(&Spent { millis: u64::MAX, ..spent }), None);
    }

    #[test]
    fn a_run_is_warned_before_it_has_to_stop() {
        let limits = Limits { max_turns: Some(3), token_budget: Some(100), ..Limits::NONE };
        let spent = |turns, tokens| Spent { turns, input_tokens: tokens, ..Spent::default() };
        assert_eq!(limits.warning(&spent(0, 79)), None);
        let near = limits.warning(&spent(0, 80));
        assert_eq!(near.as_deref(), Some("you have 20 of 100 tokens left"));
        let last = limits.warning(&spent(2, 0)).expect("a warning");
        assert!(last.starts_with("this is your last turn"), "{last}");
    }
}
