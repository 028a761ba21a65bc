//! `spl service-account`: who comes in by a bearer, and what they may do.

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::engine::Scopes;

use crate::client::Target;
use crate::failure::Failure;
use crate::output::{self, DIM, Form, GOOD, Table, printable, short};
use crate::session::Session;

/// What help texts say of scopes.
pub(super) const SCOPES: &str = "\
Scopes: records:read, records:write, threads:write, federation:manage, config:read, config:write,
admin; or reader (records:read), contributor (records:read,records:write). Hooks take admin.
thread:<id>:read, thread:<id>:write, namespace:<ns>:read and namespace:<ns>:write say where: with
one of them, that is all that is read, or written.";

/// Make, list and revoke service accounts
#[derive(Subcommand, Debug)]
pub(crate) enum ServiceAccountCommand {
    Create(CreateArgs),
    /// List the accounts, revoked ones too
    List,
    Describe(DescribeArgs),
    Revoke(RevokeArgs),
}

/// Make a service account, and with --with-token a bearer of it that is printed this once
#[derive(Args, Debug)]
#[command(after_help = format!("\
An account speaks as the actors that --actors names; without, as itself alone, which is
did:sync:system:<id>. `*` is every actor but those of the system.

Examples:
  spl service-account create --name ci --actors did:sync:agent:ci --with-token
  spl service-account create --name docs --scopes thread:th_docs:read,thread:th_docs:write
  spl service-account create --name first --scopes admin --bootstrap

{SCOPES}"))]
pub(crate) struct CreateArgs {
    /// What to call it
    #[arg(long, value_name = "NAME")]
    name: String,
    /// What its tokens may do, with commas between
    #[arg(
        long,
        value_name = "SCOPES",
        value_parser = Scopes::parse,
        default_value = "records:read,records:write"
    )]
    scopes: Scopes,
    /// Whom it may speak as, with commas between [default: itself alone]
    #[arg(long, value_name = "DIDS")]
    actors: Option<String>,
    /// Make a token of it too
    #[arg(long)]
    with_token: bool,
    /// What the token is used for: a word of the bearer [default: prod]
    #[arg(long, value_name = "WORD")]
    env_tag: Option<String>,
    /// When the token ends: 30d, 12h, 45m, or a time such as 2027-01-31T12:00:00Z [default: never]
    #[arg(long, value_name = "WHEN")]
    expires: Option<String>,
    /// Where it belongs
    #[arg(long, value_name = "NAMESPACE", default_value = "default")]
    namespace: String,
    /// Make it on this machine's instance, which is made too if there is none; with a token
    #[arg(long)]
    bootstrap: bool,
}

/// Show an account and its tokens
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl service-account describe ci")]
pub(crate) struct DescribeArgs {
    /// The id, or the name
    id: String,
}

/// Revoke an account; none of its tokens opens anything from then on
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl service-account revoke ci --reason 'the laptop is gone'")]
pub(crate) struct RevokeArgs {
    /// The id, or the name
    id: String,
    /// Why; it stands in the records
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
}

/// Makes, lists, shows and revokes service accounts.
pub(crate) fn service_account(
    session: &mut Session,
    command: ServiceAccountCommand,
) -> Result<(), Failure> {
    match command {
        ServiceAccountCommand::Create(args) => create(session, args),
        ServiceAccountCommand::List => list(session),
        ServiceAccountCommand::Describe(args) => describe(session, &args),
        ServiceAccountCommand::Revoke(args) => revoke(session, &args),
    }
}

fn create(session: &mut Session, args: CreateArgs) -> Result<(), Failure> {
    if args.bootstrap {
        session.refuse_server("spl service-account create --bootstrap")?;
    }
    let scopes = args.scopes.to_string();
    let said = [
        ("name", Some(args.name)),
        ("scopes", Some(scopes)),
        ("actors", args.actors),
        ("namespace", Some(args.namespace)),
        ("env_tag", args.env_tag),
        ("expires", args.expires),
    ];
    let mut request: Object = said
        .into_iter()
        .filter_map(|(field, said)| Some((field.to_owned(), Value::from(said?))))
        .collect();
    request.insert("with_token".into(), (args.with_token || args.bootstrap).into());
    let made = session.writer()?.post(&Target::of(&["v1", "service-accounts"]), request)?;
    let account = made.body;
    if account.get("api_key").is_some_and(|key| key.as_str().is_some()) {
        if session.out.form() == Form::Text {
            output::note(&format!("made the service account {}", text(&account, "id")));
        }
        return show_bearer(session, account, "api_key");
    }
    session.out.answer(&account, |out| {
        writeln!(
            out,
            "{GOOD}✓{GOOD:#} made the service account {} ({})",
            text(&account, "id"),
            printable(text(&account, "name"))
        )
    })
}

fn list(session: &mut Session) -> Result<(), Failure> {
    let accounts = session.reader()?.get(&Target::of(&["v1", "service-accounts"]))?;
    session.out.list(&accounts, |out, rows| {
        let mut table = Table::new(["NAME", "ID", "CREATED", "STATE", "SCOPES", "ACTORS"]);
        for row in rows.iter().filter_map(Value::as_object) {
            table.row([
                text(row, "name").to_owned(),
                text(row, "id").to_owned(),
                text(row, "created_at").to_owned(),
                state(row).to_owned(),
                word_list(row, "scopes"),
                speaks_as(row),
            ]);
        }
        table.print(out)
    })
}

fn describe(session: &mut Session, args: &DescribeArgs) -> Result<(), Failure> {
    let account = session.reader()?.get(&Target::of(&["v1", "service-accounts", &args.id]))?;
    session.out.answer(&account, |out| {
        let mut line =
            |label: &str, said: &str| writeln!(out, "{DIM}{label:<9}{DIM:#} {}", printable(said));
        line("name", text(&account, "name"))?;
        line("id", text(&account, "id"))?;
        line("did", text(&account, "did"))?;
        line("namespace", text(&account, "namespace"))?;
        line("state", state(&account))?;
        if !text(&account, "reason").is_empty() {
            line("because", text(&account, "reason"))?;
        }
        line("scopes", &word_list(&account, "scopes"))?;
        line("actors", &speaks_as(&account))?;
        let tokens = account.get("tokens").and_then(Value::as_array).unwrap_or_default();
        for token in tokens.iter().filter_map(Value::as_object) {
            let state = if text(token, "revoked_at").is_empty() { "live" } else { "revoked" };
            let scopes = word_list(token, "scopes");
            line("token", &format!("{} {state} {scopes}", short(text(token, "id"))))?;
        }
        Ok(())
    })
}

fn revoke(session: &mut Session, args: &RevokeArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "service-accounts", &args.id]);
    let target = target.with_some("reason", args.reason.as_deref());
    let revoked = session.reader()?.delete(&target)?;
    let count = revoked.get("tokens_revoked").map(ToString::to_string).unwrap_or_default();
    session.out.answer(&revoked, |out| {
        writeln!(out, "{GOOD}✓{GOOD:#} revoked {} (tokens: {count})", printable(&args.id))
    })
}

/// Prints a bearer alone; in another form, the rest of the answer without it.
pub(super) fn show_bearer(
    session: &mut Session,
    mut answer: Object,
    field: &str,
) -> Result<(), Failure> {
    let bearer = answer.remove(field);
    let bearer = bearer.as_ref().and_then(Value::as_str).unwrap_or_default();
    if session.out.form() == Form::Text {
        output::note("this bearer is shown once; keep it where nobody else reads");
    } else {
        output::note(&format!("the bearer, shown once: {bearer}"));
    }
    session.out.answer(&answer, |out| writeln!(out, "{bearer}"))
}

fn state(account: &Object) -> &'static str {
    if text(account, "revoked_at").is_empty() { "live" } else { "revoked" }
}

fn speaks_as(account: &Object) -> String {
    Some(word_list(account, "actors")).filter(|it| !it.is_empty()).unwrap_or("itself".into())
}

pub(super) fn text<'a>(row: &'a Object, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).unwrap_or_default()
}

pub(super) fn word_list(row: &Object, key: &str) -> String {
    let words = row.get(key).and_then(Value::as_array).unwrap_or_default();
    let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
    words.join(",")
}
