//! Verdicts on runs, and what they earn.

use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, Review, ReviewError, Reviewed, RunSeat, Scopes, ToolReturn};
use spl::hook::History;
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, Sequence, ThreadId};

const CLERK: &str = "did:sync:agent:clerk";
const VERA: &str = "did:sync:user:vera";

fn actor(name: &str) -> ActorId {
    ActorId::parse(name).expect("an actor")
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).expect("a thread")
}

/// Writes a record of a run, as the engine.
fn write(engine: &Engine, thread_name: &str, by: &str, act: Act, body: Object) -> RecordId {
    let draft = Draft::new(thread(thread_name), actor(by), act, body);
    engine.author(move |author| Ok(author.write(draft)?.id())).expect("written")
}

fn open(engine: &Engine, thread: &str) -> RecordId {
    let body = object! { "domain": "code", "goal": "g", "kind": "core.work.loop.v1" };
    write(engine, thread, CLERK, Act::Intend, body)
}

fn close(engine: &Engine, thread: &str, outcome: &str) -> RecordId {
    let body = object! { "kind": "core.work.loop_outcome.v1", "outcome": outcome };
    write(engine, thread, "did:sync:system:engine", Act::Know, body)
}

fn accept() -> Review {
    Review { accepts: true, domain: None, notes: None }
}

fn review(engine: &Engine, by: &str, thread_name: &str) -> Result<Reviewed, ReviewError> {
    engine.review(&Caller::operator(), &actor(by), &thread(thread_name), &accept())
}

#[test]
fn a_verdict_of_somebody_else_earns_trust_in_the_domain_of_the_run() {
    let engine = Engine::in_memory().expect("an engine");
    open(&engine, "th_run");
    let outcome = close(&engine, "th_run", "completed");
    let notes = Some("well done".to_owned());
    let asked = Review { notes, ..accept() };
    let reviewed = engine
        .review(&Caller::operator(), &actor(VERA), &thread("th_run"), &asked)
        .expect("reviewed");
    assert_eq!((reviewed.actor.as_str(), reviewed.domain.as_str()), (CLERK, "code"));
    assert!(reviewed.counted);
    assert_eq!(reviewed.standing.count, 1);
    assert!((reviewed.standing.score - 0.2065).abs() < 0.001, "{}", reviewed.standing.score);
    let stored = engine.store().read(|reader| reader.record(reviewed.record)).expect("read");
    let record = stored.expect("there").record;
    let want = object! {
        "domain": "code",
        "judged_by": CLERK,
        "review_notes": "well done",
        "reviews": outcome,
        "topic": "task_verdict",
        "verdict": "accept",
    };
    assert_eq!((record.act, &record.body, &record.parents), (Act::Know, &want, &vec![outcome]));
    assert_eq!(record.thread, thread("th_run"));

    let elsewhere = Review { accepts: false, domain: Some("ops".into()), notes: None };
    let reviewed = engine
        .review(&Caller::operator(), &actor(VERA), &thread("th_run"), &elsewhere)
        .expect("reviewed");
    assert_eq!((reviewed.domain.as_str(), reviewed.standing.count), ("ops", 1));
    assert!(reviewed.standing.score < 1e-9);

    let history = engine.trust_in(&actor(CLERK), "code").expect("a history");
    let verdicts = history["history"].as_array().expect("a list");
    assert_eq!(verdicts.len(), 1);
    assert_eq!(verdicts[0].get("evaluator"), Some(&VERA.into()));
    let rows = engine.trust_rows(Some(CLERK), None).expect("rows");
    let domains: Vec<&str> = rows.iter().filter_map(|row| row["domain"].as_str()).collect();
    assert_eq!(domains, ["code", "ops"]);
    assert!(engine.trust_rows(Some("did:x"), None).expect("rows").is_empty());
    assert_eq!(engine.trust_rows(None, Some("ops")).expect("rows").len(), 1);
}

#[test]
fn nobody_judges_himself() {
    let engine = Engine::in_memory().expect("an engine");
    open(&engine, "th_run");
    close(&engine, "th_run", "completed");
    let reviewed = review(&engine, CLERK, "th_run").expect("stored");
    assert!(!reviewed.counted);
    assert_eq!(reviewed.standing.count, 0);
    assert!(engine.store().read(|reader| reader.record(reviewed.record)).expect("read").is_some());
}

#[test]
fn only_a_run_that_is_over_is_judged() {
    let engine = Engine::in_memory().expect("an engine");
    let code = |thread: &str| review(&engine, VERA, thread).map_err(|error| error.code());
    assert_eq!(code("th_none").err(), Some(Code::NotFound));
    open(&engine, "th_run");
    assert_eq!(code("th_run").err(), Some(Code::WorkNotOver));
    close(&engine, "th_run", "awaiting_actor");
    assert_eq!(code("th_run").err(), Some(Code::WorkNotOver));
    close(&engine, "th_run", "max_turns");
    assert!(code("th_run").is_ok());
    let resume = object! { "kind": "core.work.resume.v1", "life": 1 };
    write(&engine, "th_run", "did:sync:system:engine", Act::Know, resume);
    assert_eq!(code("th_run").err(), Some(Code::WorkNotOver));
    close(&engine, "th_run", "completed");
    assert!(code("th_run").is_ok());
}

/// What a client states in the words of the engine is no run.
#[test]
fn a_run_that_somebody_made_up_is_none() {
    let engine = Engine::in_memory().expect("an engine");
    for (act, body) in [
        (Act::Intend, object! { "goal": "g", "kind": "core.work.loop.v1" }),
        (Act::Know, object! { "kind": "core.work.loop_outcome.v1", "outcome": "completed" }),
    ] {
        let draft = Draft::new(thread("th_false"), actor(CLERK), act, body);
        let clock = engine
            .store()
            .read(|reader| reader.next_clock(&draft.thread, &draft.actor))
            .expect("a clock");
        engine.ingest_draft(&Caller::operator(), draft.with_clock(clock)).expect("data");
    }
    let error = review(&engine, VERA, "th_false").expect_err("refused");
    assert_eq!(error.code(), Code::NotFound);
}

#[test]
fn a_verdict_passes_the_records_door() {
    let engine = Engine::in_memory().expect("an engine");
    open(&engine, "th_run");
    close(&engine, "th_run", "completed");
    let ask = |scopes: &str, by: &str| {
        let caller = Caller::bearer(Scopes::parse(scopes).expect("scopes"));
        engine.review(&caller, &actor(by), &thread("th_run"), &accept()).map_err(|it| it.code())
    };
    assert_eq!(ask("records:read", VERA).err(), Some(Code::ScopeForbidden));
    let engine_itself = "did:sync:system:engine";
    assert_eq!(ask("records:write", engine_itself).err(), Some(Code::DidClaimDenied));
    assert!(ask("records:write", VERA).is_ok());
}

#[test]
fn compensations_are_listed_and_counted() {
    let engine = Engine::in_memory().expect("an engine");
    for (number, (seam, assumption)) in
        [("model", "no usage"), ("tool", "no exit status"), ("model", "no usage")]
            .into_iter()
            .enumerate()
    {
        let body = object! {
            "assumption": assumption,
            "context": object! { "turn": number },
            "kind": "core.work.compensation.v1",
            "seam": seam,
        };
        write(&engine, "th_run", "did:sync:system:engine", Act::Know, body.clone());
        // The same from a door is data like any other.
        let draft = Draft::new(thread("th_false"), actor(VERA), Act::Know, body);
        let clock = Clock::new(i64::try_from(number).expect("small"));
        let draft = draft.with_clock(clock.expect("a clock"));
        engine.ingest_draft(&Caller::operator(), draft).expect("data");
    }
    let (first, next) = engine.compensations(Sequence::default(), 2).expect("rows");
    assert_eq!(first.len(), 2);
    assert_eq!(first[0]["context"].get("turn").and_then(Value::as_u64), Some(0));
    let (rest, end) = engine.compensations(next.expect("more"), 2).expect("rows");
    assert_eq!((rest.len(), end), (1, None));
    let counts = engine.compensation_counts().expect("counts");
    let shown: Vec<(Option<&str>, Option<u64>)> =
        counts.iter().map(|row| (row["seam"].as_str(), row["count"].as_u64())).collect();
    assert_eq!(shown, [(Some("model"), Some(2)), (Some("tool"), Some(1))]);
}

/// What a run's actor has earned is what its own hooks and its next run hear; nobody else's is.
#[test]
fn what_was_earned_is_heard_in_the_runs_own_hooks() {
    let engine = Engine::in_memory().expect("an engine");
    for (clock, (name, when)) in [
        ("earned", "trust(current_actor(), 'code') > 0.2".to_owned()),
        ("elsewhere", "trust(current_actor(), 'ops') > 0.0".to_owned()),
        ("others", "trust('did:sync:agent:paid', 'code') > 0.0".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let body = object! {
            "kind": "core.hook.v1", "name": name, "text": "t", "topic": "hook", "when": when,
        };
        let clock = Clock::new(i64::try_from(clock).expect("small")).expect("a clock");
        let draft = Draft::new(ThreadId::config(), actor(VERA), Act::Learn, body).with_clock(clock);
        engine.ingest_draft(&Caller::operator(), draft).expect("written");
    }
    open(&engine, "th_run");
    close(&engine, "th_run", "completed");
    let body = object! {
        "domain": "code", "judged_by": "did:sync:agent:paid", "verdict": "accept",
    };
    let draft = Draft::new(thread("th_other"), actor(VERA), Act::Know, body);
    engine.ingest_draft(&Caller::operator(), draft).expect("written");
    let seat = RunSeat {
        thread: thread("th_next"),
        life: 0,
        actor: actor(CLERK),
        domain: "code".into(),
        namespace: Namespace::root(),
        hooks: spl::engine::Hooks::Live,
    };
    let mut history = History::default();
    let mut heard = |number: u8| {
        let returned = ToolReturn {
            tool: "bash".into(),
            args: object! { "number": u64::from(number) },
            status: "ok".into(),
            head: String::new(),
            answer: number.to_string(),
            resource: "tool:bash".into(),
            empty: false,
            call: RecordId::from_bytes([number; 32]),
            result: object! { "number": u64::from(number) },
        };
        let (_, heard) = engine.tool_returned(&seat, &mut history, &returned).expect("recorded");
        heard.into_iter().map(|words| words.rule).collect::<Vec<_>>()
    };
    assert!(heard(1).is_empty());
    review(&engine, VERA, "th_run").expect("reviewed");
    assert_eq!(heard(2), ["earned"]);
}
