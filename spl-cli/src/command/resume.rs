//! `spl resume`: what to know on coming back.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};

use super::runs::word;
use crate::client::Target;
use crate::failure::Failure;
use crate::output::{DIM, NAME, cut, plural, printable, quote};
use crate::session::Session;

/// The thread that stands for the whole instance.
const ATTENTION: &str = "th_attention";

/// The most lines of one bucket that a person is shown.
const MOST: usize = 8;

/// Show what to know on coming back
#[derive(Args, Debug)]
#[command(after_help = "\
Without a room: what was left, what has moved since, what needs you, and where to go first. With
one: what closed, is open, waits, moved and was learned in it. A room is a thread.

Examples:
  spl resume
  spl resume th_4f0c")]
pub(crate) struct ResumeArgs {
    /// A thread, or so much of its name that no other begins like that
    room: Option<String>,
}

/// Shows what to know on coming back.
pub(crate) fn resume(session: &mut Session, args: &ResumeArgs) -> Result<(), Failure> {
    let room = args.room.as_deref().unwrap_or(ATTENTION).trim_end_matches('…');
    let found = session.reporter()?.get(&Target::of(&["v1", "threads", room, "resume"]))?;
    session.out.answer(&found, |out| {
        if let Some(left) = found.get("left").and_then(Value::as_object) {
            show_left(left, out)?;
        }
        match found.get("room").and_then(Value::as_str) {
            Some(_) => show_room(&found, out),
            None => show_instance(&found, out),
        }
    })
}

fn show_left(left: &Object, out: &mut dyn Write) -> io::Result<()> {
    let (summary, at) = (word(left, "summary"), word(left, "at"));
    writeln!(out, "{NAME}left{NAME:#} {} {DIM}{at}{DIM:#}", cut(&summary, 72))?;
    word(left, "next_steps")
        .lines()
        .take(MOST)
        .try_for_each(|next| writeln!(out, "  next: {}", cut(next, 88)))
}

fn show_instance(found: &Object, out: &mut dyn Write) -> io::Result<()> {
    bucket(found, "needs", "needs you", true, out)?;
    bucket(found, "moved", "moved", true, out)?;
    if let Some(totals) = found.get("totals").and_then(Value::as_object) {
        let count = |key: &str| totals.get(key).and_then(Value::as_u64).unwrap_or_default();
        writeln!(
            out,
            "{DIM}{} open, {} waiting, {}, {}, {}{DIM:#}",
            count("open"),
            count("waiting"),
            plural(count("threads"), "thread"),
            plural(count("sessions"), "session"),
            plural(count("records"), "record"),
        )?;
    }
    match found.get("suggested_room").and_then(Value::as_str) {
        Some(room) => writeln!(out, "go on with: spl resume {}", quote(&printable(room))),
        None => writeln!(out, "nothing waits"),
    }
}

fn show_room(found: &Object, out: &mut dyn Write) -> io::Result<()> {
    if let Some(context) = found.get("context").and_then(Value::as_str) {
        context.lines().try_for_each(|line| writeln!(out, "{}", printable(line)))?;
        return bucket(found, "waiting", "waiting", false, out);
    }
    for name in ["closed", "open", "waiting", "moved"] {
        bucket(found, name, name, false, out)?;
    }
    let learned = found.get("learned").and_then(Value::as_array).unwrap_or_default();
    let learned: Vec<String> = learned
        .iter()
        .filter_map(Value::as_object)
        .map(|learned| match learned.get("name").and_then(Value::as_str) {
            Some(name) => format!("{name}: {}", word(learned, "text")),
            None => word(learned, "text"),
        })
        .collect();
    listed("learned", &learned, out)
}

fn bucket(
    found: &Object,
    key: &str,
    heading: &str,
    named: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let items = found.get(key).and_then(Value::as_array).unwrap_or_default();
    let line = |item: &Object| {
        if named {
            format!("{} in {}", cut(&word(item, "label"), 48), word(item, "thread"))
        } else {
            word(item, "label")
        }
    };
    let lines: Vec<String> = items.iter().filter_map(Value::as_object).map(line).collect();
    listed(heading, &lines, out)
}

fn listed(heading: &str, lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    if lines.is_empty() {
        return Ok(());
    }
    writeln!(out, "{NAME}{heading}{NAME:#}")?;
    for line in lines.iter().take(MOST) {
        writeln!(out, "  {}", cut(line, 96))?;
    }
    match lines.len().saturating_sub(MOST) {
        0 => Ok(()),
        more => writeln!(out, "  {DIM}and {more} more{DIM:#}"),
    }
}
