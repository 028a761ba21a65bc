//! Runs that ask somebody, and runs whose model fails: both are taken up again.

use spl::cancel::Cancel;
use spl::engine::{Caller, DecisionAnswer, DecisionRequest, DecisionVerb, Engine};
use spl::record::RecordId;
use spl::run::{Decider, Decision, RunError, Verb, drive, replay};

use crate::lab::{Hand, Lab, bash, bodies, said, spec, turns};

const ASKS: &str = r#"{"name":"request_decision","args":{"question":"May I delete the branch?",
    "options":["yes","no"],"context":"it is merged"}}"#;

const PROPOSES: &str = r#"{"name":"request_decision","args":{"question":"Shall this be a lesson?",
    "lesson":{"name":"merged","when":"record.body.status == \"error\"","text":"is it merged?"}}}"#;

fn answer(engine: &Engine, request: RecordId, answer: &DecisionAnswer) {
    let vera = spl::record::ActorId::parse("did:sync:user:vera").expect("an actor");
    engine.decide(&Caller::operator(), &vera, request, answer).expect("decided");
}

#[test]
fn a_run_that_asks_parks_and_goes_on_with_the_answer() {
    let lab = Lab::new();
    let script = turns(&[ASKS.to_owned(), bash("echo deleted > done")]);
    let parked = lab.play(&script);
    assert_eq!(parked.report.outcome.verb, Verb::AwaitingActor);
    let request = parked.report.awaits.expect("a question");
    let outcome = bodies(&parked, "core.work.loop_outcome.v1")[0];
    assert_eq!(outcome["awaits"].as_str(), Some(request.to_string().as_str()));
    assert_eq!(outcome["success"].as_bool(), Some(false));

    let records = parked.records.len();
    let early = lab.resume(&script, &spec().thread).err().expect("nobody has decided");
    assert!(matches!(early, RunError::Undecided { .. }), "{early}");
    assert_eq!(lab.records(&spec().thread).len(), records, "nothing was written");

    let reason = Some("it is merged".to_owned());
    answer(
        &lab.engine,
        request,
        &DecisionAnswer { reason, ..DecisionAnswer::new(DecisionVerb::Approved) },
    );
    let resumed = lab.resume(&script, &spec().thread).expect("a run");
    assert_eq!(resumed.report.outcome.verb, Verb::Completed);
    assert_eq!(resumed.report.awaits, None);
    assert!(lab.workspace().join("done").exists());
    let told = bodies(&resumed, "core.work.tool_result.v1")[0]["content"].clone();
    assert!(told.as_str().expect("text").contains("approved"), "{told}");
    let replayed = replay(&resumed.records, &|_| None).expect("replayed");
    assert_eq!((replayed.life, replayed.state.spent().turns), (1, 3));
    assert_eq!(replayed.state.outcome(), Some(&resumed.report.outcome));
}

/// Somebody at the terminal.
struct AtOnce<'a>(&'a Engine);

impl Decider for AtOnce<'_> {
    fn decide(&mut self, request: RecordId, asked: &DecisionRequest) -> Decision {
        assert_eq!(asked.question, "May I delete the branch?");
        answer(self.0, request, &DecisionAnswer::new(DecisionVerb::Rejected));
        Decision::Made
    }
}

#[test]
fn whoever_is_there_is_asked_at_once() {
    let lab = Lab::new();
    let mut decider = AtOnce(&lab.engine);
    let cancel = Cancel::new();
    let hand = Hand { cancel: &cancel, watch: &mut |_| {}, decider: &mut decider };
    let script = turns(&[ASKS.to_owned()]);
    let played =
        lab.played(&script, &spec().thread, hand, |hands| drive(spec(), hands)).expect("a run");
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    assert_eq!(said(&played.told[1])[2], "request_decision failed false");
    let told = bodies(&played, "core.work.tool_result.v1")[0]["content"].clone();
    assert!(told.as_str().expect("text").contains("rejected"), "{told}");
    assert!(replay(&played.records, &|_| None).is_ok());
}

#[test]
fn a_lesson_that_is_proposed_is_in_force_once_the_operator_says_so() {
    let lab = Lab::new();
    let script = turns(&[PROPOSES.to_owned(), bash("false")]);
    let parked = lab.play(&script);
    assert_eq!(lab.engine.live().expect("live").hooks.len(), 0, "an actor writes no hooks");
    let request = parked.report.awaits.expect("a question");
    let policy =
        DecisionAnswer { becomes_policy: true, ..DecisionAnswer::new(DecisionVerb::Approved) };
    answer(&lab.engine, request, &policy);
    let resumed = lab.resume(&script, &spec().thread).expect("a run");
    let spoken = bodies(&resumed, "core.work.observation.v1");
    assert_eq!(spoken.len(), 1);
    assert_eq!(spoken[0]["text"].as_str(), Some("is it merged?"));
}

#[test]
fn a_lesson_that_is_none_comes_back_in_words() {
    let lab = Lab::new();
    let bad = PROPOSES.replace("record.body.status ==", "record.body.status +");
    let played = lab.play(&turns(&[bad]));
    assert_eq!(bodies(&played, "core.work.decision_request.v1").len(), 0);
    let result = bodies(&played, "core.work.tool_result.v1")[0];
    assert_eq!(result["status"].as_str(), Some("error"));
    assert!(replay(&played.records, &|_| None).is_ok());
}

#[test]
fn a_run_whose_provider_was_away_is_taken_up_where_it_was() {
    let lab = Lab::new();
    let away = format!(
        r#"{{"turns":[{{"tool_calls":[{}]}},{{"fails":"unavailable"}},{{"text":"done"}}]}}"#,
        bash("echo one >> log")
    );
    let failed = lab.play(&away);
    assert_eq!(failed.report.outcome.verb, Verb::Failed);
    assert!(failed.report.outcome.resumable);
    let back = away.replace(r#"{"fails":"unavailable"},"#, "");
    let resumed = lab.resume(&back, &spec().thread).expect("a run");
    assert_eq!(resumed.report.outcome.verb, Verb::Completed);
    assert_eq!(std::fs::read_to_string(lab.workspace().join("log")).expect("a file"), "one\n");
    let replayed = replay(&resumed.records, &|_| None).expect("replayed");
    assert_eq!(replayed.state.outcome(), Some(&resumed.report.outcome));
}
