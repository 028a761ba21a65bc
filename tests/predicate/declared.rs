//! Expressions over declared names, and the values that come out of them.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spl::predicate::{Environment, Expression, Failure, Flaw, Key, PredicateError, Type, Value};

fn bindings<const N: usize>(bound: [(&str, Value); N]) -> BTreeMap<String, Value> {
    bound.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn text(text: &str) -> Value {
    Value::String(text.to_owned())
}

fn map<const N: usize>(entries: [(&str, Value); N]) -> Value {
    Value::Map(
        entries.into_iter().map(|(key, value)| (Key::String(key.to_owned()), value)).collect(),
    )
}

fn compile(source: &str, names: &Environment) -> Result<Expression<Environment>, PredicateError> {
    Expression::declared(source, names.clone())
}

fn answer<const N: usize>(
    source: &str,
    names: &Environment,
    bound: [(&str, Value); N],
) -> Result<Value, Failure> {
    compile(source, names).expect(source).evaluate(&bindings(bound))
}

fn failed(message: &str) -> Result<Value, Failure> {
    Err(Failure::Error { message: message.to_owned() })
}

#[test]
fn a_value_of_any_type_comes_out_as_it_went_in() {
    let values = [
        Value::Null,
        Value::Bool(true),
        Value::Int(i64::MIN),
        Value::Uint(u64::MAX),
        Value::Double(0.5),
        text("λ"),
        Value::Bytes(vec![0, 255]),
        Value::List(vec![Value::Int(1), Value::Uint(1), Value::Double(1.0)]),
        map([("a", Value::List(Vec::new())), ("b", map([]))]),
        Value::Map(BTreeMap::from([
            (Key::Bool(true), Value::Null),
            (Key::Int(-1), Value::Null),
            (Key::Uint(u64::MAX), Value::Null),
        ])),
        Value::Type("google.protobuf.Timestamp".to_owned()),
        Value::Timestamp { seconds: -62_135_596_800, nanos: 0 },
        Value::Timestamp { seconds: 253_402_300_799, nanos: 999_999_999 },
        Value::Duration { seconds: 9_223_372_036, nanos: 854_775_807 },
        Value::Duration { seconds: -1, nanos: -500_000_000 },
    ];
    for value in values {
        let declared = Environment::new().declare("x", value.of_type());
        assert_eq!(answer("x", &declared, [("x", value.clone())]), Ok(value.clone()));
        let any = Environment::new().declare("x", Type::Dyn);
        assert_eq!(answer("[x][0]", &any, [("x", value.clone())]), Ok(value));
    }
}

#[test]
fn the_longest_name_that_is_declared_is_meant() {
    let names = Environment::new().declare("a.b", Type::Map).declare("a.b.c", Type::String);
    let bound =
        || [("a.b", map([("c", text("of the map")), ("d", text("d"))])), ("a.b.c", text("c"))];
    assert_eq!(answer("a.b.c", &names, bound()), Ok(text("c")));
    assert_eq!(answer("a.b.d", &names, bound()), Ok(text("d")));
    assert_eq!(answer("a.b['c']", &names, bound()), Ok(text("of the map")));
    assert_eq!(answer("has(a.b.d) && !has(a.b.e)", &names, bound()), Ok(Value::Bool(true)));
}

#[test]
fn names_of_the_container_need_not_be_written_out() {
    let names = Environment::new()
        .declare("a.b.x", Type::Int)
        .declare("a.x", Type::Int)
        .declare("x", Type::Int)
        .declare("a.y", Type::Int)
        .within("a.b");
    let bound = || {
        [
            ("a.b.x", Value::Int(1)),
            ("a.x", Value::Int(2)),
            ("x", Value::Int(3)),
            ("a.y", Value::Int(4)),
        ]
    };
    assert_eq!(answer("[x, .x, a.x, .a.x, y]", &names, bound()), Ok(ints([1, 3, 2, 2, 4])));
    assert_eq!(answer("[7].map(x, x + .x + y)", &names, bound()), Ok(ints([14])));
    let google = Environment::new().within("google.protobuf");
    let same =
        answer("Timestamp == type(timestamp(0)) && [1].all(google, google == 1)", &google, []);
    assert_eq!(same, Ok(Value::Bool(true)));
}

fn ints<const N: usize>(ints: [i64; N]) -> Value {
    Value::List(ints.into_iter().map(Value::Int).collect())
}

#[test]
fn what_was_not_declared_is_refused_with_a_column() {
    let names = Environment::new().declare("owner", Type::String);
    let flaw = |source: &str| compile(source, &names).expect_err(source);
    let typo = flaw("'a' == ownr");
    assert_eq!((typo.flaw, typo.column), (Flaw::UnknownName, Some(7)));
    assert_eq!(typo.hint.as_deref(), Some("did you mean `owner`?"));
    assert_eq!(flaw("owner + 1").flaw, Flaw::TypeClash);
    // Facts are of contexts alone.
    assert_eq!(flaw("record.body").flaw, Flaw::UnknownName);
    assert_eq!(flaw("now()").flaw, Flaw::UnknownFunction);
}

#[test]
fn a_binding_is_what_was_declared_or_nothing_is_evaluated() {
    let names = Environment::new().declare("x", Type::Int).declare("t", Type::Timestamp);
    let wrong = answer("true", &names, [("x", text("1"))]);
    assert_eq!(wrong, failed("`x` cannot be bound to this: it is declared int"));
    let never = Value::Timestamp { seconds: i64::MAX, nanos: 0 };
    assert_eq!(
        answer("true", &names, [("t", never)]),
        failed("`t` cannot be bound to this: it is declared timestamp")
    );
    let endless = (0..300).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    let any = Environment::new().declare("x", Type::Dyn);
    assert_eq!(
        answer("true", &any, [("x", endless)]),
        failed("`x` cannot be bound to this: it is declared dyn")
    );
    // One that is missing fails where it is needed; one that nobody declared is not there.
    assert_eq!(answer("x", &names, [("y", Value::Int(1))]), failed("there is no `x`"));
    assert_eq!(answer("x == 1 || true", &names, []), Ok(Value::Bool(true)));
}

#[test]
fn unchecked_expressions_fail_where_they_are_evaluated() {
    let names = Environment::new().declare("x", Type::Int).unchecked();
    let bound = || [("x", Value::Int(1)), ("y", Value::Int(2))];
    for (source, message) in [
        ("y", "there is no `y`"),
        ("x.y", "`.` does not take int and string"),
        ("f(x)", "there is no `f()`"),
        ("size(x, x)", "there is no `size()`"),
        ("size(x)", "`size` does not take int"),
        ("'a' < 1", "`<` does not take string and int"),
    ] {
        assert_eq!(answer(source, &names, bound()), failed(message), "{source}");
        let absorbed = answer(&format!("true || dyn({source})"), &names, bound());
        assert_eq!(absorbed, Ok(Value::Bool(true)), "{source}");
    }
    // What has no way to fail later is refused all the same.
    let flaw = |source: &str| compile(source, &names).expect_err(source).flaw;
    assert_eq!(flaw("'a'.matches('a' + 'b')"), Flaw::DynamicPattern);
    assert_eq!(flaw("a{b: 1}"), Flaw::Unsupported);
    assert_eq!(flaw("1 +"), Flaw::Syntax);
}

#[test]
fn no_declaration_and_no_binding_buys_more_than_the_budget() {
    let long = "x".repeat(1 << 20);
    let stopped = |names: &Environment, it: &str| {
        let source = format!("[1, 2, 3, 4].all(i, [1, 2, 3, 4].all(j, {it}))");
        let answered = answer(&source, names, [("t", text(&long)), ("int", text(&long))]);
        matches!(answered, Err(Failure::OverBudget { .. } | Failure::TooLarge { .. }))
    };
    for ty in [Type::Dyn, Type::String] {
        let names = Environment::new().declare("t", ty).declare("int", Type::Dyn);
        for it in ["t == t", "int == int", "string(t) == t"] {
            assert!(stopped(&names, it), "{it}");
            assert!(stopped(&names.clone().unchecked(), it), "{it}");
        }
        assert!(stopped(&names.unchecked(), "!('horses' && t != t)"));
    }
    let long_name = Value::Type(long);
    let names = Environment::new().declare("x", Type::Type);
    assert_eq!(
        answer("x == x", &names, [("x", long_name)]),
        failed("`x` cannot be bound to this: it is declared type")
    );
}

/// Expressions that may be right: of names that are declared and names that are not, of functions
/// that exist and functions that do not, and of types that clash.
fn expression() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        9 => prop::sample::select(vec!["x", "s", "l", "m", "dyn(x)", "dyn(m)", "1", "0.5", "'a'"]),
        1 => prop::sample::select(vec!["y", "f(x)", "1u", "b'a'", "true", "null", "int"]),
    ];
    leaf.prop_map(str::to_owned).prop_recursive(3, 8, 3, |inner| {
        let sign =
            prop::sample::select(vec!["==", "!=", "<", ">=", "+", "-", "*", "%", "in", "&&", "||"]);
        let call = prop::sample::select(vec!["size", "string", "type", "dyn", "timestamp", "g"]);
        let method = prop::sample::select(vec!["contains", "size", "getMilliseconds", "h"]);
        let with = prop::sample::select(vec!["all", "exists", "map", "filter"]);
        let one = inner.clone();
        let two = (inner.clone(), inner.clone());
        prop_oneof![
            4 => (sign, two.clone()).prop_map(|(sign, (a, b))| format!("({a} {sign} {b})")),
            1 => (call, one.clone()).prop_map(|(name, a)| format!("{name}({a})")),
            1 => (method, two.clone()).prop_map(|(name, (a, b))| format!("{a}.{name}({b})")),
            1 => (with, two.clone()).prop_map(|(name, (a, b))| format!("{a}.{name}(x, {b})")),
            1 => (inner, two.clone()).prop_map(|(a, (b, c))| format!("({a} ? {b} : {c})")),
            1 => two.prop_map(|(a, b)| format!("{a}[{b}]")),
            1 => one.clone().prop_map(|a| format!("has({a}.a)")),
            1 => one.prop_map(|a| format!("(!{a}.a)")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn unchecked_is_the_same_where_checked_compiles(source in expression()) {
        let names = Environment::new()
            .declare("x", Type::Int)
            .declare("s", Type::String)
            .declare("l", Type::List)
            .declare("m", Type::Map);
        let bound = bindings([
            ("x", Value::Int(1)),
            ("s", text("a")),
            ("l", ints([1, 2, 3])),
            ("m", map([("a", Value::Bool(true))])),
        ]);
        let unchecked = match compile(&source, &names.clone().unchecked()) {
            Ok(unchecked) => unchecked.evaluate(&bound),
            Err(error) => {
                let guards = matches!(error.flaw, Flaw::LoopsTooDeep | Flaw::TooDeep);
                prop_assert!(guards, "{:?}", error);
                return Ok(());
            }
        };
        prop_assert_ne!(&unchecked, &Err(Failure::Panicked));
        if let Ok(checked) = compile(&source, &names) {
            // As text: a number that is none equals nothing.
            prop_assert_eq!(format!("{unchecked:?}"), format!("{:?}", checked.evaluate(&bound)));
        }
    }
}

#[test]
fn points_and_lengths_of_time_are_cels() {
    let none = Environment::new();
    for (source, value) in [
        ("timestamp('2026-11-30T01:00:00+02:00').getHours()", Value::Int(23)),
        ("timestamp('2026-11-30T01:00:00+02:00').getDate()", Value::Int(29)),
        ("timestamp('2026-11-30T01:00:00.123456Z').getMilliseconds()", Value::Int(123)),
        ("duration('123.321456789s').getMilliseconds()", Value::Int(321)),
        ("duration('-1.5s').getMilliseconds()", Value::Int(-500)),
        ("dyn(duration('90s')).getMilliseconds()", Value::Int(0)),
        ("duration('90s').getSeconds()", Value::Int(90)),
    ] {
        assert_eq!(answer(source, &none, []), Ok(value), "{source}");
    }
    assert!(answer("dyn(1).getMilliseconds()", &none, []).is_err());
}

#[test]
fn a_value_becomes_json() {
    let value = Value::List(vec![
        Value::Timestamp { seconds: 0, nanos: 500_000_000 },
        Value::Timestamp { seconds: -1, nanos: 0 },
        Value::Timestamp { seconds: i64::MAX, nanos: 0 },
        Value::Duration { seconds: -1, nanos: -20_000 },
        Value::Type("int".to_owned()),
        Value::Bytes(b"ab".to_vec()),
        Value::Double(f64::NAN),
        Value::Map(BTreeMap::from([(Key::Int(1), Value::Uint(2)), (Key::Bool(true), Value::Null)])),
    ]);
    let json = concat!(
        r#"["1970-01-01T00:00:00.5Z","1969-12-31T23:59:59Z",null,"-1.00002s","int","YWI=",null,"#,
        r#"{"1":2,"true":null}]"#
    );
    assert_eq!(value.into_json().to_string(), json);
}
