//! A compiled expression, and one evaluation of it.

use std::sync::Arc;

use cel::common::value::Val;

use super::check;
use super::check::bindings::Names;
use super::direct::Direct;
use super::error::{Flaw, PredicateError};
use super::guard;
use super::metered::Metered;
use super::question::Question;
use super::selector::Selector;
use super::selector::order;
use super::value::Value as Plain;
use super::warn::{Warning, warnings};
use super::{Evaluation, Facts, Failure, Ruling, deep, parse, plain};

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
    Metered(Metered),
}

impl Program {
    /// Compiles `source`, or says why it cannot be compiled.
    pub(super) fn compile(
        source: &str,
        names: Names,
        purpose: Purpose,
        evaluator: Evaluator,
    ) -> Result<Arc<Self>, PredicateError> {
        guard::text(source)?;
        let owned: Box<str> = source.into();
        if plain::parse(source).is_some() {
            return Self::compile_here(owned, &names, purpose, evaluator);
        }
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
    ) -> Result<Arc<Self>, PredicateError> {
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
            None => Code::Metered(Metered::build(ordered, checked, purpose)),
        };
        Ok(Arc::new(Self { source, selector, warnings, pattern_bytes, code }))
    }

    #[cfg(test)]
    pub(super) const fn is_direct(&self) -> bool {
        matches!(self.code, Code::Direct(_))
    }

    /// Evaluates a predicate.
    pub(super) fn ask<'q>(&'q self, question: &'q Question<'q>) -> Evaluation {
        let (outcome, spent) = match &self.code {
            Code::Direct(direct) => direct.ask(question),
            Code::Metered(metered) => metered.ask(question),
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
            Code::Metered(metered) => metered.answer(question),
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
            Code::Metered(metered) => metered.answer_over(variables),
        }
    }
}
