//! `spl runs`: see the runs there are, and say something to them.

mod follow;

use std::io::{self, Write};

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;

use super::WELL;
use crate::client::Target;
use crate::failure::Failure;
use crate::output::{DIM, NAME, Table, cut, printable, short};
use crate::session::{self, Session};
pub(super) use follow::{Following, follow};

/// See runs, and say something to them
#[derive(Subcommand, Debug)]
pub(crate) enum RunsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Tail(TailArgs),
    Say(SayArgs),
    Stop(StopArgs),
    Resume(ResumeArgs),
}

/// List the runs, the newest first
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl runs list
  spl runs list --state running
  spl runs list --member did:sync:agent:worker --since 2027-01-31T00:00:00Z")]
pub(crate) struct ListArgs {
    /// Only runs that are `running`, `waiting_on_you`, `done`, `stopped` or `stopped_short`
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Only runs of this actor
    #[arg(long, value_name = "DID")]
    member: Option<String>,
    /// Only runs that began at this time or later
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// Only runs that began before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// At most that many, 1000 at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Go on after an earlier page: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Show what there is to say about a run
#[derive(Args, Debug)]
pub(crate) struct ShowArgs {
    /// The thread of the run
    thread: String,
}

/// Follow a run until it is over
#[derive(Args, Debug)]
#[command(after_help = "\
Begins with what has happened so far. Interrupting it ends the watching and not the run.

Examples:
  spl runs tail th_4f0c…
  spl -o stream-json runs tail th_4f0c… | jq .body.kind

Exit status: 0 the run completed, 3 it waits for a decision, else 1.")]
pub(crate) struct TailArgs {
    /// The thread of the run
    thread: String,
}

/// Say something to a run; it hears it before its next turn
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl runs say th_4f0c… \"leave the tests alone\"")]
pub(crate) struct SayArgs {
    /// The thread of the run
    thread: String,
    /// What to say
    text: String,
}

/// Ask a run to stop, whoever drives it
#[derive(Args, Debug)]
#[command(after_help = "\
It begins nothing more. What has begun is recorded to its end.

Examples:
  spl runs stop th_4f0c…")]
pub(crate) struct StopArgs {
    /// The thread of the run
    thread: String,
}

/// Let the server take up a run where its records end
#[derive(Args, Debug)]
#[command(after_help = "\
For a run that a server drove and that was interrupted. One that was begun in a terminal is taken
up with `spl work-loop --resume`.

Examples:
  spl runs resume th_4f0c…")]
pub(crate) struct ResumeArgs {
    /// The thread of the run
    thread: String,
}

/// Sees runs, or says something to them.
pub(crate) fn runs(session: &mut Session, command: RunsCommand) -> Result<u8, Failure> {
    match command {
        RunsCommand::List(args) => list(session, &args),
        RunsCommand::Show(args) => show(session, &args),
        RunsCommand::Tail(args) => return tail(session, &args),
        RunsCommand::Say(args) => {
            let body = object! { "text": args.text.as_str(), "type": "message" };
            say(session, &args.thread, body, "it will hear that before its next turn")
        }
        RunsCommand::Stop(args) => {
            say(session, &args.thread, object! { "type": "stop" }, "it begins nothing more")
        }
        RunsCommand::Resume(args) => {
            let target = Target::of(&["v1", "runs", &args.thread, "events"]);
            let row = session.reader()?.post(&target, object! { "type": "resume" })?.body;
            session.out.answer(&row, |out| one(&row, out))
        }
    }
    .map(|()| WELL)
}

fn list(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "runs"])
        .with_some("state", args.state.as_deref())
        .with_some("member", args.member.as_deref())
        .with_some("since", args.since.as_deref())
        .with_some("until", args.until.as_deref())
        .with("limit", args.limit)
        .with_some("cursor", args.cursor.as_deref());
    let runs = session.reader()?.get(&target)?;
    session.out.list(&runs, |out, rows| {
        let mut table = Table::new(["STATE", "TURNS", "OK", "FAILED", "ACTOR", "THREAD", "GOAL"]);
        for row in rows.iter().filter_map(Value::as_object) {
            let thread = short(word(row, "thread").trim_start_matches("th_"));
            table.row([
                word(row, "state"),
                word(row, "turns"),
                word(row, "tool_calls_ok"),
                word(row, "tool_calls_failed"),
                word(row, "actor_name"),
                format!("th_{thread}"),
                cut(&word(row, "goal"), 48),
            ]);
        }
        table.print(out)?;
        match runs.get("next_cursor") {
            None => Ok(()),
            Some(_) => {
                writeln!(out, "{DIM}more with --cursor {}{DIM:#}", word(&runs, "next_cursor"))
            }
        }
    })
}

fn show(session: &mut Session, args: &ShowArgs) -> Result<(), Failure> {
    let row = session.reader()?.get(&Target::of(&["v1", "runs", &args.thread]))?;
    session.out.answer(&row, |out| one(&row, out))
}

/// Prints a row, a line for each thing there is to say.
fn one(row: &Object, out: &mut dyn Write) -> io::Result<()> {
    const KEYS: [&str; 16] = [
        "thread",
        "state",
        "goal",
        "actor",
        "model",
        "tier",
        "turns",
        "max_turns",
        "tool_calls_ok",
        "tool_calls_failed",
        "spent_usd",
        "ceiling_usd",
        "started_at",
        "ended_at",
        "reason",
        "summary",
    ];
    for key in KEYS {
        if row.get(key).is_some_and(|value| *value != Value::Null) {
            let value = word(row, key);
            writeln!(out, "{DIM}{key:<18}{DIM:#}{}", printable(&value))?;
        }
    }
    if let Some(ask) = row.get("ask").and_then(Value::as_object) {
        let (question, id) = (word(ask, "question"), word(ask, "id"));
        writeln!(out, "{NAME}asks{NAME:#}              {}", printable(&question))?;
        writeln!(out, "Answer it: spl decisions approve {id}")?;
    }
    Ok(())
}

fn tail(session: &mut Session, args: &TailArgs) -> Result<u8, Failure> {
    follow(session, &Following { thread: &args.thread, detached: false })
}

fn say(session: &mut Session, thread: &str, body: Object, then: &str) -> Result<(), Failure> {
    let mut body = body;
    if let Some(actor) = session::named_actor(None) {
        body.insert("actor".into(), actor.into());
    }
    let target = Target::of(&["v1", "runs", thread, "events"]);
    let event = session.reader()?.post(&target, body)?.body;
    session.out.answer(&event, |out| writeln!(out, "{then}"))
}

/// Text as it is, anything else as JSON.
pub(super) fn word(object: &Object, key: &str) -> String {
    match object.get(key) {
        None => String::new(),
        Some(value) => value.as_str().map_or_else(|| value.to_string(), str::to_owned),
    }
}
