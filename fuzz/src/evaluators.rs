//! The two evaluators agree: the same result, or both an error, or both over the same limit; and
//! where there is a result, the same work and the same bytes.

use spl::canon::{Limits, Object, Value, parse};
use spl::object;
use spl::predicate::{
    BodyFacts, Context, Evaluator, Expression, Facts, Failure, Predicate, RecordFacts, Ruling,
    SystemFacts,
};
use spl::record::RecordId;

use super::choices::Choices;
use super::expression;
use super::facts::facts;

/// Checks an expression and a call that are generated from the bytes; tells whether it compiled.
///
/// # Panics
///
/// Where the evaluators differ.
pub fn check(bytes: &[u8]) -> bool {
    let mut choices = Choices::new(bytes);
    let context = choices.of(&[Context::Hook, Context::Permission]);
    let call = Call::chosen(&mut choices);
    let is_test = choices.below(2) == 0;
    let source =
        if is_test { expression::test(&mut choices) } else { expression::any(&mut choices) };
    agree(&source, context, &call.facts(context))
}

/// Checks one source over some facts; tells whether it compiled.
///
/// # Panics
///
/// Where the evaluators differ.
pub fn agree(source: &str, context: Context, facts: &Facts<'_>) -> bool {
    let rulings = agree_on_rulings(source, context, facts);
    let results = agree_on_results(source, context, facts);
    rulings || results
}

fn agree_on_rulings(source: &str, context: Context, facts: &Facts<'_>) -> bool {
    let compile = |evaluator| Predicate::compile_for(source, context, evaluator);
    let (direct, cel) = match (compile(Evaluator::Fastest), compile(Evaluator::Cel)) {
        (Ok(direct), Ok(cel)) => (direct, cel),
        (direct, cel) => {
            assert_eq!(direct.err(), cel.err(), "{source}");
            return false;
        }
    };
    let (direct, cel) = (direct.evaluate(facts), cel.evaluate(facts));
    match (&direct.ruling, &cel.ruling) {
        (Ruling::Failed(one), Ruling::Failed(two)) => {
            assert_eq!(kind(one), kind(two), "{source}\n{one}\n{two}");
        }
        _ => assert_eq!(direct, cel, "{source}"),
    }
    true
}

fn agree_on_results(source: &str, context: Context, facts: &Facts<'_>) -> bool {
    let compile = |evaluator| Expression::compile_for(source, context, evaluator);
    let (Ok(direct), Ok(cel)) = (compile(Evaluator::Fastest), compile(Evaluator::Cel)) else {
        return false;
    };
    match (direct.evaluate(facts), cel.evaluate(facts)) {
        (Err(one), Err(two)) => assert_eq!(kind(&one), kind(&two), "{source}\n{one}\n{two}"),
        // As texts, so that a number that is none is equal to itself.
        (one, two) => assert_eq!(format!("{one:?}"), format!("{two:?}"), "{source}"),
    }
    true
}

const fn kind(failure: &Failure) -> &'static str {
    match failure {
        Failure::Error { .. } => "error",
        Failure::OverBudget { .. } => "over budget",
        Failure::TooLarge { .. } => "too large",
        Failure::NotBoolean { .. } => "not boolean",
        _ => "a fault of ours",
    }
}

/// A call that returned.
#[derive(Debug)]
struct Call {
    tool: &'static str,
    resource: &'static str,
    status: &'static str,
    content: String,
    args: Object,
    body: Object,
    parents: Vec<RecordId>,
    system: SystemFacts<'static>,
}

impl Call {
    /// Returns the call that the choices make.
    fn chosen(choices: &mut Choices<'_>) -> Self {
        let tool = choices.of(&["bash", "Bash", "read", "mcp__acme__find", ""]);
        let status = choices.of(&["ok", "error"]);
        let content = choices
            .of(&["", "make: *** no rule", "error: ABC", "caf\u{e9} \u{1f511}x", "abcabc12"])
            .repeat(choices.of(&[1, 1, 3, 200, 6_000]));
        let args = args(choices);
        let mut body = args.clone();
        body.insert("tool".into(), tool.into());
        body.insert("args".into(), args.clone().into());
        if choices.below(2) == 0 {
            body.insert("status".into(), status.into());
        }
        Self {
            tool,
            resource: choices.of(&["tool:bash", "record_write"]),
            status,
            content,
            args,
            body,
            parents: vec![RecordId::from_bytes([171; 32]); choices.below(3)],
            system: SystemFacts { daemon_version: "1", ..SystemFacts::default() },
        }
    }

    fn facts(&self, context: Context) -> Facts<'_> {
        let body = match context {
            Context::Hook => BodyFacts::Call {
                tool: self.tool,
                args: &self.args,
                status: self.status,
                content: &self.content,
            },
            Context::Permission => BodyFacts::Any(&self.body),
        };
        let facts = facts(&self.parents, body);
        let record = RecordFacts { act: "CALL", ..facts.record };
        Facts { record, resource: self.resource, system: &self.system, ..facts }
    }
}

fn args(choices: &mut Choices<'_>) -> Object {
    let mut args = object! {
        "command": "make all",
        "text": "abc".repeat(choices.of(&[1, 30, 3_000])),
        "n": choices.of(&[0_i64, 7, -3, i64::MAX]),
        "big": u64::MAX,
        "half": Value::from_float(choices.of(&[0.5, -0.5, 1e300])),
        "flag": choices.below(2) == 0,
        "none": Value::Null,
        "list": (0..choices.of(&[0_i64, 3, 100, 1_000])).collect::<Vec<_>>(),
        "words": vec!["a", "b", "\u{e9}", "bash"],
        "map": object! { "a": 1_i64, "b": object! { "c": "deep" } },
    };
    if choices.below(2) == 0 {
        args.insert("path".into(), choices.of(&["/etc/passwd", "src/lib.rs"]).into());
    }
    if let Ok(huge) = parse(b"340282366920938463463374607431768211455", Limits::DOOR) {
        args.insert("huge".into(), huge);
    }
    args
}
