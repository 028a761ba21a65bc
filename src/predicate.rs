//! Predicates: CEL expressions that are true or false of some facts (contract §4).
//!
//! Comes in: the source of an expression and the [`Context`] it is for; later, [`Facts`]. Goes
//! out: a [`Predicate`] or a [`PredicateError`] that says where and why not; later, a [`Ruling`].
//! An [`Expression`] gives any [`Value`], also over the declared names of an [`Environment`].
//!
//! What cannot work is refused when it is written, with a column. What was accepted is safe to
//! evaluate on any thread, for any facts: every evaluation has its own budget of work and of
//! memory ([`MAX_UNITS`], [`MAX_BUILT`]), and one that exhausts it [fails](Failure).
//!
//! One unit of work is a round of a loop, or 64 bytes handled by `+ == != < in contains matches
//! size` and the like. A round of a loop whose body has more than eight operations counts a unit
//! for every eight. An element of a list or a map counts as 16 bytes; a search for a pattern
//! counts the text twice for every KiB of the compiled pattern. Built are the texts, lists and maps
//! that an expression makes: 32 bytes for an element, and the bytes of a text.
//!
//! How a text becomes a ruling, and where each step is:
//!
//! | step | modules |
//! |---|---|
//! | what a text is measured against | `guard` |
//! | from a text to a tree, on a thread with a deep stack | `parse` on `deep` and `worker`; `tree` |
//! | names and types; errors | `check`, over a `context` or an `environment`; `pattern`; `error` |
//! | what is odd | `warn` |
//! | what a call must be like, and so what is evaluated first | `selector` |
//! | from a tree to code | `program`: `direct`, or else `metered` |
//! | what is asked, and of whom | `facts`, a `question`; many predicates at once by a `set` |
//! | what it spends | `meter` |
//! | what comes out | `ruling`, `value`; and why, `explain` |
//! | what was compiled before | `cache` |
//!
//! **Invariant:** no source and no facts make this module panic, hang, overflow a stack or abort.
//! Nobody else names the evaluator, so nobody else knows which one answers.

mod cache;
mod check;
mod context;
mod deep;
#[cfg(test)]
mod differential;
mod direct;
mod environment;
mod error;
mod explain;
mod facts;
mod guard;
mod meter;
mod metered;
mod parse;
mod pattern;
mod plain;
mod program;
mod question;
mod ruling;
mod selector;
mod set;
mod tree;
mod value;
mod warn;
mod worker;

pub use cache::{ExpressionCache, ExpressionCacheStats};
pub use context::Context;
pub use environment::{Environment, Type};
pub use error::{Flaw, PredicateError};
pub use explain::{Explanation, Finding, Round, Shown};
pub use facts::{BodyFacts, Facts, RecordFacts, System, SystemFacts, Trust};
pub use guard::{
    MAX_BUILT, MAX_DEPTH, MAX_LITERAL, MAX_LOOPS, MAX_NESTING, MAX_NODES, MAX_PATTERN_BYTES,
    MAX_PATTERN_NESTING, MAX_PATTERNS_BYTES, MAX_SOURCE_BYTES, MAX_UNITS, MAX_WIDE_CLASSES,
    UNIT_BYTES,
};
pub use program::Evaluator;
pub use ruling::{Evaluation, Failure, FailureKind, Ruling};
pub use selector::{Place, PlaceName, SearchKey};
pub use set::PredicateSet;
pub use value::{Key, Value};
pub use warn::{Oddity, Warning};

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use check::bindings::Names;
use program::{Program, Purpose};
use question::Question;

/// An expression that is true or false of some facts. A copy is another handle on the same one.
#[derive(Clone)]
pub struct Predicate(Arc<Program>, Context);

impl Predicate {
    /// Compiles `source` for `context`.
    pub fn compile(source: &str, context: Context) -> Result<Self, PredicateError> {
        Self::compile_for(source, context, Evaluator::Fastest)
    }

    /// Compiles `source` for `context` and for an evaluator.
    pub fn compile_for(
        source: &str,
        context: Context,
        evaluator: Evaluator,
    ) -> Result<Self, PredicateError> {
        let names = Names::Of(context);
        let program = Program::compile(source, names, Purpose::Predicate, evaluator)?;
        Ok(Self(program, context))
    }

    /// Returns the source, as it was written.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// Returns the context it was compiled for.
    pub fn context(&self) -> Context {
        self.1
    }

    /// Returns what is allowed in it and most likely not meant, in the order of the source.
    pub fn warnings(&self) -> &[Warning] {
        &self.0.warnings
    }

    /// Returns the keys of which at least one fits wherever the predicate holds, or fails.
    pub fn search_keys(&self) -> &[SearchKey] {
        self.0.selector.keys()
    }

    /// Says whether it is true of `facts`.
    pub fn holds(&self, facts: &Facts<'_>) -> Ruling {
        self.evaluate(facts).ruling
    }

    /// Says whether it is true of `facts`, and what saying so took.
    pub fn evaluate(&self, facts: &Facts<'_>) -> Evaluation {
        self.0.ask(&Question::new(facts))
    }

    /// Says why it is true of `facts`, or false, or neither. It takes much longer than asking.
    pub fn explain(&self, facts: &Facts<'_>) -> Explanation {
        explain::explain(&self.0, (self.1, Purpose::Predicate), facts)
    }
}

impl fmt::Debug for Predicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Predicate").field(&self.source()).field(&self.context()).finish()
    }
}

/// An expression with any result: over the facts of a [`Context`], as people try them out, or over
/// the names of an [`Environment`].
#[derive(Clone)]
pub struct Expression<N = Context> {
    program: Arc<Program>,
    names: N,
}

impl Expression {
    /// Compiles `source` for `context`.
    pub fn compile(source: &str, context: Context) -> Result<Self, PredicateError> {
        Self::compile_for(source, context, Evaluator::Fastest)
    }

    /// Compiles `source` for `context` and for an evaluator.
    pub fn compile_for(
        source: &str,
        context: Context,
        evaluator: Evaluator,
    ) -> Result<Self, PredicateError> {
        let names = Names::Of(context);
        let program = Program::compile(source, names, Purpose::Result, evaluator)?;
        Ok(Self { program, names: context })
    }

    /// Returns what is allowed in it and most likely not meant, in the order of the source.
    pub fn warnings(&self) -> &[Warning] {
        &self.program.warnings
    }

    /// Returns the result over `facts`.
    pub fn evaluate(&self, facts: &Facts<'_>) -> Result<Value, Failure> {
        self.program.answer(&Question::new(facts))
    }

    /// Says where its result over `facts` comes from. It takes much longer than evaluating.
    pub fn explain(&self, facts: &Facts<'_>) -> Explanation {
        explain::explain(&self.program, (self.names, Purpose::Result), facts)
    }
}

impl Expression<Environment> {
    /// Compiles `source` over declared names.
    pub fn declared(source: &str, names: Environment) -> Result<Self, PredicateError> {
        Self::declared_for(source, names, Evaluator::Fastest)
    }

    /// Compiles `source` over declared names and for an evaluator.
    pub fn declared_for(
        source: &str,
        names: Environment,
        evaluator: Evaluator,
    ) -> Result<Self, PredicateError> {
        let program =
            Program::compile(source, Names::Declared(names.clone()), Purpose::Result, evaluator)?;
        Ok(Self { program, names })
    }

    /// Returns the result where the declared names are bound to these values. A name that is bound
    /// to nothing fails when it is evaluated; one that was not declared is not there.
    pub fn evaluate(&self, bindings: &BTreeMap<String, Value>) -> Result<Value, Failure> {
        let mut variables = Vec::new();
        for (name, ty) in self.names.variables() {
            let Some(given) = bindings.get(name) else { continue };
            let value = metered::value::bound(given, meter::MAX_VALUE_DEPTH);
            let value = value.filter(|_| ty == Type::Dyn || ty == given.of_type());
            let value = value.ok_or_else(|| Failure::Error {
                message: format!("`{name}` cannot be bound to this: it is declared {ty}"),
            })?;
            variables.push((name, value));
        }
        self.program.answer_over(variables)
    }
}

impl<N: fmt::Debug> fmt::Debug for Expression<N> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Expression").field(&self.program.source).field(&self.names).finish()
    }
}
