//! Facts that are asked for with arguments: `trust(actor, domain)`, `task(alias)`.
//!
//! The evaluator's functions cannot borrow facts, but what a variable is indexed with can be
//! anything. So `trust(a, d)` is evaluated as `@trust[a][d]`.

use std::fmt;

use cel::ExecutionError;
use cel::common::traits::Indexer;
use cel::common::types::{CelDouble, CelInt, CelString, Type};
use cel::common::value::{CowVal, Val};

use super::value::{Fact, MapFact};
use crate::predicate::facts::Trust;
use crate::predicate::meter::{self, TRUST_UNITS};

/// A fact, with the arguments that were given so far.
#[derive(Clone)]
pub(in crate::predicate) struct Asked<'a> {
    what: What<'a>,
    first: Option<String>,
}

#[derive(Clone, Copy)]
enum What<'a> {
    Score(&'a dyn Trust),
    Count(&'a dyn Trust),
    Task,
    Fanout,
}

impl<'a> Asked<'a> {
    pub(in crate::predicate) fn score(trust: &'a dyn Trust) -> Self {
        Self { what: What::Score(trust), first: None }
    }

    pub(in crate::predicate) fn count(trust: &'a dyn Trust) -> Self {
        Self { what: What::Count(trust), first: None }
    }

    pub(in crate::predicate) fn task() -> Self {
        Self { what: What::Task, first: None }
    }

    pub(in crate::predicate) fn fanout() -> Self {
        Self { what: What::Fanout, first: None }
    }

    fn with<'v>(&self, argument: &str) -> Result<CowVal<'_, 'v>, ExecutionError>
    where
        'a: 'v,
    {
        meter::handle(argument.len())?;
        match (self.what, &self.first) {
            (What::Task, _) => Ok(CowVal::owned(no_task())),
            (What::Fanout, _) => Ok(CowVal::owned(CelString::from("none"))),
            (_, None) => {
                meter::build(argument.len())?;
                Ok(CowVal::owned(Self { what: self.what, first: Some(argument.to_owned()) }))
            }
            (What::Score(trust), Some(actor)) => {
                meter::work(TRUST_UNITS)?;
                Ok(CowVal::owned(CelDouble::from(trust.score(actor, argument))))
            }
            (What::Count(trust), Some(actor)) => {
                meter::work(TRUST_UNITS)?;
                Ok(CowVal::owned(CelInt::from(trust.count(actor, argument))))
            }
        }
    }

    const fn name(&self) -> &'static str {
        match self.what {
            What::Score(_) => "trust",
            What::Count(_) => "trust_count",
            What::Task => "task",
            What::Fanout => "fanout_status",
        }
    }
}

/// Returns what is known about tasks: there are none.
fn no_task<'a>() -> MapFact<'a> {
    MapFact::of_fields([
        ("status", Fact::text("")),
        ("priority", Fact::text("")),
        ("assigned_to", Fact::text("")),
        ("age_secs", Fact::int(0)),
        ("cost_usd", Fact::Double(0.0.into())),
        ("exists", Fact::Bool(false.into())),
    ])
}

impl Indexer for Asked<'_> {
    fn get<'b, 'v>(&'b self, argument: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        let Some(text) = argument.downcast_ref::<CelString<'_>>() else {
            let got = argument.get_type().name();
            return Err(ExecutionError::function_error(self.name(), format!("no text, but {got}")));
        };
        self.with(text.inner())
    }

    fn steal<'v>(self: Box<Self>, argument: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(argument).map(CowVal::into_owned)
    }
}

static ASKED: Type = Type::new_unspecified_type("function");

impl Val for Asked<'_> {
    fn get_type(&self) -> &Type {
        &ASKED
    }

    fn cel_type() -> &'static Type {
        &ASKED
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        Box::new(self.clone())
    }
}

impl fmt::Debug for Asked<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
