//! `spl namespace`: which namespaces there are, and which of them take records.

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{GOOD, Table, printable};
use crate::session::Session;

/// Register, list and archive namespaces
#[derive(Subcommand, Debug)]
pub(crate) enum NamespaceCommand {
    Create(CreateArgs),
    List(ListArgs),
    Archive(ArchiveArgs),
}

/// Register a namespace, or make one active again
#[derive(Args, Debug)]
#[command(after_help = "\
Records are taken in a namespace that is active, and so are all above it. `default` is always there.
A path has up to four parts: the one above it comes first.

Examples:
  spl namespace create acme
  spl namespace create acme/site")]
pub(crate) struct CreateArgs {
    /// Its path, such as acme/site
    namespace: String,
}

/// List the namespaces
#[derive(Args, Debug)]
#[command(after_help = "\
One that is active below one that is not is shown as closed.

Examples:
  spl namespace list
  spl namespace list --status deleted
  spl -o json namespace list | jq -r '.data[] | select(.open) | .id'")]
pub(crate) struct ListArgs {
    /// Only those that are active, archived or deleted [default: all but deleted]
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
}

/// Take no more records in a namespace and below it
#[derive(Args, Debug)]
#[command(after_help = "\
What is there stays, and hooks that were written there still speak. A run or session that has begun
goes on to its end. `spl namespace create` makes the namespace active again.

Examples:
  spl namespace archive acme/site
  spl namespace archive acme/site --delete")]
pub(crate) struct ArchiveArgs {
    /// Its path
    namespace: String,
    /// List it no more, either
    #[arg(long)]
    delete: bool,
}

/// Registers, lists and archives namespaces.
pub(crate) fn namespace(session: &mut Session, command: NamespaceCommand) -> Result<(), Failure> {
    match command {
        NamespaceCommand::Create(args) => create(session, &args),
        NamespaceCommand::List(args) => list(session, &args),
        NamespaceCommand::Archive(args) => archive(session, &args),
    }
}

fn create(session: &mut Session, args: &CreateArgs) -> Result<(), Failure> {
    let request = object! { "id": args.namespace.as_str() };
    let made = session.writer()?.post(&Target::of(&["v1", "namespaces"]), request)?;
    let said = if made.status == 201 { "active" } else { "active already" };
    say(session, &made.body, said)
}

fn archive(session: &mut Session, args: &ArchiveArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let namespace = args.namespace.as_str();
    let (row, said) = if args.delete {
        (client.delete(&Target::of(&["v1", "namespaces", namespace]))?, "deleted")
    } else {
        let target = Target::of(&["v1", "namespaces", namespace, "archive"]);
        (client.post(&target, Object::new())?.body, "archived")
    };
    say(session, &row, said)
}

fn say(session: &mut Session, row: &Object, said: &str) -> Result<(), Failure> {
    let id = row.get("id").and_then(Value::as_str).unwrap_or_default();
    session.out.answer(row, |out| writeln!(out, "{GOOD}✓{GOOD:#} {} is {said}", printable(id)))
}

fn list(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    let mut target = Target::of(&["v1", "namespaces"]);
    if let Some(status) = &args.status {
        target = target.with("status", status);
    }
    let namespaces = session.reader()?.get(&target)?;
    session.out.list(&namespaces, |out, rows| {
        let mut table = Table::new(["NAMESPACE", "LEVEL", "STATE", "CHANGED"]);
        for row in rows {
            let text = |key| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let is_open = row.get("open").and_then(Value::as_bool) == Some(true);
            let state = match text("status") {
                "active" if !is_open => "closed",
                status => status,
            };
            let cells = [text("id"), text("level"), state, text("changed_at")];
            table.row(cells.map(str::to_owned));
        }
        table.print(out)
    })
}
