//! `spl config add-permission-rule`, `list-permission-rules` and `disable-permission-rule`.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};
use spl::code::Code;
use spl::object;
use spl::permission::{Action, PERMISSION_RULE_KIND, PERMISSION_RULE_TOPIC};
use spl::predicate::{Context, Predicate};

use super::super::record::find;
use super::super::write::show_written;
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::output::{self, Table, WARN, cut, printable, short};
use crate::session::Session;
use crate::statement::Statement;
use crate::warning;

/// The most characters of an expression in a list.
const EXPRESSION_CHARS: usize = 60;

/// Write a permission rule
#[derive(Args, Debug)]
#[command(after_help = "\
A rule is asked before each request and before each tool call of a run, once the rules are in
force. It sees `resource`, `current_actor()`, `current_namespace()`, and `record`: the record that
is to be written, or the call. The rule with the highest priority that is true decides; of equal
ones those that deny go first. Where none is true, the answer is no.

Resources: record_write, record_read, record_delete, thread_read, config_read, account_write,
dispatch, aitl_decide, task_approve, and tool:<name> for a call of a run.

Examples:
  spl config add-permission-rule --name operator --action allow --priority 100 \\
      --expression 'current_actor() == \"did:sync:user:vera\"'
  spl config add-permission-rule --name no-push --action deny --priority 200 \\
      --expression 'resource == \"tool:bash\" && record.body.args.command.contains(\"git push\")'

A rule of the same name and namespace is replaced.")]
pub(crate) struct AddArgs {
    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What it does where it is true: allow or deny
    #[arg(long, value_name = "ACTION", value_parser = read_action)]
    action: Action,
    /// Where it stands among others: the highest is asked first
    #[arg(long, value_name = "N", allow_negative_numbers = true, default_value_t = 0)]
    priority: i64,
    /// When it speaks: a CEL expression that is true or false
    #[arg(long, value_name = "EXPR")]
    expression: String,
    /// Where it speaks: in this namespace and below [default: default, which is everywhere]
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Write a permission rule again as it is, but disabled
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing is deleted: a newer record of the same name and namespace takes its place.

Example:
  spl config disable-permission-rule no-push")]
pub(crate) struct DisableArgs {
    /// The name
    name: String,
    /// The namespace, where several have a rule of that name
    #[arg(long, value_name = "NS")]
    namespace: Option<String>,
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

fn read_action(word: &str) -> Result<Action, String> {
    Action::parse(word).ok_or_else(|| "an action is allow or deny".into())
}

/// Writes a rule.
pub(super) fn add(session: &mut Session, args: AddArgs) -> Result<(), Failure> {
    // The engine would store it, skip it, and say so in the list; whoever is here is told now.
    let predicate = Predicate::compile(&args.expression, Context::Permission)
        .map_err(|error| Failure::coded(&error).pointing_into(&args.expression))?;
    let mut body = object! {
        "action": args.action.as_str(),
        "expression": args.expression.as_str(),
        "kind": PERMISSION_RULE_KIND,
        "name": args.name,
        "priority": args.priority,
        "topic": PERMISSION_RULE_TOPIC,
    };
    if let Some(namespace) = args.namespace {
        body.insert("namespace".into(), namespace.into());
    }
    let client = session.writer()?;
    let reply = Statement::of_configuration(args.actor.as_deref(), body).write(&client)?;
    show_written(session, &reply)?;
    for odd in predicate.warnings() {
        output::warn(&warning::line(odd));
    }
    warn_of_lockout(&client);
    Ok(())
}

/// Lists the rules.
pub(super) fn list(session: &mut Session) -> Result<(), Failure> {
    let rules = rules(&session.reader()?)?;
    let state = if in_force(&rules) { "in force" } else { "not in force" };
    let switch = rules.get("refused").cloned().unwrap_or(Value::Null);
    session.out.list(&rules, |out, rows| {
        writeln!(out, "permission rules are {state}")?;
        if !rows.is_empty() {
            table(rows).print(out)?;
        }
        refusal("the switch", &switch, out)?;
        rows.iter().try_for_each(|row| {
            let refused = row.get("refused").unwrap_or(&Value::Null);
            refusal(text(row, "name"), refused, out)?;
            failure(row, out)
        })
    })
}

fn table(rows: &[Value]) -> Table<7> {
    let mut table =
        Table::new(["NAME", "NAMESPACE", "ACTION", "PRIORITY", "STATE", "RECORD", "EXPRESSION"]);
    for row in rows {
        let priority = row.get("priority").and_then(Value::as_i64);
        table.row([
            text(row, "name").to_owned(),
            text(row, "namespace").to_owned(),
            text(row, "action").to_owned(),
            priority.map(|priority| priority.to_string()).unwrap_or_default(),
            state(row).to_owned(),
            short(text(row, "record_id")),
            cut(text(row, "expression"), EXPRESSION_CHARS),
        ]);
    }
    table
}

fn state(row: &Value) -> &'static str {
    let is = |key| row.get(key).and_then(Value::as_bool) == Some(true);
    match (is("loaded"), is("compiled")) {
        (true, _) => "loaded",
        (false, true) => "disabled",
        (false, false) => "refused",
    }
}

/// Says what was refused: the record is there, and has no effect.
fn refusal(name: &str, refused: &Value, out: &mut dyn Write) -> io::Result<()> {
    if refused.as_object().is_none() {
        return Ok(());
    }
    let (id, message) = (short(text(refused, "record_id")), cut(text(refused, "message"), 400));
    writeln!(out, "{WARN}refused{WARN:#} {}, record {id}: {message}", printable(name))
}

/// Says what failed: such a rule was skipped.
fn failure(row: &Value, out: &mut dyn Write) -> io::Result<()> {
    let Some(error) = row.get("last_error").and_then(Value::as_str) else { return Ok(()) };
    let errors = row.get("errors").and_then(Value::as_u64).unwrap_or_default();
    let times = output::plural(errors, "time");
    let (name, error) = (printable(text(row, "name")), cut(error, 400));
    writeln!(out, "{WARN}skipped{WARN:#} {name}, {times}: {error}")
}

/// Disables a rule.
pub(super) fn disable(session: &mut Session, args: &DisableArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let row = row_of(&rules(&client)?, &args.name, args.namespace.as_deref())?;
    let Some(id) = row.get("record_id").and_then(Value::as_str) else {
        return Err(Failure::invalid(format!("`{}` was refused and is not loaded", args.name)));
    };
    let record = find(&client, id)?;
    let mut body = record.get("body").and_then(Value::as_object).cloned().unwrap_or_default();
    body.insert("enabled".into(), false.into());
    let reply = Statement::of_configuration(args.actor.as_deref(), body).write(&client)?;
    show_written(session, &reply)?;
    warn_of_lockout(&client);
    Ok(())
}

/// Finds the row of a rule by its name, and its namespace where the name alone does not say.
fn row_of(rules: &Object, name: &str, namespace: Option<&str>) -> Result<Object, Failure> {
    let rows = rules.get("data").and_then(Value::as_array).unwrap_or_default();
    let named = |row: &&Value| {
        text(row, "name") == name && namespace.is_none_or(|space| text(row, "namespace") == space)
    };
    let found: Vec<&Value> = rows.iter().filter(named).collect();
    match found.as_slice() {
        [Value::Object(row)] => Ok(row.clone()),
        [] => Err(Failure::missing(format!("there is no permission rule `{name}` there"))
            .with_hint("See `spl config list-permission-rules`.")),
        several => {
            let spaces: Vec<&str> = several.iter().map(|row| text(row, "namespace")).collect();
            let message = format!("there are rules `{name}` in {}", spaces.join(", "));
            Err(Failure::usage(message).with_hint("Say which with --namespace."))
        }
    }
}

/// Warns whoever has just changed rules that are in force if those now keep the operator out.
fn warn_of_lockout(client: &Client) {
    let locked_out = match rules(client) {
        Ok(rules) => in_force(&rules) && !passes(&rules),
        Err(failure) => failure.code() == Code::PermissionDenied.as_str(),
    };
    if locked_out {
        output::warn(
            "the rules are in force and no longer leave the operator what it takes to change them; \
             `spl config permissions-unlock` puts them out of force",
        );
    }
}

/// Returns the rules, with what they leave to the operator.
pub(super) fn rules(client: &Client) -> Result<Object, Failure> {
    client.get(&Target::of(&["v1", "config", "permission-rules"]))
}

/// Tells whether the rules are in force.
pub(super) fn in_force(rules: &Object) -> bool {
    rules.get("enabled").and_then(Value::as_bool) == Some(true)
}

/// Tells whether they leave the operator what it takes to put them out of force.
pub(super) fn passes(rules: &Object) -> bool {
    let preflight = rules.get("preflight").unwrap_or(&Value::Null);
    preflight.get("passes").and_then(Value::as_bool) == Some(true)
}

/// Returns a text of a value; an empty one where there is none.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
