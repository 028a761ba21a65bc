//! The direct evaluator: over the borrowed facts, with no value that is not asked for.
//!
//! It covers everything but points and lengths of time; what it does not cover goes through the
//! evaluator of the CEL crate. The two give the same results, and count the same work and the same
//! bytes: generated expressions are put to both.

mod build;
mod convert;
mod eval;
mod fault;
mod handed;
mod loops;
mod node;
mod operations;
mod value;

use cel::common::ast::IdedExpr;
use cel::common::value::CowVal;

use super::check::Checked;
use super::context::Context;
use super::meter::{self, Limit, Spent};
use super::ops;
use super::program::in_words;
use super::question::Question;
use super::ruling::Failure;
use crate::canon;
use eval::Run;
use fault::Fault;
use node::Node;

/// How many variables of loops there are at once: loops inside each other are bounded.
const MAX_LOCALS: usize = super::guard::MAX_LOOPS;

/// An expression that is evaluated directly.
#[derive(Debug)]
pub(super) struct Direct(Node);

impl Direct {
    /// Returns `None` if the expression has parts that are not evaluated directly.
    pub(super) fn build(root: &IdedExpr, checked: &Checked, context: Context) -> Option<Self> {
        build::build(root, checked, context).map(Self)
    }

    /// Says whether it is true, and what saying so took.
    pub(super) fn ask(&self, question: &Question<'_>) -> (Result<bool, Failure>, Spent) {
        let mut run = Run::new(question);
        let outcome = if self.0.is_test() {
            run.holds(&self.0).map_err(|fault| failure(&fault, &run.spent))
        } else {
            match run.value(&self.0) {
                Ok(value::Value::Bool(bool)) => Ok(bool),
                Ok(other) => Err(Failure::NotBoolean { got: other.type_of().as_str().to_owned() }),
                Err(fault) => Err(failure(&fault, &run.spent)),
            }
        };
        (outcome, run.spent)
    }

    /// Returns the result, whatever it is.
    pub(super) fn answer(&self, question: &Question<'_>) -> (Result<canon::Value, Failure>, Spent) {
        let mut run = Run::new(question);
        let value = match run.value(&self.0) {
            Ok(value) => value,
            Err(fault) => return (Err(failure(&fault, &run.spent)), run.spent),
        };
        let handed = run.handed(&value);
        let (answered, meter) =
            meter::resumed(run.spent, || ops::answer(vec![CowVal::Owned(handed)]));
        let outcome = match (answered, meter.spent.limit, meter.answer) {
            (_, Some(limit), _) => Err(limit.failure(&meter.spent)),
            (Ok(Ok(_)), None, Some(answer)) => Ok(answer),
            (Ok(Err(error)), None, _) => Err(in_words(&error)),
            _ => Err(Failure::Panicked),
        };
        (outcome, meter.spent)
    }
}

fn failure(fault: &Fault<'_>, spent: &Spent) -> Failure {
    match (fault, spent.limit) {
        (Fault::Stopped, limit) => limit.unwrap_or(Limit::OverBudget).failure(spent),
        (fault, _) => Failure::Error { message: fault.in_words() },
    }
}

impl From<meter::Stopped> for Fault<'_> {
    fn from(_: meter::Stopped) -> Self {
        Self::Stopped
    }
}

impl Node {
    /// Tells whether the result is true or false, if there is one.
    const fn is_test(&self) -> bool {
        matches!(
            self,
            Self::All(_)
                | Self::Any(_)
                | Self::Not(_)
                | Self::Is(..)
                | Self::IsOneOf(..)
                | Self::Equal(..)
                | Self::Order(..)
                | Self::In(_)
                | Self::InLiterals(..)
                | Self::Has(..)
                | Self::OfTexts(..)
                | Self::Finds(..)
                | Self::Matches(..)
                | Self::Quantify(..)
        )
    }
}
