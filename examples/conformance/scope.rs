//! Which cases are evaluated, and why the others are not.

use serde_json::Value as Json;

use crate::read::Title;

const MESSAGES: &str = "needs protobuf messages, which facts are not";

/// The files of the language itself.
const CORE: [&str; 14] = [
    "basic",
    "comparisons",
    "conversions",
    "fields",
    "fp_math",
    "integer_math",
    "lists",
    "logic",
    "macros",
    "namespace",
    "parse",
    "plumbing",
    "string",
    "timestamps",
];

/// The other files, and why none of their cases is evaluated.
const OUTSIDE: [(&str, &str); 14] = [
    ("bindings_ext", "the extension `cel.bind` is not offered"),
    ("block_ext", "the extension `cel.block` is not offered"),
    ("dynamic", MESSAGES),
    ("encoders_ext", "the extension `base64` is not offered"),
    ("enums", MESSAGES),
    ("macros2", "the extension of loops with two variables is not offered"),
    ("math_ext", "the extension `math` is not offered"),
    ("optionals", "the extension of optional values is not offered"),
    ("proto2", MESSAGES),
    ("proto2_ext", MESSAGES),
    ("proto3", MESSAGES),
    ("string_ext", "the extension of string functions is not offered"),
    ("type_deductions", "asks for the type that a checker deduces, most often of messages"),
    ("wrappers", MESSAGES),
];

pub(crate) enum Scope {
    Core,
    /// Why not.
    Outside(&'static str),
}

impl Scope {
    pub(crate) fn of(raw: &Json, title: &Title) -> Result<Self, String> {
        let file = title.file.as_str();
        if let Some((_, reason)) = OUTSIDE.iter().find(|(known, _)| *known == file) {
            return Ok(Self::Outside(reason));
        }
        if !CORE.contains(&file) {
            return Err(format!("nothing is known about the file `{file}`"));
        }
        Ok(if names_messages(raw) { Self::Outside(MESSAGES) } else { Self::Core })
    }
}

/// Tells whether a case names a message other than points and lengths of time.
fn names_messages(raw: &Json) -> bool {
    const NAMES: [&str; 2] = ["cel.expr.conformance", "TestAllTypes"];
    const OF_PROTOBUF: &str = "google.protobuf.";
    let text = raw.to_string();
    NAMES.iter().any(|name| text.contains(name))
        || text.match_indices(OF_PROTOBUF).any(|(at, found)| {
            let name = &text[at + found.len()..];
            !["Duration", "Timestamp"].iter().any(|known| name.starts_with(known))
        })
}
