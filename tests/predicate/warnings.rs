//! `fixtures/warning/*.json`: what is warned of, one oddity a file, and what is not.

use std::path::Path;

use spl::canon::{self, Limits, Value};
use spl::hook::CONTENT_CHARS;
use spl::predicate::{Context, Oddity, Predicate};

#[test]
fn every_oddity_is_warned_of_as_its_file_says() {
    let wrong: Vec<String> = Oddity::ALL.iter().flat_map(|oddity| check(*oddity)).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

fn check(oddity: Oddity) -> Vec<String> {
    let file = format!("fixtures/warning/{}.json", oddity.as_str());
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(&file);
    let case = canon::parse(&std::fs::read(path).expect(&file), Limits::DOOR).expect(&file);
    let list = |key: &str| case.get(key).and_then(Value::as_array).expect(key);
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let context = Context::parse(&text(case.get("context").expect("context"))).expect("a context");
    let warned = list("warned").iter().map(|row| {
        let columns = row.get("columns").and_then(Value::as_array).expect("columns");
        let column = |column: &Value| column.as_u64().and_then(|it| usize::try_from(it).ok());
        let wanted = columns.iter().map(|it| (oddity, column(it))).collect();
        (text(row.get("when").expect("when")), wanted)
    });
    let silent = list("silent").iter().map(|row| (text(row), Vec::new()));
    assert!(warned.len() > 1 && silent.len() > 1, "{file}");
    let differs = |(source, wanted): (String, Vec<(Oddity, Option<usize>)>)| {
        let predicate = Predicate::compile(&source, context).expect(&source);
        let got = predicate.warnings().iter().map(|it| (it.oddity, it.column));
        let got: Vec<(Oddity, Option<usize>)> = got.collect();
        (got != wanted).then(|| format!("{file}: {source}\n  wanted {wanted:?}, got {got:?}"))
    };
    warned.chain(silent).filter_map(differs).collect()
}

#[test]
fn the_bound_of_an_answer_is_that_of_hooks() {
    let warned = |source: String| {
        !Predicate::compile(&source, Context::Hook).expect(&source).warnings().is_empty()
    };
    assert!(warned(format!("size(record.body.content) > {CONTENT_CHARS}")));
    assert!(!warned(format!("size(record.body.content) >= {CONTENT_CHARS}")));
}

#[test]
fn a_warning_says_what_to_do_in_one_line() {
    for source in [
        "record.body.tool == 'mcp__notes' && record.body.status == 'failed'",
        "resource == 'bash' || size(record.body.content) > 5000",
    ] {
        let predicate = Predicate::compile(source, Context::Hook).expect(source);
        assert_eq!(predicate.warnings().len(), 2, "{source}");
        for warning in predicate.warnings() {
            assert!(!warning.message.contains('\n') && warning.message.len() < 120);
            assert!(warning.hint.is_some(), "{}", warning.message);
        }
    }
}

/// Somebody trying out an expression does not want it to be a predicate.
#[test]
fn an_expression_need_not_depend_on_anything() {
    let expression = spl::predicate::Expression::compile("1 + 1", Context::Hook).expect("valid");
    assert!(expression.warnings().is_empty());
}
