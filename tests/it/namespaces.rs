//! Which namespaces take records, and who says so.

use proptest::prelude::*;
use spl::canon::{Object, Value};
use spl::code::Coded as _;
use spl::engine::{Caller, DecisionAnswer, DecisionRequest, DecisionVerb, Engine, Hooks, RunSeat};
use spl::engine::{EngineError, IngestError, ObservedCall, Scopes};
use spl::object;
use spl::record::{
    Act, ActorId, Draft, NAMESPACE_TOPIC, Namespace, NamespaceStatus, Origin, RecordId, ThreadId,
};
use spl::run::{RunError, RunSpec};
use spl::session::{Event, Harness, Moment, receive};
use spl::store::{AppendError, NamespaceRejected, ThreadRange};

use crate::lab::{Lab, bash, spec, turns};
use crate::support::register;

fn namespace(path: &str) -> Namespace {
    Namespace::parse(path).expect("a namespace")
}

fn bearer(scopes: &str) -> Caller {
    Caller::bearer(Scopes::parse(scopes).expect("scopes"))
}

fn set(engine: &Engine, path: &str, status: NamespaceStatus) {
    engine.set_namespace(&Caller::operator(), &namespace(path), status).expect("set");
}

fn archive(engine: &Engine, path: &str) {
    set(engine, path, NamespaceStatus::Archived);
}

/// Writes a note of vera's into a namespace.
fn note(engine: &Engine, path: &str) -> Result<RecordId, IngestError> {
    let thread = ThreadId::parse("th_notes").expect("a thread");
    let vera = ActorId::parse("did:sync:user:vera").expect("an actor");
    let clock = engine.store().read(|reader| reader.next_clock(&thread, &vera)).expect("a clock");
    let draft = Draft::new(thread, vera, Act::Know, object! { "namespace": path });
    let ingested = engine.ingest_draft(&Caller::operator(), draft.with_clock(clock));
    Ok(ingested?.record.id())
}

fn rejected(error: &IngestError) -> Option<NamespaceRejected> {
    match error {
        IngestError::Append(AppendError::Namespace(rejected))
        | IngestError::Engine(EngineError::Append(AppendError::Namespace(rejected))) => {
            assert_eq!(error.code().as_str(), "NAMESPACE_REJECTED");
            Some(rejected.clone())
        }
        _ => None,
    }
}

/// What a refused note is told: the message and the next step.
#[track_caller]
fn refusal(engine: &Engine, path: &str) -> String {
    let error = note(engine, path).expect_err("refused");
    assert!(rejected(&error).is_some(), "{error}");
    assert_eq!(error.field(), Some("namespace"));
    format!("{error} | {}", error.hint().expect("a next step"))
}

#[test]
fn a_record_needs_a_namespace_that_is_there_with_all_above_it() {
    let engine = Engine::in_memory().expect("an engine");
    note(&engine, "default").expect("the root is always there");
    assert_eq!(
        refusal(&engine, "acme/site"),
        "namespace `acme/site` takes no records: `acme` above it is not registered; \
         `spl namespace create acme` makes it active | Run `spl namespace create acme`."
    );
    set(&engine, "acme", NamespaceStatus::Active);
    note(&engine, "acme").expect("registered");
    assert_eq!(
        refusal(&engine, "acme/site"),
        "namespace `acme/site` takes no records: it is not registered; \
         `spl namespace create acme/site` makes it active | Run `spl namespace create acme/site`."
    );
    register(&engine, "acme/site/prod");
    note(&engine, "acme/site/prod").expect("registered");
    archive(&engine, "acme");
    assert_eq!(
        refusal(&engine, "acme/site/prod"),
        "namespace `acme/site/prod` takes no records: `acme` above it is archived; \
         `spl namespace create acme` makes it active | Run `spl namespace create acme`."
    );
    set(&engine, "acme/site", NamespaceStatus::Deleted);
    set(&engine, "acme", NamespaceStatus::Active);
    note(&engine, "acme").expect("active again");
    assert!(refusal(&engine, "acme/site/prod").contains("`acme/site` above it is deleted"));
    set(&engine, "acme/site", NamespaceStatus::Active);
    note(&engine, "acme/site/prod").expect("active again, with all above it");
    // A namesake at the beginning of its name is somebody else.
    archive(&engine, "acme");
    register(&engine, "acmeister");
    note(&engine, "acmeister").expect("another one");
}

#[test]
fn what_stands_below_the_root_by_name_is_registered_too() {
    let engine = Engine::in_memory().expect("an engine");
    assert!(refusal(&engine, "default/shop").contains("spl namespace create default/shop"));
    register(&engine, "default/shop");
    note(&engine, "default/shop").expect("registered");
}

#[test]
fn a_namespace_becomes_active_below_one_that_is() {
    let engine = Engine::in_memory().expect("an engine");
    let create = |path: &str| {
        let change =
            engine.set_namespace(&Caller::operator(), &namespace(path), NamespaceStatus::Active);
        change.map(|change| change.fresh)
    };
    let error = create("acme/site").expect_err("refused");
    assert_eq!(rejected(&error).expect("rejected").failing, namespace("acme"));
    assert_eq!(create("acme").ok(), Some(true));
    assert_eq!(create("acme").ok(), Some(false), "it is so already");
    assert_eq!(create("acme/site").ok(), Some(true));
    archive(&engine, "acme");
    let error = create("acme/site").expect_err("refused");
    assert_eq!(rejected(&error).expect("rejected").failing, namespace("acme"));
    let unknown =
        engine.set_namespace(&Caller::operator(), &namespace("x"), NamespaceStatus::Archived);
    assert_eq!(unknown.expect_err("refused").code().as_str(), "NOT_FOUND");
    let root =
        engine.set_namespace(&Caller::operator(), &Namespace::root(), NamespaceStatus::Archived);
    assert_eq!(root.expect_err("refused").code().as_str(), "INVALID_BODY");
    assert_eq!(engine.namespaces().expect("read").len(), 2);
}

/// An entry as anybody may send it.
fn entry(id: &str, status: &str, clock: i64) -> String {
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_namespace_registry",
            "clock":{clock},"body":{{"topic":"namespace_entry","id":"{id}","status":"{status}"}}}}"#
    )
}

#[test]
fn an_entry_is_a_record_that_passes_the_door() {
    let engine = Engine::in_memory().expect("an engine");
    let write = |caller: &Caller, envelope: String| {
        engine.ingest(caller, envelope.as_bytes()).map(|ingested| ingested.record.id())
    };
    let operator = Caller::operator();
    let writer = bearer("records:read,records:write,config:read");
    let refused = |caller: &Caller, envelope: String| {
        let error = write(caller, envelope).expect_err("refused");
        (error.code().to_string(), error.field().unwrap_or_default().to_owned())
    };
    // Who may not write it learns nothing of what is wrong with it.
    for envelope in [entry("acme", "active", 0), entry("NO", "gone", 0)] {
        assert_eq!(refused(&writer, envelope).0, "CONFIG_WRITE_DENIED");
    }
    let other = entry("acme", "active", 0).replace("namespace_entry", "else");
    assert_eq!(refused(&writer, other).0, "CONFIG_WRITE_DENIED", "nothing else on its thread");
    for (envelope, field) in [
        (entry("NO", "active", 0), "id"),
        (entry("default", "archived", 0), "id"),
        (entry("acme", "gone", 0), "status"),
        (entry("acme", "active", 0).replace("LEARN", "KNOW"), "act"),
    ] {
        assert_eq!(refused(&operator, envelope), ("INVALID_BODY".into(), field.into()));
    }
    assert_eq!(refused(&operator, entry("acme/site", "active", 0)).0, "NAMESPACE_REJECTED");
    write(&bearer("config:write"), entry("acme", "active", 0)).expect("written");
    note(&engine, "acme").expect("registered");
    write(&operator, entry("acme", "archived", 1)).expect("written");
    assert!(refusal(&engine, "acme").contains("it is archived"));
    // On another thread it is plain data.
    let elsewhere = entry("acme", "active", 2).replace("th_namespace_registry", "th_a");
    write(&writer, elsewhere).expect("plain data");
    assert!(refusal(&engine, "acme").contains("it is archived"));
}

#[test]
fn what_another_instance_says_registers_nothing() {
    let engine = Engine::in_memory().expect("an engine");
    register(&engine, "mine");
    let import = |id: &str, status: &str, clock: i64| {
        let envelope = crate::support::json(&entry(id, status, clock));
        let prepared = engine.store().prepare(Draft::from_envelope(envelope).expect("a draft"));
        let prepared = prepared.expect("prepared");
        engine.store().append(prepared, Origin::Import).expect("stored");
    };
    import("acme", "active", 7);
    import("mine", "archived", 8);
    assert!(refusal(&engine, "acme").contains("not registered"));
    note(&engine, "mine").expect("as it was");
}

/// While some write, another archives: nothing is stored after that, whichever process wrote it.
#[test]
fn nothing_is_stored_behind_the_entry_that_archives() {
    let lab = Lab::new();
    register(&lab.engine, "acme");
    let engines: Vec<Engine> = (0..3).map(|_| lab.another()).collect();
    let stored: usize = std::thread::scope(|scope| {
        let writers: Vec<_> = engines
            .iter()
            .enumerate()
            .map(|(n, engine)| {
                scope.spawn(move || {
                    let write = |clock: i64| {
                        let thread = ThreadId::parse("th_crowd").expect("a thread");
                        let actor = ActorId::parse(&format!("did:sync:agent:w{n}"));
                        let body = object! { "namespace": "acme" };
                        let draft = Draft::new(thread, actor.expect("an actor"), Act::Know, body);
                        let clock = spl::record::Clock::new(clock).expect("a clock");
                        engine.ingest_draft(&Caller::operator(), draft.with_clock(clock))
                    };
                    let written = (0..).map(write).take_while(|written| match written {
                        Ok(_) => true,
                        Err(error) => {
                            assert!(rejected(error).is_some(), "{error}");
                            false
                        }
                    });
                    written.count()
                })
            })
            .collect();
        let written = || lab.records(&ThreadId::parse("th_crowd").expect("a thread")).len();
        while written() < 20 {
            std::thread::yield_now();
        }
        archive(&lab.engine, "acme");
        writers.into_iter().map(|writer| writer.join().expect("joined")).sum()
    });
    let crowd = lab.records(&ThreadId::parse("th_crowd").expect("a thread"));
    assert_eq!(crowd.len(), stored);
    let registry = lab.records(&ThreadId::namespace_registry());
    let end = registry.last().expect("an entry").sequence;
    assert!(crowd.iter().all(|stored| stored.sequence < end));
    lab.engine.store().verify(|_, _| {}).expect("verified");
}

#[test]
fn a_run_begins_where_records_are_taken_and_ends_wherever_it_began() {
    let lab = Lab::new();
    let in_acme = || RunSpec { namespace: namespace("acme"), ..spec() };
    let play = |script: &str, watch: &mut dyn FnMut(spl::run::Moment<'_>)| {
        let cancel = spl::cancel::Cancel::new();
        let mut nobody = spl::run::Nobody;
        let hand = crate::lab::Hand { cancel: &cancel, watch, decider: &mut nobody };
        let thread = spec().thread;
        lab.played(script, &thread, hand, |hands| spl::run::drive(in_acme(), hands))
    };
    let script = turns(&[bash("true"), bash("true # again")]);
    let error = play(&script, &mut |_| {}).err().expect("refused");
    assert_eq!(error.code().as_str(), "NAMESPACE_REJECTED", "{error}");
    assert!(lab.records(&spec().thread).is_empty());
    register(&lab.engine, "acme");
    // Archived while it goes on.
    let engine = lab.another();
    let mut archived = false;
    let played = play(&script, &mut |moment| {
        if matches!(moment, spl::run::Moment::Opened(_)) {
            archive(&engine, "acme");
            archived = true;
        }
    });
    let played = played.expect("a run");
    assert!(archived);
    assert_eq!(played.report.outcome.verb, spl::run::Verb::Completed);
}

#[test]
fn a_new_life_begins_where_records_are_taken() {
    let lab = Lab::new();
    register(&lab.engine, "acme");
    let in_acme = RunSpec { namespace: namespace("acme"), ..spec() };
    let script = turns(&[r#"{"name":"request_decision","args":{"question":"Shall I?"}}"#.into()]);
    let cancel = spl::cancel::Cancel::new();
    let parked = lab.play_with(&script, in_acme, &cancel, &mut |_| {});
    let request = parked.report.awaits.expect("a question");
    let yes = DecisionAnswer::new(DecisionVerb::Approved);
    let vera = ActorId::parse("did:sync:user:vera").expect("an actor");
    lab.engine.decide(&Caller::operator(), &vera, request, &yes).expect("decided");
    archive(&lab.engine, "acme");
    let error = lab.resume(&script, &spec().thread).err().expect("refused");
    assert!(matches!(error, RunError::Engine(_)), "{error:?}");
    assert_eq!(error.code().as_str(), "NAMESPACE_REJECTED");
    set(&lab.engine, "acme", NamespaceStatus::Active);
    lab.resume(&script, &spec().thread).expect("taken up");
}

#[test]
fn a_loop_elsewhere_begins_where_records_are_taken() {
    let lab = Lab::new();
    let thread = ThreadId::parse("th_theirs").expect("a thread");
    let call = |id: &str| ObservedCall {
        namespace: Some(namespace("acme")),
        ..ObservedCall::new(id, "bash", Object::new(), "ok")
    };
    let observe = |id: &str| lab.engine.observe(&Caller::operator(), &thread, &call(id));
    assert_eq!(observe("c1").expect_err("refused").code().as_str(), "NAMESPACE_REJECTED");
    assert!(lab.records(&thread).is_empty());
    register(&lab.engine, "acme");
    observe("c1").expect("observed");
    archive(&lab.engine, "acme");
    observe("c2").expect("it has begun");
}

fn session(name: &str, moment: Moment) -> Event {
    Event {
        harness: Harness::Claude,
        session_id: "s1".into(),
        agent: None,
        name: name.into(),
        digest: spl::canon::hash_of(&[name.as_bytes(), format!("{moment:?}").as_bytes()]),
        moment,
        turn: None,
        cwd: None,
        model: None,
        transcript_path: None,
        rest: Object::new(),
        deaf: false,
        decided: None,
    }
}

#[test]
fn a_session_begins_where_records_are_taken_and_ends_wherever_it_began() {
    let lab = Lab::new();
    let acme = namespace("acme");
    let tell = |event: &Event| receive(&lab.engine, event, Some(&acme), "one");
    let started =
        |source: &str| session("SessionStart", Moment::Started { source: Some(source.to_owned()) });
    let ended = session("SessionEnd", Moment::Ended { reason: None });
    for event in [&started("startup"), &ended] {
        let error = tell(event).expect_err("refused");
        assert_eq!(error.code().as_str(), "NAMESPACE_REJECTED");
        assert!(error.to_string().contains("`spl namespace create acme`"), "{error}");
    }
    assert_eq!(lab.engine.store().read(|reader| reader.last()).expect("read").get(), 0);
    register(&lab.engine, "acme");
    tell(&started("startup")).expect("received");
    archive(&lab.engine, "acme");
    tell(&session("UserPromptSubmit", Moment::Other)).expect("it has begun");
    // A new life is a beginning.
    let error = tell(&started("resume")).expect_err("refused");
    assert_eq!(error.code().as_str(), "NAMESPACE_REJECTED");
    tell(&ended).expect("it ends");
}

/// The names of built-in hooks are nobody else's, wherever and by whichever door.
#[test]
fn the_names_of_built_in_hooks_are_reserved_everywhere() {
    let lab = Lab::new();
    register(&lab.engine, "acme/site");
    for (n, name) in ["repeat-guard", "absence-guard"].into_iter().enumerate() {
        for space in ["default", "acme", "acme/site"] {
            let hook = format!(
                r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{n},
                "body":{{"kind":"core.hook.v1","topic":"hook","name":"{name}","namespace":"{space}",
                "when":"true","text":"t"}}}}"#
            );
            let error = lab.engine.ingest(&Caller::operator(), hook.as_bytes());
            let error = error.expect_err("refused");
            assert_eq!((error.code().as_str(), error.field()), ("INVALID_BODY", Some("name")));
            // Proposed as a lesson.
            let lesson = object! { "name": name, "when": "true", "text": "t" };
            let asked = object! { "question": "Shall it?", "lesson": lesson };
            let seat = RunSeat {
                thread: ThreadId::parse("th_asking").expect("a thread"),
                life: 0,
                actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
                domain: "ops".into(),
                namespace: namespace(space),
                hooks: Hooks::Live,
            };
            let Ok(request) = DecisionRequest::read(&asked) else { continue };
            let call = RecordId::from_bytes([7; 32]);
            let Ok(request) = lab.engine.request_decision(&seat, call, &request) else { continue };
            let yes = DecisionAnswer::new(DecisionVerb::Approved);
            let yes = DecisionAnswer { becomes_policy: true, ..yes };
            let vera = ActorId::parse("did:sync:user:vera").expect("an actor");
            lab.engine.decide(&Caller::operator(), &vera, request, &yes).expect_err("refused");
        }
    }
    assert_eq!(lab.engine.live().expect("live").config.hooks_loaded(), 0);
}

const PATHS: [&str; 6] = ["a", "a/b", "a/b/c", "a/bc", "ab", "default/a"];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// What is kept beside the log is what the entries in it add up to.
    #[test]
    fn the_table_is_a_fold_of_the_registry(
        wishes in prop::collection::vec((0..PATHS.len(), 0..3_usize), 1..24),
    ) {
        let engine = Engine::in_memory().expect("an engine");
        for (path, status) in wishes {
            let status = NamespaceStatus::ALL[status];
            // Some are refused, which is as good.
            let _ = engine.set_namespace(&Caller::operator(), &namespace(PATHS[path]), status);
        }
        let range = ThreadRange::default();
        let thread = ThreadId::namespace_registry();
        let records = engine.store().read(|reader| reader.thread(&thread, range, usize::MAX));
        let mut newest = std::collections::BTreeMap::new();
        for stored in records.expect("read") {
            let text = |key| stored.record.body.get(key).and_then(Value::as_str).expect("text");
            prop_assert_eq!(text("topic"), NAMESPACE_TOPIC);
            newest.insert(text("id").to_owned(), text("status").to_owned());
        }
        for path in PATHS {
            let lineage = namespace(path);
            let mut lineage = lineage.lineage().skip(1);
            let open = lineage.all(|above| newest.get(above).is_some_and(|it| it == "active"));
            let row = engine.store().read(|reader| reader.namespace(&namespace(path)));
            let row = row.expect("read");
            let status = row.as_ref().map(|row| row.status.as_str());
            prop_assert_eq!(status, newest.get(path).map(String::as_str));
            prop_assert_eq!(row.is_some_and(|row| row.open), open, "{}", path);
            prop_assert_eq!(note(&engine, path).is_ok(), open, "{}", path);
        }
    }
}
