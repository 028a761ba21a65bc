//! The simple tests of the CEL specification, through the public interface.
//!
//! `tests/conformance/run` fetches them. Here they are read, evaluated and compared; what comes out
//! is the page `docs/conformance.md`.

use std::process::ExitCode;
use std::{env, fs};

use serde_json::Value as Json;
use spl::predicate::{Environment, Evaluator, Expression, Value};

use case::{Case, Expected};
use report::Report;
use scope::Scope;

mod case;
mod read;
mod report;
mod scope;

/// As many cases pass, of as many that are evaluated.
const PASS: usize = 1_081;

fn main() -> ExitCode {
    let Some(path) = env::args().nth(1) else {
        eprintln!("usage: conformance CASES.json");
        return ExitCode::FAILURE;
    };
    match run(&path) {
        Ok(report) => {
            print!("{report}");
            if report.passed() >= PASS {
                return ExitCode::SUCCESS;
            }
            eprintln!("{} pass, and {PASS} did", report.passed());
        }
        Err(error) => eprintln!("{path}: {error}"),
    }
    ExitCode::FAILURE
}

fn run(path: &str) -> Result<Report, String> {
    let text = fs::read_to_string(path).map_err(|error| error.to_string())?;
    let cases: Vec<Json> = serde_json::from_str(&text).map_err(|error| error.to_string())?;
    let mut report = Report::default();
    for raw in &cases {
        let title = read::title(raw)?;
        match Scope::of(raw, &title)? {
            Scope::Core => {
                let case = Case::read(raw).map_err(|error| format!("{title}: {error}"))?;
                report.evaluated(title, judge(&case));
            }
            Scope::Outside(reason) => report.left_out(title, reason),
        }
    }
    Ok(report)
}

/// Says how the answer of any evaluator differs from what is expected.
fn judge(case: &Case) -> Result<(), String> {
    for (evaluator, answer) in answers(case) {
        let right = match (&case.expected, &answer) {
            (Expected::Value(wanted), Ok(given)) => read::same(wanted, given),
            (Expected::Error, Err(_)) => true,
            (Expected::Value(_), Err(_)) | (Expected::Error, Ok(_)) => false,
        };
        if !right {
            let given = answer.map_or_else(|error| error, |value| format!("{value:?}"));
            return Err(format!("{evaluator}: {given}"));
        }
    }
    Ok(())
}

/// Evaluates a case on either evaluator. An error is one whether it comes when the expression is
/// compiled or when it is evaluated.
fn answers(case: &Case) -> Vec<(&'static str, Result<Value, String>)> {
    let answer = |evaluator| {
        Expression::declared_for(&case.source, environment(case), evaluator)
            .map_err(|error| error.to_string())?
            .evaluate(&case.bindings)
            .map_err(|failure| failure.to_string())
    };
    vec![("fastest", answer(Evaluator::Fastest)), ("cel", answer(Evaluator::Cel))]
}

fn environment(case: &Case) -> Environment {
    let environment = Environment::new().within(&case.container);
    let environment = if case.unchecked { environment.unchecked() } else { environment };
    case.variables.iter().fold(environment, |declared, (name, ty)| declared.declare(name, *ty))
}
