//! `spl trust`: show who is trusted, and why.

use std::io::{self, Write};

use clap::Args;
use spl::canon::{Object, Value};

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{DIM, Table, plural, printable, short};
use crate::session::Session;

/// Show how far actors are trusted
#[derive(Args, Debug)]
#[command(after_help = "\
Trust is earned by verdicts of others: the lower bound of what their share of acceptances may be,
so that ten of ten say more than one of one. A verdict weighs half after 90 days.

Examples:
  spl trust
  spl trust did:sync:agent:worker
  spl trust did:sync:agent:worker --domain code")]
pub(crate) struct TrustArgs {
    /// Only this actor
    actor: Option<String>,
    /// Only this domain; with an actor, the verdicts too
    #[arg(long, value_name = "DOMAIN")]
    domain: Option<String>,
}

/// Shows who is trusted, and why.
pub(crate) fn trust(session: &mut Session, args: &TrustArgs) -> Result<(), Failure> {
    if let (Some(actor), Some(domain)) = (&args.actor, &args.domain) {
        let target = Target::of(&["v1", "governance", "trust", actor, domain]);
        let trust = session.reader()?.get(&target)?;
        return session.out.answer(&trust, |out| history(&trust, out));
    }
    let target = Target::of(&["v1", "trust"])
        .with_some("actor", args.actor.as_deref())
        .with_some("domain", args.domain.as_deref());
    let trust = session.reader()?.get(&target)?;
    session.out.list(&trust, |out, rows| {
        let mut table = Table::new(["SCORE", "VERDICTS", "DOMAIN", "ACTOR"]);
        for row in rows.iter().filter_map(Value::as_object) {
            let samples = row.get("samples").map(ToString::to_string).unwrap_or_default();
            table.row([score(row), samples, text(row, "domain"), text(row, "actor")]);
        }
        table.print(out)
    })
}

fn history(trust: &Object, out: &mut dyn Write) -> io::Result<()> {
    let samples = trust.get("samples").and_then(Value::as_u64).unwrap_or_default();
    let (actor, domain) = (text(trust, "actor"), text(trust, "domain"));
    let (actor, domain) = (printable(&actor), printable(&domain));
    writeln!(out, "{actor} in {domain}: {} from {}", score(trust), plural(samples, "verdict"))?;
    let mut table = Table::new(["VERDICT", "WEIGHT", "AT", "RECORD", "BY"]);
    let verdicts = trust.get("history").and_then(Value::as_array).unwrap_or_default();
    if verdicts.is_empty() {
        return writeln!(out, "{DIM}nobody has judged this yet{DIM:#}");
    }
    for verdict in verdicts.iter().filter_map(Value::as_object) {
        table.row([
            text(verdict, "verdict"),
            figure(verdict, "weight"),
            text(verdict, "received_at"),
            short(&text(verdict, "record_id")),
            text(verdict, "evaluator"),
        ]);
    }
    table.print(out)
}

/// Returns a score as people read it: two decimals.
pub(super) fn score(row: &Object) -> String {
    figure(row, "score")
}

fn figure(row: &Object, key: &str) -> String {
    match row.get(key) {
        Some(Value::Number(number)) => format!("{:.2}", number.to_f64()),
        _ => String::new(),
    }
}

fn text(row: &Object, key: &str) -> String {
    row.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
