//! `spl blueprint install`: all of a blueprint, or nothing.

use clap::Args;
use spl::canon::Value;

use super::file;
use super::plan::{WithArgs, print};
use crate::client::Target;
use crate::failure::{Exit, Failure};
use crate::output::{DIM, GOOD, plural, printable, quote, short};
use crate::session::Session;

/// Install a blueprint: all of it in one commit, or nothing
#[derive(Args, Debug)]
#[command(
    visible_alias = "materialize",
    after_help = "\
Without --accept-plan the plan is shown and nothing is written. With the hash of that plan, what is
not there yet is written at once; a second time, nothing is. Hooks and permission rules take the
operator, and somebody who vouches for them: you, by `spl blueprint sign`, or an author whom you
trust. What nobody vouches for may bring content alone.

Examples:
  spl blueprint install starter
  spl blueprint install starter --accept-plan 5b6bf5cf…
  spl blueprint install ours.json --extends rules.json --accept-plan 5b6bf5cf…

Exit status: 0 it is installed, 1 the plan was shown and not accepted yet, 4 it may not be."
)]
pub(crate) struct InstallArgs {
    /// The blueprint: a file, or `starter`
    file: String,
    /// The hash of the plan, as `spl blueprint plan` shows it
    #[arg(long, value_name = "HASH")]
    accept_plan: Option<String>,
    #[command(flatten)]
    with: WithArgs,
}

/// The exit status of a plan that nobody has accepted.
const NOT_ACCEPTED: u8 = 1;

/// Installs a blueprint.
pub(super) fn install(session: &mut Session, args: &InstallArgs) -> Result<u8, Failure> {
    let mut request = file::request(&args.file, &args.with.extends, args.with.actor.as_deref())?;
    let client = session.writer()?;
    let Some(accepted) = &args.accept_plan else {
        let plan = client.post(&Target::of(&["v1", "blueprints", "plan"]), request)?.body;
        let may = plan.get("may_install").and_then(Value::as_bool) == Some(true);
        session.out.answer(&plan, |out| {
            print(&plan, out)?;
            if !may {
                return Ok(());
            }
            let hash = plan.get("plan").and_then(Value::as_str).unwrap_or_default();
            let mut line = format!("spl blueprint install {}", quote(&args.file));
            for extended in &args.with.extends {
                line.push_str(&format!(" --extends {}", quote(extended)));
            }
            writeln!(out, "\nNothing is installed yet. If this is what you want:")?;
            writeln!(out, "  {} --accept-plan {}", printable(&line), printable(hash))
        })?;
        return Ok(if may { NOT_ACCEPTED } else { Exit::Invalid as u8 });
    };
    request.insert("accept_plan".into(), accepted.as_str().into());
    let target = Target::of(&["v1", "blueprints", "materialize"]);
    let installed = client.post(&target, request)?.body;
    let count = |key: &str| {
        let ids = installed.get(key).and_then(Value::as_array).unwrap_or_default();
        u64::try_from(ids.len()).unwrap_or_default()
    };
    session.out.answer(&installed, |out| {
        let record = short(installed.get("id").and_then(Value::as_str).unwrap_or_default());
        let there = match count("there") {
            0 => String::new(),
            there => format!(", {there} were there already"),
        };
        let written = plural(count("written"), "record");
        writeln!(out, "{GOOD}✓{GOOD:#} wrote {written}{there} {DIM}{record}{DIM:#}")
    })?;
    Ok(0)
}
