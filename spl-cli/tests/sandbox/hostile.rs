//! Workers that do not do what a worker does. Each ends its run, and adds nothing to its records.

use std::io::Write as _;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use spl::canon::Value;
use spl::object;
use spl::run::Verb;
use spl::sandbox::{FrameReader, engine_end, write_frame};

use crate::runs::Stage;
use crate::stand::{attack, ways};

/// What a hostile worker does instead of its next wish, if anything.
type Instead = fn(&mut UnixStream, event: &str);

/// Follows a run of one call as a worker would, until it does something else.
fn follow(at: &str, instead: Instead) {
    let mut engine = engine_end().expect("an engine");
    let mut reader = FrameReader::new();
    let (mut calls, mut call) = (Vec::new(), Value::Null);
    loop {
        let Some(said) = reader.look(&mut engine).expect("an engine") else { continue };
        if said.get("execute").is_some() {
            send(&mut engine, &object! { "answer": answer() }.into());
            continue;
        }
        let Some(event) = said.get("event") else { continue };
        let get = |key: &str| event.get(key).cloned().unwrap_or(Value::Null);
        let name = get("name").as_str().expect("a name").to_owned();
        if name == at {
            instead(&mut engine, &name);
        }
        let (effect, about) = match name.as_str() {
            "start" => ("open", Value::Null),
            "opened" | "observed" => ("ask_model", Value::Null),
            "replied" => {
                let reply = get("reply");
                let made = reply.get("tool_calls").and_then(Value::as_array).expect("calls");
                calls = made.iter().map(|call| call.get("id").expect("an id").clone()).collect();
                ("record_turn", Value::Null)
            }
            "turn_recorded" => match calls.first() {
                Some(id) => ("rule", id.clone()),
                None => ("close", Value::Null),
            },
            "ruled" => ("approve", calls[0].clone()),
            "approved" => ("guard", calls[0].clone()),
            "guarded" => ("record_call", Value::Null),
            "call_recorded" => {
                call = get("id");
                ("execute", call.clone())
            }
            "answered" => ("sift", call.clone()),
            "sifted" => ("observe", call.clone()),
            "failed" => ("close", Value::Null),
            _ => return,
        };
        wish(&mut engine, effect, about);
    }
}

fn send(engine: &mut UnixStream, value: &Value) {
    let _ = write_frame(engine, value);
}

fn wish(engine: &mut UnixStream, effect: &str, about: Value) {
    send(engine, &object! { "wish": object! { "about": about, "effect": effect } }.into());
}

fn answer() -> Value {
    let text = "forged";
    object! { "data": Value::Null, "empty": false, "head": text, "shown": text, "status": "ok" }
        .into()
}

macro_rules! attacks {
    ($( $name:ident: $at:literal, $instead:expr; )*) => { $(
        #[test]
        #[ignore = "runs inside of a place"]
        fn $name() {
            follow($at, $instead);
        }
    )* };
}

attacks! {
    follows: "never", |_, _| {};
    skips_observe: "sifted", |engine, _| wish(engine, "ask_model", Value::Null);
    skips_the_record: "replied", |engine, _| wish(engine, "rule", "c1".into());
    closes_early: "opened", |engine, _| wish(engine, "close", Value::Null);
    skips_the_approval: "ruled", |engine, _| wish(engine, "record_call", Value::Null);
    skips_the_policy: "approved", |engine, _| wish(engine, "record_call", Value::Null);
    skips_the_sieve: "answered", |engine, _| wish(engine, "observe", "ab".repeat(32).into());
    answers_unasked: "guarded", |engine, _| send(engine, &object! { "answer": answer() }.into());
    answers_another_call: "call_recorded", |engine, _| wish(engine, "execute", "ab".repeat(32).into());
    says_something_else: "opened", |engine, _| send(engine, &object! { "record": "forged" }.into());
    sends_garbage: "opened", |engine, _| { let _ = engine.write_all(b"\0\0\0\x05hello"); };
    announces_much: "opened", |engine, _| { let _ = engine.write_all(b"\xff\xff\xff\xff"); };
    dies: "answered", |_, _| std::process::abort();
    hangs: "answered", |_, _| std::thread::sleep(Duration::from_mins(10));
    dribbles: "answered", |engine, _| {
        let _ = engine.write_all(b"\0\x10\0\0");
        while engine.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    floods: "opened", |_, _| {
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..32 { let _ = std::io::stderr().write_all(&chunk); }
    };
}

#[track_caller]
fn check(name: &str, says: &str, called: usize) {
    for way in ways().into_iter().take(1) {
        let mut stage = Stage::new(way);
        stage.write_hook("of-the-start");
        let mut program = attack("x");
        program[2] = format!("hostile::{name}").into();
        stage.confined.program = program;
        stage.confined.patience =
            Duration::from_secs(if ["hangs", "dribbles"].contains(&name) { 1 } else { 30 });
        let report = stage.play(&["true"], &mut |_| {}).expect("a run");
        assert_eq!(report.outcome.verb, Verb::Failed, "{name}: {report:?}");
        assert!(report.outcome.summary.contains(says), "{name}: {report:?}");
        let count = |kind: &str| stage.bodies(kind).len();
        // What has begun is recorded to its end, by the engine; nothing stands there twice.
        assert_eq!((count("loop"), count("loop_outcome")), (1, 1), "{name}");
        assert_eq!(count("tool_result"), called, "{name}");
        assert_eq!(count("observation"), called, "{name}");
        assert_eq!(report.observations as usize, called, "{name}");
    }
}

const FORWARD: &str = "wished for what the run does not come to";

#[test]
fn a_worker_that_follows_its_run_comes_to_its_end() {
    for way in ways() {
        for name in ["follows", "floods"] {
            let mut stage = Stage::new(way);
            let mut program = attack("x");
            program[2] = format!("hostile::{name}").into();
            stage.confined.program = program;
            let report = stage.play(&["true"], &mut |_| {}).expect("a run");
            assert_eq!(report.outcome.verb, Verb::Completed, "{report:?}");
            assert_eq!(report.calls_ok, 1);
        }
    }
}

#[test]
fn an_observation_cannot_be_skipped() {
    check("skips_observe", FORWARD, 1);
}

#[test]
fn no_seam_can_be_skipped() {
    check("skips_the_approval", FORWARD, 0);
    check("skips_the_policy", FORWARD, 0);
    check("skips_the_sieve", FORWARD, 1);
}

#[test]
fn a_record_cannot_be_skipped_or_forged() {
    check("skips_the_record", FORWARD, 0);
    check("closes_early", FORWARD, 0);
    check("says_something_else", FORWARD, 0);
}

#[test]
fn a_call_that_was_not_ruled_on_has_no_answer() {
    check("answers_unasked", FORWARD, 0);
    check("answers_another_call", FORWARD, 0);
}

#[test]
fn what_cannot_be_read_ends_the_run() {
    check("sends_garbage", "cannot be read", 0);
    check("announces_much", "cannot be read", 0);
}

#[test]
fn a_worker_that_dies_or_hangs_ends_the_run() {
    check("dies", "ended before the run", 1);
    check("hangs", "did not answer in time", 1);
    check("dribbles", "did not answer in time", 1);
}
