//! `spl erase`: let a record count no more, and take its words out of the store.

use std::io::{self, BufRead as _, IsTerminal as _};

use clap::Args;
use spl::canon::{Object, Value};
use spl::object;

use super::record::find;
use crate::client::Target;
use crate::failure::Failure;
use crate::output::{self, GOOD, printable, short};
use crate::session::{self, Session};

/// Let a record count no more
#[derive(Args, Debug)]
#[command(after_help = "\
The record is marked: it is shown as erased, no fold counts it, and a hook or rule gives way to its
previous good version. Its words stay in the store. To erase one takes what writing it takes.

With --purge its words are taken out of the store as well, for good: the row keeps its id, its
receipt and its place in the chain, and a tombstone that this instance signs stands for the words.
The file is written anew, so that no free space of it holds them; a large store takes its time.
Copies made before (backups, exports, `hub.db.before-vN`, retained transcripts) still hold them, and
so do other records that quote them.

Examples:
  spl erase 5b6bf5cf --reason \"it names a customer\"
  spl erase 5b6bf5cf --reason \"a key was pasted\" --purge --yes")]
pub(crate) struct EraseArgs {
    /// The id, or so much of it that no other record has it
    id: String,
    /// Why; it is recorded
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Take its words out of the store, for good
    #[arg(long)]
    purge: bool,
    /// Do not ask before a purge
    #[arg(long, requires = "purge")]
    yes: bool,
    /// Who erases it [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Lets a record count no more.
pub(crate) fn erase(session: &mut Session, args: &EraseArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let record = find(&client, &args.id)?;
    let id = record.get("id").and_then(Value::as_str).unwrap_or_default();
    if args.purge && !args.yes {
        confirm(id)?;
    }
    let request = object! {
        "actor": session::actor(args.actor.as_deref())?,
        "erases": vec![Value::from(id)],
        "purge": args.purge,
        "reason": args.reason.as_str(),
    };
    let erased = client.post(&Target::of(&["v1", "erasure"]), request)?.body;
    session.out.answer(&erased, |out| {
        if args.purge {
            writeln!(out, "{GOOD}✓{GOOD:#} purged {}: id, receipt and chain stay", short(id))
        } else {
            writeln!(out, "{GOOD}✓{GOOD:#} erased {}: its words stay until --purge", short(id))
        }
    })?;
    if args.purge {
        tell(&erased);
    }
    Ok(())
}

fn confirm(id: &str) -> Result<(), Failure> {
    if !io::stdin().is_terminal() {
        return Err(Failure::usage("a purge cannot be taken back, and nobody is here to be asked")
            .with_hint("Add --yes."));
    }
    output::note(&format!("the words of {} will be gone for good; purge them? [y/N]", short(id)));
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    read.map_err(|error| Failure::local("the answer could not be read", &error))?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::usage("nothing was erased"))
}

/// Says where the words may still be.
fn tell(erased: &Object) {
    if erased.get("scrubbed").and_then(Value::as_bool) != Some(true) {
        output::warn(
            "the store's file could not be written anew and may hold the words in its free space; \
             purge once more when nobody reads",
        );
    }
    let remains = erased.get("remains").and_then(Value::as_array).unwrap_or_default();
    for path in remains.iter().filter_map(Value::as_str) {
        output::warn(&format!("`{}` was left as it is and may hold the words", printable(path)));
    }
    output::note("backups and exports made before still hold the words");
}
