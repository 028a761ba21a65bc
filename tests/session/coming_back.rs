//! Checkpoints, and what there is to know for whoever comes back.

use spl::canon::Value;
use spl::code::Coded as _;
use spl::engine::{Caller, DecisionRequest, Engine, Hooks, RunSeat, Scopes};
use spl::object;
use spl::record::{ActorId, Namespace, RecordId, ThreadId};
use spl::session::{
    ATTENTION_THREAD, Checkpoint, Harness, brief, find_room, reentry, report, session,
};

use crate::support::{Told, in_memory, shown, teaches, writes};

fn vera() -> ActorId {
    ActorId::parse("did:sync:user:vera").expect("an actor")
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).expect("a thread")
}

fn noted(summary: &str, learnings: &[&str]) -> Checkpoint {
    Checkpoint {
        summary: summary.into(),
        learnings: learnings.iter().map(|it| (*it).to_owned()).collect(),
        ..Checkpoint::default()
    }
}

fn asks(engine: &Engine, name: &str) -> RecordId {
    let seat = RunSeat {
        thread: thread(name),
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
        domain: "general".into(),
        namespace: Namespace::root(),
        hooks: Hooks::Live,
    };
    let asked = DecisionRequest::read(&object! { "question": "Which colour?" }).expect("asked");
    engine.request_decision(&seat, RecordId::from_bytes([7; 32]), &asked).expect("asked")
}

fn intends(engine: &Engine, name: &str, goal: &str) {
    writes(
        engine,
        &format!(
            r#"{{"act":"INTEND","actor":"did:sync:user:vera","thread":"{name}","body":{{"goal":"{goal}"}}}}"#
        ),
    );
}

#[test]
fn a_checkpoint_must_say_what_was_learned() {
    let engine = in_memory();
    let long = "x".repeat(4097);
    for (checkpoint, field) in [
        (noted("", &["one"]), "summary"),
        (noted("done", &[]), "learnings"),
        (noted("done", &["one", " "]), "learnings[1]"),
        (noted("done", &[&long]), "learnings[0]"),
    ] {
        let refused = checkpoint
            .write(&engine, &Caller::operator(), &vera(), &thread("th_a"))
            .expect_err("refused");
        assert_eq!((refused.code().as_str(), refused.field()), ("INVALID_BODY", Some(field)));
    }
    let reader = Caller::bearer(Scopes::parse("records:read").expect("scopes"));
    let good = noted("done", &["one"]);
    let refused = good.write(&engine, &reader, &vera(), &thread("th_a")).expect_err("refused");
    assert_eq!(refused.code().as_str(), "SCOPE_FORBIDDEN");
    assert_eq!(engine.store().read(|reader| reader.last()).expect("a number").get(), 0);
    for _ in 0..2 {
        good.write(&engine, &Caller::operator(), &vera(), &thread("th_a")).expect("written");
    }
    let written = engine.store().read(|reader| reader.checkpoints(Some(&thread("th_a")), None, 9));
    assert_eq!(written.expect("read").len(), 2);
}

/// One room of each kind: closed, open, waiting, and a session that ended.
fn house(engine: &Engine) {
    intends(engine, "th_shed", "paint the shed");
    intends(engine, "th_fence", "mend the fence");
    let shed =
        engine.store().read(|reader| reader.goals_and_answers(&thread("th_shed"))).expect("read")
            [0]
        .record
        .id();
    writes(
        engine,
        &format!(
            r#"{{"act":"KNOW","actor":"did:sync:user:vera","thread":"th_shed","clock":1,
                "body":{{"text":"painted","fulfills":"{shed}"}}}}"#
        ),
    );
    asks(engine, "th_asking");
    teaches(engine, "read-first", "record.body.status == 'error'", "Read it first.");
    let told = Told::of(engine, Harness::Claude, "s1");
    told.starts("startup").asks("why?").calls("Bash", "c1", false, "no");
    told.ends("other");
    report(engine, &told.thread()).expect("reported");
}

#[test]
fn a_draft_says_what_closed_what_is_open_what_waits_and_what_moved() {
    let engine = in_memory();
    house(&engine);
    let attention = thread(ATTENTION_THREAD);
    let draft = Checkpoint::default().drafted(&engine, &attention).expect("drafted");
    let first = draft.write(&engine, &Caller::operator(), &vera(), &attention).expect("written");
    crate::support::follows_its_schema(&first.record.body);
    insta::assert_snapshot!("draft", shown(&first.record.body.clone().into()));
    // The next one begins where this one ended.
    intends(&engine, "th_roof", "tile the roof");
    let draft = Checkpoint::default().drafted(&engine, &attention).expect("drafted");
    assert_eq!(draft.summary, "0 closed, 2 open, 1 waiting, 1 moved.");
    assert_eq!(draft.learnings, ["No lesson was written since the last checkpoint."]);
}

#[test]
fn whoever_comes_back_is_told_where_to_go() {
    let engine = in_memory();
    let empty = reentry(&engine).expect("read");
    assert_eq!(empty.get("left"), Some(&Value::Null));
    house(&engine);
    let before = reentry(&engine).expect("read");
    assert_eq!(before.get("suggested_room"), Some(&"th_asking".into()));
    let checkpoint = Checkpoint {
        next_steps: "mend the fence".into(),
        ..noted("the shed is done", &["prime it first"])
    };
    checkpoint.write(&engine, &Caller::operator(), &vera(), &thread("th_shed")).expect("written");
    intends(&engine, "th_roof", "tile the roof");
    insta::assert_snapshot!("resume", shown(&reentry(&engine).expect("read").into()));
}

#[test]
fn a_room_has_five_buckets() {
    let engine = in_memory();
    house(&engine);
    let room = |name: &str| shown(&brief(&engine, &thread(name)).expect("read").into());
    insta::assert_snapshot!("room_closed", room("th_shed"));
    insta::assert_snapshot!("room_waiting", room("th_asking"));
    let told = Told::of(&engine, Harness::Claude, "s1");
    insta::assert_snapshot!("room_of_a_session", room(told.thread().as_str()));
}

#[test]
fn a_room_is_found_by_the_beginning_of_its_name() {
    let engine = in_memory();
    house(&engine);
    let find = |name: &str| find_room(&engine, name).expect("read");
    assert_eq!(find("th_shed"), Some(thread("th_shed")));
    assert_eq!(find("th_fen"), Some(thread("th_fence")));
    assert_eq!(find("th_"), None, "more than one");
    assert_eq!(find("th_nobody"), None);
    assert_eq!(find("zz"), None);
}

#[test]
fn the_text_for_whoever_takes_a_session_up() {
    let engine = in_memory();
    teaches(&engine, "read-first", "record.body.status == 'error'", "Read it first.");
    let told = Told::of(&engine, Harness::Claude, "s1");
    told.starts("startup");
    for number in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"] {
        told.asks(number).answers("well").calls("Bash", number, number != "six", "out");
    }
    told.inside("a1").event("SubagentStart", spl::session::Moment::AgentStarted);
    told.asks("and\n ten?");
    let checkpoint =
        Checkpoint { next_steps: "ask for eleven".into(), ..noted("ten", &["numbers go on"]) };
    checkpoint.write(&engine, &Caller::operator(), &vera(), &told.thread()).expect("written");
    let session = session(&engine, &told.thread()).expect("read").expect("a session");
    let context = session.get("context").and_then(Value::as_str).expect("a text");
    insta::assert_snapshot!("context", context);
}
