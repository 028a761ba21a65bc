//! What somebody who takes up a captured session needs to know: what was asked, done, failed and is
//! still open, and which lessons were heard.
//!
//! Printed when it is asked for, and never put before an agent by itself: what a resumed session has
//! been told stands in its own transcript already.

use super::account::{Account, head, text};
use crate::canon::{Object, Value};

/// The most lines of one kind.
const MOST: usize = 8;

/// The most bytes of the whole text.
const MAX_BYTES: usize = 8 * 1024;

/// Returns the text for whoever takes up a session; `checkpoint` is the newest one on its thread.
pub fn context(account: &Account, checkpoint: Option<&Object>) -> String {
    let Some(charter) = &account.charter else { return String::new() };
    let mut lines = Vec::new();
    let said = |field: &str| text(&charter.body, field).unwrap_or_default();
    lines.push(format!(
        "Session {} in {}: began {}, last event {}.",
        said("session_id"),
        said("harness"),
        charter.began_at,
        account.last_at
    ));
    let place = text(&charter.body, "cwd").filter(|place| !place.is_empty());
    lines.extend(place.map(|place| format!("Working directory: {place}")));
    listed(&mut lines, "Asked:", account.asked().map(one_line), account.prompts);
    lines.push(done(account));
    let failures = account
        .failures()
        .map(|failure| format!("{}: {}", failure.tool, one_line(&failure.content)));
    listed(&mut lines, "Failed:", failures, account.failed);
    let open = open(account);
    let count = open.len() as u64;
    listed(&mut lines, "Open:", open.into_iter(), count);
    let lessons: Vec<String> = account
        .lessons()
        .map(|lesson| format!("{} ({}): {}", lesson.rule, lesson.fires, one_line(&lesson.words)))
        .collect();
    let count = lessons.len() as u64;
    listed(&mut lines, "Lessons heard:", lessons.into_iter(), count);
    lines
        .extend(account.closing.as_deref().map(|words| format!("Last words: {}", one_line(words))));
    if let Some(checkpoint) = checkpoint {
        let learned = checkpoint.get("learnings").and_then(Value::as_array).unwrap_or_default();
        let learned: Vec<String> = learned.iter().filter_map(Value::as_str).map(one_line).collect();
        let count = learned.len() as u64;
        listed(&mut lines, "Noted down:", learned.into_iter(), count);
        let next = text(checkpoint, "next_steps").filter(|next| !next.is_empty());
        lines.extend(next.map(|next| format!("Next: {}", one_line(next))));
    }
    bounded(&lines)
}

fn done(account: &Account) -> String {
    if account.calls == 0 {
        return "Done: no tool was called.".into();
    }
    let mut tools: Vec<_> = account.done().iter().collect();
    tools.sort_by_key(|(_, tally)| std::cmp::Reverse(tally.calls));
    let more = tools.len().saturating_sub(MOST);
    let mut said: Vec<String> =
        tools.iter().take(MOST).map(|(tool, tally)| format!("{tool} × {}", tally.calls)).collect();
    if more > 0 {
        said.push(format!("{more} other tools"));
    }
    let calls = plural(account.calls, "call");
    format!("Done: {calls}, {} failed: {}.", account.failed, said.join(", "))
}

/// Returns what waits for somebody.
fn open(account: &Account) -> Vec<String> {
    let mut open = Vec::new();
    if let Some(asked) = &account.unanswered {
        open.push(format!("not answered yet: {}", one_line(asked)));
    }
    let waiting = account.undelivered().count();
    if waiting > 0 {
        let lessons = plural(waiting as u64, "lesson");
        open.push(format!("not delivered yet: {lessons}"));
    }
    let going = account.agents().iter().filter(|(_, agent)| !agent.stopped);
    open.extend(going.map(|(id, _)| format!("no end is known of the subagent {id}")));
    open
}

/// Adds the newest of `items` under a heading, if there are any; `count` is how many there were.
fn listed(
    lines: &mut Vec<String>,
    heading: &str,
    items: impl ExactSizeIterator<Item = String>,
    count: u64,
) {
    let skipped = items.len().saturating_sub(MOST);
    let shown: Vec<String> = items.skip(skipped).collect();
    if shown.is_empty() {
        return;
    }
    lines.push(heading.to_owned());
    let earlier = count.saturating_sub(shown.len() as u64);
    if earlier > 0 {
        lines.push(format!("- ({earlier} earlier)"));
    }
    lines.extend(shown.into_iter().map(|item| format!("- {item}")));
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn bounded(lines: &[String]) -> String {
    let mut text = String::new();
    for line in lines {
        if text.len() + line.len() + 1 > MAX_BYTES {
            text.push_str("…\n");
            break;
        }
        text.push_str(line);
        text.push('\n');
    }
    text
}

/// Returns a count of things: `1 record`, `2 records`.
pub(super) fn plural(count: u64, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

/// Returns the first `chars` characters of a text, on one line.
pub(super) fn cut(text: &str, chars: usize) -> String {
    head(&one_line(text), chars)
}
