//! A run on a server as it happens, until it is over or waits for somebody.

use std::io::{self, Write};

use spl::canon::{Object, Value};

use super::word;
use crate::client::{Event, Target};
use crate::failure::Failure;
use crate::output::{DIM, ERROR, Form, GOOD, NAME, WARN, cut, note, printable};
use crate::session::Session;

/// The exit status of a run that waits for somebody's decision.
const WAITS: u8 = 3;

/// The most characters of one line.
const COLUMNS: usize = 100;

/// Which run to follow.
pub(crate) struct Following<'a> {
    pub(crate) thread: &'a str,
    /// Whether to say how to come back, for whoever started it and may leave.
    pub(crate) detached: bool,
}

/// Follows a run, and returns the exit status that says how it went.
pub(crate) fn follow(session: &mut Session, run: &Following<'_>) -> Result<u8, Failure> {
    if run.detached {
        note(&format!("Ctrl-C leaves the run going; come back with: spl runs tail {}", run.thread));
    }
    let mut last_id: Option<String> = None;
    // A stream ends when its server goes away; whoever answers next knows how the run stands.
    loop {
        let client = session.reader()?;
        let target = Target::of(&["v1", "runs", run.thread, "events"]);
        let target = if last_id.is_none() { target.with("replay", true) } else { target };
        let mut events = client.follow(&target, last_id.as_deref())?;
        let mut heard = false;
        while let Some(Event { name, id, data }) = events.next() {
            heard = true;
            last_id = id.or(last_id.take());
            match (name.as_str(), data.get("record"), data.as_object()) {
                ("record.created", Some(record), _) if session.out.form() != Form::Json => {
                    session.out.row(record, |out| line(record, out))?;
                }
                ("status", _, Some(row)) if word(row, "state") == "waiting_on_you" => {
                    return ended(session, row);
                }
                ("end", _, Some(row)) => return ended(session, row),
                // Goes on where it was with the next stream.
                ("error", _, Some(said)) if word(said, "code") == "lagged" => {}
                ("error", ..) => return Err(Failure::sent(500, data)),
                _ => {}
            }
        }
        if !heard {
            return Err(Failure::unreachable("the stream ended at once"));
        }
    }
}

fn ended(session: &mut Session, row: &Object) -> Result<u8, Failure> {
    session.out.answer(row, |out| {
        let state = word(row, "state");
        let style = if state == "done" { GOOD } else { ERROR };
        let (turns, ok) = (word(row, "turns"), word(row, "tool_calls_ok"));
        let failed = word(row, "tool_calls_failed");
        writeln!(out, "{style}{state}{style:#} {turns} turns, {ok} calls ok, {failed} failed")?;
        match row.get("ask").and_then(Value::as_object) {
            None => Ok(()),
            Some(ask) => {
                let (question, id) = (word(ask, "question"), word(ask, "id"));
                writeln!(out, "{WARN}? {}{WARN:#}", printable(&question))?;
                writeln!(out, "Answer it: spl decisions approve {id}")
            }
        }
    })?;
    Ok(match word(row, "state").as_str() {
        "done" => 0,
        "waiting_on_you" => WAITS,
        _ => 1,
    })
}

/// Prints a record of a run on a line; nothing for what says little to a person.
fn line(record: &Value, out: &mut dyn Write) -> io::Result<()> {
    let Some(body) = record.get("body").and_then(Value::as_object) else { return Ok(()) };
    let kind = word(body, "kind");
    let shown = |key: &str| cut(&printable(&word(body, key)), COLUMNS);
    match kind.strip_prefix("core.work.").unwrap_or(&kind) {
        "loop.v1" => writeln!(out, "{NAME}goal{NAME:#} {}", shown("goal")),
        "turn.v1" => {
            writeln!(out, "{NAME}turn {}{NAME:#} {}", word(body, "turn_index"), shown("text"))
        }
        "tool_call.v1" => writeln!(out, "  → {} {}", shown("tool"), shown("args")),
        "tool_result.v1" => {
            writeln!(out, "  ← {} {DIM}{}{DIM:#}", shown("status"), shown("content"))
        }
        "observation.v1" => {
            writeln!(out, "  {WARN}! {}: {}{WARN:#}", shown("rule"), shown("text"))
        }
        "message.v1" => writeln!(out, "{NAME}told{NAME:#} {}", shown("text")),
        "decision_request.v1" => writeln!(out, "  {WARN}? {}{WARN:#}", shown("question")),
        "decision.v1" => writeln!(out, "  {NAME}decided{NAME:#} {}", shown("decision")),
        "interruption.v1" => writeln!(out, "{ERROR}interrupted{ERROR:#} {}", shown("reason")),
        "resume.v1" => writeln!(out, "{DIM}taken up, life {}{DIM:#}", shown("life")),
        "loop_outcome.v1" => {
            writeln!(out, "{NAME}{}{NAME:#} {}", shown("outcome"), shown("summary"))
        }
        _ => Ok(()),
    }
}
