//! What a run asks of the operator, and what becomes of the answer.

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::code::Coded as _;
use spl::engine::{
    Caller, DecideError, DecisionAnswer, DecisionRequest, DecisionState, DecisionVerb, Engine,
    EngineOptions, Expiry, Home, Hooks, RunSeat, Scopes,
};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, Sequence, ThreadId};
use spl::run::{Decider, Decision, Verb, replay};
use spl::time::{TimeSource, Timestamp};

use crate::lab::{Hand, Lab, SHELL_FAILED, bash, bodies, said, spec, teach, turns};
use crate::support::register;

const START: i64 = 1_796_000_000_000;
const HOUR: i64 = 60 * 60 * 1000;

/// An engine on the lab's home, at a time that stands still.
fn at(lab: &Lab, millis: i64) -> Engine {
    let time = TimeSource::stepped(Timestamp::from_millis(millis), 0);
    let home = Home::at(lab.dir.path().join("home"));
    Engine::open(&home, EngineOptions { time, ..EngineOptions::default() }).expect("an engine")
}

fn vera() -> ActorId {
    ActorId::parse("did:sync:user:vera").expect("an actor")
}

fn seat(namespace: &str) -> RunSeat {
    RunSeat {
        thread: ThreadId::parse("th_asking").expect("a thread"),
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
        domain: "ops".into(),
        namespace: Namespace::parse(namespace).expect("a namespace"),
        hooks: Hooks::Live,
    }
}

fn read(args: &Object) -> DecisionRequest {
    DecisionRequest::read(args).expect("a question")
}

fn lesson() -> Object {
    object! {
        "name": "tests-first",
        "when": "record.body.tool == \"bash\"",
        "text": "Run the tests first.",
        "max_fires_per_run": 1,
    }
}

fn proposal() -> DecisionRequest {
    read(&object! { "question": "Shall this be a lesson?", "lesson": lesson() })
}

fn ask(engine: &Engine, request: &DecisionRequest) -> RecordId {
    register(engine, "acme/ci");
    let call = RecordId::from_bytes([7; 32]);
    engine.request_decision(&seat("acme/ci"), call, request).expect("asked")
}

fn policy(expires: Option<Expiry>) -> DecisionAnswer {
    DecisionAnswer { becomes_policy: true, expires, ..DecisionAnswer::new(DecisionVerb::Approved) }
}

fn decide(
    engine: &Engine,
    request: RecordId,
    answer: &DecisionAnswer,
) -> Result<spl::engine::Decided, DecideError> {
    engine.decide(&Caller::operator(), &vera(), request, answer)
}

fn code(error: &DecideError) -> &'static str {
    error.code().as_str()
}

fn hooks_loaded(engine: &Engine) -> usize {
    engine.live().expect("live").config.hooks_loaded()
}

#[test]
fn a_question_is_answered_once_and_the_second_answer_names_the_first() {
    let lab = Lab::new();
    let request = ask(&lab.engine, &read(&object! { "question": "Shall I?" }));
    let provided = DecisionAnswer {
        value: Some("blue".into()),
        reason: Some("it is the colour".into()),
        ..DecisionAnswer::new(DecisionVerb::Provided)
    };
    assert_eq!(lab.engine.decision(request).expect("read"), None);
    let first = decide(&lab.engine, request, &provided).expect("decided");
    assert_eq!(first.in_words(), "provided: blue\nreason: it is the colour");
    let again = decide(&lab.another(), request, &DecisionAnswer::new(DecisionVerb::Rejected));
    let again = again.expect_err("answered");
    assert_eq!(code(&again), "DECISION_ANSWERED");
    assert!(again.to_string().contains(&first.record.to_string()), "{again}");
    assert_eq!(lab.another().decision(request).expect("read"), Some(first));
}

#[test]
fn of_many_who_answer_at_once_one_is_heard() {
    let lab = Lab::new();
    let request = ask(&lab.engine, &proposal());
    let engines: Vec<Engine> = (0..4).map(|_| lab.another()).collect();
    let answers: Vec<bool> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16)
            .map(|n| {
                let engine = engines[n % engines.len()].clone();
                scope.spawn(move || decide(&engine, request, &policy(None)).is_ok())
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
    });
    assert_eq!(answers.iter().filter(|answered| **answered).count(), 1);
    let thread = seat("default").thread;
    let answers = lab.records(&thread);
    let of_kind = |kind| answers.iter().filter(|it| it.record.kind() == Some(kind)).count();
    assert_eq!(of_kind("core.work.decision.v1"), 1);
    let hooks = lab.records(&ThreadId::config());
    assert_eq!(hooks.len(), 1, "no hook of an answer that was refused");
}

#[test]
fn a_lesson_that_is_approved_is_a_hook_of_the_operator_that_names_the_proposal() {
    let lab = Lab::new();
    let request = ask(&lab.engine, &proposal());
    let decided = decide(&lab.engine, request, &policy(None)).expect("decided");
    let policy = decided.policy.expect("a hook");
    let hook = lab.engine.store().read(|reader| reader.record(policy)).expect("read");
    let hook = hook.expect("a hook").record;
    assert_eq!((hook.actor.clone(), hook.act), (vera(), Act::Learn));
    let namespace = hook.namespace().expect("a namespace");
    assert_eq!(namespace.as_str(), "acme/ci", "where the run is that proposes it");
    let named = object! { "id": request, "kind": "core.work.decision_request.v1" };
    assert_eq!(hook.body["_refs"], Value::from(vec![named]));
    let live = lab.engine.live().expect("live");
    let in_force = live.config.hook(&namespace, "tests-first").expect("in force");
    assert_eq!((in_force.record_id, in_force.hook.max_fires_per_run()), (Some(policy), 1));
    assert!(lab.engine.store().verify(|_, _| {}).expect("verified").fault.is_none());
}

#[test]
fn what_contradicts_itself_is_refused_by_name() {
    let lab = Lab::new();
    let plain = ask(&lab.engine, &read(&object! { "question": "Shall I?" }));
    let lesson = ask(&lab.engine, &proposal());
    let new = DecisionAnswer::new;
    let cases = [
        (plain, policy(None), "becomes_policy"),
        (
            lesson,
            DecisionAnswer { becomes_policy: true, ..new(DecisionVerb::Rejected) },
            "becomes_policy",
        ),
        (plain, new(DecisionVerb::Provided), "provided_value"),
        (
            plain,
            DecisionAnswer { value: Some("x".into()), ..new(DecisionVerb::Approved) },
            "provided_value",
        ),
        (
            lesson,
            DecisionAnswer { expires: Some(Expiry::After(1)), ..new(DecisionVerb::Approved) },
            "expires",
        ),
        (lesson, policy(Some(Expiry::At(Timestamp::from_millis(1)))), "expires"),
        (lesson, policy(Some(Expiry::After(i64::MAX))), "expires"),
    ];
    for (request, answer, field) in cases {
        let error = decide(&lab.engine, request, &answer).expect_err("refused");
        assert_eq!((code(&error), error.field()), ("INVALID_BODY", Some(field)), "{error}");
    }
    assert_eq!(
        lab.engine
            .decisions(Some(DecisionState::Pending), Sequence::default(), 9)
            .expect("read")
            .0
            .len(),
        2
    );
    assert_eq!(hooks_loaded(&lab.engine), 0);
}

#[test]
fn only_the_operator_answers() {
    let lab = Lab::new();
    let request = ask(&lab.engine, &proposal());
    let scopes = "records:read,records:write,config:read,config:write";
    let bearer = Caller::bearer(Scopes::parse(scopes).expect("scopes"));
    let admin = Caller::bearer(Scopes::parse("admin").expect("scopes"));
    let refused = |answer: &DecisionAnswer| {
        let error = lab.engine.decide(&bearer, &vera(), request, answer).expect_err("refused");
        error.code().as_str()
    };
    assert_eq!(refused(&policy(None)), "CONFIG_WRITE_DENIED");
    assert_eq!(refused(&DecisionAnswer::new(DecisionVerb::Approved)), "SCOPE_FORBIDDEN");
    lab.engine.decide(&admin, &vera(), request, &policy(None)).expect("decided");
}

/// What a door took in as a question or an answer is plain data.
#[test]
fn what_the_engine_did_not_write_neither_asks_nor_answers() {
    let lab = Lab::new();
    let operator = Caller::operator();
    let thread = seat("default").thread;
    let body = object! { "kind": "core.work.decision_request.v1", "question": "Shall I?" };
    let forged = Draft::new(thread.clone(), ActorId::engine(), Act::Intend, body);
    let forged = lab.engine.ingest_draft(&operator, forged).expect("stored").record.id();
    let error = decide(&lab.engine, forged, &DecisionAnswer::new(DecisionVerb::Approved));
    assert_eq!(code(&error.expect_err("no question")), "NOT_FOUND");

    let request = ask(&lab.engine, &read(&object! { "question": "Shall I?" }));
    let body = object! {
        "by": "did:sync:user:vera", "decision": "approved", "fulfills": request,
        "kind": "core.work.decision.v1", "request": request,
    };
    let answer = Draft::new(thread, vera(), Act::Know, body).with_clock(Clock::default());
    lab.engine.ingest_draft(&operator, answer).expect("stored");
    assert_eq!(lab.engine.decision(request).expect("read"), None);
    let health = lab.engine.health().expect("health");
    assert_eq!(health["decisions_pending"], Value::from(1));
    decide(&lab.engine, request, &DecisionAnswer::new(DecisionVerb::Rejected)).expect("decided");
    let unknown = RecordId::from_bytes([9; 32]);
    let error = decide(&lab.engine, unknown, &DecisionAnswer::new(DecisionVerb::Approved));
    assert_eq!(code(&error.expect_err("no question")), "NOT_FOUND");
}

#[test]
fn questions_are_listed_by_state_page_by_page() {
    let lab = Lab::new();
    let ids: Vec<RecordId> = (0..5)
        .map(|n| ask(&lab.engine, &read(&object! { "question": format!("Question {n}?") })))
        .collect();
    for id in [ids[1], ids[3]] {
        decide(&lab.another(), id, &DecisionAnswer::new(DecisionVerb::Approved)).expect("decided");
    }
    let page = |state, after, limit| {
        let (rows, next) = lab.engine.decisions(state, after, limit).expect("read");
        (rows.iter().map(|row| row.id).collect::<Vec<_>>(), next)
    };
    let start = Sequence::default();
    assert_eq!(page(None, start, 9).0, ids);
    assert_eq!(page(Some(DecisionState::Answered), start, 9).0, [ids[1], ids[3]]);
    let (first, next) = page(Some(DecisionState::Pending), start, 2);
    assert_eq!(first, [ids[0], ids[2]]);
    assert_eq!(page(Some(DecisionState::Pending), next.expect("more"), 2), (vec![ids[4]], None));
    let health = lab.engine.health().expect("health");
    assert_eq!(health["decisions_pending"], Value::from(3));
}

#[test]
fn a_lesson_that_is_none_is_told_in_words() {
    let refused = |lesson: Object| {
        let args = object! { "question": "Shall I?", "lesson": lesson };
        DecisionRequest::read(&args).expect_err("refused")
    };
    let with = |key: &str, value: Value| {
        let mut lesson = lesson();
        lesson.insert(key.into(), value);
        refused(lesson)
    };
    let said = [
        with("when", "record.body.tool ==".into()),
        with("priority", 1.into()),
        with("enabled", false.into()),
        with("topic", "hook".into()),
        with("name", "repeat-guard".into()),
        with("max_fires_per_run", 0.into()),
        refused(object! { "name": "x" }),
        DecisionRequest::read(&object! { "question": " " }).expect_err("refused"),
        DecisionRequest::read(&object! { "question": "x", "claims": 1 }).expect_err("refused"),
        DecisionRequest::read(&object! { "question": "x", "options": "y" }).expect_err("refused"),
    ];
    insta::assert_snapshot!("refused_questions", said.join("\n\n"));
}

#[test]
fn what_a_run_asks_is_masked() {
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let asked = read(&object! { "question": format!("Use {secret}?"), "context": secret.as_str() });
    assert!(!format!("{asked:?}").contains(&secret), "{asked:?}");
}

#[test]
fn an_expiry_is_a_span_or_a_time() {
    let day = 24 * HOUR;
    for (text, want) in [
        ("30d", Expiry::After(30 * day)),
        ("12h", Expiry::After(12 * HOUR)),
        ("45m", Expiry::After(45 * 60 * 1000)),
        ("2027-01-31T12:00:00Z", Expiry::At(Timestamp::from_millis(1_801_396_800_000))),
        ("2027-01-31T13:00:00+01:00", Expiry::At(Timestamp::from_millis(1_801_396_800_000))),
    ] {
        assert_eq!(Expiry::parse(text).expect(text), want);
    }
    let huge = format!("{}d", i64::MAX);
    for bad in ["", "d", "0d", "-1d", "+1d", "1.5d", "30", "30 d", "30D", "30ä", "soon", &huge] {
        assert!(Expiry::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn a_lesson_whose_time_is_over_is_put_out_of_force_once() {
    let lab = Lab::new();
    let early = at(&lab, START);
    let request = ask(&early, &proposal());
    let decided = decide(&early, request, &policy(Some(Expiry::After(HOUR)))).expect("decided");
    assert_eq!(decided.expires_at, Some(Timestamp::from_millis(START + HOUR)));
    assert_eq!(at(&lab, START + HOUR - 1).sweep().expect("swept"), []);
    assert_eq!(hooks_loaded(&early), 1);

    let late = at(&lab, START + HOUR);
    let swept = late.sweep().expect("swept");
    assert_eq!(swept.len(), 1);
    assert_eq!(Some(swept[0].policy), decided.policy);
    assert_eq!((hooks_loaded(&late), hooks_loaded(&early)), (0, 0));
    let record = late.store().read(|reader| reader.record(swept[0].record)).expect("read");
    let body = &record.expect("a record").record.body;
    assert_eq!(
        (body["enabled"].as_bool(), body["name"].as_str()),
        (Some(false), Some("tests-first"))
    );
    for engine in [&late, &at(&lab, START + 2 * HOUR)] {
        assert_eq!(engine.sweep().expect("swept"), []);
    }
}

#[test]
fn many_sweeps_at_once_write_one_version() {
    let lab = Lab::new();
    let early = at(&lab, START);
    let request = ask(&early, &proposal());
    decide(&early, request, &policy(Some(Expiry::After(HOUR)))).expect("decided");
    let late: Vec<Engine> = (0..4).map(|_| at(&lab, START + HOUR)).collect();
    let swept: usize = std::thread::scope(|scope| {
        let sweep = |engine: &Engine| {
            let engine = engine.clone();
            scope.spawn(move || engine.sweep().expect("swept").len())
        };
        let threads: Vec<_> = late.iter().chain(&late).map(sweep).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).sum()
    });
    assert_eq!(swept, 1);
    assert_eq!(lab.records(&ThreadId::config()).len(), 2);
}

#[test]
fn a_newer_version_of_somebody_else_is_left_alone() {
    let lab = Lab::new();
    let early = at(&lab, START);
    let request = ask(&early, &proposal());
    decide(&early, request, &policy(Some(Expiry::After(HOUR)))).expect("decided");
    let body = r#""name":"tests-first","namespace":"acme/ci","when":"true","text":"Mine now.""#;
    teach(&early, 7, body);
    assert_eq!(at(&lab, START + HOUR).sweep().expect("swept"), []);
    assert_eq!(hooks_loaded(&early), 1);
}

fn asking(question: &str) -> String {
    format!(r#"{{"name":"request_decision","args":{question}}}"#)
}

#[test]
fn a_run_waits_for_the_answer_and_goes_on_with_it() {
    let lab = Lab::new();
    let script = turns(&[asking(r#"{"question":"Which colour?","options":["red","blue"]}"#)]);
    let parked = lab.play(&script);
    assert_eq!(parked.report.outcome.verb, Verb::AwaitingActor);
    let (rows, _) = lab.engine.decisions(None, Sequence::default(), 9).expect("read");
    let [asked] = rows.as_slice() else { panic!("{rows:?}") };
    assert_eq!(asked.thread, spec().thread);
    let answer = DecisionAnswer {
        value: Some("blue".into()),
        ..DecisionAnswer::new(DecisionVerb::Provided)
    };
    decide(&lab.another(), asked.id, &answer).expect("decided");
    let played = lab.resume(&script, &spec().thread).expect("resumed");
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    let results = bodies(&played, "core.work.tool_result.v1");
    assert_eq!(results[0]["content"].as_str(), Some("provided: blue"));
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert_eq!(replayed.state.outcome().map(|it| it.verb), Some(Verb::Completed));
}

/// Somebody who is there when a run asks.
struct Present<'a>(&'a Engine, DecisionAnswer);

impl Decider for Present<'_> {
    fn decide(&mut self, request: RecordId, _: &DecisionRequest) -> Decision {
        decide(self.0, request, &self.1).expect("decided");
        Decision::Made
    }
}

#[test]
fn a_lesson_that_a_run_proposes_speaks_to_it_once_it_is_approved() {
    let lab = Lab::new();
    let lesson = Value::from(lesson());
    let script =
        turns(&[asking(&format!(r#"{{"question":"A lesson?","lesson":{lesson}}}"#)), bash("true")]);
    let other = lab.another();
    let mut present = Present(&other, policy(None));
    let cancel = Cancel::new();
    let hand = Hand { cancel: &cancel, watch: &mut |_| {}, decider: &mut present };
    let thread = spec().thread;
    let played = lab.played(&script, &thread, hand, |hands| spl::run::drive(spec(), hands));
    let played = played.expect("a run");
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    let last = said(played.told.last().expect("a request"));
    assert!(last.contains(&"tests-first: Run the tests first.".to_owned()), "{last:?}");
}

#[test]
fn a_bad_lesson_comes_back_to_the_actor_and_asks_nobody() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let args = r#"{"question":"A lesson?","lesson":{"name":"x","when":"((","text":"y"}}"#;
    let played = lab.play(&turns(&[asking(args)]));
    assert_eq!(played.report.outcome.verb, Verb::Failed);
    let results = bodies(&played, "core.work.tool_result.v1");
    let content = results[0]["content"].as_str().expect("words");
    assert!(content.contains("`lesson` is not one"), "{content}");
    assert_eq!(lab.engine.health().expect("health")["decisions_pending"], Value::from(0));
}
