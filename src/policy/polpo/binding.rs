//! Input of a handler that is bound to what it is asked about (contract-polpo §8.3).

use super::{Cause, Failure};
use crate::canon::{Object, Value};

/// The most characters of a path.
pub(super) const CHARS: usize = 512;

/// The most segments of a path.
pub(super) const SEGMENTS: usize = 64;

/// Where a path may begin.
pub(super) const ROOTS: [&str; 2] = ["hook", "run"];

/// Segments that name no member.
pub(super) const FORBIDDEN: [&str; 3] = ["__proto__", "prototype", "constructor"];

/// Returns `input` with every `{"$context": "a.dotted.path"}` in it replaced by what is there in
/// `envelope`: a member of `hook` or of `run`.
///
/// A path that leads nowhere is a failure: a validator that is asked about nothing would accept it.
pub fn bind(input: &Object, envelope: &Object) -> Result<Object, Failure> {
    let bound = |(key, value): (&String, &Value)| Ok((key.clone(), bind_value(value, envelope)?));
    input.iter().map(bound).collect()
}

fn bind_value(value: &Value, envelope: &Object) -> Result<Value, Failure> {
    match value {
        Value::Object(members) => match members.get("$context") {
            Some(Value::String(path)) if members.len() == 1 => at(path, envelope).cloned(),
            _ => bind(members, envelope).map(Value::Object),
        },
        Value::Array(elements) => elements
            .iter()
            .map(|element| bind_value(element, envelope))
            .collect::<Result<_, _>>()
            .map(Value::Array),
        _ => Ok(value.clone()),
    }
}

fn at<'e>(path: &str, envelope: &'e Object) -> Result<&'e Value, Failure> {
    let nowhere = || Failure::new(Cause::Binding, &format!("nothing is at `{path}`"));
    let segments: Vec<&str> = path.split('.').collect();
    let is_path = path.chars().count() <= CHARS
        && segments.len() <= SEGMENTS
        && !segments.iter().any(|segment| FORBIDDEN.contains(segment));
    let (first, rest) = segments.split_first().filter(|_| is_path).ok_or_else(nowhere)?;
    let root = Some(*first).filter(|root| ROOTS.contains(root));
    let value = root.and_then(|root| envelope.get(root)).ok_or_else(nowhere)?;
    rest.iter().try_fold(value, |value, segment| member(value, segment)).ok_or_else(nowhere)
}

fn member<'v>(value: &'v Value, segment: &str) -> Option<&'v Value> {
    match value {
        Value::Object(members) => members.get(segment),
        Value::Array(elements) => elements.get(segment.parse::<usize>().ok()?),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object;

    fn envelope() -> Object {
        object! {
            "hook": object! {
                "idempotencyKey": "hk1_x",
                "data": object! { "candidate": object! { "text": "done" }, "list": vec![1, 2] },
            },
            "run": object! { "agent": "coder", "loop": Value::Null },
            "version": 1,
        }
    }

    fn bound(path: &str) -> Result<Value, Cause> {
        let input = object! { "a": vec![object! { "$context": path }] };
        match bind(&input, &envelope()) {
            Ok(bound) => {
                Ok(bound.get("a").and_then(|a| a.as_array()?.first().cloned()).expect("one"))
            }
            Err(failure) => Err(failure.cause),
        }
    }

    #[test]
    fn a_path_is_replaced_by_what_is_there() {
        assert_eq!(bound("hook.data.candidate.text"), Ok(Value::from("done")));
        assert_eq!(bound("hook.data.candidate"), Ok(Value::from(object! { "text": "done" })));
        assert_eq!(bound("hook.data.list.1"), Ok(Value::from(2)));
        assert_eq!(bound("hook.idempotencyKey"), Ok(Value::from("hk1_x")));
        assert_eq!(bound("run.loop"), Ok(Value::Null));
        assert_eq!(bound("run"), Ok(envelope().remove("run").expect("a run")));
    }

    #[test]
    fn a_path_that_leads_nowhere_fails() {
        let long = format!("hook{}", ".data".repeat(64));
        for path in [
            "",
            "hook.",
            "hook..data",
            "version",
            "hook.data.other",
            "hook.data.list.2",
            "hook.data.list.x",
            "run.agent.x",
            "hook.constructor",
            "hook.__proto__",
            &long,
        ] {
            assert_eq!(bound(path), Err(Cause::Binding), "{path}");
        }
    }

    #[test]
    fn what_is_no_binding_stays() {
        let input = object! {
            "both": object! { "$context": "run.agent", "more": 1 },
            "number": object! { "$context": 5 },
            "deep": object! { "a": object! { "$context": "run.agent" } },
        };
        let mut want = input.clone();
        want.insert("deep".to_owned(), Value::from(object! { "a": "coder" }));
        assert_eq!(bind(&input, &envelope()), Ok(want));
    }
}
