//! What a person and a program are told of a change.

use std::io::Write;

use similar::TextDiff;
use spl::canon::Object;
use spl::object;

use super::super::file::SettingsFile;
use super::super::harness::Harness;
use super::change::{Change, Outcome};
use super::is_also_the_projects;
use crate::failure::Failure;
use crate::output::{self, DIM, Form, GOOD, printable};
use crate::session::Session;

/// Prints the diff of a change that is not made.
pub(super) fn would(
    session: &mut Session,
    harness: Harness,
    file: &SettingsFile,
    change: &Change,
) -> Result<(), Failure> {
    let diff = diff(file, change);
    let mut answer = answer(harness, file, change, true);
    answer.insert("diff".into(), diff.as_str().into());
    if session.out.form() != Form::Text {
        return session.out.answer(&answer, |_| Ok(()));
    }
    if change.writes() {
        output::note("nothing is changed; this would be:");
        return session.out.raw(diff.as_bytes());
    }
    session.out.answer(&answer, |out| one_line(harness, file, change, out))
}

/// Says what was done, and what is left to do.
pub(super) fn done(
    session: &mut Session,
    harness: Harness,
    file: &SettingsFile,
    change: &Change,
) -> Result<(), Failure> {
    if change.command.is_some() && is_also_the_projects(harness, &file.path) {
        output::warn(
            "here your own settings are the project's as well; Claude Code may run no hooks of a \
             session that is started in this folder",
        );
    }
    let answer = answer(harness, file, change, false);
    session.out.answer(&answer, |out| {
        one_line(harness, file, change, out)?;
        let Some(command) = &change.command else { return Ok(()) };
        writeln!(out, "  {DIM}events{DIM:#}   {}", events(harness, change).join(", "))?;
        if change.decides {
            let decided = harness.decided().join(", ");
            writeln!(out, "  {DIM}decided{DIM:#}  {decided}: policy hooks may refuse them")?;
        }
        writeln!(out, "  {DIM}command{DIM:#}  {}", printable(command))?;
        writeln!(out, "  {DIM}next{DIM:#}     {}", harness.to_do())
    })
}

fn one_line(
    harness: Harness,
    file: &SettingsFile,
    change: &Change,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let title = harness.title();
    let path = file.path.display().to_string();
    let path = printable(&path);
    let line = match change.outcome {
        Outcome::Installed => format!("the hooks for {title} are in {path}"),
        Outcome::Updated => format!("the hooks for {title} in {path} are up to date again"),
        Outcome::Unchanged => format!("nothing to change: the hooks for {title} are in {path}"),
        Outcome::Restored => format!("{path} is as it was before the hooks"),
        Outcome::Removed => format!("{path}, which was made for the hooks, is gone"),
        Outcome::TakenOut => format!("our hooks are out of {path}; the rest of it stays"),
        Outcome::Undecided => format!("policy hooks decide nothing any more in {path}"),
        Outcome::NeverDecided => {
            format!("nothing to change: policy hooks decide nothing in {path}")
        }
        Outcome::Absent => format!("nothing to change: there are no hooks of ours in {path}"),
    };
    writeln!(out, "{GOOD}✓{GOOD:#} {line}")
}

fn answer(harness: Harness, file: &SettingsFile, change: &Change, dry: bool) -> Object {
    let outcome = match change.outcome {
        Outcome::Installed => "installed",
        Outcome::Updated => "updated",
        Outcome::Unchanged => "unchanged",
        Outcome::Restored => "restored",
        Outcome::Removed => "removed",
        Outcome::TakenOut => "taken_out",
        Outcome::Undecided => "undecided",
        Outcome::NeverDecided => "never_decided",
        Outcome::Absent => "absent",
    };
    object! {
        "command": change.command.as_deref(),
        "decides": change.decides,
        "dry_run": dry,
        "events": events(harness, change),
        "harness": harness.name(),
        "next": change.command.as_ref().map(|_| harness.to_do()),
        "object": "installed_hooks",
        "outcome": outcome,
        "settings": file.path.display().to_string(),
    }
}

fn events(harness: Harness, change: &Change) -> Vec<&'static str> {
    harness.events(change.decides).iter().map(|event| event.name).collect()
}

fn diff(file: &SettingsFile, change: &Change) -> String {
    let path = file.path.display().to_string();
    let before = String::from_utf8_lossy(file.bytes().unwrap_or_default());
    let after = change.after(file);
    let from = if file.bytes().is_some() { path.as_str() } else { "/dev/null" };
    let to = if change.removes() { "/dev/null" } else { path.as_str() };
    let diff = TextDiff::from_lines(before.as_ref(), after);
    diff.unified_diff().header(from, to).to_string()
}
