//! The direct evaluator: over the borrowed facts, with no value that is not asked for.
//!
//! It covers everything but points and lengths of time; what it does not cover goes through the
//! evaluator of the CEL crate. The two give the same results, and count the same work and the same
//! bytes: generated expressions are put to both.

mod answer;
mod build;
mod convert;
mod eval;
mod facts;
mod fault;
mod loops;
mod node;
mod operations;
mod value;

use std::panic::{AssertUnwindSafe, catch_unwind};

use cel::common::ast::IdedExpr;

use super::check::Checked;
use super::check::bindings::Names;
use super::meter::{self, Limit, Spent};
use super::question::Question;
use super::ruling::Failure;
use super::value::Value as Plain;
use eval::Walk;
use fault::Fault;
use node::Node;
use value::Value;

/// How many variables of loops there are at once: loops inside each other are bounded.
const MAX_LOCALS: usize = super::guard::MAX_LOOPS;

/// An expression that is evaluated directly.
#[derive(Debug)]
pub(super) struct Direct(Node);

impl Direct {
    /// Returns `None` if the expression has parts that are not evaluated directly.
    pub(super) fn build(root: &IdedExpr, checked: &Checked, names: &Names) -> Option<Self> {
        build::build(root, checked, names).map(Self)
    }

    /// Says whether it is true, and what saying so took.
    pub(super) fn ask<'q>(&'q self, question: &'q Question<'q>) -> (Result<bool, Failure>, Spent) {
        guarded(|| {
            let mut walk = Walk::new(question);
            let outcome = if self.0.is_test() {
                walk.holds(&self.0)
            } else {
                match walk.value(&self.0) {
                    Ok(Value::Bool(bool)) => Ok(bool),
                    Ok(other) => {
                        let got = other.type_of().as_str().to_owned();
                        return (Err(Failure::NotBoolean { got }), walk.spent);
                    }
                    Err(fault) => Err(fault),
                }
            };
            (outcome.map_err(|fault| failure(&fault, &walk.spent)), walk.spent)
        })
        .unwrap_or_else(|| (Err(Failure::Panicked), Spent::default()))
    }

    /// Returns the result, whatever it is.
    pub(super) fn answer<'q>(&'q self, question: &'q Question<'q>) -> Result<Plain, Failure> {
        guarded(|| {
            let mut walk = Walk::new(question);
            let answer = walk.value(&self.0).and_then(|value| walk.answer(&value, 0));
            answer.map_err(|fault| failure(&fault, &walk.spent))
        })
        .unwrap_or(Err(Failure::Panicked))
    }
}

/// Evaluates; `None` is a fault of ours. What it could leave half done is dropped with it.
fn guarded<T>(evaluate: impl FnOnce() -> T) -> Option<T> {
    catch_unwind(AssertUnwindSafe(evaluate)).ok()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::predicate::context::Context;
    use crate::predicate::program::{Evaluator, Program, Purpose};

    #[test]
    fn everything_is_direct_but_points_and_lengths_of_time() {
        let is_direct = |source: &str| {
            let purpose = Purpose::Result;
            Program::compile(source, Names::Of(Context::Hook), purpose, Evaluator::Fastest)
                .expect(source)
                .is_direct()
        };
        for source in [
            "record.body.tool == 'bash' && record.body.status == 'error'",
            "record.body.content.matches('[0-9]+') || trust(current_actor(), 'code') < 0.5",
            "has(record.body.args.path) && record.body.args.path.startsWith('/etc')",
            "record.body.args.exists(name, record.body.args[name] == 1)",
            "record.body.args.list.filter(x, x > 1).map(x, {x: [x]})",
            "string(size(record.body.args)) + string(bytes('a')) in ['a']",
            "type(system.records_total) == int && !has(record.body.args.a)",
            "task('a').exists || fanout_status('b') == 'done' || fleet_emergency_active()",
        ] {
            assert!(is_direct(source), "{source}");
        }
        for source in [
            "timestamp(now()).getFullYear() == 2026",
            "duration('1h') > duration('1m')",
            "type(timestamp(0)) == google.protobuf.Timestamp",
        ] {
            assert!(!is_direct(source), "{source}");
        }
    }
}
