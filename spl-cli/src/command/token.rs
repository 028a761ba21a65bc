//! `spl token`: make, list, replace and revoke bearers.

mod kept;

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::engine::Scopes;
use spl::store::TokenId;

use super::service_account::{SCOPES, show_bearer, text, word_list};
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::output::{DIM, GOOD, Table, printable, short};
use crate::session::Session;

/// Make, list, replace and revoke bearers
#[derive(Subcommand, Debug)]
pub(crate) enum TokenCommand {
    Create(CreateArgs),
    /// List the tokens, revoked ones too
    List,
    Info(InfoArgs),
    Rotate(RotateArgs),
    Revoke(RevokeArgs),
    Save(kept::SaveArgs),
    ShowSource(kept::ShowSourceArgs),
}

/// Make a token and print its bearer, this once
#[derive(Args, Debug)]
#[command(after_help = format!("\
A token has the scopes that its account has when it is made, or fewer. Without --sa it gets an
account of its own, which has its name and may speak as every actor but those of the system.

Only a hash of it is stored. Standard output holds the bearer alone; with `-o json` it holds the
token without its bearer, which then goes to standard error.

Examples:
  TOKEN=$(spl token create --name ci --scopes records:read,records:write)
  spl token create --name dashboard --scopes records:read,config:read --expires 30d
  spl token create --sa sa-2f0c9a6d1b3e4f58 --expires 12h

{SCOPES}"))]
pub(crate) struct CreateArgs {
    /// What to call it
    #[arg(value_name = "NAME", conflicts_with = "name")]
    named: Option<String>,
    /// The same
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// The account, by its id or its name [default: one of its own]
    #[arg(long, value_name = "ACCOUNT")]
    sa: Option<String>,
    /// What it may do, with commas between [default with --sa: what the account may]
    #[arg(long, value_name = "SCOPES", value_parser = Scopes::parse, required_unless_present = "sa")]
    scopes: Option<Scopes>,
    /// When it ends: 30d, 12h, 45m, or a time such as 2027-01-31T12:00:00Z [default: never]
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// What it is used for: a word of the bearer [default: prod]
    #[arg(long, value_name = "WORD")]
    env_tag: Option<String>,
}

/// Tell whose a bearer is and what it may do
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl token info \"$TOKEN\"
  spl token info - < bearer.txt")]
pub(crate) struct InfoArgs {
    /// The bearer, or `-` to read it from standard input, where no list of processes shows it
    bearer: String,
}

/// Put a new secret in the place of an old one
#[derive(Args, Debug)]
#[command(after_help = "\
Of an account, one new token takes the place of all that it has; of a token, one with the same
scopes and the same end. The old ones open nothing from then on.

Examples:
  spl token rotate ci
  spl token rotate sa-2f0c9a6d1b3e4f58")]
pub(crate) struct RotateArgs {
    /// The account, by its id or its name, or the whole id of a token
    account_or_id: String,
}

/// Revoke a token; its bearer opens nothing from then on
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl token revoke ci
  spl token revoke --sa ci --token-id 4c1f…")]
pub(crate) struct RevokeArgs {
    /// The name or the whole id; a name revokes every token that has it
    #[arg(required_unless_present = "token_id", conflicts_with = "token_id")]
    name_or_id: Option<String>,
    /// The whole id
    #[arg(long, value_name = "ID")]
    token_id: Option<String>,
    /// Only if it is of this account
    #[arg(long, value_name = "ACCOUNT", requires = "token_id")]
    sa: Option<String>,
}

/// Makes, lists, replaces and revokes bearers.
pub(crate) fn token(session: &mut Session, command: TokenCommand) -> Result<(), Failure> {
    match command {
        TokenCommand::Create(args) => create(session, args),
        TokenCommand::List => list(session),
        TokenCommand::Info(args) => info(session, &args),
        TokenCommand::Rotate(args) => rotate(session, &args),
        TokenCommand::Revoke(args) => revoke(session, &args),
        TokenCommand::Save(args) => kept::save(session, &args),
        TokenCommand::ShowSource(args) => kept::show_source(session, &args),
    }
}

fn create(session: &mut Session, args: CreateArgs) -> Result<(), Failure> {
    let name = args.named.or(args.name);
    if name.is_none() && args.sa.is_none() {
        return Err(Failure::usage("a token needs a name, or an account")
            .with_hint("Say `spl token create NAME --scopes …`, or give --sa."));
    }
    let scopes = args.scopes.map(|scopes| scopes.to_string());
    let said = [
        ("service_account_id", args.sa),
        ("name", name),
        ("scopes", scopes),
        ("expires", args.expires),
        ("env_tag", args.env_tag),
    ];
    let request: Object = said
        .into_iter()
        .filter_map(|(field, said)| Some((field.to_owned(), Value::from(said?))))
        .collect();
    let made = session.writer()?.post(&Target::of(&["v1", "tokens"]), request)?;
    show_bearer(session, made.body, "bearer")
}

fn list(session: &mut Session) -> Result<(), Failure> {
    let tokens = session.reader()?.get(&Target::of(&["v1", "tokens"]))?;
    session.out.list(&tokens, |out, rows| {
        let mut table =
            Table::new(["NAME", "ID", "ACCOUNT", "CREATED", "EXPIRES", "STATE", "SCOPES"]);
        for row in rows.iter().filter_map(Value::as_object) {
            let state = if text(row, "revoked_at").is_empty() { "live" } else { "revoked" };
            let expires = Some(text(row, "expires_at")).filter(|it| !it.is_empty());
            table.row([
                text(row, "name").to_owned(),
                short(text(row, "id")),
                text(row, "service_account_id").to_owned(),
                text(row, "created_at").to_owned(),
                expires.unwrap_or("never").to_owned(),
                state.to_owned(),
                word_list(row, "scopes"),
            ]);
        }
        table.print(out)
    })
}

fn info(session: &mut Session, args: &InfoArgs) -> Result<(), Failure> {
    let bearer = kept::given(&args.bearer)?;
    let token = if let Some(url) = session.server() {
        // Somebody else's server tells nobody but the holder.
        let client = Client::over_tcp(&url, Some(&bearer))?;
        client.get(&Target::of(&["v1", "identity"]))?
    } else {
        let secret = bearer.rsplit_once('_').map_or("", |(_, secret)| secret);
        let id = TokenId::of_secret(secret);
        let tokens = session.reader()?.get(&Target::of(&["v1", "tokens"]))?;
        let rows = tokens.get("data").and_then(Value::as_array).unwrap_or_default();
        let mut rows = rows.iter().filter_map(Value::as_object);
        let found = rows.find(|row| text(row, "id") == id.as_str());
        found.cloned().ok_or_else(|| Failure::missing("no token has this bearer"))?
    };
    session.out.answer(&token, |out| {
        for (label, key) in [
            ("name", "name"),
            ("name", "display_name"),
            ("id", "id"),
            ("id", "token_id"),
            ("account", "service_account_id"),
            ("created", "created_at"),
            ("expires", "expires_at"),
            ("revoked", "revoked_at"),
        ] {
            if !text(&token, key).is_empty() {
                writeln!(out, "{DIM}{label:<8}{DIM:#} {}", printable(text(&token, key)))?;
            }
        }
        writeln!(out, "{DIM}{:<8}{DIM:#} {}", "scopes", printable(&word_list(&token, "scopes")))
    })
}

fn rotate(session: &mut Session, args: &RotateArgs) -> Result<(), Failure> {
    let given = &args.account_or_id;
    let (target, secret) = if TokenId::parse(given).is_some() {
        (Target::of(&["v1", "tokens", given, "rotate"]), "bearer")
    } else {
        (Target::of(&["v1", "service-accounts", given, "rotate-key"]), "api_key")
    };
    let rotated = session.writer()?.post(&target, Object::new())?;
    show_bearer(session, rotated.body, secret)
}

fn revoke(session: &mut Session, args: &RevokeArgs) -> Result<(), Failure> {
    let named = args.token_id.as_ref().or(args.name_or_id.as_ref());
    let Some(named) = named else { return Err(Failure::usage("no token is named")) };
    let client = session.reader()?;
    if let Some(account) = &args.sa {
        let account = client.get(&Target::of(&["v1", "service-accounts", account]))?;
        let tokens = account.get("tokens").and_then(Value::as_array).unwrap_or_default();
        let mut tokens = tokens.iter().filter_map(Value::as_object);
        if !tokens.any(|token| text(token, "id") == named) {
            return Err(Failure::missing("the account has no token with this id"));
        }
    }
    let revoked = client.delete(&Target::of(&["v1", "tokens", named]))?;
    let count = revoked.get("revoked").map(ToString::to_string).unwrap_or_default();
    session.out.answer(&revoked, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} revoked {} ({count})", printable(named))
    })
}
