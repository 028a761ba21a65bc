//! The evaluator of the CEL crate, with every loop and every operation on texts, bytes, lists and
//! maps replaced by one of ours that counts.
//!
//! It covers every expression that is accepted, and what the direct evaluator gives is held against
//! what it gives.

pub(super) mod asked;
pub(super) mod engine;
pub(super) mod ops;
pub(super) mod rewrite;
pub(super) mod value;

use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::common::value::Val;
use cel::{Context, ExecutionError, Value};

use super::check::{Checked, written};
use super::meter::{self, Meter, Spent};
use super::pattern::Pattern;
use super::program::Purpose;
use super::question::Question;
use super::ruling::Failure;
use crate::predicate::value::Value as Plain;

/// An expression whose every operation counts what it does.
#[derive(Debug)]
pub(super) struct Metered {
    expression: IdedExpr,
    patterns: Arc<[Arc<Pattern>]>,
}

impl Metered {
    /// Rewrites an expression so that its every operation counts.
    pub(super) fn build(expression: IdedExpr, checked: Checked, purpose: Purpose) -> Self {
        let expression = rewrite::rewrite(expression, &checked, purpose);
        Self { expression, patterns: checked.patterns.into() }
    }

    /// Evaluates a predicate.
    pub(super) fn ask<'q>(&'q self, question: &'q Question<'q>) -> (Result<bool, Failure>, Spent) {
        let (outcome, meter) = engine::with_context(question, |context| self.run(context));
        (outcome, meter.spent)
    }

    /// Evaluates an expression with any result.
    pub(super) fn answer<'q>(&'q self, question: &'q Question<'q>) -> Result<Plain, Failure> {
        engine::with_context(question, |context| self.answer_in(context))
    }

    /// Evaluates an expression with any result, over values that its names are bound to.
    pub(super) fn answer_over<'v>(
        &self,
        variables: Vec<(&str, Box<dyn Val + 'v>)>,
    ) -> Result<Plain, Failure> {
        engine::with_variables(variables, |context| self.answer_in(context))
    }

    fn run(&self, context: &Context<'_, '_>) -> (Result<bool, Failure>, Meter) {
        // Not `resolve_val`: that is compiled into the caller, where an unoptimised build would
        // need twenty times the stack.
        let (result, meter) =
            meter::metered(&self.patterns, || Value::resolve(&self.expression, context));
        (outcome(result, &meter), meter)
    }

    fn answer_in(&self, context: &Context<'_, '_>) -> Result<Plain, Failure> {
        let (outcome, meter) = self.run(context);
        outcome?;
        meter.answer.ok_or(Failure::Panicked)
    }
}

/// Returns what came of an evaluation.
pub(super) fn outcome(
    result: std::thread::Result<Result<Value, ExecutionError>>,
    meter: &Meter,
) -> Result<bool, Failure> {
    match (meter.spent.limit, &meter.not_boolean, result) {
        (_, _, Err(_panic)) => Err(Failure::Panicked),
        // Looked at first: `||` may have made something of the error that stopped it.
        (Some(limit), _, _) => Err(limit.failure(&meter.spent)),
        (None, Some(got), _) => Err(Failure::NotBoolean { got: got.clone() }),
        (None, None, Ok(Ok(Value::Bool(bool)))) => Ok(bool),
        (None, None, Ok(Ok(_))) => Err(Failure::Panicked),
        (None, None, Ok(Err(error))) => Err(in_words(&error)),
    }
}

/// Says what went wrong without the values: they may be large, and may be secret.
pub(super) fn in_words(error: &ExecutionError) -> Failure {
    let message = match error {
        ExecutionError::NoSuchKey(key) => format!("there is no key `{key}`"),
        ExecutionError::UndeclaredReference(name) => {
            format!("there is no `{}`", name.trim_start_matches('.'))
        }
        ExecutionError::NoSuchOverload(call) => {
            let types = call.argument_types().join(" and ");
            format!("`{}` does not take {types}", written(call.function()))
        }
        ExecutionError::UnexpectedType { got, want } => format!("{got} where {want} was expected"),
        ExecutionError::FunctionError { function, .. } => {
            format!("`{function}` cannot take this value")
        }
        ExecutionError::DivisionByZero(_) | ExecutionError::RemainderByZero(_) => {
            "division by zero".to_owned()
        }
        ExecutionError::Overflow(..) => "the result is out of range".to_owned(),
        ExecutionError::IndexOutOfBounds(_) => "the index is out of bounds".to_owned(),
        ExecutionError::DuplicateKey(_) => "the same key twice in one map".to_owned(),
        ExecutionError::UnsupportedKeyType(_) => "a value that cannot be a key".to_owned(),
        ExecutionError::ValuesNotComparable(..) => "values that have no order".to_owned(),
        ExecutionError::UnsupportedBinaryOperator(name, ..) => {
            format!("`{name}` does not take these types")
        }
        // By the meter, which says so itself about the whole.
        ExecutionError::InternalError(text) if text.is_empty() => "stopped".to_owned(),
        _ => "the expression has no result".to_owned(),
    };
    Failure::Error { message }
}
