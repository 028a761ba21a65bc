//! `spl policy deploy`: the packs of a project, kept as records.

use std::io::{self, Write};
use std::path::PathBuf;

use clap::Args;
use spl::canon::{Object, Value};
use spl::object;
use spl::policy::polpo::{Report, files};

use super::validate::{print, report};
use crate::client::Target;
use crate::failure::{Exit, Failure};
use crate::output::{DIM, GOOD, NAME, printable};
use crate::session::Session;

/// So many characters of a hash tell one revision from another.
const SHOWN: usize = 12;

/// Deploy the packs of a project
#[derive(Args, Debug)]
#[command(after_help = "\
Validates the project first, and deploys all of its packs or none. Each is kept as a record with the
SHA-256 of what it says; one that is in force already is left alone. Only the operator may.
Runs do not ask packs yet: in a folder that has some none begins, unless POLPO_RUNTIME_HOOKS=off
leaves them out.

Examples:
  spl policy deploy
  spl policy deploy --dir ~/project

Exit status: 0 all packs are in force, 1 something is wrong in the project and nothing was
deployed.")]
pub(crate) struct DeployArgs {
    /// The folder of the project [default: this one]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Deploys the packs of a project.
pub(super) fn deploy(session: &mut Session, args: &DeployArgs) -> Result<u8, Failure> {
    session.refuse_agent("spl policy deploy")?;
    let report = report(args.dir.as_deref())?;
    if !report.is_ok() {
        session.out.answer(&report.to_object(), |out| {
            print(&report, out)?;
            writeln!(out, "nothing was deployed")
        })?;
        return Ok(Exit::Error as u8);
    }
    let deployed = if report.packs.is_empty() {
        object! { "object": "policy_packs_deployed", "packs": Vec::<Value>::new() }
    } else {
        session.writer()?.post(&Target::of(&["v1", "policy", "packs"]), request(&report))?.body
    };
    let rows = deployed.get("packs").and_then(Value::as_array).unwrap_or_default();
    session.out.answer(&deployed, |out| {
        if rows.is_empty() {
            return writeln!(out, "there are no packs in {}", files::HOOKS);
        }
        rows.iter().try_for_each(|row| show(row, out))
    })?;
    Ok(0)
}

fn request(report: &Report) -> Object {
    let packs = report.packs.iter().filter_map(|it| it.pack.as_ref());
    let packs: Vec<Object> = packs
        .map(|pack| object! { "name": pack.name.as_str(), "pack": pack.written.clone() })
        .collect();
    object! { "packs": packs }
}

fn show(row: &Value, out: &mut dyn Write) -> io::Result<()> {
    let text = |field: &str| row.get(field).and_then(Value::as_str).unwrap_or_default();
    let fresh = row.get("fresh").and_then(Value::as_bool) == Some(true);
    let what = if fresh { "deployed" } else { "in force already" };
    let revision: String = text("sha256").chars().take(SHOWN).collect();
    let name = printable(text("name"));
    writeln!(out, "{GOOD}✓{GOOD:#} {NAME}{name}{NAME:#} {what}  {DIM}revision {revision}{DIM:#}")
}
