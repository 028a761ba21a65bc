//! `spl token`: make, list and revoke bearers.

use clap::{Args, Subcommand};
use spl::canon::Value;
use spl::engine::Scopes;
use spl::object;

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{self, Form, GOOD, Table, short};
use crate::session::Session;

/// Make, list and revoke bearers
#[derive(Subcommand, Debug)]
pub(crate) enum TokenCommand {
    Create(CreateArgs),
    /// List the tokens, revoked ones too
    List,
    Revoke(RevokeArgs),
}

/// Make a token and print its bearer, this once
#[derive(Args, Debug)]
#[command(after_help = "\
Only a hash of it is stored. Standard output holds the bearer alone; with `-o json` it holds the
token without its bearer, which then goes to standard error.

Examples:
  TOKEN=$(spl token create --name ci --scopes records:read,records:write)
  spl token create --name dashboard --scopes records:read,config:read

Scopes: records:read, records:write, config:read, config:write, admin. Hooks take admin.")]
pub(crate) struct CreateArgs {
    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What it may do, with commas between
    #[arg(long, value_name = "SCOPES", value_parser = Scopes::parse)]
    scopes: Scopes,
}

/// Revoke a token; its bearer opens nothing from then on
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl token revoke ci")]
pub(crate) struct RevokeArgs {
    /// The name or the whole id; a name revokes every token that has it
    name_or_id: String,
}

/// Makes, lists and revokes bearers.
pub(crate) fn token(session: &mut Session, command: TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(args) => create(session, &args),
        TokenCommand::List => list(session),
        TokenCommand::Revoke(args) => revoke(session, &args),
    }
}

fn create(session: &mut Session, args: &CreateArgs) -> Result<(), Failure> {
    let request = object! { "name": args.name.as_str(), "scopes": args.scopes.to_string() };
    let made = session.writer()?.post(&Target::of(&["v1", "tokens"]), request)?;
    let mut token = made.body;
    let bearer = token.remove("bearer");
    let bearer = bearer.as_ref().and_then(Value::as_str).unwrap_or_default();
    if session.out.form() == Form::Text {
        output::note("this bearer is shown once; keep it where nobody else reads");
    } else {
        output::note(&format!("the bearer, shown once: {bearer}"));
    }
    session.out.answer(&token, |out| writeln!(out, "{bearer}"))
}

fn list(session: &mut Session) -> Result<(), Failure> {
    let tokens = session.reader()?.get(&Target::of(&["v1", "tokens"]))?;
    session.out.list(&tokens, |out, rows| {
        let mut table = Table::new(["NAME", "ID", "CREATED", "STATE", "SCOPES"]);
        for row in rows {
            let text = |key| row.get(key).and_then(Value::as_str).unwrap_or_default();
            let revoked = if text("revoked_at").is_empty() { "live" } else { "revoked" };
            let scopes = row.get("scopes").and_then(Value::as_array).unwrap_or_default();
            let scopes: Vec<&str> = scopes.iter().filter_map(Value::as_str).collect();
            table.row([
                text("name").to_owned(),
                short(text("id")),
                text("created_at").to_owned(),
                revoked.to_owned(),
                scopes.join(","),
            ]);
        }
        table.print(out)
    })
}

fn revoke(session: &mut Session, args: &RevokeArgs) -> Result<(), Failure> {
    let revoked = session.reader()?.delete(&Target::of(&["v1", "tokens", &args.name_or_id]))?;
    let count = revoked.get("revoked").map(ToString::to_string).unwrap_or_default();
    session.out.answer(&revoked, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} revoked {} ({count})", output::printable(&args.name_or_id))
    })
}
