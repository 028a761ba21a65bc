//! `spl session list`: the captured sessions, or the checkpoints of a thread.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};

use crate::client::Target;
use crate::command::runs::word;
use crate::failure::Failure;
use crate::output::{DIM, Table, cut, printable, short};
use crate::session::Session;

/// List captured sessions, the newest first
#[derive(Args, Debug)]
#[command(after_help = "\
A session is `open`, `ended` as its harness said, or `idle`: nothing has happened for half an hour.

Examples:
  spl session list
  spl session list --harness codex --state open
  spl session list --thread th_attention      what was noted down there")]
pub(crate) struct ListArgs {
    /// The checkpoints of this thread, not the sessions
    #[arg(long, value_name = "ID", conflicts_with_all = ["harness", "state", "agents"])]
    thread: Option<String>,
    /// Only sessions of this harness: claude, codex, gemini, qwen, copilot or opencode
    #[arg(long, value_name = "NAME")]
    harness: Option<String>,
    /// Only sessions that are `open`, `ended` or `idle`
    #[arg(long, value_name = "STATE")]
    state: Option<String>,
    /// Subagents too
    #[arg(long)]
    agents: bool,
    /// At most that many, 1000 at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Go on after an earlier page: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

/// Lists sessions, or checkpoints.
pub(super) fn list(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    match &args.thread {
        Some(thread) => checkpoints(session, args, thread),
        None => sessions(session, args),
    }
}

fn sessions(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "sessions"])
        .with_some("harness", args.harness.as_deref())
        .with_some("state", args.state.as_deref())
        .with_some("agents", args.agents.then_some(true))
        .with("limit", args.limit)
        .with_some("cursor", args.cursor.as_deref());
    let found = session.reporter()?.get(&target)?;
    session.out.list(&found, |out, rows| {
        let heading = ["STATE", "HARNESS", "CALLS", "FAILED", "LESSONS", "LAST EVENT", "THREAD"];
        let mut table = Table::new(heading);
        for row in rows.iter().filter_map(Value::as_object) {
            let thread = short(word(row, "thread").trim_start_matches("th_"));
            table.row([
                word(row, "state"),
                word(row, "harness"),
                word(row, "calls"),
                word(row, "failed"),
                word(row, "fires"),
                word(row, "last_at"),
                format!("th_{thread}"),
            ]);
        }
        table.print(out)?;
        more(out, &found)
    })
}

fn checkpoints(session: &mut Session, args: &ListArgs, thread: &str) -> Result<(), Failure> {
    let target = Target::of(&["v1", "threads", thread, "checkpoints"])
        .with("limit", args.limit)
        .with_some("cursor", args.cursor.as_deref());
    let found = session.reader()?.get(&target)?;
    session.out.list(&found, |out, rows| {
        let mut table = Table::new(["ID", "BY", "SUMMARY"]);
        for row in rows.iter().filter_map(Value::as_object) {
            let body = row.get("body").and_then(Value::as_object);
            let summary = body.map(|body| word(body, "summary")).unwrap_or_default();
            table.row([short(&word(row, "id")), word(row, "actor"), cut(&summary, 60)]);
        }
        table.print(out)?;
        more(out, &found)
    })
}

fn more(out: &mut dyn Write, list: &Object) -> io::Result<()> {
    match list.get("next_cursor").and_then(Value::as_str) {
        None => Ok(()),
        Some(cursor) => writeln!(out, "{DIM}more with --cursor {}{DIM:#}", printable(cursor)),
    }
}
