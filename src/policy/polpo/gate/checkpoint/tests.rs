//! Whatever is not exactly a checkpoint is none.

use super::*;
use crate::canon::{Canonical, Object, Value, hex};
use crate::object;
use crate::policy::polpo::gate::{GateCause, GateCode};
use crate::policy::polpo::{Event, GateLimits, Identity, Occurrence};

fn hook() -> HookName {
    HookName { pack: "quality".to_owned(), hook: "tests-pass".to_owned() }
}

fn key(attempt: u64) -> IdempotencyKey {
    Identity {
        invocation: "run_1",
        step_invocation: None,
        agent: "coder",
        hook: &hook(),
        event: Event::TurnStop,
        occurrence: Occurrence::Gate(attempt),
    }
    .key()
}

fn checkpoint() -> Checkpoint {
    Checkpoint {
        subject: Subject {
            invocation: "run_1".to_owned(),
            step_invocation: None,
            agent: "coder".to_owned(),
        },
        packs: BTreeMap::from([("quality".to_owned(), "ab".repeat(32))]),
        gates: vec![hook()],
        started_at: Timestamp::from_millis(1_796_045_823_007),
        elapsed_ms: 17,
        limits: Limits {
            gate: GateLimits { max_cycles: 3, max_duration_ms: 900_000, max_tokens: 200_000 },
            max_turns: 20,
        },
        used: Used { cycles: 1, turns: 2, tokens: 300, attempts: 2, recoveries: 1 },
        history: vec![RecordId::from_bytes([7; 32])],
        history_bytes: 100,
        phase: Phase::Validating,
        in_flight: None,
        validation: Some(Validation {
            attempt: 2,
            cycle: 1,
            candidate: Candidate::Text("done".to_owned()),
            results: Vec::new(),
        }),
        result: None,
        failure: None,
    }
}

fn cause(object: Object) -> GateCause {
    let failure = Checkpoint::of_object(object).expect_err("no checkpoint");
    assert_eq!(failure.code, GateCode::CheckpointInvalid);
    failure.cause.expect("a cause")
}

/// Puts the right checksum over members that were changed.
fn sealed(mut members: Object) -> Object {
    members.remove("checksum");
    let checksum = hex(&Canonical::of_object(&members).sha256());
    members.insert("checksum".to_owned(), Value::from(checksum));
    members
}

#[test]
fn what_was_written_is_read_back() {
    let judged = |verdict, word| Judged { key: key(2), word, verdict };
    let failure = GateFailure::because(GateCode::Rejected, GateCause::Timeout);
    let operational = Checkpoint {
        phase: Phase::Operational,
        used: Used { attempts: 1, ..checkpoint().used },
        validation: None,
        in_flight: Some(Flight {
            kind: FlightKind::Tool,
            id: "call_1".to_owned(),
            name: Some("bash".to_owned()),
            started_at: Timestamp::from_millis(-5),
        }),
        ..checkpoint()
    };
    let mut all = vec![checkpoint(), operational];
    for (verdict, word) in [
        (Verdict::Accept, Some(Word::Allow)),
        (Verdict::Repair(Value::from(vec![1])), Some(Word::Continue)),
        (Verdict::Repair(Value::from("x")), Some(Word::Stop)),
        (Verdict::Refuse(failure), None),
        (Verdict::Refuse(GateFailure::of(GateCode::TimeExhausted)), None),
    ] {
        let mut one = checkpoint();
        one.validation.as_mut().expect("one").results.push(judged(verdict, word));
        all.push(one);
    }
    all.push(Checkpoint {
        phase: Phase::Accepted,
        result: Some(Candidate::Json { value: Value::Null, text: "null".to_owned() }),
        ..checkpoint()
    });
    all.push(Checkpoint { phase: Phase::Failed, failure: Some(failure), ..checkpoint() });
    for one in all {
        let stored = one.to_object().expect("it is small");
        assert_eq!(Checkpoint::of_object(stored.clone()), Ok(one.clone()));
        assert_eq!(Checkpoint::parse(Value::from(stored).to_string().as_bytes()), Ok(one));
    }
}

#[test]
fn what_was_changed_is_seen() {
    let stored = checkpoint().to_object().expect("it is small");
    for key in stored.keys().filter(|key| *key != "checksum") {
        let mut changed = stored.clone();
        changed.insert(key.clone(), Value::from("x"));
        assert_eq!(cause(changed), GateCause::Checksum, "{key}");
        let mut shorter = stored.clone();
        shorter.remove(key);
        assert_eq!(cause(shorter.clone()), GateCause::Checksum, "{key}");
        let expected = if key == "version" { GateCause::Version } else { GateCause::Unreadable };
        assert_eq!(cause(sealed(shorter)), expected, "{key}");
    }
    for garbled in [&b""[..], b"{", b"[]", b"null", b"{}", b"\xff"] {
        let failure = Checkpoint::parse(garbled).expect_err("no checkpoint");
        assert_eq!(failure.cause, Some(GateCause::Unreadable));
    }
}

#[test]
fn no_bit_of_a_text_goes_over_unseen() {
    let stored = checkpoint().to_object().expect("it is small");
    let text = Value::from(stored).to_string().into_bytes();
    for at in 0..text.len() {
        let mut flipped = text.clone();
        flipped[at] ^= 1;
        assert!(Checkpoint::parse(&flipped).is_err(), "byte {at}");
        assert!(Checkpoint::parse(&text[..at]).is_err(), "cut at {at}");
    }
}

#[test]
fn what_does_not_go_together_is_refused_whoever_sealed_it() {
    let with = |change: &dyn Fn(&mut Checkpoint)| {
        let mut one = checkpoint();
        change(&mut one);
        cause(one.to_object().expect("it is small"))
    };
    let damages: [&dyn Fn(&mut Checkpoint); 9] = [
        &|one| one.used.attempts = 1,
        &|one| one.used.cycles = 0,
        &|one| one.used.recoveries = 2,
        &|one| one.validation = None,
        &|one| one.phase = Phase::Operational,
        &|one| one.phase = Phase::Accepted,
        &|one| one.phase = Phase::Failed,
        &|one| one.result = Some(Candidate::Text("x".to_owned())),
        &|one| one.gates.clear(),
    ];
    for (at, change) in damages.into_iter().enumerate() {
        assert_eq!(with(change), GateCause::Inconsistent, "damage {at}");
    }
    let stored = checkpoint().to_object().expect("it is small");
    for (key, value) in [
        ("elapsedMs", Value::from(-1)),
        ("historyBytes", Value::from(1.5_f64.to_string())),
        ("extra", Value::Null),
        ("phase", Value::from("done")),
        ("used", Value::from(object! { "cycles": -1 })),
        ("history", Value::from(vec!["x"])),
        ("inFlight", Value::from(object! { "kind": "disk" })),
        ("errorCause", Value::from("model")),
    ] {
        let mut changed = stored.clone();
        changed.insert(key.to_owned(), value);
        assert_eq!(cause(sealed(changed)), GateCause::Unreadable, "{key}");
    }
    let mut later = stored;
    later.insert("version".to_owned(), Value::from(2));
    assert_eq!(cause(sealed(later)), GateCause::Version);
}

#[test]
fn records_that_are_referred_to_count_to_the_byte() {
    let mut one = checkpoint();
    let own = Canonical::of_object(&one.to_object().expect("it is small")).as_bytes().len() as u64;
    // The number of bytes is itself part of what is counted: it is 3 digits and will be 7.
    one.history_bytes = CHECKPOINT_BYTES - own - 4;
    let stored = one.to_object().expect("just as large as it may be");
    let len = Canonical::of_object(&stored).as_bytes().len() as u64;
    assert_eq!(len + one.history_bytes, CHECKPOINT_BYTES);
    one.history_bytes += 1;
    assert_eq!(one.to_object(), Err(TooLarge { bytes: CHECKPOINT_BYTES + 1 }));
}
