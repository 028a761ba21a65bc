//! `spl backup`: copy the store while it is in use.

use std::path::PathBuf;

use clap::Args;
use spl::object;

use super::verify::open;
use crate::failure::Failure;
use crate::output::{GOOD, Progress};
use crate::session::Session;

/// Copy the store while it is in use
#[derive(Args, Debug)]
#[command(after_help = "\
The copy is whole and consistent, whoever writes meanwhile. A file that is there is never
written over. Keep the folders `keys` and `secrets` of the home as well: they sign the records.

Examples:
  spl backup /backups/hub-$(date +%F).db
  spl verify --store /backups/hub-2026-11-30.db")]
pub(crate) struct BackupArgs {
    /// The file to make
    file: PathBuf,
    /// Another store of this instance than the home's own
    #[arg(long, value_name = "FILE")]
    store: Option<PathBuf>,
}

/// Copies the store.
pub(crate) fn backup(session: &mut Session, args: &BackupArgs) -> Result<(), Failure> {
    session.refuse_server("spl backup")?;
    let engine = open(args.store.clone())?;
    let progress = Progress::of("backup");
    let copied = engine.store().backup(&args.file, |left, total| {
        progress.at(total.saturating_sub(left), total);
    });
    drop(progress);
    copied.map_err(|error| Failure::coded(&error))?;
    let bytes = std::fs::metadata(&args.file)
        .map_err(|error| Failure::local("the copy could not be looked at", &error))?
        .len();
    let path = args.file.display().to_string();
    let answer = object! { "bytes": bytes, "file": path.as_str(), "object": "backup" };
    session.out.answer(&answer, |out| writeln!(out, "{GOOD}✓{GOOD:#} {path} ({bytes} bytes)"))
}
