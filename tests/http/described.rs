//! Every answer that any test gets is one that the description has.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use spl::canon::Value;

/// An operation of the description.
struct Operation {
    method: String,
    path: Vec<String>,
    statuses: BTreeSet<u16>,
}

static OPERATIONS: LazyLock<Vec<Operation>> = LazyLock::new(|| {
    let document = Value::from(spl::http::document());
    let paths = document.get("paths").and_then(Value::as_object).expect("paths");
    let mut operations = Vec::new();
    for (path, methods) in paths {
        for (method, operation) in methods.as_object().expect("methods") {
            let responses = operation.get("responses").and_then(Value::as_object).expect("answers");
            let statuses = responses.keys().map(|status| status.parse().expect("a status"));
            operations.push(Operation {
                method: method.to_uppercase(),
                path: segments(path),
                statuses: statuses.collect(),
            });
        }
    }
    // What is spelt out goes before what is open.
    operations.sort_by_key(|it| it.path.iter().filter(|part| part.starts_with('{')).count());
    operations
});

fn segments(path: &str) -> Vec<String> {
    path.split('/').map(str::to_owned).collect()
}

/// Checks that the description has this answer to a request, if it has the request.
#[track_caller]
pub(crate) fn check(method: &str, target: &str, status: u16) {
    let target = target.split('?').next().unwrap_or_default();
    let path = target
        .strip_prefix("http://")
        .map_or(target, |rest| rest.find('/').map_or("/", |at| &rest[at..]));
    let path = segments(path);
    let is_at = |open: &[String]| {
        let fits = |(open, part): (&String, &String)| {
            open == part || (open.starts_with('{') && !part.is_empty())
        };
        open.len() == path.len() && open.iter().zip(&path).all(fits)
    };
    let found = OPERATIONS.iter().find(|it| it.method == method && is_at(&it.path));
    if let Some(operation) = found {
        assert!(
            operation.statuses.contains(&status),
            "{method} {target} answers {status}, which its description has not"
        );
    }
}
