//! Tiers: how much the runs of an actor may take (contract §5.1).
//!
//! Four are built in. A `core.engine.tier.v1` record changes ceilings of one: a field that it has
//! replaces the built-in one, a field that it omits keeps it, whatever an earlier record said. 0 is
//! a ceiling that nothing fits under; `null` is none at all. Which tools are forbidden is no field.

use std::fmt;

use super::usd::{usd_of, usd_value};
use crate::canon::{Object, Value};
use crate::object;
use crate::record::{ActorId, Draft, Reason, ShapeError, field};

/// The kind of a record that changes a tier.
pub const TIER_KIND: &str = "core.engine.tier.v1";

/// The topic of a record that gives an actor a tier.
pub const ACTOR_TIER_TOPIC: &str = "actor_tier";

/// Which tier.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TierName {
    /// Whoever was given no other.
    Trial,
    /// One who pays.
    Paid,
    /// One of a team.
    Team,
    /// The owner of the instance. No record gives it to anybody: it is who is authenticated.
    Operator,
}

impl TierName {
    /// Every tier there is, from the narrowest to the widest.
    pub const ALL: &[Self] = &[Self::Trial, Self::Paid, Self::Team, Self::Operator];

    /// Returns the word in a record.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trial => "trial",
            Self::Paid => "paid",
            Self::Team => "team",
            Self::Operator => "operator",
        }
    }

    /// Reads the word in a record.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|tier| tier.as_str() == word)
    }
}

impl fmt::Display for TierName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The ceilings of a tier; `None` is no ceiling. Money is in micro-dollars.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tier {
    /// Which tier.
    pub name: TierName,
    /// Turns of one run.
    pub max_turns: Option<u32>,
    /// Seconds of one run.
    pub wall_clock_secs: Option<u64>,
    /// Tokens of one run, both ways.
    pub token_budget: Option<u64>,
    /// What a run may cost that names no budget of its own.
    pub default_budget: Option<u64>,
    /// What all runs of an actor may cost in a day.
    pub daily_cost_cap: Option<u64>,
    /// Runs of an actor in a day.
    pub daily_loop_cap: Option<u64>,
    /// Runs of an actor at once.
    pub concurrency: Option<u32>,
    /// How deep runs may start others; 0 is not at all.
    pub max_depth: Option<u32>,
    /// How many others one run may start.
    pub max_children: Option<u32>,
    /// How many runs one may come to with all that it started.
    pub max_tree_loops: Option<u32>,
    /// Tools that are not to be had, whatever a grant says.
    pub forbidden_tools: &'static [&'static str],
}

/// The tools that reach beyond a run's answer.
const HOST_TOOLS: &[&str] = &["bash", "write_file"];

static BUILT_IN: [Tier; 4] = [
    Tier {
        name: TierName::Trial,
        max_turns: Some(5),
        wall_clock_secs: Some(120),
        token_budget: Some(20_000),
        default_budget: Some(250_000),
        daily_cost_cap: Some(500_000),
        daily_loop_cap: Some(10),
        concurrency: Some(1),
        max_depth: Some(0),
        max_children: Some(0),
        max_tree_loops: Some(1),
        forbidden_tools: &["bash", "write_file", "spawn"],
    },
    Tier {
        name: TierName::Paid,
        max_turns: Some(16),
        wall_clock_secs: Some(600),
        token_budget: Some(200_000),
        default_budget: Some(1_000_000),
        daily_cost_cap: Some(5_000_000),
        daily_loop_cap: Some(200),
        concurrency: Some(5),
        max_depth: Some(2),
        max_children: Some(4),
        max_tree_loops: Some(8),
        forbidden_tools: HOST_TOOLS,
    },
    Tier {
        name: TierName::Team,
        max_turns: Some(50),
        wall_clock_secs: Some(1800),
        token_budget: Some(1_000_000),
        default_budget: Some(2_000_000),
        daily_cost_cap: Some(50_000_000),
        daily_loop_cap: Some(2000),
        concurrency: Some(20),
        max_depth: Some(3),
        max_children: Some(8),
        max_tree_loops: Some(32),
        forbidden_tools: HOST_TOOLS,
    },
    Tier {
        name: TierName::Operator,
        max_turns: None,
        wall_clock_secs: None,
        token_budget: None,
        default_budget: Some(5_000_000),
        daily_cost_cap: None,
        daily_loop_cap: None,
        concurrency: None,
        max_depth: None,
        max_children: None,
        max_tree_loops: None,
        forbidden_tools: &[],
    },
];

/// The fields of a tier's record that are no ceilings.
const OTHER_FIELDS: [&str; 8] =
    ["kind", "topic", "tier", "name", "namespace", "description", "_v", "_refs"];

impl Tier {
    /// Returns a tier as it is built in.
    pub fn built_in(name: TierName) -> &'static Self {
        let [trial, paid, team, operator] = &BUILT_IN;
        match name {
            TierName::Trial => trial,
            TierName::Paid => paid,
            TierName::Team => team,
            TierName::Operator => operator,
        }
    }

    /// Returns whether a tool is not to be had in this tier.
    pub fn forbids(&self, tool: &str) -> bool {
        self.forbidden_tools.contains(&tool)
    }

    /// Returns the tier that a record makes of the built-in one.
    pub(super) fn read(draft: &Draft) -> Result<Self, ShapeError> {
        field::learned(draft)?;
        let body = &draft.body;
        let mut tier = Self::built_in(tier_name(field::text(body, "tier")?)?).clone();
        for (key, value) in body.iter().filter(|(key, _)| !OTHER_FIELDS.contains(&key.as_str())) {
            tier.set(key, value)?;
        }
        Ok(tier)
    }

    fn set(&mut self, key: &str, value: &Value) -> Result<(), ShapeError> {
        match key {
            "max_turns" => self.max_turns = count(key, value)?,
            "wall_clock_secs" => self.wall_clock_secs = count(key, value)?,
            "token_budget" => self.token_budget = count(key, value)?,
            "default_budget_usd" => self.default_budget = money(key, value)?,
            "daily_cost_cap_usd" => self.daily_cost_cap = money(key, value)?,
            "daily_loop_cap" => self.daily_loop_cap = count(key, value)?,
            "concurrency" => self.concurrency = count(key, value)?,
            "max_depth" => self.max_depth = count(key, value)?,
            "max_children" => self.max_children = count(key, value)?,
            "max_tree_loops" => self.max_tree_loops = count(key, value)?,
            _ => {
                let cut: String = key.chars().take(64).collect();
                let message = format!("`{cut}` is not a field that a record changes in a tier");
                return Err(ShapeError::new(key, Reason::UnknownField, message));
            }
        }
        Ok(())
    }

    /// Returns the ceilings as answers show them; money in dollars.
    pub fn to_object(&self) -> Object {
        let usd = |micros: Option<u64>| micros.map_or(Value::Null, usd_value);
        object! {
            "object": "tier",
            "tier": self.name.as_str(),
            "max_turns": self.max_turns,
            "wall_clock_secs": self.wall_clock_secs,
            "token_budget": self.token_budget,
            "default_budget_usd": usd(self.default_budget),
            "daily_cost_cap_usd": usd(self.daily_cost_cap),
            "daily_loop_cap": self.daily_loop_cap,
            "concurrency": self.concurrency,
            "max_depth": self.max_depth,
            "max_children": self.max_children,
            "max_tree_loops": self.max_tree_loops,
            "forbidden_tools": self.forbidden_tools.to_vec(),
        }
    }
}

/// The tier that a record gives to an actor; `None` takes it back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Assigned(pub(super) Option<TierName>);

impl Assigned {
    pub(super) fn read(draft: &Draft) -> Result<Self, ShapeError> {
        field::learned(draft)?;
        let body = &draft.body;
        ActorId::parse(field::text(body, "actor")?).map_err(|error| {
            ShapeError::new("actor", Reason::BadValue, format!("`actor` {error}"))
        })?;
        match body.get("tier").and_then(Value::as_str) {
            Some("") => Ok(Self(None)),
            _ => match tier_name(field::text(body, "tier")?)? {
                TierName::Operator => {
                    let message = "no record gives the tier `operator` to anybody";
                    Err(ShapeError::new("tier", Reason::BadValue, message))
                }
                tier => Ok(Self(Some(tier))),
            },
        }
    }
}

fn tier_name(word: &str) -> Result<TierName, ShapeError> {
    TierName::parse(word).ok_or_else(|| {
        let words: Vec<&str> = TierName::ALL.iter().map(|tier| tier.as_str()).collect();
        let message = format!("`tier` must be one of {}", words.join(", "));
        ShapeError::new("tier", Reason::BadValue, message)
    })
}

fn count<T: TryFrom<u64>>(key: &str, value: &Value) -> Result<Option<T>, ShapeError> {
    let Value::Number(number) = value else { return none(key, value, "an integer") };
    let count = number.as_u64().and_then(|count| T::try_from(count).ok());
    count.map(Some).ok_or_else(|| {
        let message = format!("`{key}` must be an integer from 0 on, or null for no ceiling");
        ShapeError::new(key, Reason::BadValue, message)
    })
}

fn money(key: &str, value: &Value) -> Result<Option<u64>, ShapeError> {
    let Value::Number(number) = value else { return none(key, value, "dollars as a number") };
    usd_of(number)
        .map(Some)
        .map_err(|error| ShapeError::new(key, Reason::BadValue, format!("`{key}` {error}")))
}

fn none<T>(key: &str, value: &Value, wanted: &str) -> Result<Option<T>, ShapeError> {
    match value {
        Value::Null => Ok(None),
        other => Err(ShapeError::wrong_type(key, &format!("{wanted} or null"), other.type_name())),
    }
}
