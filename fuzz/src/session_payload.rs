//! The payloads of sessions: bytes are an event or say why not, and all that comes of it is bounded.

use spl::canon::{Limits, Value, parse};
use spl::session::{Envelope, Event, Harness, Moment, Payload, answer};

/// Checks the bytes as a payload by themselves, in an envelope, and as an envelope.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    if let Err(error) = Envelope::read(bytes) {
        one_line(&error.reason);
    }
    let payload = match (Payload::read(bytes), Envelope::read(&envelope(bytes))) {
        (Ok(payload), Ok(envelope)) => {
            assert_eq!(payload, envelope.payload);
            assert_eq!(payload.digest(), envelope.payload.digest());
            payload
        }
        (Err(error), Err(_)) => {
            one_line(&error.reason);
            return false;
        }
        (alone, sent) => panic!("alone {alone:?}, sent {sent:?}"),
    };
    for harness in Harness::ALL {
        if let Ok(event) = Event::read(&payload, Some(harness)) {
            bounded(&event);
        }
    }
    match Event::read(&payload, None) {
        Ok(event) => event.harness == Harness::detect(&payload),
        Err(error) => {
            one_line(&error.reason);
            false
        }
    }
}

fn envelope(payload: &[u8]) -> Vec<u8> {
    Envelope::write(Some(Harness::Qwen), None, "1", None, payload)
}

fn one_line(reason: &str) {
    assert!(!reason.is_empty() && !reason.chars().any(char::is_control), "{reason:?}");
}

fn bounded(event: &Event) {
    for id in [&event.session_id, &event.name] {
        assert!((1..=256).contains(&id.chars().count()), "{id}");
    }
    let rest = Value::from(event.rest.clone());
    assert!(rest.nests_within(8) && event.rest.len() <= 64);
    assert!(event.rest.is_empty() || event.moment == Moment::Other);
    if let Moment::Returned(call) = &event.moment {
        for id in [&call.tool, &call.canonical, &call.call_id] {
            assert!((1..=256).contains(&id.chars().count()), "{id}");
        }
        assert!(call.content.chars().count() <= 4096);
    }
    let answer = answer(event, "a: b");
    assert!(parse(answer.as_bytes(), Limits::DOOR).is_ok() && !answer.contains('\n'));
}
