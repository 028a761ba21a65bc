//! `spl hook`: write, list, show, try and disable hooks.

mod sample;
mod test;

use std::io::Write;

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::hook::{Builtin, DEFAULT_FIRES_PER_RUN, HOOK_KIND, HOOK_TOPIC};
use spl::object;
use spl::predicate::{Context, Predicate};

use super::record::find;
use super::write::show_written;
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::output::{DIM, NAME, Table, WARN, cut, plural, printable, short};
use crate::session::Session;
use crate::statement::Statement;
use crate::warning;

/// Write, list, show, try and disable hooks
#[derive(Subcommand, Debug)]
pub(crate) enum HookCommand {
    Add(AddArgs),
    /// List the hooks: in force, disabled, refused and built in
    List,
    Show(ShowArgs),
    Test(test::TestArgs),
    Disable(DisableArgs),
}

/// Write a hook; it speaks from the next tool call on
#[derive(Args, Debug)]
#[command(after_help = "\
After each tool call of a run the expression is asked about the call that returned: `tool`,
`args`, `status` and the first 4,096 characters of `content`, all under `record.body`. Where it
holds, the text is put before the actor's next turn. A hook adds words and can do nothing else.

Examples:
  spl hook add shell-failed --when 'record.body.tool == \"bash\" && record.body.status != \"ok\"' \\
      --text '${tool} ended with ${status}; read stderr first.'
  spl hook add no-force-push --max 1 --text 'Never push with force; ask for a review instead.' \\
      --when 'record.body.tool == \"bash\" && record.body.args.command.contains(\"push --force\")'
  spl hook add lock-held --namespace acme/ci --text 'Another job holds the lock; wait for it.' \\
      --when 'record.body.content.contains(\"could not get lock\")'

A hook of the same name and namespace is replaced. Quote for the shell: ${tool} and ${status} are
filled in when the hook speaks.")]
pub(crate) struct AddArgs {
    /// The name, shown before the words
    name: String,
    /// When it speaks: a CEL expression that is true or false
    #[arg(long, value_name = "EXPR")]
    when: String,
    /// What it says; ${tool} and ${status} are filled in
    #[arg(long, value_name = "TEXT")]
    text: String,
    /// How often it speaks in one run at most [default: 3]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max: Option<u32>,
    /// Where it speaks: in runs of this namespace and below [default: default, which is everywhere]
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Show one hook, and how often it was asked
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl hook show shell-failed")]
pub(crate) struct ShowArgs {
    /// The name
    name: String,
    /// The namespace, where several have a hook of that name
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
}

/// Write a hook again as it is, but disabled
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing is deleted: a newer record of the same name and namespace takes its place. To have it
back, write it again with `spl hook add`.

Example:
  spl hook disable shell-failed")]
pub(crate) struct DisableArgs {
    /// The name
    name: String,
    /// The namespace, where several have a hook of that name
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Writes, lists, shows, tries and disables hooks.
pub(crate) fn hook(session: &mut Session, command: HookCommand) -> Result<u8, Failure> {
    match command {
        HookCommand::Add(args) => add(session, args),
        HookCommand::List => list(session),
        HookCommand::Show(args) => show(session, &args),
        HookCommand::Test(args) => return test::test(session, &args),
        HookCommand::Disable(args) => disable(session, &args),
    }
    .map(|()| 0)
}

fn add(session: &mut Session, args: AddArgs) -> Result<(), Failure> {
    let mut body = object! {
        "kind": HOOK_KIND,
        "name": args.name,
        "text": args.text,
        "topic": HOOK_TOPIC,
        "when": args.when.as_str(),
    };
    if let Some(max) = args.max {
        body.insert("max_fires_per_run".into(), max.into());
    }
    if let Some(namespace) = args.namespace {
        body.insert("namespace".into(), namespace.into());
    }
    let client = session.writer()?;
    let statement = Statement::of_configuration(args.actor.as_deref(), body);
    let reply = statement.write(&client).map_err(|failure| failure.pointing_into(&args.when))?;
    show_written(session, &reply)?;
    warning::tell(&args.when);
    Ok(())
}

fn list(session: &mut Session) -> Result<(), Failure> {
    let hooks = rows(&session.reader()?)?;
    session.out.list(&hooks, |out, rows| {
        let mut table = Table::new(["NAME", "NAMESPACE", "STATE", "ASKED", "FIRES", "RECORD"]);
        for row in rows {
            table.row([
                text(row, "name").to_owned(),
                text(row, "namespace").to_owned(),
                state(row).to_owned(),
                count(row, "asked"),
                count(row, "fires"),
                short(text(row, "record_id")),
            ]);
        }
        table.print(out)?;
        rows.iter().try_for_each(|row| refusal(row, out))
    })
}

fn show(session: &mut Session, args: &ShowArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let mut row = row_of(&client, &args.name, args.namespace.as_deref())?;
    let body = match row.get("record_id").and_then(Value::as_str) {
        Some(id) => find(&client, id)?.get("body").and_then(Value::as_object).cloned(),
        None => Builtin::named(&args.name).map(|builtin| object! { "text": builtin.text() }),
    };
    row.insert("hook".into(), body.clone().into());
    let when = body.as_ref().and_then(|body| body.get("when")).and_then(Value::as_str);
    let predicate = when.and_then(|when| Predicate::compile(when, Context::Hook).ok());
    let warnings = predicate.as_ref().map_or(&[][..], Predicate::warnings);
    row.insert("warnings".into(), warning::objects(warnings).into());
    let shown = Value::from(row.clone());
    session.out.answer(&row, |out| {
        let (name, namespace) = (text(&shown, "name"), text(&shown, "namespace"));
        writeln!(out, "{NAME}{}{NAME:#} in {}", printable(name), printable(namespace))?;
        let mut line = |key: &str, value: &str| {
            if value.is_empty() {
                return Ok(());
            }
            writeln!(out, "{DIM}{key:<7}{DIM:#} {}", printable(value))
        };
        line("state", state(&shown))?;
        let body = body.map_or(Value::Null, Value::from);
        line("when", text(&body, "when"))?;
        line("text", text(&body, "text"))?;
        let most = body.get("max_fires_per_run").and_then(Value::as_u64);
        let most = most.unwrap_or_else(|| u64::from(DEFAULT_FIRES_PER_RUN));
        line("at most", &format!("{} in one run", plural(most, "time")))?;
        line("counted", &counted(&shown))?;
        line("takes", &took(&shown))?;
        line("last", text(&shown, "last_fire"))?;
        line("record", text(&shown, "record_id"))?;
        warnings.iter().try_for_each(|it| line("warning", &warning::line(it)))?;
        refusal(&shown, out)
    })
}

/// Says how often a hook was asked and what came of it.
fn counted(row: &Value) -> String {
    // What is left are plain errors.
    const KINDS: [(&str, &str); 4] = [
        ("over_budget", "over the budget"),
        ("too_large", "over the memory budget"),
        ("not_boolean", "not boolean"),
        ("panicked", "a fault of ours"),
    ];
    let of = |key| count(row, key);
    let (asked, held, spoke, failed) = (of("asked"), of("matched"), of("fires"), of("errors"));
    let mut counted = format!("asked {asked}, held {held}, spoke {spoke}, failed {failed}");
    let kinds = row.get("errors_by_kind").unwrap_or(&Value::Null);
    let kinds = KINDS.map(|(kind, words)| (kinds.get(kind).and_then(Value::as_u64), words));
    let kinds = kinds.into_iter().filter_map(|(n, words)| Some((n.filter(|n| *n > 0)?, words)));
    let kinds: Vec<String> = kinds.map(|(n, words)| format!("{n} {words}")).collect();
    if !kinds.is_empty() {
        counted.push_str(&format!(" ({})", kinds.join(", ")));
    }
    counted
}

/// Says what evaluating the predicate of a hook takes, if that was ever timed.
fn took(row: &Value) -> String {
    let timing = row.get("timing").unwrap_or(&Value::Null);
    match timing.get("mean_nanos").and_then(Value::as_u64) {
        None => String::new(),
        Some(nanos) => {
            let samples = timing.get("samples").and_then(Value::as_u64).unwrap_or_default();
            format!("{nanos} ns, the mean of {}", plural(samples, "sample"))
        }
    }
}

fn disable(session: &mut Session, args: &DisableArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let row = row_of(&client, &args.name, args.namespace.as_deref())?;
    let Some(id) = row.get("record_id").and_then(Value::as_str) else {
        let message = match Builtin::named(&args.name) {
            Some(_) => format!("`{}` is built in and cannot be disabled", args.name),
            None => format!("`{}` was refused and is not in force", args.name),
        };
        return Err(Failure::invalid(message));
    };
    let record = find(&client, id)?;
    let mut body = record.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
    body.insert("enabled".into(), false.into());
    let reply = Statement::of_configuration(args.actor.as_deref(), body).write(&client)?;
    show_written(session, &reply)
}

fn rows(client: &Client) -> Result<Object, Failure> {
    client.get(&Target::of(&["v1", "config", "hooks"]))
}

/// Finds the row of a hook by its name, and its namespace where the name alone does not say.
fn row_of(client: &Client, name: &str, namespace: Option<&str>) -> Result<Object, Failure> {
    let rows = rows(client)?;
    let rows = rows.get("data").and_then(Value::as_array).unwrap_or_default();
    let named = |row: &&Value| {
        text(row, "name") == name && namespace.is_none_or(|space| text(row, "namespace") == space)
    };
    let found: Vec<&Value> = rows.iter().filter(named).collect();
    match found.as_slice() {
        [Value::Object(row)] => Ok(row.clone()),
        [] => Err(Failure::missing(match namespace {
            Some(namespace) => format!("there is no hook `{name}` in `{namespace}`"),
            None => format!("there is no hook `{name}`"),
        })
        .with_hint("See `spl hook list`.")),
        several => {
            let spaces: Vec<&str> = several.iter().map(|row| text(row, "namespace")).collect();
            let message = format!("there are hooks `{name}` in {}", spaces.join(", "));
            Err(Failure::usage(message).with_hint("Say which with --namespace."))
        }
    }
}

fn state(row: &Value) -> &'static str {
    let is = |key| row.get(key).and_then(Value::as_bool) == Some(true);
    match (is("loaded"), is("compiled")) {
        (true, _) if text(row, "source") == "builtin" => "built in",
        (true, _) => "in force",
        (false, true) => "disabled",
        (false, false) => "refused",
    }
}

/// Says what was refused: the record is there, and its hook is not in force.
fn refusal(row: &Value, out: &mut dyn Write) -> std::io::Result<()> {
    match row.get("refused") {
        Some(refused @ Value::Object(_)) => {
            let (id, message) = (text(refused, "record_id"), text(refused, "message"));
            let name = printable(text(row, "name"));
            let (id, message) = (short(id), cut(message, 400));
            writeln!(out, "{WARN}refused{WARN:#} {name}, record {id}: {message}")?;
            match text(refused, "hint") {
                hint if text(refused, "reason") == "imported" => {
                    writeln!(out, "  {DIM}{}{DIM:#}", cut(hint, 200))
                }
                _ => Ok(()),
            }
        }
        _ => Ok(()),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn count(row: &Value, key: &str) -> String {
    row.get(key).and_then(Value::as_u64).unwrap_or_default().to_string()
}
