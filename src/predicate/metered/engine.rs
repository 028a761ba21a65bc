//! The evaluator's environment, and the facts as its variables.

use std::sync::{Arc, LazyLock, OnceLock};

use cel::common::functions::Function;
use cel::common::types::{CelBool, CelInt, CelString, DYN_TYPE};
use cel::common::value::{CowVal, Val};
use cel::context::VariableResolver;
use cel::{DeclarationError, Env};

use super::asked::Asked;
use super::ops;
use super::value::{Fact, ListFact, MapFact};
use crate::predicate::facts::BodyFacts;
use crate::predicate::question::Question;

/// Our functions. No source can spell their names.
const FUNCTIONS: &[(&str, usize, Function)] = &[
    ("@tick", 1, ops::tick),
    ("@verdict", 1, ops::verdict),
    ("@answer", 1, ops::answer),
    ("@keep", 1, ops::keep),
    ("@share", 1, ops::share),
    ("@list", 1, ops::list),
    ("@map", 1, ops::map),
    ("@copy", 1, ops::copy),
    ("@equals", 2, ops::equals),
    ("@differs", 2, ops::differs),
    ("@is_less", 2, ops::is_less),
    ("@is_at_most", 2, ops::is_at_most),
    ("@is_greater", 2, ops::is_greater),
    ("@is_at_least", 2, ops::is_at_least),
    ("@is_in", 2, ops::is_in),
    ("@add", 2, ops::add),
    ("@subtract", 2, ops::subtract),
    ("@multiply", 2, ops::multiply),
    ("@divide", 2, ops::divide),
    ("@remainder", 2, ops::remainder),
    ("@size", 1, ops::size),
    ("@timestamp", 1, ops::timestamp),
    ("@milliseconds", 1, ops::milliseconds),
    ("@contains", 2, ops::contains),
    ("@starts_with", 2, ops::starts_with),
    ("@ends_with", 2, ops::ends_with),
    ("@matches", 2, ops::matches),
];

fn declare() -> Result<Env, DeclarationError> {
    let mut env = Env::default().with_optional_support(false).with_stdlib();
    for (name, arity, function) in FUNCTIONS {
        env.add_overload(name, name, (0..*arity).map(|_| DYN_TYPE).collect(), *function)?;
    }
    Ok(env)
}

/// Returns the environment of every evaluation.
pub(in crate::predicate) fn environment() -> &'static Arc<Env> {
    static ENVIRONMENT: LazyLock<Arc<Env>> =
        LazyLock::new(|| Arc::new(declare().unwrap_or_default()));
    &ENVIRONMENT
}

/// Calls `with` with the context of evaluations over the facts of `question`.
pub(in crate::predicate) fn with_context<'q, T>(
    question: &'q Question<'q>,
    with: impl FnOnce(&cel::Context<'_, '_>) -> T,
) -> T {
    with_own_context(question, |context| with(context))
}

/// Calls `with` with a context of evaluations that it may add to.
pub(in crate::predicate) fn with_own_context<'q, T>(
    question: &'q Question<'q>,
    with: impl FnOnce(&mut cel::Context<'_, '_>) -> T,
) -> T {
    let variables = Variables { question, record: OnceLock::new(), system: OnceLock::new() };
    let mut context = cel::Context::with_env(Arc::clone(environment()));
    context.set_variable_resolver(&variables);
    with(&mut context)
}

/// Calls `with` with the context of evaluations over these variables.
pub(in crate::predicate) fn with_variables<'v, T>(
    variables: Vec<(&str, Box<dyn Val + 'v>)>,
    with: impl FnOnce(&cel::Context<'_, 'v>) -> T,
) -> T {
    let mut context = cel::Context::with_env(Arc::clone(environment()));
    for (name, value) in variables {
        context.add_variable_as_val(name, value);
    }
    with(&context)
}

/// The facts, made into values when they are asked for.
struct Variables<'f> {
    question: &'f Question<'f>,
    record: OnceLock<MapFact<'f>>,
    system: OnceLock<MapFact<'f>>,
}

impl VariableResolver for Variables<'_> {
    fn resolve<'b>(&'b self, name: &str) -> Option<CowVal<'b, 'b>> {
        let facts = self.question.facts;
        let text = |text: &'b str| Some(CowVal::owned(CelString::from(text)));
        let asked = |asked: Asked<'b>| Some(CowVal::owned(asked));
        match name {
            "record" => Some(CowVal::Borrowed(self.record.get_or_init(|| record(self.question)))),
            "system" => Some(CowVal::Borrowed(self.system.get_or_init(|| system(self.question)))),
            "resource" => text(facts.resource),
            "@current_actor" => text(facts.actor),
            "@current_namespace" => text(facts.namespace),
            "@now" => Some(CowVal::owned(CelInt::from(facts.now_secs))),
            "@trust" => asked(Asked::score(facts.trust)),
            "@trust_count" => asked(Asked::count(facts.trust)),
            "@task" => asked(Asked::task()),
            "@fanout_status" => asked(Asked::fanout()),
            "@nothing" => Some(CowVal::owned(ListFact::of(&[]))),
            "@no" => Some(CowVal::owned(CelBool::from(false))),
            _ => None,
        }
    }
}

/// Returns `record`.
fn record<'f>(question: &'f Question<'f>) -> MapFact<'f> {
    let record = &question.facts.record;
    MapFact::of_fields([
        ("act", Fact::text(record.act)),
        ("actor", Fact::text(record.actor)),
        ("thread", Fact::text(record.thread)),
        ("data_type", Fact::text(record.data_type)),
        ("clock", Fact::int(record.clock)),
        ("parents", Fact::List(ListFact::of_ids(record.parents))),
        ("body", Fact::Map(body(record.body))),
    ])
}

/// Returns `record.body`.
fn body(body: BodyFacts<'_>) -> MapFact<'_> {
    match body {
        BodyFacts::Any(members) => MapFact::of(members),
        BodyFacts::Call { tool, args, status, content } => MapFact::of_fields([
            ("tool", Fact::text(tool)),
            ("args", Fact::Map(MapFact::of(args))),
            ("status", Fact::text(status)),
            ("content", Fact::text(content)),
        ]),
    }
}

/// Returns `system`. What is not known yet answers as if there were none of it.
fn system<'f>(question: &'f Question<'f>) -> MapFact<'f> {
    let system = question.system();
    MapFact::of_fields([
        ("uptime_secs", Fact::int(system.uptime_secs)),
        ("records_total", Fact::int(system.records_total)),
        ("threads_total", Fact::int(system.threads_total)),
        ("daemon_version", Fact::text(system.daemon_version)),
        ("active_dispatches", Fact::List(ListFact::of(&[]))),
        ("today", Fact::Map(today())),
    ])
}

/// Returns `system.today`.
fn today<'f>() -> MapFact<'f> {
    MapFact::of_fields([
        ("dispatches", Fact::int(0)),
        ("cost_usd", Fact::Double(0.0.into())),
        ("tasks_completed", Fact::int(0)),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_declared() {
        assert!(declare().is_ok());
    }
}
