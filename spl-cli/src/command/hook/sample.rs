//! A call to try a hook on: from a file, or as it was recorded.

use std::path::Path;

use spl::canon::{Object, Value};
use spl::object;

use crate::client::Client;
use crate::command::record::find;
use crate::command::write::read_object;
use crate::failure::Failure;

/// What a sample may say.
const KNOWN: [&str; 5] = ["args", "content", "resource", "status", "tool"];
/// The kind of a recorded result.
const RESULT: &str = "core.work.tool_result.v1";

/// A call that returned.
pub(super) struct Sample {
    pub(super) tool: String,
    pub(super) status: String,
    pub(super) resource: String,
    /// The namespace of its run, if it was recorded.
    pub(super) namespace: Option<String>,
    /// The record that a predicate sees.
    pub(super) record: Object,
}

impl Sample {
    /// Reads a call: a file, JSON as it stands, `-`, or the id of a recorded result.
    pub(super) fn read(client: &Client, given: &str) -> Result<Self, Failure> {
        let stands_for_itself = given == "-" || given.starts_with(['@', '{']);
        if stands_for_itself {
            return Self::of(read_object("call", given)?);
        }
        if Path::new(given).exists() {
            return Self::of(read_object("call", &format!("@{given}"))?);
        }
        if given.is_empty() || !given.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(Failure::usage(format!("`{given}` is neither a file nor an id")));
        }
        Self::recorded(client, given)
    }

    fn of(mut call: Object) -> Result<Self, Failure> {
        if let Some(unknown) = call.keys().find(|key| !KNOWN.contains(&key.as_str())) {
            let known = KNOWN.join(", ");
            let message = format!("`{unknown}` is not a field of a call; the fields are {known}");
            return Err(Failure::invalid(message));
        }
        let resource = match call.remove("resource") {
            None => None,
            Some(Value::String(resource)) => Some(resource),
            Some(other) => return Err(wrong("resource", "a string", &other)),
        };
        let record = object! { "body": call };
        Self::new(record, resource)
    }

    fn new(mut record: Object, resource: Option<String>) -> Result<Self, Failure> {
        let mut body = record.remove("body").and_then(object_of).unwrap_or_default();
        let tool = match body.get("tool") {
            Some(Value::String(tool)) => tool.clone(),
            Some(other) => return Err(wrong("tool", "a string", other)),
            None => return Err(Failure::invalid("a call has a `tool`")),
        };
        let status = body.entry("status".into()).or_insert_with(|| "ok".into());
        let status = match status {
            Value::String(status) => status.clone(),
            other => return Err(wrong("status", "a string", other)),
        };
        let namespace = body.get("namespace").and_then(Value::as_str).map(str::to_owned);
        let resource = resource.unwrap_or_else(|| format!("tool:{tool}"));
        record.insert("body".into(), body.into());
        Ok(Self { tool, status, resource, namespace, record })
    }

    /// Puts a call together from the record of its result and that of the call.
    fn recorded(client: &Client, id: &str) -> Result<Self, Failure> {
        let result = find(client, id)?;
        let body = result.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
        let kind = body.get("kind").and_then(Value::as_str).unwrap_or("no kind");
        if kind != RESULT {
            let message = format!("record `{id}` is `{kind}`, not the result of a tool call");
            return Err(Failure::invalid(message).with_hint(format!("A result is `{RESULT}`.")));
        }
        let parents = result.get("parents").and_then(Value::as_array).unwrap_or_default();
        let Some(call) = parents.first().and_then(Value::as_str) else {
            return Err(Failure::invalid(format!(
                "record `{id}` does not say which call it is of"
            )));
        };
        let call = find(client, call)?;
        let args = call.get("body").and_then(|body| body.get("args")).cloned();
        let of_result = |key: &str| Some((key.to_owned(), body.get(key)?.clone()));
        let mut seen: Object =
            ["tool", "status", "content", "namespace"].into_iter().filter_map(of_result).collect();
        seen.insert("args".into(), args.unwrap_or_else(|| Object::new().into()));
        let mut record = object! { "body": seen };
        let envelope = [("actor", &call), ("thread", &result), ("clock", &result)];
        for (key, from) in envelope {
            record.extend(from.get(key).map(|value| (key.to_owned(), value.clone())));
        }
        record.insert("parents".into(), parents.to_vec().into());
        Self::new(record, None)
    }
}

fn object_of(value: Value) -> Option<Object> {
    match value {
        Value::Object(object) => Some(object),
        _ => None,
    }
}

fn wrong(field: &str, wanted: &str, got: &Value) -> Failure {
    Failure::invalid(format!("`{field}` must be {wanted}, not {}", got.type_name()))
}
