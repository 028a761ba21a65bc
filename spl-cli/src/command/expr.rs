//! `spl expr`: check and evaluate expressions.

use clap::{Args, Subcommand};
use spl::canon::{Object, Value};
use spl::engine::Engine;
use spl::object;
use spl::predicate::{Context, Predicate};

use super::write::read_object;
use crate::client::{Client, Target};
use crate::failure::{Exit, Failure};
use crate::home;
use crate::output::{GOOD, WARN, explained, plural, printable};
use crate::policy;
use crate::session::Session;
use crate::warning;

/// Check and evaluate expressions
#[derive(Subcommand, Debug)]
pub(crate) enum ExprCommand {
    Check(CheckArgs),
    Eval(EvalArgs),
}

/// Check that an expression compiles
#[derive(Args, Debug)]
#[command(after_help = "\
What cannot be right is an error, and what most likely is not what was meant is a warning; with
warnings it is still valid. Nothing is read but the expression, so this needs no instance.

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
      --record -
  spl expr eval 'record.body.args.paths.exists(p, p.endsWith(\".rs\"))' --context hook --explain \\
      --record '{\"body\":{\"args\":{\"paths\":[\"a.py\",\"b.rs\"]}}}'")]
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
    /// Show what came of each part
    #[arg(long)]
    explain: bool,
}

fn read_context(word: &str) -> Result<Context, String> {
    Context::parse(word).ok_or_else(|| "a context is hook or permission".into())
}

/// Checks and evaluates expressions.
pub(crate) fn expr(session: &mut Session, command: ExprCommand) -> Result<u8, Failure> {
    match command {
        ExprCommand::Check(args) => check(session, &args).map(|()| 0),
        ExprCommand::Eval(args) => evaluate(session, &args),
    }
}

fn check(session: &mut Session, args: &CheckArgs) -> Result<(), Failure> {
    let predicate = Predicate::compile(&args.expression, args.context)
        .map_err(|error| Failure::coded(&error).pointing_into(&args.expression))?;
    let warnings = predicate.warnings();
    let context = args.context.as_str();
    let answer = object! {
        "context": context,
        "expression": args.expression.as_str(),
        "object": "expression",
        "valid": true,
        "warnings": warning::objects(warnings),
    };
    session.out.answer(&answer, |out| {
        write!(out, "{GOOD}✓{GOOD:#} valid in the context {context}")?;
        if warnings.is_empty() {
            return writeln!(out);
        }
        let count = u64::try_from(warnings.len()).unwrap_or(u64::MAX);
        writeln!(out, ", with {}", plural(count, "warning"))?;
        warning::print(&args.expression, warnings, out)
    })
}

fn evaluate(session: &mut Session, args: &EvalArgs) -> Result<u8, Failure> {
    let mut request = object! {
        "context": args.context.as_str(),
        "expression": args.expression.as_str(),
    };
    if let Some(record) = &args.record {
        request.insert("record".into(), read_object("record", record)?.into());
    }
    if args.explain {
        request.insert("explain".into(), true.into());
    }
    let answer: Object = evaluator(session)?
        .post(&Target::of(&["v1", "expr", "eval"]), request)
        .map_err(|failure| failure.pointing_into(&args.expression))?
        .body;
    let evaluated = Evaluated::of(&answer);
    session.out.answer(&answer, |out| {
        match &evaluated.result {
            Ok(result) => writeln!(out, "{result}")?,
            Err(why) => writeln!(out, "{WARN}failed:{WARN:#} {}", printable(why))?,
        }
        if args.explain {
            writeln!(out)?;
            explained(&evaluated.explanation, out)?;
        }
        Ok(())
    })?;
    Ok(if evaluated.result.is_ok() { 0 } else { Exit::Invalid as u8 })
}

/// What came of an evaluation.
pub(super) struct Evaluated {
    result: Result<Value, String>,
    /// Empty where nothing was to be explained.
    pub(super) explanation: Object,
}

impl Evaluated {
    /// Reads the answer of a server.
    pub(super) fn of(answer: &Object) -> Self {
        let failure = answer.get("failure").and_then(Value::as_str);
        let explanation = answer.get("explanation").and_then(Value::as_object);
        Self {
            result: match failure {
                Some(failure) => Err(failure.to_owned()),
                None => Ok(answer.get("result").cloned().unwrap_or(Value::Null)),
            },
            explanation: explanation.cloned().unwrap_or_default(),
        }
    }

    /// Returns the result as that of a predicate.
    pub(super) fn holds(&self) -> Result<bool, String> {
        match &self.result {
            Ok(Value::Bool(holds)) => Ok(*holds),
            Ok(_) => {
                let ty = self.explanation.get("type").and_then(Value::as_str);
                Err(format!("the result is {}, not bool", ty.unwrap_or("something else")))
            }
            Err(failure) => Err(failure.clone()),
        }
    }
}

/// Whoever has no instance yet can still evaluate, over one that holds nothing.
pub(super) fn evaluator(session: &Session) -> Result<Client, Failure> {
    if session.server().is_some() || home::find()?.is_initialised() {
        return session.reader();
    }
    let engine = Engine::in_memory().map_err(|error| Failure::coded(&error))?;
    Client::here(engine, policy::runtime_of(None)?)
}
