//! `spl proof`: prove to somebody else that a record was accepted.

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use spl::canon::Value;
use spl::object;

use super::record::find;
use super::verify::file_text;
use crate::client::Target;
use crate::failure::Failure;
use crate::output::GOOD;
use crate::session::Session;

/// Prove to somebody else that a record was accepted, and when
#[derive(Args, Debug)]
#[command(after_help = "\
A proof is a file that `spl verify --proof` checks on any machine, without this instance: the
record's bytes, its receipt, the link of the chain before it, the hashes of the receipts after it,
and the checkpoint or the head that they lead to, signed by this instance. It holds no words and no
ids of other records. A proof stays good whatever becomes of the store.

Examples:
  spl proof 5b6bf5cf > note.proof
  spl proof 5b6bf5cf --out note.proof
  spl verify --proof note.proof --key did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")]
pub(crate) struct ProofArgs {
    /// The id, or so much of it that no other record has it
    id: String,
    /// The file to make, instead of printing the proof
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Proves that a record was accepted.
pub(crate) fn proof(session: &mut Session, args: &ProofArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let record = find(&client, &args.id)?;
    let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
    let proof = client.get(&Target::of(&["v1", "records", id, "proof"]))?;
    let text = file_text(&proof);
    let Some(path) = &args.out else { return session.out.raw(&text) };
    let shown = path.display().to_string();
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    made.and_then(|mut file| file.write_all(&text))
        .map_err(|error| Failure::local(format!("`{shown}` could not be written"), &error))?;
    let answer = object! { "file": shown.as_str(), "id": id, "object": "proof_file" };
    session.out.answer(&answer, |out| writeln!(out, "{GOOD}✓{GOOD:#} {shown}"))
}
