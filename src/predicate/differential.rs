//! The metered expression gives what the evaluator gives for the expression as it was written.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use base64::Engine as _;
use cel::common::ast::{EntryExpr, Expr, IdedExpr};
use cel::common::types::Kind;
use cel::common::value::CowVal;
use cel::objects::Key;
use cel::{Env, ExecutionError, Value as CelValue};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

use super::facts::Nobody;
use super::{
    BodyFacts, Context, Evaluator, Expression, Facts, Failure, RecordFacts, SystemFacts, deep,
};
use crate::canon::{self, Object, Value};
use crate::object;

static BODY: LazyLock<Object> = LazyLock::new(|| {
    object! {
        "i": 3_i64,
        "u": u64::MAX,
        "f": Value::from_float(1.5),
        "s": "some text",
        "t": "λ",
        "b": true,
        "n": Value::Null,
        "l": vec![1_i64, 2, 3],
        "e": Vec::<i64>::new(),
        "ls": vec!["a", "some text"],
        // One key each: the evaluator's own maps have no order.
        "m": object! { "a": 1_i64 },
        "lm": vec![object! { "a": 1_i64 }, object! { "s": "x" }],
    }
});

fn metered(source: &str) -> Option<Result<Value, Failure>> {
    let expression = Expression::compile_for(source, Context::Permission, Evaluator::Cel).ok()?;
    let facts = Facts {
        record: RecordFacts {
            act: "KNOW",
            actor: "did:sync:user:vera",
            thread: "th_a",
            data_type: "SCALAR",
            clock: 1,
            parents: &[],
            body: BodyFacts::Any(&BODY),
        },
        resource: "record_write",
        actor: "did:sync:user:vera",
        namespace: "default",
        trust: &Nobody,
        now_secs: 0,
        system: &SystemFacts::NONE,
    };
    Some(expression.evaluate(&facts).map(super::Value::into_json))
}

fn as_written(source: &str) -> Option<Value> {
    let source = source.to_owned();
    deep::run(move || as_written_here(&source)).expect("no panic")
}

fn as_written_here(source: &str) -> Option<Value> {
    static ENV: LazyLock<Arc<Env>> = LazyLock::new(|| {
        let mut env = Env::default().with_optional_support(false).with_stdlib();
        let any = || cel::common::types::DYN_TYPE;
        env.add_overload("@sum", "@sum", vec![any(), any()], strict_sum).expect("a new name");
        Arc::new(env)
    });
    let parser = cel::parser::Parser::new().enable_ident_escape_syntax(true);
    let mut expression = parser.parse(source).expect("it was parsed before");
    strict_sums(&mut expression);
    let mut context = cel::Context::with_env(Arc::clone(&ENV));
    let record = HashMap::from([("body", eager(&Value::Object(BODY.clone())))]);
    context.add_variable_from_value("record", record);
    plain(&CelValue::resolve(&expression, &context).ok()?)
}

/// The one thing in which the evaluator departs from CEL: it adds a map to a list.
fn strict_sum<'b, 'v>(args: Vec<CowVal<'b, 'v>>) -> Result<CowVal<'b, 'v>, ExecutionError> {
    let [one, two] = <[_; 2]>::try_from(args).expect("two operands");
    if two.get_type().kind() == Kind::Map {
        return Err(ExecutionError::function_error("+", "no such overload"));
    }
    let adder = one.as_adder().ok_or_else(|| ExecutionError::function_error("+", "no overload"))?;
    Ok(CowVal::Owned(adder.add(two.as_ref())?.into_owned()))
}

fn strict_sums(expr: &mut IdedExpr) {
    match &mut expr.expr {
        Expr::Call(call) => {
            let by_loop = matches!(
                call.args.first().map(|arg| &arg.expr),
                Some(Expr::Ident(name)) if name == "@result"
            );
            if call.func_name == "_+_" && !by_loop {
                "@sum".clone_into(&mut call.func_name);
            }
            call.target.as_deref_mut().into_iter().chain(&mut call.args).for_each(strict_sums);
        }
        Expr::Select(select) => strict_sums(&mut select.operand),
        Expr::List(list) => list.elements.iter_mut().for_each(strict_sums),
        Expr::Map(map) => {
            for entry in &mut map.entries {
                if let EntryExpr::MapEntry(entry) = &mut entry.expr {
                    strict_sums(&mut entry.key);
                    strict_sums(&mut entry.value);
                }
            }
        }
        Expr::Comprehension(all) => {
            strict_sums(&mut all.iter_range);
            strict_sums(&mut all.loop_step);
        }
        _ => {}
    }
}

fn eager(value: &Value) -> CelValue {
    match value {
        Value::Null => CelValue::Null,
        Value::Bool(bool) => CelValue::Bool(*bool),
        Value::Number(number) => match (number.as_i64(), number.as_u64()) {
            (Some(int), _) => CelValue::Int(int),
            (None, Some(uint)) => CelValue::UInt(uint),
            (None, None) => CelValue::Float(number.to_f64()),
        },
        Value::String(text) => CelValue::from(text.as_str()),
        Value::Array(elements) => elements.iter().map(eager).collect::<Vec<_>>().into(),
        Value::Object(members) => {
            let members = members.iter().map(|(key, value)| (key.as_str(), eager(value)));
            members.collect::<HashMap<_, _>>().into()
        }
    }
}

fn plain(value: &CelValue) -> Option<Value> {
    Some(match value {
        CelValue::Null => Value::Null,
        CelValue::Bool(bool) => Value::from(*bool),
        CelValue::Int(int) => Value::from(*int),
        CelValue::UInt(uint) => Value::from(*uint),
        CelValue::Float(float) => Value::from_float(*float),
        CelValue::String(text) => Value::from(text.as_str()),
        CelValue::Bytes(bytes) => {
            Value::from(base64::engine::general_purpose::STANDARD.encode(bytes.as_slice()))
        }
        CelValue::List(list) => Value::Array(list.iter().map(plain).collect::<Option<_>>()?),
        CelValue::Map(map) => {
            let named = |key: &Key| match key {
                Key::Int(int) => canon::Number::from(*int).to_string(),
                Key::Uint(uint) => canon::Number::from(*uint).to_string(),
                Key::Bool(bool) => bool.to_string(),
                Key::String(text) => text.to_string(),
            };
            let members = map.map.iter().map(|(key, value)| Some((named(key), plain(value)?)));
            Value::Object(members.collect::<Option<_>>()?)
        }
        _ => return None,
    })
}

fn leaf() -> impl Strategy<Value = String> {
    let facts = vec!["i", "u", "f", "s", "t", "b", "n", "l", "e", "ls", "m", "lm", "missing"];
    prop_oneof![
        3 => prop::sample::select(facts).prop_map(|name| format!("record.body.{name}")),
        2 => prop::sample::select(vec![
            "0", "1", "2", "-1", "3", "9223372036854775807", "1u", "3u", "0.0", "1.5", "3.0",
            "1e300", "''", "'a'", "'some'", "'λ'", "'1'", "b'a'", "b'some'", "true", "false",
            "null", "[]", "{}", "[1, 2, 3]", "['a', 'b']", "{'a': 1}", "{1: 'a'}",
            "int", "string", "list",
        ]).prop_map(str::to_owned),
        2 => Just("x".to_owned()),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let binary = vec![
        "==", "!=", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "in", "&&", "||", "==", "+",
    ];
    leaf().prop_recursive(5, 40, 3, move |inner| {
        let call = vec!["size", "string", "int", "uint", "double", "bool", "bytes", "dyn", "type"];
        let method = vec!["contains", "startsWith", "endsWith"];
        let with = vec!["exists", "all", "exists_one", "map", "filter"];
        let one = inner.clone();
        let two = (inner.clone(), inner.clone());
        let three = (inner.clone(), inner.clone(), inner);
        prop_oneof![
            6 => (prop::sample::select(binary.clone()), two.clone())
                .prop_map(|(sign, (one, two))| format!("({one} {sign} {two})")),
            2 => (prop::sample::select(call), one.clone())
                .prop_map(|(name, one)| format!("{name}({one})")),
            1 => (prop::sample::select(method), two.clone())
                .prop_map(|(name, (one, two))| format!("{one}.{name}({two})")),
            3 => (prop::sample::select(with), two.clone())
                .prop_map(|(name, (one, two))| format!("{one}.{name}(x, {two})")),
            1 => three.clone().prop_map(|(a, b, c)| format!("{a}.map(x, {b}, {c})")),
            1 => three.prop_map(|(a, b, c)| format!("({a} ? {b} : {c})")),
            1 => two.clone().prop_map(|(one, two)| format!("{one}[{two}]")),
            1 => two.clone().prop_map(|(one, two)| format!("[{one}, {two}]")),
            1 => two.prop_map(|(one, two)| format!("{{{one}: {two}}}")),
            1 => one.clone().prop_map(|one| format!("{one}.a")),
            1 => one.clone().prop_map(|one| format!("has({one}.a)")),
            1 => one.clone().prop_map(|one| format!("!{one}")),
            1 => one.prop_map(|one| format!("(-{one})")),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn metering_changes_no_result(body in expression()) {
        // Bound outside, so that every `x` has a value.
        let source = format!("[record.body.i, record.body.s, record.body.m].map(x, {body})");
        match metered(&source) {
            // Refused when it was compiled, or stopped: there is nothing to compare.
            None | Some(Err(Failure::OverBudget { .. } | Failure::TooLarge { .. })) => {}
            Some(Err(Failure::Error { .. })) => prop_assert_eq!(as_written(&source), None),
            Some(Ok(value)) => prop_assert_eq!(as_written(&source), Some(value)),
            Some(Err(failure)) => prop_assert!(false, "{:?}", failure),
        }
    }
}

#[test]
fn enough_of_the_generated_sources_are_accepted() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let accepted = (0..200)
        .filter(|_| {
            let body = expression().new_tree(&mut runner).expect("a source").current();
            metered(&format!("[record.body.i].map(x, {body})")).is_some()
        })
        .count();
    assert!(accepted > 40, "{accepted} of 200");
}
