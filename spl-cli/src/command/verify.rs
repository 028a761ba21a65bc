//! `spl verify`: prove that every record is what was accepted.

use std::path::PathBuf;

use clap::Args;
use spl::engine::{Engine, EngineOptions};
use spl::object;
use spl::store::Fault;

use super::WELL;
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{ERROR, GOOD, Progress, plural};
use crate::session::Session;

/// Prove that every record is what was accepted, in that order
#[derive(Args, Debug)]
#[command(after_help = "\
Hashes every record again, checks its signature and its receipt, follows the chain of receipts,
and checks the signed head. A row that was changed, removed, moved or dated anew is named. Works
beside a running server.

Examples:
  spl verify
  spl verify --store /backups/hub.db

Exit status: 0 all is well, 1 something is not.")]
pub(crate) struct VerifyArgs {
    /// Another store of this instance than the home's own, such as a backup
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Proves that every record is what was accepted.
pub(crate) fn verify(session: &mut Session, args: &VerifyArgs) -> Result<u8, Failure> {
    session.refuse_server("spl verify")?;
    let engine = open(args.store.clone())?;
    let progress = Progress::of("verify");
    let found = engine.store().verify(|done, total| progress.at(done, total));
    drop(progress);
    let found = found.map_err(|error| Failure::coded(&error))?;
    let fault = |fault: &Fault| object! { "sequence": fault.sequence, "what": fault.what.as_str() };
    let answer = object! {
        "fault": found.fault.as_ref().map(fault),
        "object": "verification",
        "purged": found.purged,
        "records": found.records,
        "verified": found.fault.is_none(),
    };
    session.out.answer(&answer, |out| match &found.fault {
        None => {
            let purged = match found.purged {
                0 => String::new(),
                purged => format!(", {purged} of them purged"),
            };
            let records = plural(found.records, "record");
            writeln!(out, "{GOOD}✓{GOOD:#} {records} verified{purged}")
        }
        Some(Fault { sequence, what }) => {
            writeln!(out, "{ERROR}✗{ERROR:#} sequence {sequence}: {what}")
        }
    })?;
    Ok(if found.fault.is_none() { WELL } else { Exit::Error as u8 })
}

/// Opens the store of this home, or another one that its keys have signed.
pub(super) fn open(store_path: Option<PathBuf>) -> Result<Engine, Failure> {
    let home = home::find()?;
    if let Some(path) = store_path.as_ref().filter(|path| !path.exists()) {
        return Err(Failure::missing(format!("there is no store at `{}`", path.display())));
    }
    let options = EngineOptions { store_path, ..EngineOptions::default() };
    Engine::open(&home, options).map_err(|error| Failure::coded(&error))
}
