//! Whether arguments fit the schema of a tool, in words from which a model can correct them.

#[cfg(feature = "mcp")]
mod extent;
#[cfg(feature = "mcp")]
mod schema;

use crate::canon::{Object, Value};

use super::ToolSpec;
#[cfg(feature = "mcp")]
pub(super) use schema::Schema;

/// Checks `arguments` and says what is wrong with the first that does not fit, and what would.
///
/// Of JSON Schema this knows `properties`, `required`, `additionalProperties: false`, and inside of
/// a property `type`, `enum`, `minimum` and `maximum`. Anything else is left to the tool.
pub(super) fn check(spec: &ToolSpec, arguments: &Object) -> Result<(), String> {
    let nothing = Object::new();
    let properties =
        spec.parameters.get("properties").and_then(Value::as_object).unwrap_or(&nothing);
    let refused = |what: String| Err(format!("{what}; {}", accepted(spec, properties)));
    if spec.parameters.get("additionalProperties") == Some(&Value::Bool(false))
        && let Some(unknown) = arguments.keys().find(|name| !properties.contains_key(*name))
    {
        return refused(format!("`{}` does not take `{}`", spec.name, short(unknown)));
    }
    if let Some(missing) = required(spec).find(|name| !arguments.contains_key(*name)) {
        return refused(format!("`{}` needs `{missing}`", spec.name));
    }
    for (name, value) in arguments {
        let Some(schema) = properties.get(name) else { continue };
        if let Some(wanted) = misfit(schema, value) {
            return refused(format!("`{}` must be {wanted}", short(name)));
        }
    }
    Ok(())
}

/// Returns the text `name` of `arguments`; the error is for who calls a tool without [`check`].
pub(super) fn text<'a>(arguments: &'a Object, name: &str) -> Result<&'a str, String> {
    arguments.get(name).and_then(Value::as_str).ok_or_else(|| format!("`{name}` must be a string"))
}

/// Returns the first 64 characters of a name that a model made up, in print.
pub(super) fn short(name: &str) -> String {
    name.chars().take(64).flat_map(char::escape_debug).collect()
}

fn required(spec: &ToolSpec) -> impl Iterator<Item = &str> {
    let required = spec.parameters.get("required").and_then(Value::as_array).unwrap_or_default();
    required.iter().filter_map(Value::as_str)
}

fn accepted(spec: &ToolSpec, properties: &Object) -> String {
    let required: Vec<&str> = required(spec).collect();
    let described = |(name, schema): (&String, &Value)| {
        let kind = types(schema).join(" or ");
        let optional = if required.contains(&name.as_str()) { "" } else { ", optional" };
        format!("`{name}` ({kind}{optional})")
    };
    let described: Vec<String> = properties.iter().map(described).collect();
    if described.is_empty() {
        return "it takes no arguments".to_owned();
    }
    format!("it takes {}", described.join(", "))
}

fn types(schema: &Value) -> Vec<&str> {
    match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => vec!["any"],
    }
}

/// Returns what `value` would have to be, if it is not.
fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let types = types(schema);
    if !types.iter().any(|kind| is_of(kind, value)) {
        return Some(format!("{}, not {}", types.join(" or "), value.type_name()));
    }
    if let Some(choices) = schema.get("enum").and_then(Value::as_array)
        && !choices.contains(value)
    {
        let choices: Vec<String> = choices.iter().map(ToString::to_string).collect();
        return Some(format!("one of {}", choices.join(", ")));
    }
    let Value::Number(number) = value else { return None };
    let bound = |name| match schema.get(name) {
        Some(Value::Number(bound)) => Some(bound),
        _ => None,
    };
    if let Some(least) = bound("minimum").filter(|least| number.to_f64() < least.to_f64()) {
        return Some(format!("at least {least}"));
    }
    if let Some(most) = bound("maximum").filter(|most| number.to_f64() > most.to_f64()) {
        return Some(format!("at most {most}"));
    }
    None
}

fn is_of(kind: &str, value: &Value) -> bool {
    match (kind, value) {
        // An integral float is an integer here.
        ("integer", Value::Number(number)) => number.as_fraction().is_none(),
        ("any", _) => true,
        (kind, value) => kind == value.type_name(),
    }
}
