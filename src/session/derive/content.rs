//! The text of an answer, and whether it says that the call failed.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

use crate::canon::{Object, Value};
use crate::hook::CONTENT_CHARS;

/// How far inside each other texts are looked for.
const MAX_LEVELS: usize = 6;

/// Where the text of an answer stands, the likeliest first: `llmContent` of Gemini CLI and Qwen
/// Code, Copilot's two spellings, blocks of MCP, and what tools of Claude Code and opencode have.
const TEXTS: &[&str] = &[
    "llmContent",
    "textResultForLlm",
    "text_result_for_llm",
    "content",
    "output",
    "result",
    "text",
    "message",
    "file",
    "resource",
    "functionResponse",
    "response",
];

/// Returns the text of an answer; without one, the first characters of its JSON.
pub(in crate::session) fn shown(value: &Value) -> Cow<'_, str> {
    found(value, 0).unwrap_or_else(|| Cow::Owned(json_head(value)))
}

/// Returns the text of an answer; without one, nothing.
pub(in crate::session) fn text(value: &Value) -> Cow<'_, str> {
    found(value, 0).unwrap_or_default()
}

/// Returns whether an answer says that the call failed.
pub(super) fn says_failed(response: &Value, canonical: &str) -> bool {
    let flag = |names: [&str; 2]| names.into_iter().find_map(|name| response.get(name));
    if flag(["isError", "is_error"]).and_then(Value::as_bool) == Some(true) {
        return true;
    }
    let outcome = flag(["resultType", "result_type"]).and_then(Value::as_str);
    if matches!(outcome, Some("failure" | "rejected" | "denied")) {
        return true;
    }
    let exit = response.get("metadata").and_then(|metadata| metadata.get("exit")?.as_i64());
    // What a file holds may well look like the line of a shell.
    let told = || response.get("llmContent").and_then(|it| exit_code(&text(it)));
    let exit = exit.or_else(|| if canonical == "bash" { told() } else { None });
    exit.is_some_and(|code| code != 0)
}

/// Returns the exit status that a shell of Gemini CLI or Qwen Code tells in a line of its own. It
/// stands behind the output, so the last one counts.
fn exit_code(text: &str) -> Option<i64> {
    const LINE: &str = "Exit Code: ";
    let begins_line = |at: usize| at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let at = memmem::rfind_iter(text.as_bytes(), LINE).find(|at| begins_line(*at))?;
    text.get(at + LINE.len()..)?.lines().next()?.trim().parse().ok()
}

fn found(value: &Value, level: usize) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        _ if level >= MAX_LEVELS => None,
        Value::Array(elements) => joined(elements, level + 1),
        Value::Object(members) => in_object(members, level + 1),
        _ => None,
    }
}

/// The texts of blocks, one below the other.
fn joined(elements: &[Value], level: usize) -> Option<Cow<'_, str>> {
    let mut texts = elements.iter().filter_map(|element| found(element, level));
    let first = texts.next()?;
    let Some(second) = texts.next() else { return Some(first) };
    let mut all = first.into_owned();
    for text in [second].into_iter().chain(texts) {
        all.push('\n');
        all.push_str(&text);
    }
    Some(Cow::Owned(all))
}

fn in_object(members: &Object, level: usize) -> Option<Cow<'_, str>> {
    let text = |name: &str| members.get(name).and_then(Value::as_str);
    match (text("stdout"), text("stderr")) {
        (Some(out), Some("") | None) => return Some(Cow::Borrowed(out)),
        (Some("") | None, Some(err)) => return Some(Cow::Borrowed(err)),
        (Some(out), Some(err)) => {
            let between = if out.ends_with('\n') { "" } else { "\n" };
            return Some(Cow::Owned(format!("{out}{between}{err}")));
        }
        (None, None) => {}
    }
    TEXTS.iter().find_map(|name| found(members.get(*name)?, level))
}

/// Returns the beginning of the JSON of a value.
fn json_head(value: &Value) -> String {
    let mut head = Head { text: String::new() };
    // An error says that it is long enough.
    let _ = fmt::write(&mut head, format_args!("{value}"));
    head.text
}

/// Takes at least as many characters as a predicate sees.
struct Head {
    text: String,
}

impl fmt::Write for Head {
    fn write_str(&mut self, piece: &str) -> fmt::Result {
        if self.text.len() >= 4 * CONTENT_CHARS {
            return Err(fmt::Error);
        }
        self.text.extend(piece.chars().take(CONTENT_CHARS));
        Ok(())
    }
}
