//! A compiled expression, and one evaluation of it.

use std::sync::Arc;

use cel::common::ast::IdedExpr;
use cel::common::value::Val;
use cel::{ExecutionError, Value};

use super::bindings::Names;
use super::check::{self, written};
use super::direct::Direct;
use super::error::{Flaw, PredicateError};
use super::guard;
use super::meter::{self, Meter};
use super::order::order;
use super::pattern::Pattern;
use super::plain::Value as Plain;
use super::question::Question;
use super::rewrite::rewrite;
use super::selector::Selector;
use super::warn::{Warning, warnings};
use super::{Evaluation, Facts, Failure, Ruling, deep, engine, parse};

/// What an expression is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Purpose {
    /// To be true or false.
    Predicate,
    /// To have any result.
    Result,
}

/// Which evaluator answers. They give the same answers, and count the same work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Evaluator {
    /// Our own, where it covers the expression; else that of the CEL crate.
    #[default]
    Fastest,
    /// That of the CEL crate: what ours is held against.
    Cel,
}

/// A compiled expression.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) source: Box<str>,
    pub(super) selector: Selector,
    pub(super) warnings: Box<[Warning]>,
    /// How large its patterns are.
    pub(super) pattern_bytes: usize,
    code: Code,
}

#[derive(Debug)]
enum Code {
    Direct(Direct),
    Cel(Metered),
}

/// An expression whose every operation counts what it does.
#[derive(Debug)]
struct Metered {
    expression: IdedExpr,
    patterns: Arc<[Arc<Pattern>]>,
}

impl Program {
    /// Compiles `source`, or says why it cannot be compiled.
    pub(super) fn compile(
        source: &str,
        names: Names,
        purpose: Purpose,
        evaluator: Evaluator,
    ) -> Result<Self, PredicateError> {
        guard::text(source)?;
        let owned: Box<str> = source.into();
        deep::run(move || Self::compile_here(owned, &names, purpose, evaluator)).unwrap_or_else(
            |deep::NotDone| {
                Err(PredicateError::new(Flaw::ParserFailed, "the parser failed on this text"))
            },
        )
    }

    fn compile_here(
        source: Box<str>,
        names: &Names,
        purpose: Purpose,
        evaluator: Evaluator,
    ) -> Result<Self, PredicateError> {
        let (parsed, columns) = parse::parse(&source)?;
        guard::tree(&parsed, &columns)?;
        let (ty, checked) = check::check(&parsed, names, &columns)?;
        if purpose == Purpose::Predicate {
            check::must_be_bool(&parsed, ty, &columns)?;
        }
        let warnings = match names {
            Names::Of(context) => warnings(&parsed, &checked, (*context, purpose), &columns),
            Names::Declared(_) => Box::default(),
        };
        let (ordered, selector) = match (purpose, names) {
            (Purpose::Predicate, Names::Of(context)) => {
                let ordered = order(parsed, *context);
                let selector = Selector::of(&ordered, *context);
                (ordered, selector)
            }
            _ => (parsed, Selector::default()),
        };
        let pattern_bytes = checked.patterns.iter().map(|pattern| pattern.bytes()).sum();
        let direct = match evaluator {
            Evaluator::Fastest => Direct::build(&ordered, &checked, names),
            Evaluator::Cel => None,
        };
        let code = match direct {
            Some(direct) => Code::Direct(direct),
            None => Code::Cel(Metered {
                expression: rewrite(ordered, &checked, purpose),
                patterns: checked.patterns.into(),
            }),
        };
        Ok(Self { source, selector, warnings, pattern_bytes, code })
    }

    #[cfg(test)]
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.code, Code::Direct(_))
    }

    /// Evaluates a predicate.
    pub(super) fn ask<'q>(&'q self, question: &'q Question<'q>) -> Evaluation {
        let (outcome, spent) = match &self.code {
            Code::Direct(direct) => direct.ask(question),
            Code::Cel(metered) => {
                let (outcome, meter) =
                    engine::with_context(question, |context| metered.run(context));
                (outcome, meter.spent)
            }
        };
        let ruling = match outcome {
            Ok(true) => Ruling::Holds,
            Ok(false) => Ruling::DoesNotHold,
            Err(failure) => Ruling::Failed(failure),
        };
        Evaluation { ruling, units: spent.units(), built: spent.built }
    }

    /// Evaluates an expression with any result.
    pub(super) fn answer<'q>(&'q self, question: &'q Question<'q>) -> Result<Plain, Failure> {
        match &self.code {
            Code::Direct(direct) => direct.answer(question),
            Code::Cel(metered) => engine::with_context(question, |context| metered.answer(context)),
        }
    }

    /// Evaluates an expression with any result, over values that its names are bound to.
    pub(super) fn answer_over<'v>(
        &self,
        variables: Vec<(&str, Box<dyn Val + 'v>)>,
    ) -> Result<Plain, Failure> {
        match &self.code {
            // It looks at no name, or it would not be direct.
            Code::Direct(direct) => direct.answer(&Question::new(&Facts::NONE)),
            Code::Cel(metered) => {
                engine::with_variables(variables, |context| metered.answer(context))
            }
        }
    }
}

impl Metered {
    fn run(&self, context: &cel::Context<'_, '_>) -> (Result<bool, Failure>, Meter) {
        // Not `resolve_val`: that is compiled into the caller, where an unoptimised build would
        // need twenty times the stack.
        let (result, meter) =
            meter::metered(&self.patterns, || Value::resolve(&self.expression, context));
        (outcome(result, &meter), meter)
    }

    fn answer(&self, context: &cel::Context<'_, '_>) -> Result<Plain, Failure> {
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
