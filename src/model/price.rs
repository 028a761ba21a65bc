//! What tokens cost: a small table that anyone may edit.
//!
//! **Invariant:** a model that no table names has no price. Nothing is guessed.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::Usage;
use crate::code::{Code, Coded};

/// The table that is built in.
const BUILT_IN: &str = include_str!("prices.toml");

/// One million: the tokens that a price is for.
const PER: u128 = 1_000_000;

/// What a model costs, in micro-dollars per million tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// For tokens that are read.
    pub input: u64,
    /// For tokens that are written.
    pub output: u64,
}

impl Price {
    /// Returns what a turn has cost in micro-dollars, rounded up.
    pub fn cost(&self, usage: &Usage) -> u64 {
        let of = |tokens: u64, price: u64| u128::from(tokens) * u128::from(price);
        // Two products of 64 bits each: their sum may need 129.
        let sum =
            of(usage.input_tokens, self.input).saturating_add(of(usage.output_tokens, self.output));
        u64::try_from(sum.div_ceil(PER)).unwrap_or(u64::MAX)
    }
}

/// The prices of models, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prices(BTreeMap<String, Price>);

/// Why a table of prices does not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the prices do not read: line {line}: {message}")]
pub struct PriceError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl Coded for PriceError {
    fn code(&self) -> Code {
        Code::InvalidBody
    }

    fn hint(&self) -> Option<String> {
        Some(
            "A price is `[models.\"NAME\"]` with `input` and `output`, whole numbers of \
              micro-dollars per million tokens."
                .into(),
        )
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    models: BTreeMap<String, Price>,
}

impl Prices {
    /// Returns the prices that are built in.
    pub fn built_in() -> Self {
        // The tests read this table, so it reads.
        Self(read(BUILT_IN).unwrap_or_default())
    }

    /// Returns these prices with those of a table in place of their own.
    pub fn with(mut self, table: &str) -> Result<Self, PriceError> {
        self.0.extend(read(table)?);
        Ok(self)
    }

    /// Returns the price of a model, by its full name, without its provider, or without the date
    /// that a version has behind its name.
    pub fn price(&self, model: &str) -> Option<Price> {
        let bare = ["anthropic/", "openai/", "gemini/"]
            .iter()
            .find_map(|provider| model.strip_prefix(provider))
            .unwrap_or(model);
        let found = [model, bare, undated(bare)].iter().find_map(|name| self.0.get(*name));
        found.copied()
    }

    /// Returns each model and its price, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Price)> {
        self.0.iter().map(|(name, price)| (name.as_str(), *price))
    }
}

/// Returns the name without `-20250929`, `-2025-09-29` or `-latest` behind it.
fn undated(name: &str) -> &str {
    let is_date = |text: &str| {
        let digits = text.bytes().filter(u8::is_ascii_digit).count();
        digits == 8 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
    };
    if let Some(name) = name.strip_suffix("-latest") {
        return name;
    }
    [9, 11]
        .iter()
        .filter_map(|length| name.split_at_checked(name.len().checked_sub(*length)?))
        .find(|(_, end)| end.strip_prefix('-').is_some_and(is_date))
        .map_or(name, |(name, _)| name)
}

fn read(table: &str) -> Result<BTreeMap<String, Price>, PriceError> {
    let table: Table = toml::from_str(table).map_err(|error| PriceError {
        line: error
            .span()
            .map_or(1, |span| table.get(..span.start).unwrap_or_default().lines().count().max(1)),
        message: error.message().to_owned(),
    })?;
    Ok(table.models)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_that_is_built_in_reads() {
        let prices = Prices(read(BUILT_IN).expect("the table"));
        assert_eq!(prices, Prices::built_in());
        assert!(prices.iter().all(|(_, price)| price.input > 0 && price.output >= price.input));
    }

    #[test]
    fn a_model_is_found_with_its_provider_or_its_date_and_an_unknown_one_is_free_of_a_price() {
        let prices = Prices::built_in();
        let sonnet = prices.price("claude-sonnet-4-6").expect("a price");
        for name in ["anthropic/claude-sonnet-4-6", "claude-sonnet-4-6-20260217"] {
            assert_eq!(prices.price(name), Some(sonnet), "{name}");
        }
        for name in ["claude-sonnet-4-6-fast", "claude", "", "-20250929", "vllm/claude-sonnet-4-6"]
        {
            assert_eq!(prices.price(name), None, "{name}");
        }
    }

    #[test]
    fn a_table_of_the_home_stands_before_the_one_that_is_built_in() {
        let table = "[models.\"claude-sonnet-4-6\"]\ninput = 1\noutput = 2\n\
                     [models.\"vllm/mine\"]\ninput = 0\noutput = 0\n";
        let prices = Prices::built_in().with(table).expect("read");
        assert_eq!(prices.price("claude-sonnet-4-6"), Some(Price { input: 1, output: 2 }));
        assert_eq!(prices.price("vllm/mine"), Some(Price { input: 0, output: 0 }));
        assert!(prices.price("gpt-5").is_some());
        let error = Prices::built_in().with("[models.\"x\"]\ninput = 1.5\noutput = 2\n");
        assert_eq!(error.expect_err("no price").line, 2);
    }

    #[test]
    fn a_cost_is_rounded_up_and_does_not_overflow() {
        let usage =
            |input_tokens, output_tokens| Usage { input_tokens, output_tokens, estimated: false };
        let price = Price { input: 3_000_000, output: 15_000_000 };
        assert_eq!(price.cost(&usage(1_000_000, 0)), 3_000_000);
        assert_eq!(price.cost(&usage(10, 2)), 60);
        assert_eq!(Price { input: 1, output: 1 }.cost(&usage(1, 0)), 1);
        assert_eq!(price.cost(&Usage::default()), 0);
        let dear = Price { input: u64::MAX, output: u64::MAX };
        assert_eq!(dear.cost(&usage(u64::MAX, u64::MAX)), u64::MAX);
    }
}
