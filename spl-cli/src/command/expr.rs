//! `spl expr`: check and evaluate expressions.

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::engine::Engine;
use spl::object;
use spl::predicate::{Context, Predicate};

use super::write::read_object;
use crate::client::{Client, Target};
use crate::failure::Failure;
use crate::home;
use crate::output::GOOD;
use crate::session::Session;

/// Check and evaluate expressions
#[derive(Subcommand, Debug)]
pub(crate) enum ExprCommand {
    Check(CheckArgs),
    Eval(EvalArgs),
}

/// Check that an expression compiles
#[derive(Args, Debug)]
#[command(after_help = "\
Nothing is read but the expression, so this needs no instance.

Examples:
  spl expr check 'record.body.tool == \"bash\"' --context hook
  spl expr check 'resource == \"tool:bash\"' --context permission")]
pub(crate) struct CheckArgs {
    /// The expression
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// What it may speak about: hook or permission
    #[arg(long, value_name = "CONTEXT", value_parser = read_context)]
    context: Context,
}

/// Evaluate an expression over a record
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  spl expr eval 'record.body.status != \"ok\"' --context hook \\
      --record '{\"body\":{\"tool\":\"bash\",\"args\":{},\"status\":\"error\",\"content\":\"\"}}'
  spl record show 5b6bf5cf -o json | spl expr eval 'record.act == \"DO\"' --context permission \\
      --record -")]
pub(crate) struct EvalArgs {
    /// The expression
    #[arg(allow_hyphen_values = true)]
    expression: String,
    /// What it may speak about: hook or permission
    #[arg(long, value_name = "CONTEXT", value_parser = read_context)]
    context: Context,
    /// The record as JSON, from a file with `@FILE`, or from standard input with `-`
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    record: Option<String>,
}

fn read_context(word: &str) -> Result<Context, String> {
    Context::parse(word).ok_or_else(|| "a context is hook or permission".into())
}

/// Checks and evaluates expressions.
pub(crate) fn expr(session: &mut Session, command: ExprCommand) -> Result<(), Failure> {
    match command {
        ExprCommand::Check(args) => check(session, &args),
        ExprCommand::Eval(args) => evaluate(session, &args),
    }
}

fn check(session: &mut Session, args: &CheckArgs) -> Result<(), Failure> {
    Predicate::compile(&args.expression, args.context)
        .map_err(|error| Failure::coded(&error).pointing_into(&args.expression))?;
    let context = args.context.as_str();
    let answer = object! {
        "context": context,
        "expression": args.expression.as_str(),
        "object": "expression",
        "valid": true,
    };
    session
        .out
        .answer(&answer, |out| writeln!(out, "{GOOD}✓{GOOD:#} valid in the context {context}"))
}

fn evaluate(session: &mut Session, args: &EvalArgs) -> Result<(), Failure> {
    let mut request = object! {
        "context": args.context.as_str(),
        "expression": args.expression.as_str(),
    };
    if let Some(record) = &args.record {
        request.insert("record".into(), read_object("record", record)?.into());
    }
    let answer: Object = evaluator(session)?
        .post(&Target::of(&["v1", "expr", "eval"]), request)
        .map_err(|failure| failure.pointing_into(&args.expression))?
        .body;
    session
        .out
        .answer(&answer, |out| writeln!(out, "{}", answer.get("result").unwrap_or(&Value::Null)))
}

/// Whoever has no instance yet can still evaluate, over one that holds nothing.
fn evaluator(session: &Session) -> Result<Client, Failure> {
    if session.server().is_some() || home::find()?.is_initialised() {
        return session.reader();
    }
    Client::here(Engine::in_memory().map_err(|error| Failure::coded(&error))?)
}
