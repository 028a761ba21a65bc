//! Sets answer what their predicates answer one by one.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spl::canon::Value as Json;
use spl::object;
use spl::predicate::{Context, Expression, Failure, Predicate, PredicateSet, Ruling, Value};

use crate::facts::{Body, World};

/// So long that ten searches are more than one evaluation may handle, and two copies are more
/// than it may build.
const LARGE: usize = 700 * 1024;

/// Conjuncts that an index reads.
fn key() -> impl Strategy<Value = String> {
    let name = prop::sample::select(vec!["", "bash", "read", "mcp__", "mcp__a__x", "tool:bash"]);
    let of = prop::sample::select(vec!["record.body.tool", "record['body'].tool", "resource"]);
    let status = prop::sample::select(vec!["ok", "error", ""]);
    let needle = prop::sample::select(vec!["", "a", "ab", "aba", "b", "λ", "fail", "fail λ"]);
    prop_oneof![
        3 => (of.clone(), name.clone()).prop_map(|(of, name)| format!("{of} == '{name}'")),
        1 => (of.clone(), name.clone()).prop_map(|(of, name)| format!("'{name}' == {of}")),
        1 => (of.clone(), prop::collection::vec(name.clone(), 0..3))
            .prop_map(|(of, names)| format!("{of} in {names:?}")),
        1 => (of, name).prop_map(|(of, name)| format!("{of}.startsWith('{name}')")),
        1 => status.prop_map(|status| format!("record.body.status == '{status}'")),
        2 => needle.prop_map(|needle| format!("record.body.content.contains('{needle}')")),
    ]
}

/// Conjuncts that an index does not read: true, false, errors, and more than the budget.
fn other() -> impl Strategy<Value = String> {
    let other = prop::sample::select(vec![
        "true",
        "record.body.args.n > 2",
        "record.body.args.n > 3",
        "record.body.args.n",
        "record.body.args.missing == 1",
        "1 / (record.clock - record.clock) == 1",
        "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].exists(x, record.body.args.large.contains('x'))",
        "(record.body.args.large + record.body.args.large).size() > 0",
        "[1, 2, 3].exists(x, x == record.body.args.n)",
        "trust(current_actor(), 'ops') < 0.5",
        "record.body.status.endsWith('or')",
    ]);
    other.prop_map(str::to_owned)
}

pub(crate) fn condition() -> impl Strategy<Value = String> {
    prop_oneof![3 => key(), 2 => other()].prop_recursive(4, 16, 2, |inner| {
        let sign = prop::sample::select(vec!["&&", "&&", "||"]);
        prop_oneof![
            6 => (inner.clone(), sign, inner.clone())
                .prop_map(|(one, sign, two)| format!("({one} {sign} {two})")),
            1 => inner.clone().prop_map(|one| format!("!({one})")),
            1 => (inner.clone(), inner.clone(), inner)
                .prop_map(|(condition, yes, no)| format!("({condition} ? {yes} : {no})")),
        ]
    })
}

fn conditions() -> impl Strategy<Value = Vec<Predicate>> {
    let compiled = condition()
        .prop_filter_map("a predicate", |source| Predicate::compile(&source, Context::Hook).ok());
    prop::collection::vec(compiled, 1..20)
}

pub(crate) fn world() -> impl Strategy<Value = World> {
    let tool = prop::sample::select(vec!["", "bash", "read", "mcp__a__x", "mcp", "other"]);
    let resource = prop::sample::select(vec!["tool:bash", "bash", "mcp__a__x", "record_write"]);
    let status = prop::sample::select(vec!["ok", "error"]);
    let content = prop::sample::select(vec!["", "a", "xabax", "λ fails", "fail λ", "ok"]);
    let is_record = prop::bool::weighted(0.2);
    (tool, resource, status, content, is_record).prop_map(
        |(tool, resource, status, content, is_record)| {
            let args = object! { "n": 3_i64, "large": "y".repeat(LARGE) };
            let mut world = World::of_call(args.clone());
            resource.clone_into(&mut world.resource);
            world.body = if is_record {
                // Of the shape of a call, but for what is missing or of another type.
                Body::Any(object! {
                    "tool": tool,
                    "status": if status == "ok" { Json::Null } else { Json::from(status) },
                    "args": Json::Object(args),
                })
            } else {
                let (status, content) = (status.to_owned(), content.to_owned());
                Body::Call { tool: tool.to_owned(), args, status, content }
            };
            world
        },
    )
}

fn one_by_one(predicates: &BTreeMap<usize, Predicate>, world: &World) -> Vec<(usize, Ruling)> {
    let rulings = predicates.iter().map(|(key, it)| (*key, it.holds(&world.facts())));
    rulings.filter(|(_, ruling)| *ruling != Ruling::DoesNotHold).collect()
}

fn together(set: &PredicateSet<usize, ()>, world: &World) -> Vec<(usize, Ruling)> {
    let mut answers = Vec::new();
    set.ask(&world.facts(), |key, (), ruling| answers.push((*key, ruling)));
    answers
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(250))]

    #[test]
    fn a_set_answers_what_its_predicates_answer(
        predicates in conditions(),
        worlds in prop::collection::vec(world(), 4),
    ) {
        let predicates: BTreeMap<usize, Predicate> = predicates.into_iter().enumerate().collect();
        let at_once: PredicateSet<usize, ()> =
            predicates.iter().rev().map(|(key, it)| (*key, (), it.clone())).collect();
        let mut one_by_one_inserted = PredicateSet::new();
        for (key, predicate) in &predicates {
            one_by_one_inserted.insert(*key, (), predicate.clone());
        }
        for world in &worlds {
            let wanted = one_by_one(&predicates, world);
            prop_assert_eq!(together(&at_once, world), wanted.clone());
            prop_assert_eq!(together(&one_by_one_inserted, world), wanted);
        }
    }

    #[test]
    fn one_more_predicate_takes_no_answer_away(
        predicates in conditions(),
        world in world(),
    ) {
        let mut set: PredicateSet<usize, ()> = PredicateSet::new();
        for (key, predicate) in predicates.into_iter().enumerate() {
            let before = together(&set, &world);
            set.insert(key, (), predicate);
            let mut after = together(&set, &world);
            after.retain(|(answered, _)| *answered != key);
            prop_assert_eq!(after, before);
        }
    }

    /// A predicate is evaluated in another order than an expression of the same source.
    #[test]
    fn the_order_of_evaluation_changes_no_answer(source in condition(), world in world()) {
        let Ok(predicate) = Predicate::compile(&source, Context::Hook) else { return Ok(()) };
        let expression = Expression::compile(&source, Context::Hook).expect("it is a predicate");
        let ruling = predicate.holds(&world.facts());
        match expression.evaluate(&world.facts()) {
            Err(Failure::OverBudget { .. } | Failure::TooLarge { .. }) => {}
            Err(Failure::Error { .. }) => {
                let failed = matches!(ruling, Ruling::Failed(Failure::Error { .. }));
                prop_assert!(failed, "{source}: {ruling:?}");
            }
            Ok(Value::Bool(true)) => prop_assert_eq!(ruling, Ruling::Holds),
            Ok(Value::Bool(false)) => prop_assert_eq!(ruling, Ruling::DoesNotHold),
            other => {
                let failed = matches!(ruling, Ruling::Failed(Failure::NotBoolean { .. }));
                prop_assert!(failed, "{source}: {ruling:?}, {other:?}");
            }
        }
    }
}

#[test]
fn many_needles_in_one_text_are_all_found() {
    let needles: Vec<String> = (0..200).map(|number| format!("n{number}")).collect();
    let set: PredicateSet<usize, ()> = needles
        .iter()
        .enumerate()
        .map(|(key, needle)| {
            let source = format!("record.body.content.contains('{needle}')");
            (key, (), Predicate::compile(&source, Context::Hook).expect("a predicate"))
        })
        .collect();
    let mut world = World::of_call(object! {});
    let Body::Call { content, .. } = &mut world.body else { panic!("it is a call") };
    *content = "n7 n123 λ n123".to_owned();
    let found: Vec<usize> = together(&set, &world).into_iter().map(|(key, _)| key).collect();
    assert_eq!(found, [1, 7, 12, 123]);
}

/// A content so long that searching it exhausts the budget is not searched for needles: what its
/// predicates say is that they failed.
#[test]
fn a_content_beyond_the_budget_is_not_searched() {
    let predicate = Predicate::compile("record.body.content.contains('x')", Context::Hook);
    let predicates = BTreeMap::from([(0, predicate.expect("a predicate"))]);
    let set = predicates.iter().map(|(key, it)| (*key, (), it.clone())).collect();
    let mut world = World::of_call(object! {});
    let Body::Call { content, .. } = &mut world.body else { panic!("it is a call") };
    *content = "y".repeat(10 * LARGE);
    let answers = together(&set, &world);
    assert!(matches!(answers.as_slice(), [(0, Ruling::Failed(Failure::OverBudget { .. }))]));
    assert_eq!(answers, one_by_one(&predicates, &world));
}

#[test]
fn a_call_that_nobody_asks_for_allocates_nothing() {
    let sources = |number: usize| {
        [
            format!("record.body.tool == 'tool{number}' && record.body.status == 'error'"),
            format!("record.body.tool.startsWith('{}')", "p".repeat(number % 50 + 1)),
            format!("resource in ['tool:{number}', 'record_{number}']"),
            format!("record.body.content.contains('needle {number}.')"),
        ]
    };
    let predicates = (0..1_000).map(|number| {
        let source = sources(number).into_iter().nth(number % 4).expect("one of four");
        (number, (), Predicate::compile(&source, Context::Hook).expect("a predicate"))
    });
    let mut set: PredicateSet<usize, ()> = predicates.collect();
    for (number, source) in sources(1_000).into_iter().enumerate() {
        let predicate = Predicate::compile(&source, Context::Hook).expect("a predicate");
        set.insert(1_000 + number, (), predicate);
    }
    let world = World::of_call(object! {});
    let facts = world.facts();
    let mut answers = 0;
    let counted = allocation_counter::measure(|| set.ask(&facts, |_, (), _| answers += 1));
    assert_eq!((counted.count_total, answers), (0, 0));
}
