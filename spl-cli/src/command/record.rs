//! `spl record`: read records.

use std::io::Write;

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;
use spl::record::RecordId;

use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::home;
use crate::output::{DIM, pretty, printable};
use crate::session::Session;

/// Read records
#[derive(Subcommand, Debug)]
pub(crate) enum RecordCommand {
    Show(ShowArgs),
}

/// Show a record
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl record show 5b6bf5cf
  spl record show 5b6bf5cf --receipt")]
pub(crate) struct ShowArgs {
    /// The id, or so much of it that no other record has it
    id: String,
    /// Show also where it came from and who signed it
    #[arg(long)]
    receipt: bool,
}

/// Reads records.
pub(crate) fn record(session: &mut Session, command: RecordCommand) -> Result<(), Failure> {
    let RecordCommand::Show(args) = command;
    let mut record = find(&session.reader()?, &args.id)?;
    if args.receipt {
        let receipt = receipt_of(session, &record)?;
        record.insert("receipt".into(), receipt.into());
    }
    session.out.answer(&record, |out| show(&record, out))
}

/// Finds the record with this id, or the only one with an id that begins so.
pub(super) fn find(client: &Client, id: &str) -> Result<Object, Failure> {
    if RecordId::parse(id).is_some() {
        return client.get(&Target::of(&["v1", "records", id]));
    }
    if id.is_empty() || id.len() > 64 || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Err(Failure::usage(format!("`{id}` is not an id: ids are hex digits, at most 64")));
    }
    let begins = format!("{}%", id.to_ascii_lowercase());
    let query = object! {
        "filter": object! { "id": object! { "$like": begins } },
        "limit": 2,
    };
    let found = client.post(&Target::of(&["v1", "records", "query"]), query)?.body;
    match found.get("data").and_then(Value::as_array).unwrap_or_default() {
        [Value::Object(record)] => Ok(record.clone()),
        [] => Err(Failure::missing(format!("no record has an id that begins with `{id}`"))),
        _ => Err(Failure::usage(format!("more than one record has an id that begins with `{id}`"))
            .with_hint("Give more digits of it.")),
    }
}

/// A receipt is about this store, so it is read from it.
fn receipt_of(session: &Session, record: &Object) -> Result<Object, Failure> {
    session.refuse_server("spl record show --receipt")?;
    let id = record.get("id").and_then(Value::as_str).and_then(RecordId::parse);
    let engine = home::open(&home::find()?)?;
    let stored = id.map(|id| engine.store().read(|reader| reader.record(id))).transpose();
    let stored = stored.map_err(|error| Failure::coded(&error))?.flatten();
    stored.map(|stored| stored.receipt()).ok_or_else(|| {
        Failure::missing("the record is not in the store of this home")
            .with_hint("A running server may have been started with another --store.")
    })
}

/// What is shown of a record above its body.
const ENVELOPE: [&str; 11] = [
    "id",
    "thread",
    "actor",
    "act",
    "clock",
    "data_type",
    "parents",
    "judged_by",
    "sequence",
    "erased_by",
    "purged",
];

/// The longest name of a field.
const WIDTH: usize = 11;

/// Prints a record to a person.
pub(super) fn show(record: &Object, out: &mut dyn Write) -> std::io::Result<()> {
    for key in ENVELOPE {
        let shown = match record.get(key) {
            None | Some(Value::Null) => continue,
            Some(Value::String(text)) => printable(text).into_owned(),
            Some(Value::Array(elements)) if elements.is_empty() => continue,
            Some(Value::Array(elements)) => {
                let ids: Vec<&str> = elements.iter().filter_map(Value::as_str).collect();
                printable(&ids.join(" ")).into_owned()
            }
            Some(other) => other.to_string(),
        };
        writeln!(out, "{DIM}{key:<WIDTH$}{DIM:#} {shown}")?;
    }
    if let Some(receipt) = record.get("receipt").and_then(Value::as_object) {
        for (key, value) in receipt.iter().filter(|(key, _)| !record.contains_key(*key)) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            writeln!(out, "{DIM}{key:<WIDTH$}{DIM:#} {}", printable(&value))?;
        }
    }
    let body = record.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
    writeln!(out, "{}", pretty(&body))
}
