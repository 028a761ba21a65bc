//! Bodies of records: whatever JSON one is, predicates give an answer, and the evaluators the same.

use spl::canon::{Limits, Value, parse};
use spl::predicate::{BodyFacts, Context, Facts};

use super::evaluators::agree;
use super::facts::facts;

/// What looks everywhere.
const SOURCES: &[&str] = &[
    "record.body == record.body",
    "record.body.a < record.body.b || record.body.b <= record.body.a",
    "record.body.all(name, record.body[name] == record.body[name])",
    "record.body.map(name, size(string(record.body[name])))",
    "record.body.exists(name, record.body[name].contains(name))",
    "record.body.filter(name, has(record.body.a) && record.body[name] in record.body.a)",
    "record.body.map(name, [name, type(record.body[name]), record.body[name]])",
    "record.body.a + record.body.b",
    "{'a': record.body, 'b': record.body.a}.b[0]",
    "record.body.tool == 'bash' && record.body.args.path.startsWith('/etc')",
];

/// Checks the bytes as the body of a record; tells whether they are one.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(Value::Object(body)) = parse(bytes, Limits::DOOR) else { return false };
    for source in SOURCES {
        let facts = Facts { resource: "record_write", ..facts(&[], BodyFacts::Any(&body)) };
        assert!(agree(source, Context::Permission, &facts), "{source}");
    }
    true
}
