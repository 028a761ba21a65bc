//! Input that wants to hurt: all of it is refused or stopped, on the small stack of a test thread.

use spl::canon::{Object, Value};
use spl::object;
use spl::predicate::{
    Context, Evaluation, Evaluator, Expression, Failure, Finding, Flaw, MAX_BUILT, MAX_UNITS,
    Predicate, PredicateError, Ruling,
};

use crate::facts::World;

fn refusal(source: &str) -> PredicateError {
    Predicate::compile(source, Context::Hook).expect_err("refused")
}

#[track_caller]
fn refused(source: &str, flaw: Flaw) {
    let error = refusal(source);
    assert_eq!(error.flaw, flaw, "{error}: {}", source.chars().take(60).collect::<String>());
}

/// Evaluates on either evaluator, which must come to the same end.
#[track_caller]
fn evaluated(source: &str, world: &World) -> Evaluation {
    let [fastest, cel] = [Evaluator::Fastest, Evaluator::Cel].map(|evaluator| {
        let predicate = Predicate::compile_for(source, Context::Hook, evaluator).expect(source);
        predicate.evaluate(&world.facts())
    });
    let same_end = std::mem::discriminant(&fastest.ruling) == std::mem::discriminant(&cel.ruling);
    assert!(same_end, "{source}: {fastest:?}, {cel:?}");
    fastest
}

#[track_caller]
fn over_budget(source: &str, world: &World) {
    let ruling = evaluated(source, world).ruling;
    let stopped = matches!(ruling, Ruling::Failed(Failure::OverBudget { units, limit })
        if units > limit && limit == MAX_UNITS);
    assert!(stopped, "{source}: {ruling:?}");
}

#[track_caller]
fn too_large(source: &str, world: &World) {
    let ruling = evaluated(source, world).ruling;
    let stopped = matches!(ruling, Ruling::Failed(Failure::TooLarge { bytes, limit })
        if bytes > limit && limit == MAX_BUILT);
    assert!(stopped, "{source}: {ruling:?}");
}

/// Arguments of about the size that a door takes.
fn large() -> World {
    let keys: Object = (0_i64..50_000).map(|n| (format!("key{n}"), Value::from(n))).collect();
    World::of_call(object! {
        "n": 1_i64,
        "half": "a".repeat(512 * 1024),
        "big": "ab".repeat(512 * 1024),
        "deep": (0..120).fold(Value::Null, |inside, _| Value::Array(vec![inside])),
        "thousand": (0_i64..1_000).collect::<Vec<_>>(),
        "tens": (0_i64..10_000).collect::<Vec<_>>(),
        "many": (0_i64..500_000).collect::<Vec<_>>(),
        "keys": keys.clone(),
        "same": keys,
    })
}

#[test]
fn texts_that_are_not_expressions_are_refused() {
    refused("", Flaw::Empty);
    refused(" \t\n", Flaw::Empty);
    refused("\"", Flaw::Syntax);
    refused("'abc", Flaw::Syntax);
    refused("\u{0}", Flaw::Syntax);
    refused("Foo{}", Flaw::Unsupported);
    refused(&"@".repeat(1024 * 1024), Flaw::TooLong);
    refused(&"@".repeat(2048), Flaw::Syntax);
    refused(&"'".repeat(2047), Flaw::Syntax);
    refused(&"λ".repeat(1024), Flaw::Syntax);
    refused(&format!("[{}]", "1,".repeat(1_000_000)), Flaw::TooLong);
    refused(&format!("[{}1] == []", "1,".repeat(1_000)), Flaw::ListTooLong);
}

#[test]
fn brackets_are_counted_before_they_are_parsed() {
    refused(&"(".repeat(10_000), Flaw::TooLong);
    refused(&"(".repeat(2_048), Flaw::TooNested);
    refused(&("!!(!!!!!!(!!!!(((((!!(!!(!!!!((".repeat(4) + "1"), Flaw::TooNested);
    refused(&"(".repeat(32), Flaw::Syntax);
    refused(&("[{(".repeat(11) + "1"), Flaw::TooNested);
    let source = "(".repeat(32) + "true" + &")".repeat(32);
    assert_eq!(evaluated(&source, &large()).ruling, Ruling::Holds);
}

#[test]
fn chains_that_the_parser_takes_are_measured() {
    refused(&("1".to_owned() + &"+1".repeat(1_023)), Flaw::TooDeep);
    refused(&("1".to_owned() + &"+1".repeat(200) + " == 1"), Flaw::TooDeep);
    refused(&("record".to_owned() + &"[0]".repeat(600)), Flaw::TooDeep);
    refused(&("record".to_owned() + &".a".repeat(1_000)), Flaw::TooDeep);
    refused(&("record.body.tool".to_owned() + &".size()".repeat(200)), Flaw::TooDeep);
    refused(&("true == ".repeat(200) + "true"), Flaw::TooDeep);
    refused(&("true ? true : ".repeat(140) + "true"), Flaw::TooDeep);
    refused(&("true ? true : ".repeat(60) + "true"), Flaw::TooDeep);
    refused(&("!true".to_owned() + &" || !true".repeat(220)), Flaw::TooManyNodes);
    refused(&("-".repeat(2_000) + "1"), Flaw::NotBoolean);
    assert_eq!(evaluated(&("!".repeat(2_000) + "true"), &large()).ruling, Ruling::Holds);
    assert_eq!(evaluated(&("false || ".repeat(200) + "true"), &large()).ruling, Ruling::Holds);
}

/// Each of these is as deep as an expression may be.
#[test]
fn the_deepest_expressions_are_evaluated_on_a_small_stack() {
    let around = |times: usize, open: &str, inside: &str, close: &str, after: &str| {
        open.repeat(times) + inside + &close.repeat(times) + after
    };
    let deepest = [
        around(30, "[", "1", "]", " == []"),
        around(15, "{'a':[", "1", "]}", " == {}"),
        around(14, "dyn([", "1", "])", " == 1"),
        around(15, "size([", "1", "])", " == 1"),
        around(28, "(has(record.body.args.n) ? ", "true", " : false)", ""),
        around(27, "!(", "record.body.args.n == 1", ")", ""),
        around(26, "", "record.body.args.n", "+1", " == 27"),
        around(15, "", "record.body.args.thousand", ".map(x, x)", ".size() == 1"),
        // The depth of facts is on top of that of the expression.
        around(25, "!(", "record.body.args.deep == record.body.args.deep", ")", ""),
    ];
    let world = large();
    let on_a_small_stack = || {
        for source in &deepest {
            let evaluation = evaluated(source, &world);
            // Which brings its own stack along.
            let predicate = Predicate::compile(source, Context::Hook).expect(source);
            let explanation = predicate.explain(&world.facts());
            let failed = matches!(evaluation.ruling, Ruling::Failed(_));
            assert_eq!(matches!(explanation.finding, Finding::Failed(_)), failed, "{source}");
        }
    };
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(512 * 1024);
        thread.spawn_scoped(scope, on_a_small_stack).expect("a thread").join().expect("no panic");
    });
}

#[test]
fn patterns_are_compiled_when_the_predicate_is() {
    refused(r"record.body.content.matches('\\w{500}')", Flaw::PatternTooLarge);
    refused(r"record.body.content.matches('(\\pL{100}){100}')", Flaw::PatternTooLarge);
    // Classes that are dear to read, however many patterns they stand in.
    let classes = r"(?i)\\pL".repeat(33);
    refused(&format!("record.body.content.matches('{classes}')"), Flaw::PatternTooLarge);
    refused(&format!("record.body.content.matches('[{classes}]')"), Flaw::PatternTooLarge);
    let many = |pattern: &str, times: usize| {
        let search = |n| format!("record.body.content.matches('{pattern}{n}')");
        (0..times).map(search).collect::<Vec<_>>().join(" || ")
    };
    refused(&many("(?i)[^a]", 33), Flaw::PatternTooLarge);
    refused(&many(r"\\w{4}", 5), Flaw::PatternTooLarge);
    assert!(Predicate::compile(&many(r"\\w{4}", 4), Context::Hook).is_ok());
    let nested = "(".repeat(40) + "a" + &")".repeat(40);
    refused(&format!("record.body.content.matches('{nested}')"), Flaw::BadPattern);
    refused("record.body.content.matches('(?=a)')", Flaw::BadPattern);
    refused("record.body.content.matches(record.body.content)", Flaw::DynamicPattern);
    refused("['a'].all(p, record.body.content.matches(p))", Flaw::DynamicPattern);
}

#[test]
fn a_pattern_that_is_dear_to_search_for_is_charged_for_it() {
    let world = large();
    // Simulated state by state: some microseconds a byte.
    over_budget("record.body.args.big.matches('(?:[ab]{1,400}a)+[cd]')", &world);
    over_budget("record.body.args.big.matches('[ab]*a[ab]{200}[cd][ef]')", &world);
    over_budget("record.body.args.thousand.all(x, !record.body.args.half.matches('b'))", &world);
    let once = evaluated("record.body.args.half.matches('ab$')", &world);
    assert_eq!(once.ruling, Ruling::DoesNotHold);
}

#[test]
fn loops_are_stopped() {
    let world = large();
    refused(
        "record.body.args.thousand.exists(a, record.body.args.thousand.exists(b, \
         record.body.args.thousand.exists(c, a + b + c < 0)))",
        Flaw::LoopsTooDeep,
    );
    for source in [
        "record.body.args.thousand.exists(a, record.body.args.thousand.exists(b, a + b < 0))",
        "record.body.args.tens.all(a, record.body.args.tens.all(b, a + b >= 0))",
        "record.body.args.tens.map(a, record.body.args.tens.exists(b, b < 0)).size() == 0",
        "record.body.args.tens.filter(a, record.body.args.tens.exists(b, b < 0)).size() == 0",
        "record.body.args.tens.exists_one(a, record.body.args.tens.exists_one(b, b == a))",
        "record.body.args.many.exists(a, a < 0)",
        "record.body.args.many.exists(a, a.b.c || a)",
        "record.body.args.many.filter(a, a < 0).size() > 0",
        "record.body.args.thousand.all(a, record.body.args.keys == record.body.args.same)",
        "record.body.args.thousand.exists(a, -1 in record.body.args.many)",
        "record.body.args.thousand.exists(a, record.body.args.big.contains('aab'))",
        "record.body.args.thousand.exists(a, record.body.args.big.size() == a)",
        "record.body.args.thousand.exists(a, record.body.args.big in record.body.args.keys)",
        "record.body.args.thousand.exists(a, record.body.args.keys[record.body.args.big] == 1)",
        "record.body.args.tens.all(a, trust(current_actor(), 'ops') > 0.1)",
    ] {
        over_budget(source, &world);
        // Whatever is made of the error, it is not an answer.
        over_budget(&format!("(({source}) && false) || true"), &world);
    }
}

#[test]
fn a_dear_body_makes_the_rounds_of_a_loop_dear() {
    let world = large();
    let cheap = "record.body.args.tens.all(a, a >= 0)";
    let dear = format!("record.body.args.tens.all(a, {}a >= 0)", "a + 1 >= 0 && ".repeat(60));
    let (cheap, dear) = (evaluated(cheap, &world), evaluated(&dear, &world));
    assert_eq!((cheap.ruling, cheap.units), (Ruling::Holds, 10_000));
    assert!(matches!(dear.ruling, Ruling::Failed(Failure::OverBudget { .. })), "{dear:?}");
}

#[test]
fn memory_bombs_are_stopped() {
    let world = large();
    let half = "record.body.args.half";
    let sum = |times: usize| vec![half; times].join(" + ");
    for source in [
        format!("record.body.args.thousand.map(x, {}).size() > 0", sum(8)),
        format!("record.body.args.thousand.exists(x, {} == '')", sum(4)),
        format!("(({half} + {half}) + ({half} + {half})).size() > 0"),
        format!("[1, 2, 3].exists(x, {half} + {half} == '')"),
        "record.body.args.thousand.map(a, record.body.args.thousand.map(b, b)).size() > 0".into(),
        "record.body.args.many.map(a, a).size() > 0".into(),
        "record.body.args.many.filter(a, true).size() > 0".into(),
        "(record.body.args.many + record.body.args.many).size() > 0".into(),
        format!("record.body.args.tens.map(x, '{}').size() > 0", "x".repeat(1_000)),
        format!("record.body.args.tens.all(x, ['{}'] != [])", "x".repeat(1_000)),
        format!("record.body.args.tens.all(x, {{'{}': x}} != {{}})", "x".repeat(1_000)),
        "record.body.args.tens.all(x, {'a': [x, x, x]} != {})".into(),
        format!("bytes({half}) + bytes({half}) == b''"),
        "string(bytes(record.body.args.big)) + 'x' == ''".into(),
        "record.body.args.thousand.exists(x, int(record.body.args.half) == 1)".into(),
        "record.body.args.thousand.exists(x, duration(record.body.args.half) == duration('1s'))"
            .into(),
        "record.body.args.thousand.exists(x, {record.body.args.half: 1} == {})".into(),
        "record.body.args.thousand.exists(x, {record.body.args.half: 1, record.body.args.half: 2} == {})"
            .into(),
        "record.body.args.thousand.exists(x, trust(record.body.args.half, 'a') > 1.0)".into(),
    ] {
        too_large(&source, &world);
    }
}

/// What is shared while it is evaluated is made anew for whoever asked, wherever it stands.
#[test]
fn a_result_is_counted_before_it_is_made() {
    let world = large();
    for source in [
        "[record.body.args.half + 'a'].map(t, record.body.args.thousand.map(x, t))",
        "[record.body.args.thousand.map(x, x)].map(l, record.body.args.thousand.map(x, l))",
        "[record.body.args.thousand.map(x, x)].map(l, {'a': [l, l, l], 'b': [[l, l, l], l, l, l]})",
    ] {
        for evaluator in [Evaluator::Fastest, Evaluator::Cel] {
            let expression = Expression::compile_for(source, Context::Hook, evaluator);
            let expression = expression.expect(source);
            let mut result = None;
            let facts = world.facts();
            let taken = allocation_counter::measure(|| result = Some(expression.evaluate(&facts)));
            let stopped = matches!(result, Some(Err(Failure::TooLarge { .. }) | Ok(_)));
            assert!(stopped && taken.bytes_max < 4 * MAX_BUILT, "{source}: {taken:?}");
        }
    }
}

#[test]
fn what_is_copied_often_is_shared() {
    let world = large();
    let elements = ["s"; 100].join(", ");
    let source = format!("[record.body.args.half + 'a'].map(s, [{elements}]).size() == 1");
    let evaluation = evaluated(&source, &world);
    assert_eq!(evaluation.ruling, Ruling::Holds);
    assert!(evaluation.built < MAX_BUILT / 2 + 8 * 1024, "{evaluation:?}");
    let source = "record.body.args.thousand.all(x, \
                  [record.body.args.big, record.body.args.keys, record.body.args.many].size() == 3)";
    assert_eq!(evaluated(source, &world).ruling, Ruling::Holds);
}

#[test]
fn an_error_over_a_large_value_costs_little() {
    let world = large();
    for source in [
        "record.body.args.thousand.exists(x, record.body.args.big - 1 == 2)",
        "record.body.args.thousand.exists(x, record.body.args.big + 1 == 2)",
        "record.body.args.thousand.exists(x, record.body.args.big < 1)",
        "record.body.args.thousand.exists(x, record.body.args.many in record.body.args.keys)",
        "record.body.args.thousand.exists(x, {record.body.args.keys: 1} == {})",
        "record.body.args.thousand.exists(x, record.body.args.many[0.5] == 1)",
        "record.body.args.thousand.exists(x, record.body.args.many[record.body.args.big] == 1)",
        "record.body.args.thousand.exists(x, record.body.args.many && true)",
    ] {
        let evaluation = evaluated(source, &world);
        match &evaluation.ruling {
            Ruling::Failed(Failure::Error { message }) => assert!(message.len() < 200, "{message}"),
            other => panic!("{source}: {other:?}"),
        }
        assert!(evaluation.units <= 2_000 && evaluation.built < 64_000, "{source}: {evaluation:?}");
    }
}

/// Explaining counts the characters of what it cuts, so a long text is looked at a few times.
#[test]
fn a_large_text_is_not_shown_for_every_round() {
    let world = large();
    let source = "record.body.args.thousand.exists(x, record.body.args.big == 'a')";
    let predicate = Predicate::compile(source, Context::Hook).expect(source);
    let explanation = predicate.explain(&world.facts());
    let last = explanation.parts.iter().filter_map(|part| Some(part.round.as_ref()?.number)).max();
    assert_eq!(explanation.rounds, Some(1_000));
    assert!(last.is_some_and(|last| last < 50), "{last:?}");
}

#[test]
fn looking_for_a_large_text_among_numbers_copies_it_for_none() {
    // Half a million copies of a mebibyte would take minutes, and be made and dropped unseen.
    let evaluation = evaluated("record.body.args.big in record.body.args.tens", &large());
    assert_eq!((evaluation.ruling, evaluation.units), (Ruling::DoesNotHold, 2_500));
    over_budget("record.body.args.big in record.body.args.many", &large());
}

#[test]
fn facts_that_nobody_reads_cost_nothing() {
    let world = large();
    let evaluation = evaluated("record.body.tool == 'bash'", &world);
    assert_eq!((evaluation.ruling, evaluation.units, evaluation.built), (Ruling::Holds, 1, 0));
    let first = evaluated("record.body.args.many.exists(n, n == 0)", &world);
    assert_eq!((first.ruling, first.units), (Ruling::Holds, 1));
}
