//! Which refusals and failures a route can answer with, read off the table of routes.
//!
//! Comes in: a row of the table. Goes out: statuses; and for each status what it means and the codes
//! that have it. What a status is said to have here and never has costs nobody anything; one that is
//! missing is a promise broken, so each rule is about what a route takes and not about what it does.

use super::super::endpoint::{Endpoint, Method, Needs};
use super::super::problem::status_of;
use super::reference;
use crate::canon::{Object, Value};
use crate::code::Code;
use crate::object;

/// Each status that is a refusal or a failure: what the description calls it, and what it means.
const STATUSES: &[(u16, &str, &str)] = &[
    (400, "Invalid", "The request is wrong as written."),
    (401, "Unauthenticated", "Nobody known makes the request."),
    (403, "Refused", "Whoever makes the request may not, or a web page makes it."),
    (404, "Missing", "There is no such thing."),
    (408, "Timeout", "The request or the answer took too long."),
    (409, "Conflict", "What is there already does not allow it."),
    (413, "TooLarge", "The body is larger than what is taken."),
    (415, "MediaType", "The body is not declared as what is taken."),
    (422, "Unprocessable", "The request reads well, and its content violates a rule."),
    (429, "TooMany", "Too many such requests; `retry-after` says for how many seconds."),
    (500, "Failure", "Something failed here."),
    (503, "Unavailable", "Not now, or not on this instance."),
];

/// Returns the statuses that a route can refuse or fail with.
pub(super) fn of(endpoint: &Endpoint) -> Object {
    let open = matches!(endpoint.needs, Needs::Nothing);
    let named = endpoint.path.contains('{');
    let changes = endpoint.method != Method::Get;
    let takes = endpoint.takes.is_some();
    let can = |status: u16| match status {
        401 | 429 => !open,
        404 => named || takes,
        409 | 415 => changes,
        413 => takes,
        422 => named || takes || !endpoint.query.is_empty(),
        _ => true,
    };
    let can_be = STATUSES.iter().filter(|(status, ..)| can(*status));
    can_be
        .map(|(status, name, _)| {
            let reference = object! { "$ref": format!("#/components/responses/{name}") };
            (status.to_string(), reference.into())
        })
        .collect()
}

/// Returns what each status means, by what the description calls it.
pub(super) fn meanings() -> Object {
    STATUSES
        .iter()
        .map(|(status, name, meaning)| ((*name).into(), meant(*status, meaning)))
        .collect()
}

fn meant(status: u16, meaning: &str) -> Value {
    let codes: Vec<&str> = Code::ALL
        .iter()
        .filter(|code| status_of(**code).as_u16() == status)
        .map(|code| code.as_str())
        .collect();
    let schema = object! {
        "allOf": vec![
            reference("Error"),
            object! { "properties": object! { "code": object! { "enum": codes } } },
        ],
    };
    let mut response = object! {
        "description": meaning,
        "content": super::content("application/json", schema),
    };
    let header = match status {
        401 => Some(("www-authenticate", "string")),
        429 => Some(("retry-after", "integer")),
        _ => None,
    };
    if let Some((name, kind)) = header {
        let mut headers = Object::new();
        let schema = object! { "required": true, "schema": object! { "type": kind } };
        headers.insert(name.into(), schema.into());
        response.insert("headers".into(), headers.into());
    }
    response.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_that_is_described() {
        for code in Code::ALL {
            let status = status_of(*code).as_u16();
            // No route answers this: it is about a method that the path does not take.
            let is_known = status == 405 || STATUSES.iter().any(|(known, ..)| *known == status);
            assert!(is_known, "{code}: {status}");
        }
    }
}
