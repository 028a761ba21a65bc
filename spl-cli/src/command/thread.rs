//! `spl thread`: read threads.

use std::io::Write;

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;

use crate::client::{Event, Target};
use crate::failure::Failure;
use crate::output::{DIM, Form, Table, cut, printable, short};
use crate::session::Session;

/// Read threads
#[derive(Subcommand, Debug)]
pub(crate) enum ThreadCommand {
    List(ListArgs),
    Show(ShowArgs),
    Records(RecordsArgs),
    Watch(WatchArgs),
}

/// List the threads
#[derive(Args, Debug)]
pub(crate) struct ListArgs {
    /// At most that many, 1000 at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Go on after an earlier page: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Show the state of a thread
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The thread
    id: String,
}

/// List the records of a thread, oldest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl thread records th_engine_config
  spl -o stream-json thread records th_notes --since 7 | jq .body.text")]
pub(crate) struct RecordsArgs {
    /// The thread
    id: String,
    /// At most that many, 1000 at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Only records with this clock or a later one
    #[arg(long, value_name = "CLOCK")]
    since: Option<i64>,
    /// Go on after an earlier page: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Print the records of a thread as they arrive
#[derive(Args, Debug)]
#[command(after_help = "\
Ends when it is interrupted, or after `--count` records.

Examples:
  spl thread watch th_engine_config
  spl -o stream-json thread watch th_notes --since 0 --count 3")]
pub(crate) struct WatchArgs {
    /// The thread
    id: String,
    /// Start with the records from this clock on [default: only new ones]
    #[arg(long, value_name = "CLOCK")]
    since: Option<i64>,
    /// End after that many records
    #[arg(long, short = 'n', value_name = "N")]
    count: Option<u64>,
}

/// Reads threads.
pub(crate) fn thread(session: &mut Session, command: ThreadCommand) -> Result<(), Failure> {
    match command {
        ThreadCommand::List(args) => list(session, &args),
        ThreadCommand::Show(args) => show(session, &args),
        ThreadCommand::Records(args) => records(session, &args),
        ThreadCommand::Watch(args) => watch(session, &args),
    }
}

fn list(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "threads"])
        .with("limit", args.limit)
        .with_some("cursor", args.cursor.as_deref());
    let threads = session.reader()?.get(&target)?;
    session.out.list(&threads, |out, rows| {
        let mut table = Table::new(["RECORDS", "CLOCK", "NAMESPACE", "THREAD"]);
        for row in rows {
            let of = |key| row.get(key).map(word).unwrap_or_default();
            table.row([of("record_count"), of("last_clock"), of("namespace"), of("id")]);
        }
        table.print(out)?;
        more(&threads, out)
    })
}

fn show(session: &mut Session, args: &ShowArgs) -> Result<(), Failure> {
    let state = session.reader()?.get(&Target::of(&["v1", "threads", &args.id, "state"]))?;
    session.out.answer(&state, |out| {
        for key in ["thread", "status", "record_count", "last_clock", "head"] {
            if let Some(value) = state.get(key).filter(|value| **value != Value::Null) {
                writeln!(out, "{DIM}{key:<12}{DIM:#} {}", printable(&word(value)))?;
            }
        }
        let clocks = state.get("actor_clocks").and_then(Value::as_object);
        clocks.into_iter().flatten().try_for_each(|(actor, clock)| {
            let key = "actor";
            writeln!(out, "{DIM}{key:<12}{DIM:#} {} at clock {clock}", printable(actor))
        })
    })
}

fn records(session: &mut Session, args: &RecordsArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "threads", &args.id, "records"])
        .with("limit", args.limit)
        .with_some("since", args.since)
        .with_some("cursor", args.cursor);
    let records = session.reader()?.get(&target)?;
    session.out.list(&records, |out, rows| {
        rows.iter().try_for_each(|record| line(record, out))?;
        more(&records, out)
    })
}

fn watch(session: &mut Session, args: &WatchArgs) -> Result<(), Failure> {
    let collects = session.out.form() == Form::Json;
    if collects && args.count.is_none() {
        return Err(Failure::usage("a watch has no end at which to print one object")
            .with_hint("Use `-o stream-json`, or say with --count when it ends."));
    }
    let mut watch = Watch { args, last_id: None, left: args.count, seen: Vec::new() };
    // A stream ends when its server goes away; what comes after the last event is then asked of
    // whoever answers next.
    while watch.left != Some(0) {
        watch.follow(session, collects)?;
    }
    if collects {
        let envelope = object! { "object": "list", "data": watch.seen };
        session.out.list(&envelope, |_, _| Ok(()))?;
    }
    Ok(())
}

/// How far a watch has come.
struct Watch<'a> {
    args: &'a WatchArgs,
    last_id: Option<String>,
    left: Option<u64>,
    seen: Vec<Value>,
}

impl Watch<'_> {
    /// Follows one stream to its end.
    fn follow(&mut self, session: &mut Session, collects: bool) -> Result<(), Failure> {
        let client = session.reader()?;
        let mut target = Target::of(&["v1", "threads", &self.args.id, "watch"]);
        if self.last_id.is_none() {
            target = target.with_some("since_clock", self.args.since);
        }
        let mut events = client.follow(&target, self.last_id.as_deref())?;
        let mut heard = false;
        while self.left != Some(0) {
            let Some(Event { name, id, data }) = events.next()? else { break };
            heard = true;
            self.last_id = id.or(self.last_id.take());
            match (name.as_str(), data.get("record")) {
                ("record.created", Some(record)) => {
                    self.left = self.left.map(|left| left - 1);
                    if collects {
                        self.seen.push(record.clone());
                    } else {
                        session.out.row(record, |out| line(record, out))?;
                    }
                }
                ("error", _) if text(&data, "code") != "lagged" => {
                    return Err(Failure::sent(500, data));
                }
                _ => {}
            }
        }
        if heard { Ok(()) } else { Err(Failure::unreachable("the stream ended at once")) }
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Prints a record on one line.
fn line(record: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    let clock = record.get("clock").map(word).unwrap_or_default();
    let (id, act) = (short(text(record, "id")), text(record, "act"));
    let actor = printable(text(record, "actor"));
    let body = record.get("body").and_then(Value::as_object).map(gist).unwrap_or_default();
    writeln!(out, "{DIM}{id}{DIM:#} {clock:>4} {act:<6} {actor}  {body}")
}

/// What a body is about, in a few words.
fn gist(body: &Object) -> String {
    const WIDTH: usize = 72;
    const WORDS: [&str; 4] = ["name", "goal", "summary", "text"];
    let words = WORDS.iter().find_map(|key| body.get(*key)?.as_str());
    match (body.get("kind").and_then(Value::as_str), words) {
        (Some(kind), Some(words)) => cut(&format!("{kind}: {words}"), WIDTH),
        (None, Some(words)) => cut(words, WIDTH),
        (_, None) => cut(&Value::from(body.clone()).to_string(), WIDTH),
    }
}

/// Says how to see the rest.
fn more(list: &Object, out: &mut dyn Write) -> std::io::Result<()> {
    match list.get("next_cursor") {
        None | Some(Value::Null) => Ok(()),
        Some(cursor) => {
            writeln!(out, "{DIM}more with --cursor {}{DIM:#}", printable(&word(cursor)))
        }
    }
}

/// Text as it is, anything else as JSON.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
