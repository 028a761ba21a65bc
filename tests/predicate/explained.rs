//! Why predicates say what they say.

use proptest::prelude::*;
use spl::object;
use spl::predicate::{Context, Evaluator, Explanation, Expression, Finding, Predicate, Ruling};

use crate::facts::World;
use crate::sets::{condition, world as worlds};

fn world() -> World {
    World::of_call(object! {
        "big": "λ".repeat(5_000),
        "list": (1..=10).collect::<Vec<i64>>(),
        "nested": object! { "list": vec!["a", "b"] },
        "many": (0..1_000).collect::<Vec<i64>>(),
    })
}

/// One line a part: what it is, and what came of it.
fn drawn(part: &Explanation, depth: usize) -> String {
    let round = part.round.as_ref();
    let round = round.map(|it| format!("{}. {} = {}: ", it.number, it.variable, it.value.value));
    let finding = match &part.finding {
        Finding::Value(shown) => {
            let size = shown.size.map(|size| format!(" of {size}")).unwrap_or_default();
            format!("{} {}{size}", shown.ty, shown.value)
        }
        Finding::Failed(message) => format!("failed: {message}"),
        Finding::Skipped => "skipped".to_owned(),
    };
    let rounds = part.rounds.map(|rounds| format!(" in {rounds} rounds")).unwrap_or_default();
    let hidden = if part.hidden == 0 { String::new() } else { format!(" +{}", part.hidden) };
    let mut text = format!(
        "{}{}{} @{} -> {finding}{rounds}{hidden}\n",
        "  ".repeat(depth),
        round.unwrap_or_default(),
        part.source,
        part.column.unwrap_or_default(),
    );
    part.parts.iter().for_each(|part| text.push_str(&drawn(part, depth + 1)));
    text
}

#[track_caller]
fn check(source: &str, wanted: &str) {
    let world = world();
    let expression = Expression::compile(source, Context::Hook).expect(source);
    let got = drawn(&expression.explain(&world.facts()), 0);
    let wanted: Vec<&str> =
        wanted.trim_matches('\n').lines().map(|line| &line[8.min(line.len())..]).collect();
    assert_eq!(got.trim_end(), wanted.join("\n"), "\n{got}");
}

#[test]
fn each_part_is_shown_with_its_value() {
    check(
        r#"record.body.tool == "bash" && record.body.status != "ok""#,
        r#"
        record.body.tool == "bash" && record.body.status != "ok" @27 -> bool true
          record.body.tool == "bash" @17 -> bool true
            record.body.tool @11 -> string "bash"
          record.body.status != "ok" @49 -> bool true
            record.body.status @41 -> string "error""#,
    );
}

#[test]
fn what_was_not_needed_is_skipped() {
    check(
        r#"resource == "x" && now() > 1 || (record.clock > 20 ? true : [1] == [record.clock])"#,
        r#"
        resource == "x" && now() > 1 || (record.clock > 20 ? true : [1] == [record.clock]) @29 -> bool false
          resource == "x" && now() > 1 @16 -> bool false
            resource == "x" @9 -> bool false
              resource @0 -> string "tool:bash"
            now() > 1 @25 -> skipped
          record.clock > 20 ? true : [1] == [record.clock] @51 -> bool false
            record.clock > 20 @46 -> bool false
              record.clock @39 -> int 11
            [1] == [record.clock] @64 -> bool false
              [record.clock] @67 -> list [11]
                record.clock @74 -> int 11"#,
    );
}

/// An error that `||` made nothing of is seen all the same.
#[test]
fn a_failure_is_shown_where_it_began() {
    check(
        "record.body.args.none == 1 || has(record.body.args.nested.list)",
        r#"
        record.body.args.none == 1 || has(record.body.args.nested.list) @27 -> bool true
          record.body.args.none == 1 @22 -> failed: there is no key `none`
            record.body.args.none @16 -> failed: there is no key `none`
          has(record.body.args.nested.list) @33 -> bool true
            record.body.args.nested @50 -> map {"list":["a","b"]}"#,
    );
}

#[test]
fn of_a_loop_the_first_rounds_are_shown_and_the_last() {
    check(
        "record.body.args.list.exists(x, x * 2 == 12)",
        r"
        record.body.args.list.exists(x, x * 2 == 12) @28 -> bool true in 6 rounds
          record.body.args.list @16 -> list [1,2,3,4,5,6,7,8,9,10]
          1. x = 1: x * 2 == 12 @38 -> bool false
            x * 2 @34 -> int 2
          2. x = 2: x * 2 == 12 @38 -> bool false
            x * 2 @34 -> int 4
          3. x = 3: x * 2 == 12 @38 -> bool false
            x * 2 @34 -> int 6
          6. x = 6: x * 2 == 12 @38 -> bool true
            x * 2 @34 -> int 12",
    );
    check(
        "record.body.args.list.map(x, x > 9, [x]).size()",
        r"
        record.body.args.list.map(x, x > 9, [x]).size() @45 -> int 1
          record.body.args.list.map(x, x > 9, [x]) @25 -> list [[10]] in 10 rounds
            record.body.args.list @16 -> list [1,2,3,4,5,6,7,8,9,10]
            1. x = 1: x > 9 @31 -> bool false
            2. x = 2: x > 9 @31 -> bool false
            3. x = 3: x > 9 @31 -> bool false
            10. x = 10: x > 9 @31 -> bool true
            10. x = 10: [x] @36 -> list [10]",
    );
}

#[test]
fn loops_in_loops_know_their_rounds() {
    check(
        "[1, 2].all(x, ['a'].exists_one(y, record.body.args.list[x] > 2))",
        r#"
        [1, 2].all(x, ["a"].exists_one(y, record.body.args.list[x] > 2)) @10 -> bool false in 1 rounds
          1. x = 1: ["a"].exists_one(y, record.body.args.list[x] > 2) @30 -> bool false in 1 rounds
            1. y = "a": record.body.args.list[x] > 2 @59 -> bool false
              record.body.args.list[x] @55 -> int 2
                record.body.args.list @50 -> list [1,2,3,4,5,6,7,8,9,10]"#,
    );
}

#[test]
fn long_values_are_cut_and_say_how_long_they_are() {
    let world = world();
    let value = |source: &str| {
        let expression = Expression::compile(source, Context::Hook).expect(source);
        match expression.explain(&world.facts()).finding {
            Finding::Value(shown) => (shown.ty, shown.value.to_string(), shown.size),
            other => panic!("{source}: {other:?}"),
        }
    };
    let (ty, shown, size) = value("record.body.args.big");
    assert_eq!((ty.as_str(), shown.chars().count(), size), ("string", 82, Some(5_000)));
    let (ty, shown, size) = value("record.body.args.many");
    assert_eq!(
        (ty.as_str(), shown.as_str()),
        ("list", "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19]")
    );
    assert_eq!(size, Some(1_000));
    for (source, ty, shown) in [
        ("b'ab'", "bytes", "\"YWI=\""),
        ("1u", "uint", "1"),
        ("0.0 / 0.0", "double", "null"),
        ("duration('90s')", "duration", "\"90s\""),
        ("timestamp(0)", "timestamp", "\"1970-01-01T00:00:00Z\""),
        ("type(1)", "type", "\"int\""),
        ("null", "null_type", "null"),
        ("{1: 'a', true: [2]}", "map", r#"{"1":"a","true":[2]}"#),
    ] {
        assert_eq!(value(source), (ty.to_owned(), shown.to_owned(), None), "{source}");
    }
}

/// However much there is to see, only so much is shown.
#[test]
fn an_explanation_stays_readable() {
    let world = world();
    let long = vec!["record.clock == 1"; 60].join(" || ");
    let deep = "xs.exists(y, y == x || y == -x)".replace("xs", "record.body.args.list");
    for source in [
        long,
        format!("record.body.args.many.all(x, !{deep} || x >= 0)"),
        format!("[{}].size() == 40", vec!["record.clock"; 40].join(", ")),
    ] {
        let predicate = Predicate::compile(&source, Context::Hook).expect(&source);
        let explanation = predicate.explain(&world.facts());
        let parts = drawn(&explanation, 0).lines().count();
        assert!(parts <= 200, "{source}: {parts}");
        assert_eq!(came(&explanation), said(&source, &world), "{source}");
    }
}

#[test]
fn what_is_over_budget_is_so_when_it_is_explained() {
    let world = world();
    let source = "record.body.args.many.all(x, record.body.args.many.all(y, x + y >= 0))";
    let predicate = Predicate::compile(source, Context::Hook).expect(source);
    let explanation = predicate.explain(&world.facts());
    assert_eq!(came(&explanation), said(source, &world));
    assert!(came(&explanation).starts_with("stopped after "), "{}", came(&explanation));
    let not_boolean = Predicate::compile("record.body.args.list[0]", Context::Hook).expect("dyn");
    assert_eq!(came(&not_boolean.explain(&world.facts())), "the result is int, not bool");
}

/// What came of the whole, in a word.
fn came(explanation: &Explanation) -> String {
    match &explanation.finding {
        Finding::Value(shown) => shown.value.to_string(),
        Finding::Failed(message) => message.clone(),
        Finding::Skipped => "skipped".to_owned(),
    }
}

/// What a predicate says, in a word. Our own evaluator says the same, and may have other words for
/// a failure.
fn said(source: &str, world: &World) -> String {
    let [fastest, cel] = [Evaluator::Fastest, Evaluator::Cel].map(|evaluator| {
        let predicate = Predicate::compile_for(source, Context::Hook, evaluator).expect(source);
        predicate.holds(&world.facts())
    });
    assert_eq!(std::mem::discriminant(&fastest), std::mem::discriminant(&cel), "{source}");
    match cel {
        Ruling::Holds => "true".to_owned(),
        Ruling::DoesNotHold => "false".to_owned(),
        Ruling::Failed(failure) => failure.to_string(),
    }
}

/// Expressions of any type. Many are refused, and of the others many fail.
fn expression() -> impl Strategy<Value = String> {
    let atom = prop::sample::select(vec![
        "1",
        "-2",
        "2u",
        "1.5",
        "true",
        "false",
        "null",
        "'a'",
        "[1, 2, 3]",
        "{'a': 1}",
        "record.clock",
        "record.body.tool",
        "record.body.args",
        "record.body.args.list",
        "record.body.args.nested.list",
        "record.body.args.n",
        "record.body.args.none",
        "timestamp(0)",
        "duration('1s')",
        "now()",
        "trust(current_actor(), 'ops')",
        "x",
    ]);
    atom.prop_map(str::to_owned).prop_recursive(4, 24, 3, |inner| {
        let sign = prop::sample::select(vec![
            "&&", "||", "==", "!=", "<", ">=", " in ", "+", "-", "*", "/", "%",
        ]);
        let looped = prop::sample::select(vec!["all", "exists", "exists_one", "filter", "map"]);
        let call = prop::sample::select(vec!["size", "string", "int", "dyn", "!", "-", "type"]);
        prop_oneof![
            4 => (inner.clone(), sign, inner.clone())
                .prop_map(|(one, sign, two)| format!("({one}{sign}{two})")),
            3 => (inner.clone(), looped, inner.clone())
                .prop_map(|(one, name, two)| format!("({one}).{name}(x, {two})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, two, three)| format!("({one}).map(x, {two}, {three})")),
            1 => (inner.clone(), inner.clone(), inner.clone())
                .prop_map(|(one, two, three)| format!("({one} ? {two} : {three})")),
            1 => (call, inner.clone()).prop_map(|(name, one)| format!("{name}({one})")),
            1 => (inner.clone(), inner.clone()).prop_map(|(one, two)| format!("({one})[{two}]")),
            1 => (inner.clone(), inner).prop_map(|(one, two)| format!("[{one}, {{1: {two}}}]")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Watching the parts changes nothing: neither the result nor what it takes.
    #[test]
    fn watching_changes_nothing(source in expression()) {
        let world = world();
        let source = format!("[1, 'a', null].map(x, {source})");
        let compiled = Expression::compile_for(&source, Context::Hook, Evaluator::Cel);
        let Ok(expression) = compiled else { return Ok(()) };
        let explanation = expression.explain(&world.facts());
        match (expression.evaluate(&world.facts()), &explanation.finding) {
            (Ok(value), Finding::Value(shown)) => {
                let value = value.into_json();
                prop_assert!(shown.size.is_some() || shown.value == value, "{shown:?} {value}");
            }
            (Err(failure), Finding::Failed(message)) => {
                prop_assert_eq!(&failure.to_string(), message);
            }
            (said, seen) => prop_assert!(false, "{said:?} {seen:?}"),
        }
    }
}

proptest! {
    #[test]
    fn the_whole_is_what_the_predicate_says(source in condition(), world in worlds()) {
        let predicate = Predicate::compile(&source, Context::Hook).expect("a predicate");
        let explanation = predicate.explain(&world.facts());
        prop_assert_eq!(came(&explanation), said(&source, &world));
    }
}
