//! The shape of a case. An unknown key is refused, so that a misspelt expectation cannot pass.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::begin::Beginning;
use crate::decide::Deciding;
use crate::each;
use crate::gate::Gated;
use crate::keys::Vector;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Case {
    pub(crate) id: String,
    pub(crate) about: String,
    pub(crate) basis: String,
    pub(crate) surface: Surface,
    /// What is found in the files of a project.
    #[serde(default)]
    pub(crate) validate: Vec<Validation>,
    /// Which hooks an event is for.
    #[serde(default)]
    pub(crate) select: Vec<Selecting>,
    /// What a host says that it can do.
    #[serde(default)]
    pub(crate) capabilities: Vec<Host>,
    /// What hooks together decide.
    #[serde(default)]
    pub(crate) decide: Vec<Deciding>,
    /// The keys of executions.
    #[serde(default)]
    pub(crate) keys: Vec<Vector>,
    /// What a gate does.
    #[serde(default)]
    pub(crate) gate: Vec<Gated>,
    /// Whether an invocation with a gate may begin.
    #[serde(default)]
    pub(crate) begin: Vec<Beginning>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Surface {
    Validate,
    Select,
    Capabilities,
    Decide,
    Keys,
    Gate,
    Begin,
}

/// A project, and what is found in it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Validation {
    /// Files by path; a string is their text, anything else their value.
    pub(crate) files: BTreeMap<String, Value>,
    #[serde(default)]
    pub(crate) provider_native: Vec<String>,
    #[serde(default)]
    pub(crate) errors: Vec<InFile>,
    #[serde(default)]
    pub(crate) warnings: Vec<InFile>,
    /// The packs that are packs.
    pub(crate) good: Vec<String>,
    /// What is said nowhere.
    pub(crate) lacks: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct InFile {
    pub(crate) file: String,
    pub(crate) code: String,
    pub(crate) path: String,
}

/// Packs, what happens, and which hooks that is for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Selecting {
    pub(crate) packs: BTreeMap<String, Value>,
    /// Scope and name of each pack.
    pub(crate) assigned: Vec<(String, String)>,
    pub(crate) invocation: Invoked,
    pub(crate) event: String,
    pub(crate) tool: Option<String>,
    /// `pack/hook`, in order.
    pub(crate) control: Vec<String>,
    #[serde(default)]
    pub(crate) observe: Vec<String>,
    #[serde(default)]
    pub(crate) disabled: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Invoked {
    pub(crate) surface: String,
    pub(crate) agent: Option<String>,
    #[serde(rename = "loop")]
    pub(crate) loop_name: Option<String>,
    pub(crate) step_key: Option<String>,
}

/// A host, and members of what it says, by JSON pointer.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Host {
    /// The text of its `config.toml`.
    pub(crate) config: String,
    pub(crate) kill_switch: Option<String>,
    pub(crate) expect: BTreeMap<String, Value>,
}

/// Returns the folder of the dialect's fixtures.
pub(crate) fn fixtures() -> PathBuf {
    each::fixtures("polpo")
}

/// Returns every case, in order.
pub(crate) fn cases() -> impl Iterator<Item = Case> {
    each::each("polpo", |case: &Case| &case.id)
}

/// Returns a value whose texts are whole. A text is in pieces, `{"$pieces": [...]}`, where the whole
/// would look like a leaked secret to who scans this tree. What is long is written once, with how often
/// it stands there: `{"$times": ["x", 513]}`.
pub(crate) fn whole(value: &Value) -> Value {
    match value {
        Value::Array(elements) => elements.iter().map(whole).collect(),
        Value::Object(members) => match pieces(members).map(Value::String).or(times(members)) {
            Some(value) => value,
            None => members.iter().map(|(key, value)| (key.clone(), whole(value))).collect(),
        },
        other => other.clone(),
    }
}

fn pieces(members: &Map<String, Value>) -> Option<String> {
    let pieces = members.get("$pieces").filter(|_| members.len() == 1)?;
    pieces.as_array()?.iter().map(Value::as_str).collect()
}

fn times(members: &Map<String, Value>) -> Option<Value> {
    let (value, times) = match members.get("$times")?.as_array()?.as_slice() {
        [value, times] => (value, usize::try_from(times.as_u64()?).ok()?),
        _ => return None,
    };
    Some(match value {
        Value::String(text) => Value::String(text.repeat(times)),
        other => Value::Array(vec![other.clone(); times]),
    })
}

/// Returns the text of a file: the value as it stands there, or what a string says.
pub(crate) fn text_of(value: &Value) -> String {
    match whole(value) {
        Value::String(text) => text,
        other => serde_json::to_string_pretty(&other).expect("text"),
    }
}
