//! A compiled expression, and one evaluation of it.

use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::{ExecutionError, Value};

use super::check::{self, written};
use super::error::{Flaw, PredicateError};
use super::guard::{self, MAX_BUILT, MAX_UNITS};
use super::meter::{self, Meter, Stop};
use super::order::order;
use super::pattern::Pattern;
use super::rewrite::rewrite;
use super::selector::Selector;
use super::{Context, Evaluation, Failure, Ruling, deep, parse};
use crate::canon;

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// To be true or false.
    Predicate,
    /// To have any result.
    Result,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) source: Box<str>,
    pub(super) context: Context,
    pub(super) selector: Selector,
    expression: IdedExpr,
    patterns: Arc<[Arc<Pattern>]>,
}

impl Program {
    /// Compiles `source`, or says why it cannot be compiled.
    pub(super) fn compile(
        source: &str,
        context: Context,
        purpose: Purpose,
    ) -> Result<Self, PredicateError> {
        guard::text(source)?;
        let owned: Box<str> = source.into();
        deep::run(move || Self::compile_here(owned, context, purpose)).unwrap_or_else(
            |deep::NotDone| {
                Err(PredicateError::new(Flaw::ParserFailed, "the parser failed on this text"))
            },
        )
    }

    fn compile_here(
        source: Box<str>,
        context: Context,
        purpose: Purpose,
    ) -> Result<Self, PredicateError> {
        let (parsed, columns) = parse::parse(&source)?;
        guard::tree(&parsed, &columns)?;
        let (ty, checked) = check::check(&parsed, context, &columns)?;
        let (ordered, finish) = match purpose {
            Purpose::Predicate => {
                check::must_be_bool(&parsed, ty, &columns)?;
                (order(parsed, context), "@verdict")
            }
            Purpose::Result => (parsed, "@answer"),
        };
        let selector = Selector::of(&ordered, context);
        let expression = rewrite(ordered, &checked, finish);
        let patterns = checked.patterns.into();
        Ok(Self { source, context, selector, expression, patterns })
    }

    /// Returns how large its patterns are.
    pub(super) fn pattern_bytes(&self) -> usize {
        self.patterns.iter().map(|pattern| pattern.bytes()).sum()
    }

    /// Evaluates a predicate.
    pub(super) fn ask(&self, context: &cel::Context<'_, '_>) -> Evaluation {
        let (outcome, meter) = self.run(context);
        let ruling = match outcome {
            Ok(true) => Ruling::Holds,
            Ok(false) => Ruling::DoesNotHold,
            Err(failure) => Ruling::Failed(failure),
        };
        Evaluation { ruling, units: meter.units(), built: meter.built }
    }

    /// Evaluates an expression with any result.
    pub(super) fn answer(&self, context: &cel::Context<'_, '_>) -> Result<canon::Value, Failure> {
        let (outcome, meter) = self.run(context);
        outcome?;
        meter.answer.ok_or(Failure::Panicked)
    }

    fn run(&self, context: &cel::Context<'_, '_>) -> (Result<bool, Failure>, Meter) {
        // Not `resolve_val`: that is compiled into the caller, where an unoptimised build would
        // need twenty times the stack.
        let (result, meter) =
            meter::metered(&self.patterns, || Value::resolve(&self.expression, context));
        let outcome = match (&meter.stop, result) {
            (_, Err(_panic)) => Err(Failure::Panicked),
            // Looked at first: `||` may have made something of the error that stopped it.
            (Some(stop), _) => Err(failure(stop, &meter)),
            (None, Ok(Ok(Value::Bool(bool)))) => Ok(bool),
            (None, Ok(Ok(_))) => Err(Failure::NotBoolean { got: "something else".to_owned() }),
            (None, Ok(Err(error))) => Err(Failure::Error { message: in_words(&error) }),
        };
        (outcome, meter)
    }
}

fn failure(stop: &Stop, meter: &Meter) -> Failure {
    match stop {
        Stop::OverBudget => Failure::OverBudget { units: meter.units(), limit: MAX_UNITS },
        Stop::TooLarge => Failure::TooLarge { bytes: meter.built, limit: MAX_BUILT },
        Stop::NotBoolean(got) => Failure::NotBoolean { got: got.clone() },
    }
}

/// Says what went wrong without the values: they may be large, and may be secret.
fn in_words(error: &ExecutionError) -> String {
    match error {
        ExecutionError::NoSuchKey(key) => format!("there is no key `{key}`"),
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
        _ => "the expression has no result".to_owned(),
    }
}
