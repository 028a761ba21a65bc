//! Lines of an import: a line that is taken is a record, whatever else stands beside it.

use spl::canon::Value;
use spl::code::{Code, Coded as _};
use spl::engine::ImportLine;
use spl::object;
use spl::record::Record;

/// Checks that a line says what it is refused for, or is a record that a line of its own reads back.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let line = match ImportLine::parse(bytes) {
        Ok(line) => line,
        Err(error) => {
            assert!(!error.message.is_empty() && error.code() == Code::ImportFailed, "{error:?}");
            return false;
        }
    };
    let record = line.record();
    let sealed = Record::seal(record.draft().clone()).expect("it was sealed before");
    assert_eq!(&sealed, record, "sealed again");
    let mut envelope = record.to_object();
    reads_back(record, &Value::from(envelope.clone()).to_string());
    let id = envelope.remove("id");
    envelope.remove("object");
    let exported = object! { "id": id, "record": envelope, "sequence": 7 };
    reads_back(record, &Value::from(exported).to_string());
    true
}

fn reads_back(record: &Record, line: &str) {
    let again = ImportLine::parse(line.as_bytes()).expect("a line of ours");
    assert_eq!(again.record(), record, "{line}");
}
