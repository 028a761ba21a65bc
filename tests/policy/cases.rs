//! The shape of a case. An unknown key is refused, so that a misspelt expectation cannot pass.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::each::each;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) about: String,
    pub(crate) basis: String,
    pub(crate) surface: Surface,
    /// Why it is not applicable.
    pub(crate) why: Option<String>,
    /// What differs here from what the contract observes.
    #[serde(rename = "difference")]
    pub(crate) _difference: Option<String>,
    /// What settings and hooks alone decide. A case of any surface may have that.
    #[serde(default)]
    pub(crate) dispatch: Vec<Situation>,
    /// What a run does.
    pub(crate) run: Option<Run>,
    /// What the command does.
    pub(crate) command: Option<Value>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Surface {
    Dispatch,
    Run,
    Command,
    NotApplicable,
}

/// Settings, and what comes of loading them and of asking their hooks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "a null says something, too")]
pub(crate) struct Situation {
    pub(crate) global: Option<Value>,
    pub(crate) project: Option<Value>,
    #[serde(default)]
    pub(crate) home_is_workspace: bool,
    /// Switches, by name.
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
    /// What hooks inherit.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Programs of the workspace.
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Loading fails like this.
    pub(crate) refused: Option<Refused>,
    pub(crate) summary: Option<String>,
    pub(crate) skipped: Option<Vec<Skipped>>,
    pub(crate) not_applied: Option<Vec<String>>,
    pub(crate) timeouts_ms: Option<Vec<u64>>,
    #[serde(default, deserialize_with = "also_null")]
    pub(crate) audit: Option<Option<Audit>>,
    #[serde(default)]
    pub(crate) denies: Vec<Denies>,
    /// Whether all are asked at once.
    #[serde(default)]
    pub(crate) together: bool,
    #[serde(default)]
    pub(crate) asks: Vec<Ask>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Refused {
    pub(crate) file: String,
    pub(crate) field: String,
    pub(crate) reason: String,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Skipped {
    pub(crate) scope: String,
    pub(crate) event: Option<String>,
    pub(crate) position: Option<usize>,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Audit {
    pub(crate) enabled: bool,
    pub(crate) hash_args: bool,
    pub(crate) retention_days: Option<u32>,
    pub(crate) folder: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Denies {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) denied: bool,
}

/// A question, and what is said to it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    #[serde(default)]
    pub(crate) input: Value,
    /// How much is added to the input.
    pub(crate) filler_bytes: Option<usize>,
    pub(crate) prompt: Option<String>,
    pub(crate) result: Option<Text>,
    #[serde(default)]
    pub(crate) failed: bool,
    pub(crate) expect: Expect,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "a null says something, too")]
pub(crate) struct Expect {
    pub(crate) decision: String,
    pub(crate) reason: Option<String>,
    #[serde(default, deserialize_with = "also_null")]
    pub(crate) context: Option<Option<String>>,
    pub(crate) warnings: Option<Vec<Warning>>,
    /// The lines of the file `spawned`, to which hooks add their names.
    pub(crate) spawned: Option<Vec<String>>,
    /// What the hook has read.
    pub(crate) payload: Option<BTreeMap<String, Value>>,
    #[serde(default)]
    pub(crate) files: BTreeMap<String, String>,
    /// Files with the ids of processes that are gone.
    #[serde(default)]
    pub(crate) gone: Vec<String>,
    /// Files with the ids of processes that still go on.
    #[serde(default)]
    pub(crate) left: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Warning {
    pub(crate) event: String,
    pub(crate) how: String,
    pub(crate) detail: Option<String>,
    pub(crate) detail_contains: Option<String>,
}

/// A run with these settings, in which the model makes these calls and is then done.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Run {
    pub(crate) global: Option<Value>,
    pub(crate) project: Option<Value>,
    #[serde(default)]
    pub(crate) variables: BTreeMap<String, String>,
    /// The goal, if it matters.
    pub(crate) prompt: Option<String>,
    /// Who is asked about each call: nobody (`auto`), or somebody who declines (`declined`).
    pub(crate) approve: Option<String>,
    #[serde(default)]
    pub(crate) turns: Vec<Vec<Call>>,
    pub(crate) expect: RunExpect,
}

/// A call, and what the model of the task that it begins does, if it begins one.
#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    pub(crate) tool: String,
    pub(crate) input: Value,
    #[serde(default)]
    pub(crate) turns: Vec<Vec<Call>>,
}

/// What comes of a run.
#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
#[expect(clippy::option_option, reason = "a null says something, too")]
pub(crate) struct RunExpect {
    /// Whether the file `tool-ran` is there.
    pub(crate) tool_ran: Option<bool>,
    /// Whether what the model is told of its call is an error.
    pub(crate) error: Option<bool>,
    pub(crate) error_contains: Option<String>,
    pub(crate) error_lacks: Option<String>,
    pub(crate) result_contains: Option<Text>,
    /// The lines of the file `spawned`, to which hooks add their names.
    pub(crate) spawned: Option<Vec<String>>,
    /// Members of what the hook has read, in the file `payload`.
    pub(crate) payload: Option<BTreeMap<String, Value>>,
    pub(crate) payload_contains: Option<Text>,
    pub(crate) model_called: Option<bool>,
    /// What the model is told first.
    pub(crate) message: Option<String>,
    pub(crate) run_opened: Option<bool>,
    /// What the refusal to begin says.
    pub(crate) refused_contains: Option<String>,
    pub(crate) task_begun: Option<bool>,
    /// The records that blocks have left, in order: `event`, and `reason` where it matters.
    pub(crate) blocks: Option<Vec<BTreeMap<String, String>>>,
    /// The lines of the kind `hook_blocked` in the audit file; null, if there is none.
    #[serde(default, deserialize_with = "also_null")]
    pub(crate) audit: Option<Option<Vec<BTreeMap<String, String>>>>,
}

/// A text, in pieces where the whole would look like a leaked secret to who scans this tree.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(untagged)]
pub(crate) enum Text {
    Whole(String),
    Pieces(Vec<String>),
}

impl Text {
    pub(crate) fn whole(&self) -> String {
        match self {
            Self::Whole(text) => text.clone(),
            Self::Pieces(pieces) => pieces.concat(),
        }
    }
}

/// Tells a null from what is not there.
fn also_null<'de, T: Deserialize<'de>, D: Deserializer<'de>>(of: D) -> Result<Option<T>, D::Error> {
    T::deserialize(of).map(Some)
}

/// Returns every case, in order.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    each("polyglot", |case: &Case| &case.id)
}
