//! Reading a script, and saying what is wrong with it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use super::{CallRequest, ModelError, Reply, StopReason, Usage};
use crate::canon::{Limits, Object, ParseError, Value, parse};
use crate::code::{Code, Coded};

/// One turn of a script.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) reply: Reply,
    pub(super) wait_for: Option<PathBuf>,
    pub(super) fails: Option<ModelError>,
}

/// Why there is no script.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScriptError {
    /// It is not JSON.
    #[error("the script cannot be read: {0}")]
    NotJson(ParseError),
    /// Something in it is not as it must be.
    #[error("{place}: {message}")]
    Wrong {
        /// Where: `the script`, `turn 2`, `turn 2, call 1`.
        place: String,
        /// What is wrong.
        message: String,
    },
}

impl Coded for ScriptError {
    fn code(&self) -> Code {
        Code::InvalidBody
    }
}

/// Returns a reply that ends where one of its kind does.
pub(super) fn reply(text: String, calls: Vec<CallRequest>) -> Reply {
    let stop = if calls.is_empty() { StopReason::EndTurn } else { StopReason::ToolUse };
    Reply { text, calls, usage: Usage::default(), stop }
}

/// The turns of a run, and of each task that may be asked for in it, by what that is to do.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) turns: Vec<Turn>,
    pub(super) tasks: BTreeMap<String, Vec<Turn>>,
}

/// Reads a script.
pub(super) fn read(script: &[u8]) -> Result<Parts, ScriptError> {
    let script = parse(script, Limits::DOOR).map_err(ScriptError::NotJson)?;
    let script = Part::of(&script, "the script".to_owned(), &["turns", "tasks"])?;
    let turns = script.list("turns")?.ok_or_else(|| script.wrong("`turns` is missing"))?;
    let turns = read_turns(turns, "turn")?;
    let mut tasks = BTreeMap::new();
    if let Some(listed) = script.members.get("tasks") {
        let listed = listed
            .as_object()
            .ok_or_else(|| script.wrong("`tasks` must be an object of lists of turns"))?;
        for (goal, turns) in listed {
            let turns = turns
                .as_array()
                .ok_or_else(|| script.wrong("`tasks` must have a list of turns under each goal"))?;
            let place = format!("task `{}`, turn", goal.chars().take(64).collect::<String>());
            tasks.insert(goal.clone(), read_turns(turns, &place)?);
        }
    }
    Ok(Parts { turns, tasks })
}

fn read_turns(turns: &[Value], place: &str) -> Result<Vec<Turn>, ScriptError> {
    let mut turns = turns
        .iter()
        .enumerate()
        .map(|(index, turn)| read_turn(turn, &format!("{place} {}", index + 1)))
        .collect::<Result<Vec<_>, _>>()?;
    name_calls(&mut turns)?;
    Ok(turns)
}

fn read_turn(turn: &Value, place: &str) -> Result<Turn, ScriptError> {
    let known = ["text", "tool_calls", "wait_for", "usage", "stop", "fails"];
    let turn = Part::of(turn, place.to_owned(), &known)?;
    let mut calls = Vec::new();
    for (index, call) in turn.list("tool_calls")?.unwrap_or_default().iter().enumerate() {
        calls.push(read_call(call, format!("{place}, call {}", index + 1))?);
    }
    let mut reply = reply(turn.text("text")?.unwrap_or_default().to_owned(), calls);
    match turn.text("stop")? {
        None => {}
        Some("output_limit") => reply.stop = StopReason::OutputLimit,
        Some(_) => return Err(turn.wrong("`stop` must be \"output_limit\"")),
    }
    if let Some(usage) = turn.members.get("usage") {
        let usage = Part::of(usage, format!("{place}, usage"), &["input_tokens", "output_tokens"])?;
        reply.usage.input_tokens = usage.count("input_tokens")?;
        reply.usage.output_tokens = usage.count("output_tokens")?;
    }
    let fails = turn.text("fails")?.map(|message| ModelError::Unavailable {
        model: "scripted".to_owned(),
        message: message.to_owned(),
    });
    Ok(Turn { reply, wait_for: turn.file("wait_for")?, fails })
}

/// Reads a call; one without an id has none yet.
fn read_call(call: &Value, place: String) -> Result<CallRequest, ScriptError> {
    let call = Part::of(call, place, &["id", "name", "args", "malformed"])?;
    let args = match call.members.get("args") {
        None => Object::new(),
        Some(Value::Object(args)) => args.clone(),
        Some(other) => return Err(call.wrong_type("args", "an object", other)),
    };
    let malformed = call.text("malformed")?.map(str::to_owned);
    if malformed.is_some() && !args.is_empty() {
        return Err(call.wrong("`malformed` stands in place of `args`"));
    }
    let required = |member| match call.text(member)? {
        Some("") => Err(call.wrong(&format!("`{member}` must not be empty"))),
        text => Ok(text),
    };
    Ok(CallRequest {
        id: required("id")?.unwrap_or_default().to_owned(),
        name: required("name")?.ok_or_else(|| call.wrong("`name` is missing"))?.to_owned(),
        args,
        malformed,
    })
}

/// Gives an id to each call that has none, and refuses an id that stands twice.
fn name_calls(turns: &mut [Turn]) -> Result<(), ScriptError> {
    let mut taken = BTreeSet::new();
    for (index, turn) in turns.iter().enumerate() {
        for id in turn.reply.calls.iter().map(|call| &call.id).filter(|id| !id.is_empty()) {
            if !taken.insert(id.clone()) {
                let place = format!("turn {}", index + 1);
                return Err(ScriptError::Wrong {
                    place,
                    message: format!("the id `{id}` stands twice in the script"),
                });
            }
        }
    }
    let mut free = (1_u64..).map(|n| format!("c{n}")).filter(|id| !taken.contains(id));
    let calls = turns.iter_mut().flat_map(|turn| &mut turn.reply.calls);
    for call in calls.filter(|call| call.id.is_empty()) {
        call.id = free.next().unwrap_or_default();
    }
    Ok(())
}

/// An object of the script, and where it stands.
struct Part<'a> {
    place: String,
    members: &'a Object,
}

impl<'a> Part<'a> {
    /// Takes `value` as an object of the members `known` and no others.
    fn of(value: &'a Value, place: String, known: &[&str]) -> Result<Self, ScriptError> {
        let Value::Object(members) = value else {
            let message = format!("must be an object, not {}", value.type_name());
            return Err(ScriptError::Wrong { place, message });
        };
        let part = Self { place, members };
        match members.keys().find(|key| !known.contains(&key.as_str())) {
            None => Ok(part),
            Some(unknown) => {
                let unknown: String = unknown.chars().take(64).collect();
                let known = known.join("`, `");
                Err(part.wrong(&format!("`{unknown}` is not known here; `{known}` are")))
            }
        }
    }

    fn wrong(&self, message: &str) -> ScriptError {
        ScriptError::Wrong { place: self.place.clone(), message: message.to_owned() }
    }

    fn wrong_type(&self, member: &str, wanted: &str, got: &Value) -> ScriptError {
        self.wrong(&format!("`{member}` must be {wanted}, not {}", got.type_name()))
    }

    fn text(&self, member: &str) -> Result<Option<&'a str>, ScriptError> {
        match self.members.get(member) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.wrong_type(member, "a string", other)),
        }
    }

    fn list(&self, member: &str) -> Result<Option<&'a [Value]>, ScriptError> {
        match self.members.get(member) {
            None => Ok(None),
            Some(Value::Array(elements)) => Ok(Some(elements)),
            Some(other) => Err(self.wrong_type(member, "a list", other)),
        }
    }

    fn count(&self, member: &str) -> Result<u64, ScriptError> {
        let Some(value) = self.members.get(member) else { return Ok(0) };
        value.as_u64().ok_or_else(|| {
            self.wrong(&format!("`{member}` must be an integer that is not negative"))
        })
    }

    /// Reads the path of a file beneath the workspace.
    fn file(&self, member: &str) -> Result<Option<PathBuf>, ScriptError> {
        let Some(text) = self.text(member)? else { return Ok(None) };
        let path = Path::new(text);
        let beneath =
            |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if text.is_empty() || !path.components().all(beneath) {
            return Err(self.wrong(&format!("`{member}` must be a path inside of the workspace")));
        }
        Ok(Some(path.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn refused(script: &str, message: &str) {
        let error = read(script.as_bytes()).expect_err(script);
        assert_eq!(error.to_string(), message);
        assert_eq!(error.code(), Code::InvalidBody);
    }

    #[test]
    fn what_is_not_known_or_not_right_is_named_with_its_place() {
        refused("{", "the script cannot be read: not JSON: Object keys must be strings at byte 1");
        refused("[]", "the script: must be an object, not array");
        refused("{}", "the script: `turns` is missing");
        refused(r#"{"turns":{}}"#, "the script: `turns` must be a list, not object");
        refused(
            r#"{"turns":[],"model":1}"#,
            "the script: `model` is not known here; `turns`, `tasks` are",
        );
        refused(
            r#"{"turns":[{},{"txt":"x"}]}"#,
            "turn 2: `txt` is not known here; \
             `text`, `tool_calls`, `wait_for`, `usage`, `stop`, `fails` are",
        );
        refused(r#"{"turns":["x"]}"#, "turn 1: must be an object, not string");
        refused(r#"{"turns":[{"text":1}]}"#, "turn 1: `text` must be a string, not number");
        refused(r#"{"turns":[{"stop":"x"}]}"#, "turn 1: `stop` must be \"output_limit\"");
        refused(
            r#"{"turns":[{"usage":{"input_tokens":-1}}]}"#,
            "turn 1, usage: `input_tokens` must be an integer that is not negative",
        );
        refused(
            r#"{"turns":[{"tool_calls":[{"name":"a"},{"name":"b","arguments":{}}]}]}"#,
            "turn 1, call 2: `arguments` is not known here; `id`, `name`, `args`, `malformed` are",
        );
        refused(r#"{"turns":[{"tool_calls":[{}]}]}"#, "turn 1, call 1: `name` is missing");
        refused(
            r#"{"turns":[{"tool_calls":[{"name":""}]}]}"#,
            "turn 1, call 1: `name` must not be empty",
        );
        refused(
            r#"{"turns":[{"tool_calls":[{"name":"a","args":[]}]}]}"#,
            "turn 1, call 1: `args` must be an object, not array",
        );
        let twice = r#"{"tool_calls":[{"id":"x","name":"a"}]}"#;
        refused(
            &format!(r#"{{"turns":[{twice},{twice}]}}"#),
            "turn 2: the id `x` stands twice in the script",
        );
        refused(
            r#"{"turns":[],"tasks":[]}"#,
            "the script: `tasks` must be an object of lists of turns",
        );
        refused(
            r#"{"turns":[],"tasks":{"a":{}}}"#,
            "the script: `tasks` must have a list of turns under each goal",
        );
        refused(
            r#"{"turns":[],"tasks":{"a":[{},{"text":1}]}}"#,
            "task `a`, turn 2: `text` must be a string, not number",
        );
        for path in ["", "/etc/passwd", "../x", "a/../../x"] {
            refused(
                &format!(r#"{{"turns":[{{"wait_for":"{path}"}}]}}"#),
                "turn 1: `wait_for` must be a path inside of the workspace",
            );
        }
    }
}
