//! `spl config permissions-enable`, `permissions-disable` and `permissions-unlock`.

use clap::Args;
use spl::canon::{Object, Value};
use spl::code::Code;
use spl::engine::LockoutError;
use spl::object;
use spl::permission::PERMISSIONS_ENABLED_TOPIC;
use spl::record::RecordId;

use super::super::serve::Holder;
use super::super::write::show_written;
use super::rules::{in_force, passes, rules, text};
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{GOOD, quote};
use crate::session::Session;
use crate::statement::Statement;

/// The priority of the rule that is advised where there is none yet.
const FIRST_PRIORITY: i64 = 100;

/// Put the permission rules in force
#[derive(Args, Debug)]
#[command(after_help = "\
From then on a request or a tool call that no rule allows is refused; `GET /health` alone is asked
of no rule. Refuses unless the rules, as they are loaded, still allow the actor of the settings to
write, to read threads and to read the configuration, and prints the rule that is missing.

Example:
  spl config permissions-enable")]
pub(crate) struct EnableArgs {
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Put the permission rules out of force
#[derive(Args, Debug)]
#[command(after_help = "\
The rules stay as they are and are asked no more. If they do not allow even this, there is
`spl config permissions-unlock`.

Example:
  spl config permissions-disable")]
pub(crate) struct DisableArgs {
    /// Who states it [default: `SPL_ACTOR`, else did:sync:system:engine]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Put the permission rules out of force without asking them
#[derive(Args, Debug)]
#[command(after_help = "\
Writes straight into the store of this machine's instance: the way back for its owner if the rules
leave no other. Refuses while a server runs on it, unless forced; a running server hears of it.

Examples:
  spl config permissions-unlock
  spl config permissions-unlock --force")]
pub(crate) struct UnlockArgs {
    /// Write although a server runs
    #[arg(long)]
    force: bool,
}

/// Puts the rules in force, if that does not lock the operator out.
pub(super) fn enable(session: &mut Session, args: &EnableArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let rules = rules(&client)?;
    if in_force(&rules) {
        let answer = object! { "enabled": true, "object": "permissions" };
        return session.out.answer(&answer, |out| writeln!(out, "they are in force already"));
    }
    if !passes(&rules) {
        return Err(Failure::coded(&lockout(&rules)));
    }
    let reply = Statement::of_configuration(args.actor.as_deref(), switch(true)).write(&client)?;
    show_written(session, &reply)
}

/// Puts the rules out of force, by the door.
pub(super) fn disable(session: &mut Session, args: &DisableArgs) -> Result<(), Failure> {
    let client = session.writer()?;
    let reply = Statement::of_configuration(args.actor.as_deref(), switch(false)).write(&client)?;
    show_written(session, &reply)
}

/// Puts the rules out of force past every ruling.
pub(super) fn unlock(session: &mut Session, args: &UnlockArgs) -> Result<(), Failure> {
    session.refuse_server("spl config permissions-unlock")?;
    session.refuse_agent("spl config permissions-unlock")?;
    let home = home::find()?;
    if let Some(holder) = Holder::of(&home)?.filter(|_| !args.force) {
        let message = format!("a server of this home is running ({})", holder.in_words());
        return Err(Failure::new(Exit::Error, Code::ServerRunning.as_str(), message)
            .with_hint("Stop it with `spl serve --stop`, or unlock beside it with `--force`."));
    }
    let engine = home::open(&home)?;
    let written: RecordId = engine.unlock_permissions().map_err(|error| Failure::coded(&error))?;
    let answer = object! { "enabled": false, "object": "permissions", "record_id": written };
    session.out.answer(&answer, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} permission rules are out of force, record {written}")
    })
}

fn switch(enabled: bool) -> Object {
    object! { "enabled": enabled, "topic": PERMISSIONS_ENABLED_TOPIC }
}

/// Says what the rules would not leave to the operator, and what has to be written first.
fn lockout(rules: &Object) -> LockoutError {
    let preflight = rules.get("preflight").unwrap_or(&Value::Null);
    let rulings = preflight.get("rulings").and_then(Value::as_array).unwrap_or_default();
    let denied: Vec<&Value> = rulings
        .iter()
        .filter(|ruling| ruling.get("allowed").and_then(Value::as_bool) != Some(true))
        .collect();
    let actor = text(preflight, "actor");
    LockoutError {
        actor: actor.to_owned(),
        missing: denied.iter().map(|ruling| text(ruling, "resource").to_owned()).collect(),
        command: command(rules, actor, denied.first().map_or("", |ruling| text(ruling, "rule"))),
    }
}

/// Returns the command after which the rules leave the operator everything. Only what stands above
/// every other rule does, and where nothing can, the rule in the way has to go.
fn command(rules: &Object, actor: &str, in_the_way: &str) -> String {
    let rows = rules.get("data").and_then(Value::as_array).unwrap_or_default();
    let root = || rows.iter().filter(|row| text(row, "namespace") == "default");
    let highest = root().filter_map(|row| row.get("priority").and_then(Value::as_i64)).max();
    let above = highest.map_or(Some(FIRST_PRIORITY), |highest| highest.checked_add(1));
    let Some(priority) = above else {
        return format!("spl config disable-permission-rule {}", quote(in_the_way));
    };
    let is_free = |name: &String| !root().any(|row| text(row, "name") == name);
    let mut names = (1..).map(|n| if n == 1 { "operator".into() } else { format!("operator-{n}") });
    let name = names.find(is_free).unwrap_or_default();
    let expression = format!("current_actor() == {}", Value::from(actor));
    format!(
        "spl config add-permission-rule --name {name} --action allow --priority {priority} \
         --expression {}",
        quote(&expression)
    )
}
