//! Why an expression says what it says, as a tree.

use std::io::{self, Write};

use spl::canon::{Object, Value};
use unicode_width::UnicodeWidthStr;

use super::{DIM, GOOD, WARN, cut, plural, printable};

/// How wide the source of a part may be.
const MAX_SOURCE: usize = 64;

/// Prints an explanation: each part below what it is a part of, with what came of it beside it.
pub(crate) fn explained(explanation: &Object, out: &mut dyn Write) -> io::Result<()> {
    let mut lines = Vec::new();
    gather(explanation, 0, &mut lines);
    let width = lines.iter().map(|line| line.source.width()).max().unwrap_or_default();
    for Line { source, came } in &lines {
        let gap = " ".repeat(width - source.width() + 2);
        match came {
            Came::Value(value) if value == "true" => {
                writeln!(out, "{source}{gap}{GOOD}{value}{GOOD:#}")?;
            }
            Came::Value(value) => writeln!(out, "{source}{gap}{value}")?,
            Came::Failed(message) => writeln!(out, "{source}{gap}{WARN}{message}{WARN:#}")?,
            Came::Skipped => writeln!(out, "{source}{gap}{DIM}not evaluated{DIM:#}")?,
            Came::Nothing => writeln!(out, "{DIM}{source}{DIM:#}")?,
        }
    }
    Ok(())
}

struct Line {
    source: String,
    came: Came,
}

enum Came {
    Value(String),
    Failed(String),
    Skipped,
    /// The line is only a remark.
    Nothing,
}

fn gather(part: &Object, depth: usize, lines: &mut Vec<Line>) {
    let text = |key: &str| part.get(key).and_then(Value::as_str).unwrap_or_default();
    let count = |of: &Object, key: &str| of.get(key).and_then(Value::as_u64);
    let indent = "  ".repeat(depth);
    let round = part.get("round").and_then(Value::as_object);
    let variable = round.map(|round| {
        let name = round.get("variable").and_then(Value::as_str).unwrap_or_default();
        format!("{name} = {}: ", value(round))
    });
    let source = format!("{}{}", variable.unwrap_or_default(), text("source"));
    let own: Vec<&Object> = parts(part).collect();
    let came = match text("finding") {
        "value" => Came::Value(value(part)),
        "failed" => Came::Failed(failed(text("message"), &own)),
        _ => Came::Skipped,
    };
    lines.push(Line { source: format!("{indent}{}", cut(&source, MAX_SOURCE)), came });
    let remark = |what: String, lines: &mut Vec<Line>| {
        lines.push(Line { source: format!("{indent}  … {what}"), came: Came::Nothing });
    };
    let number = |part: &Object| count(part.get("round")?.as_object()?, "number");
    let mut seen = 0;
    for child in own {
        let number = number(child).unwrap_or(seen);
        if number > seen + 1 {
            remark(plural(number - seen - 1, "more round"), lines);
        }
        seen = number;
        gather(child, depth + 1, lines);
    }
    match count(part, "rounds") {
        Some(rounds) if rounds > seen => remark(plural(rounds - seen, "more round"), lines),
        _ => {}
    }
    if let Some(hidden) = count(part, "hidden") {
        remark(plural(hidden, "more part"), lines);
    }
}

fn parts(part: &Object) -> impl Iterator<Item = &Object> {
    let parts = part.get("parts").and_then(Value::as_array).unwrap_or_default();
    parts.iter().filter_map(Value::as_object)
}

/// A failure is told where it began; what it made fail only says that it did.
fn failed(message: &str, parts: &[&Object]) -> String {
    let same = |part: &&Object| part.get("message").and_then(Value::as_str) == Some(message);
    if parts.iter().any(same) { "failed".into() } else { format!("failed: {}", printable(message)) }
}

/// Returns a value as it is written, with a mark where it was cut and how long it is.
fn value(of: &Object) -> String {
    let json = of.get("value").unwrap_or(&Value::Null).to_string();
    let ty = of.get("type").and_then(Value::as_str).unwrap_or_default();
    let json = match ty {
        "bytes" | "timestamp" | "duration" | "type" => format!("{ty} {json}"),
        "double" if json == "null" => "not a number".to_owned(),
        _ => json,
    };
    let json = printable(&json).into_owned();
    let Some(size) = of.get("size").and_then(Value::as_u64) else { return json };
    let (beginning, end) = json.split_at(json.len().saturating_sub(1));
    let (comma, unit) = match ty {
        "list" => (", ", "element"),
        "map" => (", ", "entry"),
        "bytes" => ("", "byte"),
        _ => ("", "character"),
    };
    let size = plural(size, unit).replace("entrys", "entries");
    format!("{beginning}{comma}…{end} ({size})")
}

#[cfg(test)]
mod tests {
    use super::*;
    use spl::object;

    #[test]
    fn a_value_that_was_cut_says_how_long_it_is() {
        let shown = |ty: &str, it: Value, size: u64| {
            value(&object! { "type": ty, "value": it, "size": size })
        };
        assert_eq!(shown("string", "ab".into(), 5_000), "\"ab…\" (5000 characters)");
        assert_eq!(shown("list", vec![1_i64].into(), 9), "[1, …] (9 elements)");
        assert_eq!(shown("map", object! { "a": 1 }.into(), 2), "{\"a\":1, …} (2 entries)");
        assert_eq!(value(&object! { "type": "string", "value": "\u{9b}2J" }), "\"\\u{9b}2J\"");
        assert_eq!(value(&object! { "type": "double", "value": Value::Null }), "not a number");
    }
}
