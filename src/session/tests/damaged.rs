//! Samples with bytes changed, cut off, doubled or put elsewhere: an event or a reason, never less.

use super::*;

/// Numbers that are the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 16).expect("48 bits") % end.max(1)
    }
}

fn damage(bytes: &[u8], numbers: &mut Numbers) -> Vec<u8> {
    const PIECES: [&[u8]; 12] = [
        b"\\ud800",
        b"\xff",
        b"\xe2\x82",
        b"1e999",
        b"\"",
        b"{",
        b"}",
        b"[[[[",
        b",",
        b"\\u00",
        b"null",
        b"\0",
    ];
    let mut bytes = bytes.to_vec();
    for _ in 0..=numbers.below(3) {
        let at = numbers.below(bytes.len());
        match numbers.below(6) {
            0 => bytes.truncate(at),
            1 => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << numbers.below(8);
                }
            }
            2 => {
                bytes.splice(at..at, PIECES[numbers.below(PIECES.len())].iter().copied());
            }
            3 => {
                let end = (at + numbers.below(40)).min(bytes.len());
                bytes.drain(at..end);
            }
            4 => {
                let end = (at + numbers.below(200)).min(bytes.len());
                let twice = bytes[at..end].to_vec();
                bytes.splice(at..at, twice);
            }
            _ => {
                let to = numbers.below(bytes.len());
                if at < bytes.len() {
                    bytes.swap(at, to);
                }
            }
        }
    }
    bytes
}

/// What holds of anything that is read as an event.
fn check(event: &Event) {
    assert!(!event.session_id.is_empty() && event.session_id.chars().count() <= 256);
    assert!(!event.name.is_empty() && event.name.chars().count() <= 256);
    assert!(Value::from(event.rest.clone()).nests_within(8));
    if let Moment::Returned(call) = &event.moment {
        assert!(!call.tool.is_empty() && !call.call_id.is_empty());
        assert!(call.content.chars().count() <= 4096);
    }
    let answer = answer(event, "a: b");
    let value = crate::canon::parse(answer.as_bytes(), crate::canon::Limits::DOOR).expect("JSON");
    assert!(value.as_object().is_some() && !answer.contains('\n'));
}

#[test]
fn a_damaged_sample_is_an_event_or_says_why_not() {
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let (mut events, mut malformed) = (0, 0);
    for harness in Harness::ALL {
        for (name, bytes) in samples(harness) {
            for _ in 0..40 {
                let damaged = damage(&bytes, &mut numbers);
                let read = Payload::read(&damaged).and_then(|it| Event::read(&it, None));
                let sent = Envelope::write(None, None, "1", None, &damaged);
                let received = Envelope::read(&sent).and_then(|it| Event::read(&it.payload, None));
                match (read, received) {
                    (Ok(event), Ok(received)) => {
                        assert_eq!(event, received, "{name}");
                        check(&event);
                        events += 1;
                    }
                    (Err(error), Err(_)) => {
                        let reason = error.to_string();
                        assert!(!reason.is_empty() && !reason.chars().any(char::is_control));
                        malformed += 1;
                    }
                    (read, received) => panic!("{name}: {read:?}, and sent {received:?}"),
                }
            }
        }
    }
    assert!(events > 500 && malformed > 500, "{events} events, {malformed} malformed");
}
