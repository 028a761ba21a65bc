//! `spl decisions`: what runs ask, and the answers.

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::object;

use super::record::find;
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::output::{DIM, GOOD, NAME, Table, cut, printable, short};
use crate::session::{self, Session};

/// Answer what runs ask
#[derive(Subcommand, Debug)]
pub(crate) enum DecisionsCommand {
    List(ListArgs),
    Show(ShowArgs),
    Approve(ApproveArgs),
    Reject(RejectArgs),
    Provide(ProvideArgs),
}

/// List the questions that wait for an answer
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl decisions list
  spl decisions list --all
  spl -o json decisions list | jq '.data[].question'")]
pub(crate) struct ListArgs {
    /// Those that are answered too
    #[arg(long)]
    all: bool,
    /// At most that many, 1000 at once
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: u32,
    /// Go on after an earlier page: its `next_cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<i64>,
}

/// Show a question, and its answer if there is one
#[derive(Args, Debug)]
#[command(after_help = "\
Example:
  spl decisions show 5b6bf5cf")]
pub(crate) struct ShowArgs {
    /// The id of the question, or so much of it that no other record has it
    id: String,
}

/// Say yes
#[derive(Args, Debug)]
#[command(after_help = "\
A question may propose a lesson. With --becomes-policy it becomes a hook of yours, which speaks
from then on; with --expires it stops by itself. Without, the run hears your yes and no more.
The first answer stands.

Examples:
  spl decisions approve 5b6bf5cf
  spl decisions approve 5b6bf5cf --reason 'only on the staging host'
  spl decisions approve 5b6bf5cf --becomes-policy --expires 30d")]
pub(crate) struct ApproveArgs {
    /// The id of the question, or so much of it that no other record has it
    id: String,
    /// Make a hook of the lesson that is proposed
    #[arg(long)]
    becomes_policy: bool,
    /// When that hook stops: 30d, 12h, 45m, or a time such as 2027-01-31T12:00:00Z [default: never]
    #[arg(long, value_name = "WHEN", requires = "becomes_policy")]
    expires: Option<String>,
    #[command(flatten)]
    said: Said,
}

/// Say no
#[derive(Args, Debug)]
#[command(after_help = "\
The first answer stands.

Examples:
  spl decisions reject 5b6bf5cf
  spl decisions reject 5b6bf5cf --reason 'ask again after the release'")]
pub(crate) struct RejectArgs {
    /// The id of the question, or so much of it that no other record has it
    id: String,
    #[command(flatten)]
    said: Said,
}

/// Give the value that is asked for
#[derive(Args, Debug)]
#[command(after_help = "\
The first answer stands. What looks like a secret is masked before it is stored.

Example:
  spl decisions provide 5b6bf5cf --value blue")]
pub(crate) struct ProvideArgs {
    /// The id of the question, or so much of it that no other record has it
    id: String,
    /// The value
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    value: String,
    #[command(flatten)]
    said: Said,
}

/// What every answer may say.
#[derive(Args, Debug)]
struct Said {
    /// Why, in words for the run
    #[arg(long, value_name = "TEXT")]
    reason: Option<String>,
    /// Who answers [default: `SPL_ACTOR`, else the owner of the instance]
    #[arg(long, value_name = "DID")]
    actor: Option<String>,
}

/// Lists, shows and answers questions.
pub(crate) fn decisions(session: &mut Session, command: DecisionsCommand) -> Result<(), Failure> {
    match command {
        DecisionsCommand::List(args) => list(session, &args),
        DecisionsCommand::Show(args) => show(session, &args),
        DecisionsCommand::Approve(args) => {
            let mut answer = object! { "decision": "approve" };
            if args.becomes_policy {
                answer.insert("becomes_policy".into(), true.into());
            }
            if let Some(expires) = args.expires {
                answer.insert("expires".into(), expires.into());
            }
            decide(session, &args.id, answer, args.said)
        }
        DecisionsCommand::Reject(args) => {
            decide(session, &args.id, object! { "decision": "reject" }, args.said)
        }
        DecisionsCommand::Provide(args) => {
            let answer = object! { "decision": "provide", "provided_value": args.value };
            decide(session, &args.id, answer, args.said)
        }
    }
}

fn list(session: &mut Session, args: &ListArgs) -> Result<(), Failure> {
    let target = Target::of(&["v1", "decisions"])
        .with("limit", args.limit)
        .with_some("state", (!args.all).then_some("pending"))
        .with_some("cursor", args.cursor);
    let list = session.reader()?.get(&target)?;
    session.out.list(&list, |out, rows| {
        let mut table = Table::new(["ID", "STATE", "THREAD", "QUESTION"]);
        for row in rows {
            let lesson = row.get("lesson").is_some_and(|lesson| *lesson != Value::Null);
            let lesson = if lesson { "(proposes a lesson) " } else { "" };
            table.row([
                short(text(row, "id")),
                state(row).to_owned(),
                cut(text(row, "thread"), 20),
                format!("{lesson}{}", cut(text(row, "question"), 72)),
            ]);
        }
        table.print(out)?;
        match list.get("next_cursor").and_then(Value::as_str) {
            None => Ok(()),
            Some(cursor) => {
                let cursor = printable(cursor);
                writeln!(out, "{DIM}more: go on with --cursor {cursor}{DIM:#}")
            }
        }
    })
}

fn show(session: &mut Session, args: &ShowArgs) -> Result<(), Failure> {
    let client = session.reader()?;
    let asked = client.get(&Target::of(&["v1", "decisions", &id_of(&client, &args.id)?]))?;
    let shown = Value::from(asked.clone());
    session.out.answer(&asked, |out| {
        writeln!(out, "{NAME}{}{NAME:#}", printable(text(&shown, "question")))?;
        let mut line = |key: &str, value: &str| {
            if value.is_empty() {
                return Ok(());
            }
            writeln!(out, "{DIM}{key:<8}{DIM:#} {}", printable(value))
        };
        line("context", text(&shown, "context"))?;
        let options = shown.get("options").and_then(Value::as_array).unwrap_or_default();
        options.iter().filter_map(Value::as_str).try_for_each(|it| line("option", it))?;
        let lesson = shown.get("lesson").unwrap_or(&Value::Null);
        line("lesson", text(lesson, "name"))?;
        line("when", text(lesson, "when"))?;
        line("text", text(lesson, "text"))?;
        line("where", text(lesson, "namespace"))?;
        line("asked by", text(&shown, "requester"))?;
        line("thread", text(&shown, "thread"))?;
        line("id", text(&shown, "id"))?;
        line("state", text(&shown, "state"))?;
        let decision = shown.get("decision").unwrap_or(&Value::Null);
        line("answer", text(decision, "decision"))?;
        line("value", text(decision, "value"))?;
        line("reason", text(decision, "reason"))?;
        line("by", text(decision, "by"))?;
        line("policy", text(decision, "policy"))?;
        line("expires", text(decision, "expires_at"))
    })
}

fn decide(session: &mut Session, id: &str, mut answer: Object, said: Said) -> Result<(), Failure> {
    let client = session.reader()?;
    let id = id_of(&client, id)?;
    answer.insert("actor".into(), session::actor(said.actor.as_deref())?.into());
    if let Some(reason) = said.reason {
        answer.insert("reason".into(), reason.into());
    }
    let decided = client.post(&Target::of(&["v1", "decisions", &id, "decide"]), answer)?.body;
    let shown = Value::from(decided.clone());
    session.out.answer(&decided, |out| {
        let (word, record) = (text(&shown, "decision"), short(text(&shown, "id")));
        let thread = printable(text(&shown, "thread"));
        writeln!(out, "{GOOD}✓{GOOD:#} {word} {} {thread} {record}", short(&id))?;
        let policy = text(&shown, "policy");
        if policy.is_empty() {
            return Ok(());
        }
        match text(&shown, "expires_at") {
            "" => writeln!(out, "the lesson is in force: {}", short(policy)),
            until => writeln!(out, "the lesson is in force until {until}: {}", short(policy)),
        }
    })
}

/// Returns the whole id of a question. What it names may turn out to be none.
fn id_of(client: &Client, id: &str) -> Result<String, Failure> {
    let record = find(client, id)?;
    Ok(record.get("id").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Says whether a question waits, or what the answer is.
fn state(row: &Value) -> &str {
    match row.get("decision") {
        Some(decision @ Value::Object(_)) => text(decision, "decision"),
        _ => "pending",
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}
