//! Predicates: no source and no facts panic, hang or cost more than the budget.

use std::collections::BTreeMap;

use spl::canon::{Canonical, Object, Value};
use spl::object;
use spl::predicate::{
    BodyFacts, Context, Environment, Expression, Failure, MAX_BUILT, MAX_UNITS, Predicate, Ruling,
    Type, Value as Bound,
};
use spl::record::RecordId;

use super::facts::facts;

/// Checks the bytes as source for both contexts.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(source) = std::str::from_utf8(bytes) else { return false };
    let (args, body) = (args(), body());
    let call = BodyFacts::Call { tool: "bash", args: &args, status: "error", content: CONTENT };
    let hook = ruled_within_budget(source, Context::Hook, call);
    let permission = ruled_within_budget(source, Context::Permission, BodyFacts::Any(&body));
    answered(source, BodyFacts::Any(&body));
    unchecked(source);
    hook || permission
}

/// Any result of an expression is a value.
fn answered(source: &str, body: BodyFacts<'_>) {
    let parents = [RecordId::from_bytes([0xab; 32])];
    if let Ok(expression) = Expression::compile(source, Context::Permission)
        && let Ok(value) = expression.evaluate(&facts(&parents, body))
    {
        assert!(!Canonical::of(&value.into_json()).as_str().is_empty());
    }
}

/// What the checker would refuse fails, and in no worse way than other expressions.
fn unchecked(source: &str) {
    let names = Environment::new().declare("record.body", Type::Map).unchecked();
    let bindings = [("record.body".to_owned(), Bound::Map(BTreeMap::default()))].into();
    if let Ok(expression) = Expression::declared(source, names) {
        assert_ne!(expression.evaluate(&bindings), Err(Failure::Panicked), "the evaluator failed");
    }
}

fn ruled_within_budget(source: &str, context: Context, body: BodyFacts<'_>) -> bool {
    let parents = [RecordId::from_bytes([0xab; 32])];
    let facts = facts(&parents, body);
    let predicate = match Predicate::compile(source, context) {
        Ok(predicate) => predicate,
        Err(error) => {
            let chars = source.chars().count();
            assert!(error.column.is_none_or(|column| column <= chars), "{error:?}");
            return false;
        }
    };
    let evaluation = predicate.evaluate(&facts);
    assert_eq!(evaluation, predicate.evaluate(&facts), "the same facts, another answer");
    match evaluation.ruling {
        Ruling::Failed(Failure::Panicked) => panic!("the evaluator failed"),
        Ruling::Failed(Failure::OverBudget { .. } | Failure::TooLarge { .. }) => {}
        Ruling::Holds | Ruling::DoesNotHold | Ruling::Failed(_) => {
            assert!(evaluation.units <= MAX_UNITS && evaluation.built <= MAX_BUILT);
        }
    }
    true
}

const CONTENT: &str = "make: *** No rule to make target `all`. Stop. caf\u{e9} \u{1f511}\0";

fn args() -> Object {
    object! {
        "command": "make all",
        "n": 7_i64,
        "half": Value::from_float(0.5),
        "flag": true,
        "none": Value::Null,
        "list": (0_i64..100).collect::<Vec<_>>(),
        "words": vec!["a", "b", "\u{e9}"],
        "map": object! { "a": 1_i64, "b": object! { "c": "deep" } },
        "text": "abc".repeat(300),
    }
}

fn body() -> Object {
    let mut body = args();
    body.insert("kind".into(), "note".into());
    body.insert("args".into(), args().into());
    body
}
