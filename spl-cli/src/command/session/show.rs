//! `spl session show` and `spl session context`: one captured session.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};
use spl::object;

use crate::client::{Client, Target};
use crate::command::record::find;
use crate::command::runs::word;
use crate::failure::Failure;
use crate::output::{DIM, NAME, cut, printable};
use crate::session::Session;

/// Show a captured session, or a checkpoint
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl session show th_4f0c
  spl session show 5b6bf5cf       a checkpoint, by the id of its record")]
pub(crate) struct ShowArgs {
    /// The thread of the session, or so much of it that no other begins like that
    id: String,
}

/// Print what somebody needs to know who takes a session up
#[derive(Args, Debug)]
#[command(after_help = "\
What was asked, done, failed and is still open, and which lessons were heard. Nothing puts it
before an agent by itself.

Example:
  spl session context th_4f0c")]
pub(crate) struct ContextArgs {
    /// The thread of the session, or so much of it that no other begins like that
    thread: String,
}

/// Shows a session, or a checkpoint.
pub(super) fn show(session: &mut Session, args: &ShowArgs) -> Result<(), Failure> {
    let client = session.reporter()?;
    if !args.id.starts_with("th_") {
        let checkpoint = find(&client, &args.id)?;
        return session.out.answer(&checkpoint, |out| noted(&checkpoint, out));
    }
    let found = session_of(&client, &args.id)?;
    session.out.answer(&found, |out| one(&found, out))
}

/// Prints the text for whoever takes a session up.
pub(super) fn context(session: &mut Session, args: &ContextArgs) -> Result<(), Failure> {
    let found = session_of(&session.reporter()?, &args.thread)?;
    let (thread, text) = (word(&found, "thread"), word(&found, "context"));
    let answer = object! {
        "context": text.as_str(),
        "object": "session_context",
        "thread": thread,
    };
    session.out.answer(&answer, |out| {
        text.lines().try_for_each(|line| writeln!(out, "{}", printable(line)))
    })
}

/// Returns a session by its thread, or by the beginning of it.
pub(super) fn session_of(client: &Client, thread: &str) -> Result<Object, Failure> {
    client.get(&Target::of(&["v1", "sessions", &whole_thread(client, thread)?]))
}

/// Returns the name of the one thread that begins like this.
fn whole_thread(client: &Client, given: &str) -> Result<String, Failure> {
    let given = given.trim_end_matches('…');
    if given.len() >= "th_".len() + 64 {
        return Ok(given.to_owned());
    }
    let target = Target::of(&["v1", "threads"]).with("cursor", given).with("limit", 2);
    let listed = client.get(&target)?;
    let listed = listed.get("data").and_then(Value::as_array).unwrap_or_default();
    let ids = listed.iter().filter_map(|thread| thread.get("id")?.as_str());
    let mut called_so = ids.filter(|id| id.starts_with(given));
    match (called_so.next(), called_so.next()) {
        (Some(_), Some(_)) => {
            Err(Failure::usage(format!("more than one thread begins with `{given}`")))
        }
        (Some(only), None) => Ok(only.to_owned()),
        (None, _) => Ok(given.to_owned()),
    }
}

/// Prints a session, a line for each thing there is to say.
fn one(session: &Object, out: &mut dyn Write) -> io::Result<()> {
    const KEYS: [&str; 15] = [
        "thread",
        "harness",
        "session_id",
        "agent_id",
        "parent_thread",
        "state",
        "cwd",
        "model",
        "began_at",
        "last_at",
        "lives",
        "prompts",
        "turns",
        "calls",
        "failed",
    ];
    for key in KEYS {
        if session.contains_key(key) {
            writeln!(out, "{DIM}{key:<14}{DIM:#}{}", printable(&word(session, key)))?;
        }
    }
    if let Some(kept) = session.get("transcript").and_then(Value::as_object) {
        writeln!(out, "{DIM}{:<14}{DIM:#}kept, {} bytes", "transcript", word(kept, "bytes"))?;
    }
    let rows = |key: &str| session.get(key).and_then(Value::as_array).unwrap_or_default();
    let mut listed = |heading: &str, lines: Vec<String>| {
        if lines.is_empty() {
            return Ok(());
        }
        writeln!(out, "{NAME}{heading}{NAME:#}")?;
        lines.iter().try_for_each(|line| writeln!(out, "  {}", cut(line, 96)))
    };
    listed("asked", rows("asked").iter().filter_map(Value::as_str).map(str::to_owned).collect())?;
    let of = |key: &str, line: fn(&Object) -> String| -> Vec<String> {
        rows(key).iter().filter_map(Value::as_object).map(line).collect()
    };
    listed("done", of("done", |done| format!("{} × {}", word(done, "tool"), word(done, "calls"))))?;
    listed(
        "failed",
        of("failures", |it| format!("{}: {}", word(it, "tool"), word(it, "content"))),
    )?;
    listed("lessons", of("lessons", lesson))?;
    listed(
        "subagents",
        of("agents", |agent| {
            format!(
                "{} {} ({})",
                word(agent, "agent_id"),
                word(agent, "agent_type"),
                word(agent, "end")
            )
        }),
    )?;
    let waiting = rows("undelivered").len();
    if waiting > 0 {
        writeln!(out, "not delivered yet: {waiting}")?;
    }
    Ok(())
}

fn lesson(lesson: &Object) -> String {
    let followed = lesson.get("followed").and_then(Value::as_object);
    let after = |key: &str| followed.map(|it| word(it, key)).unwrap_or_default();
    format!(
        "{}: spoke {}, carried {}; then {} ok, {} failed",
        word(lesson, "rule"),
        word(lesson, "fires"),
        word(lesson, "carried"),
        after("ok"),
        after("error")
    )
}

/// Prints a checkpoint.
fn noted(record: &Object, out: &mut dyn Write) -> io::Result<()> {
    let Some(body) = record.get("body").and_then(Value::as_object) else { return Ok(()) };
    writeln!(out, "{NAME}{}{NAME:#}", printable(&word(body, "summary")))?;
    let learnings = body.get("learnings").and_then(Value::as_array).unwrap_or_default();
    for learning in learnings.iter().filter_map(Value::as_str) {
        writeln!(out, "{DIM}{:<10}{DIM:#}{}", "learned", printable(learning))?;
    }
    for next in word(body, "next_steps").lines() {
        writeln!(out, "{DIM}{:<10}{DIM:#}{}", "next", printable(next))?;
    }
    for (name, key) in [("by", "actor"), ("thread", "thread"), ("id", "id")] {
        writeln!(out, "{DIM}{name:<10}{DIM:#}{}", printable(&word(record, key)))?;
    }
    Ok(())
}
