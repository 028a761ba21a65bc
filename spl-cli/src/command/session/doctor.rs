//! `spl session doctor`: look whether the hooks of each harness are there, are run, and work.

mod look;

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use spl::canon::Object;
use spl::object;

use super::super::doctor::{Check, worst};
use super::harness::Harness;
use super::history::Complaint;
use crate::failure::Failure;
use crate::home;
use crate::output::NAME;
use crate::session::Session;
use look::{Looked, look};

/// Look whether the hooks of each harness are there, are run, and work
#[derive(Args, Debug)]
#[command(after_help = "\
For each harness: whether it is here, whether its settings have the hooks, whether it runs them,
what has come from it since they were installed, and whether a sample event goes through the
installed command; that one comes into no store. Changes nothing. Run it in a project too: its
settings may switch hooks off.

Exit status: 0 all is well, 1 something may not be, 2 something is wrong.")]
pub(crate) struct DoctorArgs {
    /// Only this harness: claude, codex, gemini, qwen or opencode
    #[arg(long, value_enum, value_name = "HARNESS", hide_possible_values = true)]
    harness: Option<Harness>,
    /// Its settings file [default: the user's own]
    #[arg(long, value_name = "FILE", requires = "harness")]
    settings: Option<PathBuf>,
}

/// Looks whether the hooks of each harness are there, are run, and work.
pub(crate) fn doctor(session: &mut Session, args: &DoctorArgs) -> Result<u8, Failure> {
    session.refuse_server("spl session doctor")?;
    let harnesses = args.harness.map_or_else(|| Harness::ALL.to_vec(), |harness| vec![harness]);
    let mut looked = Vec::new();
    for harness in harnesses {
        looked.push(look(harness, args.settings.as_deref())?);
    }
    let all = in_all(&looked)?;
    let checks = looked.iter().flat_map(|looked| &looked.checks).chain(&all);
    let worst = worst(checks);
    let answer = object! {
        "checks": objects(&all),
        "harnesses": looked.iter().map(Looked::to_object).collect::<Vec<_>>(),
        "object": "session_doctor",
        "outcome": worst.as_str(),
    };
    session.out.answer(&answer, |out| {
        for looked in &looked {
            writeln!(out, "{NAME}{}{NAME:#}", looked.harness.title())?;
            show(&looked.checks, out)?;
        }
        show(&all, out)
    })?;
    Ok(worst.status())
}

/// Looks at what is not one harness's.
fn in_all(looked: &[Looked]) -> Result<Vec<Check>, Failure> {
    let mut checks = Vec::new();
    if looked.iter().all(|looked| !looked.installed) {
        let check = Check::warn("hooks", "no harness that was looked at has the hooks");
        checks.push(check.hint("Run `spl session install-hooks`, with --harness for another one."));
    }
    let mut homes: Vec<_> = looked.iter().filter_map(|looked| looked.home.clone()).collect();
    if homes.is_empty() {
        homes.push(home::find()?);
    }
    homes.dedup();
    let since = looked.iter().filter_map(|looked| looked.since).min();
    for complaint in homes.iter().filter_map(Complaint::last) {
        let at = complaint.at.map(|at| format!(" (log written {at})")).unwrap_or_default();
        let message = format!("the last complaint of a hook{at}: {}", complaint.line);
        // What went wrong before the hooks were written may be why they were written.
        let old = complaint.at.zip(since).is_some_and(|(at, since)| at < since);
        checks.push(if old {
            Check::pass("errors", message)
        } else {
            Check::warn("errors", message)
        });
    }
    Ok(checks)
}

fn objects(checks: &[Check]) -> Vec<Object> {
    checks.iter().map(Check::to_object).collect()
}

fn show(checks: &[Check], out: &mut dyn Write) -> std::io::Result<()> {
    checks.iter().try_for_each(|check| check.show(out))
}
