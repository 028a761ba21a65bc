//! `spl blueprint plan`: what installing would do.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};

use super::file;
use crate::client::Target;
use crate::failure::{Exit, Failure};
use crate::output::{DIM, GOOD, NAME, WARN, cut, plural, printable};
use crate::session::Session;

/// Show what installing a blueprint would do, and write nothing
#[derive(Args, Debug)]
#[command(after_help = "\
Shown is every hook, every permission rule and all content, what of it is there already, who
vouches for it, and whether it may be installed. The hash at the end covers all of it, and of what
it extends: it is what `spl blueprint install --accept-plan` takes.

Examples:
  spl blueprint plan starter
  spl blueprint plan ours.json --extends rules.json
  spl -o json blueprint plan ours.json | jq -r .plan

Exit status: 0 it may be installed, 4 it may not.")]
pub(crate) struct PlanArgs {
    /// The blueprint: a file, or `starter`
    file: String,
    #[command(flatten)]
    pub(super) with: WithArgs,
}

/// What a plan and an installation take.
#[derive(Args, Debug)]
pub(super) struct WithArgs {
    /// A blueprint that it extends, directly or not; may be said again
    #[arg(long, value_name = "FILE")]
    pub(super) extends: Vec<String>,
    /// In whose name it is installed [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    pub(super) actor: Option<String>,
}

/// Shows what installing a blueprint would do.
pub(super) fn plan(session: &mut Session, args: &PlanArgs) -> Result<u8, Failure> {
    let request = file::request(&args.file, &args.with.extends, args.with.actor.as_deref())?;
    let plan = session.reader()?.post(&Target::of(&["v1", "blueprints", "plan"]), request)?.body;
    session.out.answer(&plan, |out| print(&plan, out))?;
    let may = plan.get("may_install").and_then(Value::as_bool) == Some(true);
    Ok(if may { 0 } else { Exit::Invalid as u8 })
}

/// Prints a plan for a person.
pub(super) fn print(plan: &Object, out: &mut dyn Write) -> io::Result<()> {
    let shown = Value::from(plan.clone());
    let (name, version) = (text(&shown, "name"), text(&shown, "version"));
    writeln!(out, "{NAME}{} {}{NAME:#}", cut(name, 128), cut(version, 128))?;
    let mut line = |key: &str, value: &str| {
        if value.is_empty() {
            return Ok(());
        }
        writeln!(out, "{DIM}{key:<8}{DIM:#} {}", printable(value))
    };
    line("about", text(&shown, "description"))?;
    line("author", text(&shown, "author"))?;
    line("vouched", &vouched(&shown))?;
    line("hash", text(&shown, "hash"))?;
    for hash in rows(&shown, "extends") {
        line("extends", hash.as_str().unwrap_or_default())?;
    }
    for hook in rows(&shown, "hooks") {
        print_hook(hook, out)?;
    }
    for rule in rows(&shown, "rules") {
        print_rule(rule, out)?;
    }
    for seed in rows(&shown, "content") {
        print_content(seed, out)?;
    }
    writeln!(out)?;
    if let Some(refused @ Value::Object(_)) = shown.get("refused") {
        print_refusal(refused, out)?;
    } else {
        let count = shown.get("to_write").and_then(Value::as_u64).unwrap_or_default();
        match (count, text(&shown, "installed")) {
            (0, _) => writeln!(out, "{GOOD}✓{GOOD:#} all of it is there already")?,
            (count, "") => {
                writeln!(out, "{GOOD}✓{GOOD:#} would write {}", plural(count, "record"))?;
            }
            (count, _) => {
                let records = plural(count, "record");
                writeln!(out, "{GOOD}✓{GOOD:#} was installed; would write {records} again")?;
            }
        }
    }
    writeln!(out, "{DIM}plan{DIM:#} {}", printable(text(&shown, "plan")))
}

fn vouched(plan: &Value) -> String {
    match text(plan, "vouched_by") {
        "operator" => "by you, who signed it".into(),
        "author" => "by its author, whom you trust".into(),
        "program" => "by this program, which brought it".into(),
        _ => format!("by nobody: {}", text(plan, "because")),
    }
}

fn print_hook(seed: &Value, out: &mut dyn Write) -> io::Result<()> {
    let body = seed.get("body").unwrap_or(&Value::Null);
    let name = format!("{}{}", text(body, "name"), place(body));
    writeln!(out, "\n{NAME}hook {}{NAME:#} {DIM}{}{DIM:#}", printable(&name), state(seed))?;
    writeln!(out, "  {DIM}when{DIM:#} {}", printable(text(body, "when")))?;
    writeln!(out, "  {DIM}says{DIM:#} {}", printable(text(body, "text")))?;
    if let Some(most) = body.get("max_fires_per_run").and_then(Value::as_u64) {
        writeln!(out, "  {DIM}at most{DIM:#} {} in one run", plural(most, "time"))?;
    }
    if body.get("enabled").and_then(Value::as_bool) == Some(false) {
        writeln!(out, "  {WARN}it is disabled{WARN:#}")?;
    }
    Ok(())
}

fn print_rule(seed: &Value, out: &mut dyn Write) -> io::Result<()> {
    let body = seed.get("body").unwrap_or(&Value::Null);
    let name = format!("{}{}", text(body, "name"), place(body));
    writeln!(out, "\n{NAME}rule {}{NAME:#} {DIM}{}{DIM:#}", printable(&name), state(seed))?;
    let priority = body.get("priority").and_then(Value::as_i64).unwrap_or_default();
    let action = printable(text(body, "action"));
    writeln!(out, "  {WARN}{action}{WARN:#} at priority {priority}")?;
    writeln!(out, "  {DIM}where{DIM:#} {}", printable(text(body, "expression")))
}

fn print_content(seed: &Value, out: &mut dyn Write) -> io::Result<()> {
    let body = seed.get("body").map(ToString::to_string).unwrap_or_default();
    let (act, thread) = (text(seed, "act"), cut(text(seed, "thread"), 80));
    writeln!(out, "\n{NAME}{act} on {thread}{NAME:#} {DIM}{}{DIM:#}", state(seed))?;
    let actor = text(seed, "actor");
    if !actor.is_empty() {
        writeln!(out, "  {DIM}by{DIM:#} {}", printable(actor))?;
    }
    writeln!(out, "  {}", cut(&body, 400))
}

fn print_refusal(refused: &Value, out: &mut dyn Write) -> io::Result<()> {
    let (message, code) = (text(refused, "message"), text(refused, "code"));
    writeln!(
        out,
        "{WARN}✗ may not be installed:{WARN:#} {} {DIM}[{code}]{DIM:#}",
        cut(message, 800)
    )?;
    let field = text(refused, "field");
    if !field.is_empty() {
        writeln!(out, "  {DIM}at{DIM:#} {}", printable(field))?;
    }
    let hint = text(refused, "hint");
    if !hint.is_empty() {
        writeln!(out, "  {DIM}hint:{DIM:#} {}", printable(hint))?;
    }
    Ok(())
}

fn place(body: &Value) -> String {
    match text(body, "namespace") {
        "" | "default" => String::new(),
        namespace => format!(" in {namespace}"),
    }
}

fn state(seed: &Value) -> &'static str {
    match text(seed, "state") {
        "new" => "new",
        "there" => "there already",
        "replaces" => "replaces another version",
        _ => "",
    }
}

fn rows<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value.get(key).and_then(Value::as_array).unwrap_or_default()
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
