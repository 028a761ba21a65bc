//! Envelopes: a record that was sealed reads back as itself.

use spl::canon::{Limits, Value, parse};
use spl::record::{Draft, HashLevels, MAX_CANONICAL_BYTES, Reason, Record};

/// Checks that a record's bytes hold all of it, and that they and its id are a function of it.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(envelope) = parse(bytes, Limits::DOOR) else { return false };
    let draft = match Draft::from_envelope(envelope) {
        Ok(draft) => draft,
        Err(error) => {
            // An unknown field may have any name, the empty one too.
            let named = !error.field.is_empty() || error.reason == Reason::UnknownField;
            assert!(named && !error.message.is_empty(), "{error:?}");
            return false;
        }
    };
    let Ok(record) = Record::seal(draft.clone()) else { return false };
    let text = record.canonical().as_str();
    assert!(text.len() <= MAX_CANONICAL_BYTES);
    let reread = Record::from_canonical(text, record.judged_by.clone()).expect("it reads back");
    assert_eq!(reread, record);
    assert_eq!(Record::seal(reread.draft().clone()).as_ref(), Ok(&record), "sealed again");
    assert_eq!(HashLevels::of(reread.draft()), HashLevels::of(&draft));
    shown(&record);
    true
}

/// What an answer shows of a record is an envelope of the same record.
fn shown(record: &Record) {
    let mut object = record.to_object();
    let id = object.remove("id");
    assert_eq!(id.as_ref().and_then(Value::as_str), Some(record.id().to_string().as_str()));
    assert!(object.remove("object").is_some());
    let draft = Draft::from_envelope(Value::Object(object)).expect("an envelope");
    assert_eq!(Record::seal(draft).map(|again| again.id()), Ok(record.id()));
}
