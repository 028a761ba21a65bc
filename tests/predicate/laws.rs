//! What is true of all predicates.

use proptest::prelude::*;
use spl::canon::Value;
use spl::object;
use spl::predicate::{Context, Expression, Failure, MAX_BUILT, MAX_UNITS, Predicate, Ruling};

use crate::facts::World;

fn world() -> World {
    World::of_call(object! {
        "path": "/etc/passwd",
        "n": 3_i64,
        "list": vec![1_i64, 2, 3],
        "null": Value::Null,
        "nested": object! { "list": vec!["a", "b"] },
    })
}

/// Tokens of the language, and some that are none.
const TOKENS: &[&str] = &[
    "record",
    ".",
    "body",
    "args",
    "tool",
    "content",
    "status",
    "path",
    "n",
    "list",
    "nested",
    "x",
    "resource",
    "now",
    "trust",
    "system",
    "has",
    "all",
    "exists",
    "map",
    "filter",
    "size",
    "contains",
    "matches",
    "type",
    "dyn",
    "string",
    "int",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ":",
    "?",
    "==",
    "!=",
    "<",
    ">=",
    "&&",
    "||",
    "!",
    "-",
    "+",
    "*",
    "/",
    "%",
    " in ",
    "'a'",
    "\"b\"",
    "'",
    "\"",
    "r'",
    "'''",
    "b'\\xff'",
    "'\\u00e9'",
    "\\",
    "0",
    "1",
    "-1",
    "1u",
    "1.5",
    "1e999",
    "9223372036854775808",
    "0x",
    "true",
    "false",
    "null",
    "`",
    "`a-b`",
    "@",
    "#",
    "λ",
    "\u{0}",
    "//",
    "\n",
    " ",
    "?.",
    "[?",
    "timestamp",
    "duration",
    "_",
    "__",
    "Foo{",
    "google.protobuf.",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(TOKENS), 0..40).prop_map(|tokens| tokens.concat())
}

/// Compiles and evaluates whatever can be, in both contexts.
fn survive(source: &str) -> Result<(), TestCaseError> {
    let world = world();
    for context in [Context::Hook, Context::Permission] {
        match Predicate::compile(source, context) {
            Ok(predicate) => {
                let evaluation = predicate.evaluate(&world.facts());
                let fits = evaluation.units <= MAX_UNITS && evaluation.built <= MAX_BUILT;
                prop_assert!(fits || !evaluation.ruling.holds());
                prop_assert_ne!(evaluation.ruling, Ruling::Failed(Failure::Panicked));
            }
            Err(error) => {
                let length = source.chars().count();
                prop_assert!(error.column.is_none_or(|column| column <= length), "{:?}", error);
                prop_assert!(!error.message.is_empty() && error.message.len() < 500);
            }
        }
        if let Ok(expression) = Expression::compile(source, context) {
            prop_assert_ne!(expression.evaluate(&world.facts()), Err(Failure::Panicked));
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn no_text_makes_compiling_panic(source in any::<String>()) {
        survive(&source)?;
    }

    #[test]
    fn no_soup_of_tokens_makes_compiling_or_evaluating_panic(source in soup()) {
        survive(&source)?;
    }
}

#[test]
fn a_predicate_may_be_asked_on_many_threads_at_once() {
    let predicate = Predicate::compile("record.body.args.list.all(x, x > 0)", Context::Hook)
        .expect("a predicate");
    let world = world();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| assert!(predicate.holds(&world.facts()).holds()));
        }
    });
}

#[test]
fn a_thousand_predicates_compile_on_many_threads_at_once() {
    std::thread::scope(|scope| {
        for thread in 0..4 {
            scope.spawn(move || {
                for number in 0..250 {
                    let source = format!("record.clock == {thread}{number}");
                    assert!(Predicate::compile(&source, Context::Permission).is_ok(), "{source}");
                }
            });
        }
    });
}

#[test]
fn results_of_any_type_are_returned_as_json() {
    let world = world();
    let result = |source: &str| {
        let expression = Expression::compile(source, Context::Hook).expect(source);
        expression.evaluate(&world.facts()).map(|value| value.into_json().to_string())
    };
    for (source, json) in [
        ("[1, 1u, 1.5, 'a', b'ab', true, null]", r#"[1,1,1.5,"a","YWI=",true,null]"#),
        ("{'a': [record.body.args.n], 1: 2, true: 3}", r#"{"1":2,"a":[3],"true":3}"#),
        ("record.body.args.nested", r#"{"list":["a","b"]}"#),
        ("timestamp(0)", r#""1970-01-01T00:00:00Z""#),
        ("duration('90s') + duration('500ms')", r#""90.5s""#),
        ("[type(1), int]", r#"["int","int"]"#),
        ("0.0 / 0.0", "null"),
        ("record.parents.size()", "1"),
    ] {
        assert_eq!(result(source).as_deref(), Ok(json), "{source}");
    }
    assert!(matches!(result("record.body.args.missing"), Err(Failure::Error { .. })));
}
