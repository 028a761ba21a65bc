//! `spl policy validate`: what is wrong with the packs of a project.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use spl::policy::polpo::{Finding, PackName, Report, files, validate as check};

use crate::failure::{Exit, Failure};
use crate::output::{DIM, ERROR, GOOD, WARN, plural, printable};
use crate::policy;
use crate::session::Session;

/// Look for what is wrong with the packs of a project
#[derive(Args, Debug)]
#[command(after_help = "\
Packs are `.polpo/hooks/*.json`. An agent names those that it has in `agent.json`, as `hooks`, in
its folder `.polpo/agents/<agent>`. Nothing is asked for over a network, no handler is run, and
what looks like a secret is named by its place and never shown.

Examples:
  spl policy validate
  spl policy validate --dir ~/project --json

Exit status: 0 all is well, or only warned of; 1 something is wrong.")]
pub(crate) struct ValidateArgs {
    /// The folder of the project [default: this one]
    #[arg(long, value_name = "DIR")]
    pub(super) dir: Option<PathBuf>,
}

/// Looks at the packs of a project, and shows what is found.
pub(crate) fn validate(session: &mut Session, args: &ValidateArgs) -> Result<u8, Failure> {
    let report = report(args.dir.as_deref())?;
    session.out.answer(&report.to_object(), |out| print(&report, out))?;
    Ok(if report.is_ok() { 0 } else { Exit::Error as u8 })
}

/// Looks at the packs of a project.
pub(super) fn report(dir: Option<&Path>) -> Result<Report, Failure> {
    let folder = policy::folder(dir)?;
    let found = files::read(&folder).map_err(|error| {
        Failure::local(format!("`{}` cannot be read", folder.display()), &error)
    })?;
    Ok(check(&found, &policy::runtime()?.provider_native))
}

/// Shows a report to a person: a line for each file, and a sum.
pub(super) fn print(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    for pack in &report.packs {
        file(&pack.path, &pack.name, &pack.findings, out)?;
    }
    for agent in &report.agents {
        let packs: Vec<&str> = agent.packs.iter().map(PackName::as_str).collect();
        let packs = if packs.is_empty() { "no packs".to_owned() } else { packs.join(", ") };
        file(&agent.path, &format!("{}: {packs}", agent.name), &agent.findings, out)?;
    }
    if report.packs.is_empty() {
        return writeln!(out, "there are no packs in {}", files::HOOKS);
    }
    let is_bad = |findings: &[Finding]| findings.iter().any(Finding::is_error);
    let of = |count: usize, thing: &str| plural(u64::try_from(count).unwrap_or(u64::MAX), thing);
    let packs = of(report.packs.len(), "pack");
    let well = match report.packs.iter().filter(|it| is_bad(&it.findings)).count() {
        0 => "all well".to_owned(),
        bad => format!("{bad} with errors"),
    };
    let agents = match report.agents.iter().filter(|it| is_bad(&it.findings)).count() {
        0 => String::new(),
        bad => format!("; {} with errors", of(bad, "agent")),
    };
    writeln!(out, "{packs}, {well}{agents}")
}

fn file(path: &str, what: &str, findings: &[Finding], out: &mut dyn Write) -> io::Result<()> {
    let (path, what) = (printable(path), printable(what));
    let mut errors = findings.iter().filter(|it| it.is_error());
    match errors.next() {
        None => writeln!(out, "{GOOD}✓{GOOD:#} {path}  {what}")?,
        Some(first) => writeln!(out, "{ERROR}✗{ERROR:#} {path} - {}", said(first))?,
    }
    for error in errors {
        writeln!(out, "    {ERROR}✗{ERROR:#} {}", said(error))?;
    }
    for warning in findings.iter().filter(|it| !it.is_error()) {
        writeln!(out, "    {WARN}!{WARN:#} {}", said(warning))?;
    }
    Ok(())
}

fn said(finding: &Finding) -> String {
    let Finding { code, path, message } = finding;
    format!("{code} {}  {DIM}{}{DIM:#}", printable(path), printable(message))
}
