//! What a hook's end and its words come to.

use std::borrow::Cow;
use std::time::Duration;

use super::Event;
use crate::canon::{Limits, Object, Value, parse_leniently};
use crate::policy::Reply;
use crate::secret::mask;
use crate::tool::{Ending, ScriptEnd};

/// How much is told of what a hook said that failed.
pub const DETAIL_CHARS: usize = 200;

/// Reads the answer of a hook that was asked at `event` and had at most `timeout`.
pub fn read_answer(event: Event, end: &ScriptEnd, timeout: Duration) -> Reply {
    let how = match &end.ending {
        Ending::Exited(0) => return proceeds(event, end),
        Ending::Exited(2) => return Reply::Block { reason: reason(event, end) },
        Ending::Exited(status) => format!("exit status {status}"),
        Ending::Signalled(signal) => format!("ended by signal {signal}"),
        Ending::TimedOut => format!("timed out after {} ms", timeout.as_millis()),
        Ending::Overflowed => "wrote more than it may".to_owned(),
        Ending::NotStarted(why) => {
            return Reply::Failed { how: "could not be started".to_owned(), detail: cut(why) };
        }
        Ending::Cancelled => return Reply::Cancelled,
    };
    Reply::Failed { how, detail: cut(trimmed(&text(&end.stderr))) }
}

fn proceeds(event: Event, end: &ScriptEnd) -> Reply {
    let words = object(&end.stdout).unwrap_or_default();
    if words.get("decision").and_then(Value::as_str) == Some("block") {
        let reason = said(&words, "reason").map_or_else(|| unexplained(event), str::to_owned);
        return Reply::Block { reason };
    }
    let context = said(&words, "additionalContext").filter(|_| event == Event::UserPromptSubmit);
    Reply::Proceed { context: context.map(str::to_owned) }
}

/// Returns why a hook that ended with 2 blocks: what it says in its object, else what it says to
/// people, else what it says.
fn reason(event: Event, end: &ScriptEnd) -> String {
    let words = object(&end.stdout);
    if let Some(reason) = words.as_ref().and_then(|words| said(words, "reason")) {
        return reason.to_owned();
    }
    let (stderr, stdout) = (text(&end.stderr), text(&end.stdout));
    let stdout = if words.is_some() { "" } else { trimmed(&stdout) };
    [trimmed(&stderr), stdout]
        .into_iter()
        .find(|said| !said.is_empty())
        .map_or_else(|| unexplained(event), str::to_owned)
}

fn unexplained(event: Event) -> String {
    format!("a {} hook blocked it and gave no reason", event.as_str())
}

/// Returns the member `key`, if it is a text with something in it.
fn said<'a>(words: &'a Object, key: &str) -> Option<&'a str> {
    words.get(key).and_then(Value::as_str).filter(|said| !said.is_empty())
}

/// Returns the one object that is all of what a hook wrote, if it is that.
fn object(stdout: &[u8]) -> Option<Object> {
    let text = text(stdout);
    let text = trimmed(&text);
    if !text.starts_with('{') {
        return None;
    }
    parse_leniently(text.as_bytes(), Limits::DOOR).ok()?.into_object()
}

fn text(bytes: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(bytes)
}

/// Returns a text without space around it, to which a byte order mark belongs.
fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

/// Returns what is told of a failure, in a place that may be a log.
fn cut(text: &str) -> String {
    mask(text).chars().take(DETAIL_CHARS).collect()
}

#[cfg(test)]
mod tests;
