//! Runs that end too early, and are taken up again.

use spl::cancel::Cancel;
use spl::canon::Value;
use spl::engine::{Engine, EngineOptions, Home};
use spl::record::{Draft, Origin, ThreadId};
use spl::run::{Moment, RunError, Verb, replay, steer, stop};
use spl::store::Stored;

use crate::lab::{Lab, Played, SHELL_FAILED, bash, bodies, said, spec, teach, turns};

/// Calls that succeed, that fail, that a hook speaks about, that are not there and that are cut.
fn story() -> String {
    format!(
        r#"{{"turns":[
            {{"text":"one","tool_calls":[{},{}]}},
            {{"text":"two","tool_calls":[{{"name":"no_such_tool"}},{}]}},
            {{"text":"three","tool_calls":[{}],"stop":"output_limit"}},
            {{"text":"done","usage":{{"input_tokens":7,"output_tokens":3}}}}
        ]}}"#,
        bash("echo one >> log"),
        bash("echo two >> log; exit 1"),
        bash("echo three >> log"),
        bash("echo never >> log"),
    )
}

fn run_thread() -> ThreadId {
    spec().thread
}

/// Writes the first `count` records of a run into a lab where nothing has happened yet: what a
/// process leaves that is killed after that many. Returns what the run would have said.
fn interrupted(played: &Played, count: usize) -> Lab {
    let lab = Lab::new();
    let drafts: Vec<Draft> =
        played.records.iter().take(count).map(|stored| stored.record.draft().clone()).collect();
    lab.engine
        .author(move |author| {
            for draft in drafts {
                author.write(draft)?;
            }
            Ok(())
        })
        .expect("written");
    lab
}

/// What stands behind commit boundaries: a result and its observations arrive together, and so do
/// a call and its ruling.
fn boundaries(records: &[Stored]) -> Vec<usize> {
    let inside = ["core.work.observation.v1", "core.work.tool_verdict.v1"];
    (1..=records.len())
        .filter(|count| {
            let next = records.get(*count).and_then(|stored| stored.record.kind());
            !next.is_some_and(|kind| inside.contains(&kind))
        })
        .collect()
}

#[test]
fn a_recorded_run_replays_to_the_same_outcome_without_a_model() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let played = lab.play(&story());
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert!(replayed.effect.is_none());
    assert_eq!(replayed.state.outcome().map(|outcome| outcome.verb), Some(Verb::Completed));
    assert_eq!(replayed.state.spent(), &played.report.spent);
    assert_eq!(replayed.state.calls(), (played.report.calls_ok, played.report.calls_failed));
    assert_eq!(replayed.state.observations(), 2, "one of them about a call that was cut");
    assert_eq!(replayed.life, 0);
}

#[test]
fn a_record_that_the_run_would_not_have_stored_is_named() {
    let lab = Lab::new();
    let mut played = lab.play(&turns(&[bash("echo hello")]));
    let result = played
        .records
        .iter_mut()
        .find(|stored| stored.record.kind() == Some("core.work.tool_verdict.v1"))
        .expect("a verdict");
    let mut draft = result.record.draft().clone();
    draft.body.insert("layer".into(), "rule".into());
    result.record = spl::record::Record::seal(draft).expect("a record");
    let error = replay(&played.records, &|_| None).expect_err("it diverges");
    assert!(error.to_string().ends_with("`layer` differs"), "{error}");
}

/// History that is read again is the stored text, which is masked: masking it once more changes
/// nothing.
#[test]
fn a_run_whose_records_are_masked_replays() {
    let lab = Lab::new();
    let secret = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ012345");
    let script = turns(&[
        bash(&format!("echo token={secret}")),
        bash(&format!("export AWS_SECRET_ACCESS_KEY={secret}{secret}; exit 3")),
        bash(&format!("printf 'password: hunter2hunter2\\n{secret}'; exit 4")),
    ])
    .replace("\"done\"", &format!("\"the token is {secret}\""));
    let played = lab.play(&script);
    let stored = |stored: &Stored| Value::from(stored.record.to_object()).to_string();
    assert!(played.records.iter().all(|record| !stored(record).contains(secret)));
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert_eq!(replayed.state.outcome().map(|outcome| outcome.verb), Some(Verb::Completed));
}

/// Killed after any commit, a run goes on where it was: what has completed is not done again, and
/// what may have happened is reported instead.
#[test]
fn a_run_goes_on_from_any_commit() {
    let first = Lab::new();
    teach(&first.engine, 0, SHELL_FAILED);
    let whole = first.play(&story());
    for count in boundaries(&whole.records) {
        let lab = interrupted(&whole, count);
        let recorded = |kind: &str| {
            let of_kind = |stored: &&Stored| stored.record.kind() == Some(kind);
            lab.records(&run_thread()).iter().filter(of_kind).count()
        };
        let begun = recorded("core.work.tool_call.v1") - recorded("core.work.tool_result.v1");
        let finished = recorded("core.work.loop_outcome.v1") == 1;
        let resumed = lab.resume(&story(), &run_thread());
        if finished {
            let refused = resumed.err().expect("a run that is over");
            assert!(matches!(refused, RunError::Finished { .. }), "{refused}");
            continue;
        }
        let resumed = resumed.expect("a run");
        assert_eq!(resumed.report.outcome.verb, Verb::Completed, "after {count}");
        assert_eq!(resumed.report.spent.turns, 4, "after {count}");
        let results = bodies(&resumed, "core.work.tool_result.v1");
        assert_eq!(results.len(), 5, "after {count}");
        let unknown = results
            .iter()
            .filter(|body| body["content"].as_str().is_some_and(|text| text.contains("not known")))
            .count();
        // A call that was refused has no effect that could be unknown.
        let log = std::fs::read_to_string(lab.workspace().join("log")).unwrap_or_default();
        assert!(unknown <= begun, "after {count}");
        for word in ["one", "two", "three"] {
            assert!(log.matches(word).count() <= 1, "after {count}: {log}");
        }
        assert!(!log.contains("never"));
        let read_again = replay(&resumed.records, &|_| None).expect("replayed");
        assert_eq!(read_again.life, 1, "after {count}");
        assert_eq!(read_again.state.outcome(), Some(&resumed.report.outcome), "after {count}");
        assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
    }
}

#[test]
fn a_call_whose_effect_is_not_known_is_reported_and_not_done_again() {
    let whole = Lab::new().play(&turns(&[bash("echo once >> log")]));
    let call = whole
        .records
        .iter()
        .position(|stored| stored.record.kind() == Some("core.work.tool_verdict.v1"))
        .expect("a ruling");
    let lab = interrupted(&whole, call + 1);
    let resumed = lab.resume(&turns(&[bash("echo once >> log")]), &run_thread()).expect("a run");
    assert!(!lab.workspace().join("log").exists());
    let result = bodies(&resumed, "core.work.tool_result.v1")[0];
    assert_eq!(result["status"].as_str(), Some("error"));
    assert!(result["content"].as_str().expect("text").contains("whether it took effect"));
    assert_eq!(said(&resumed.told[0]), ["goal", "assistant 1", "bash failed true"]);
}

/// Caps count within one life (contract §5.3).
#[test]
fn fire_counts_start_again_in_the_next_life() {
    let lab = Lab::new();
    teach(&lab.engine, 0, &format!(r#"{SHELL_FAILED},"max_fires_per_run":1"#));
    let script = turns(&[bash("exit 1"), bash("exit 2"), bash("exit 3")]);
    let cancelled_after_two = |lab: &Lab| {
        let whole = lab.play(&script);
        let results = |stored: &Stored| stored.record.kind() == Some("core.work.tool_result.v1");
        let second = whole.records.iter().enumerate().filter(|(_, stored)| results(stored)).nth(1);
        let count = second.expect("a result").0 + 1;
        (interrupted(&whole, count), whole)
    };
    let (after, whole) = cancelled_after_two(&lab);
    assert_eq!(bodies(&whole, "core.work.observation.v1").len(), 1);
    teach(&after.engine, 0, &format!(r#"{SHELL_FAILED},"max_fires_per_run":1"#));
    let resumed = after.resume(&script, &run_thread()).expect("a run");
    let lives: Vec<Option<i64>> = bodies(&resumed, "core.work.observation.v1")
        .iter()
        .map(|body| body["life"].as_i64())
        .collect();
    assert_eq!(lives, [Some(0), Some(1)]);
}

#[test]
fn what_is_no_run_and_what_is_over_cannot_be_taken_up() {
    let lab = Lab::new();
    let nowhere = ThreadId::parse("th_nowhere").expect("a thread");
    let error = lab.resume("{\"turns\":[]}", &nowhere).err().expect("refused");
    assert_eq!(error.to_string(), "no run stands on this thread");
    let played = lab.play(r#"{"turns":[]}"#);
    let error = lab.resume("{\"turns\":[]}", &played.report.thread).err().expect("refused");
    assert_eq!(error.to_string(), "the run th_run is over: completed");
}

/// The kinds of a run are plain data when they come from a door (decision 14).
#[test]
fn a_run_that_somebody_made_up_is_none() {
    let whole = Lab::new().play(&turns(&[bash("true")]));
    let lab = Lab::new();
    for stored in &whole.records {
        let draft = stored.record.draft().clone();
        let operator = spl::engine::Caller::operator();
        lab.engine.ingest_draft(&operator, draft).expect("stored");
    }
    assert!(lab.records(&run_thread()).iter().all(|stored| stored.origin == Origin::Door));
    let error = lab.resume("{\"turns\":[]}", &run_thread()).err().expect("refused");
    assert_eq!(error.to_string(), "no run stands on this thread");
}

#[test]
fn a_run_has_one_driver_at_a_time() {
    let lab = Lab::new();
    let home = Home::at(lab.dir.path().join("home"));
    let another = Engine::open(&home, EngineOptions::default()).expect("an engine");
    let mut refused = Vec::new();
    let played = lab.play_with(&turns(&[bash("true")]), spec(), &Cancel::new(), &mut |moment| {
        if let Moment::Calling(_) = moment {
            let error = another.lock_driver(&run_thread()).err().expect("driven");
            refused.push(error.to_string());
        }
    });
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    assert_eq!(
        refused,
        [format!("the run th_run is driven by the process {}", std::process::id())]
    );
    assert!(another.lock_driver(&run_thread()).is_ok());
}

#[test]
fn a_message_is_heard_on_the_next_turn_and_replays() {
    let lab = Lab::new();
    let another = lab.another();
    let from = spec().actor;
    let script = turns(&[bash("echo one"), bash("echo two")]);
    let mut calls = 0;
    let played = lab.play_with(&script, spec(), &Cancel::new(), &mut |moment| {
        if let Moment::Calling(_) = moment {
            calls += 1;
            if calls == 2 {
                let namespace = spec().namespace;
                steer(&another, &run_thread(), &namespace, &from, "mind the gap").expect("said");
            }
        }
    });
    assert_eq!(said(&played.told[1]).len(), 3, "not heard yet");
    let heard = &played.told[2].messages;
    assert!(heard.iter().any(
        |message| matches!(message, spl::model::Message::User { text } if text == "mind the gap")
    ));
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert_eq!(replayed.state.heard_messages(), 1);
    assert_eq!(replayed.state.outcome(), Some(&played.report.outcome));
}

#[test]
fn a_run_that_is_asked_to_stop_from_another_process_ends_in_order() {
    let lab = Lab::new();
    let another = lab.another();
    let script = turns(&[bash("sleep 600"), bash("echo two")]);
    let played = lab.play_with(&script, spec(), &Cancel::new(), &mut |moment| {
        if let Moment::Calling(_) = moment {
            let spec = spec();
            stop(&another, &run_thread(), &spec.namespace, &spec.actor).expect("asked");
        }
    });
    assert_eq!(played.report.outcome.verb, Verb::Cancelled);
    assert_eq!(bodies(&played, "core.work.tool_result.v1").len(), 1);
    let outcome = bodies(&played, "core.work.loop_outcome.v1");
    assert_eq!(outcome[0].get("success"), Some(&Value::from(false)));
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert_eq!(replayed.state.outcome().map(|outcome| outcome.verb), Some(Verb::Cancelled));
}
