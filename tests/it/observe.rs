//! A loop of somebody else: it tells of its calls, and the hooks have their say.

use spl::canon::{Object, Value};
use spl::code::Coded as _;
use spl::engine::{Caller, Engine, ObserveError, ObservedCall, Scopes, Spoken};
use spl::object;
use spl::record::{Act, ActorId, Draft, Namespace, Origin, RecordId, ThreadId};

use crate::lab::{Lab, SHELL_FAILED, bash, spec, teach, turns};
use crate::support::register;

fn run() -> ThreadId {
    ThreadId::parse("th_theirs").expect("a thread")
}

fn call(id: &str) -> ObservedCall {
    let args = object! { "command": format!("make {id}") };
    let content = "make: *** No targets.  Stop.".to_owned();
    ObservedCall { content, ..ObservedCall::new(id, "bash", args, "error") }
}

fn observe(engine: &Engine, call: &ObservedCall) -> Vec<Spoken> {
    engine.observe(&Caller::operator(), &run(), call).expect("observed")
}

fn refused(engine: &Engine, caller: &Caller, call: &ObservedCall) -> (String, String) {
    told(&engine.observe(caller, &run(), call).expect_err("refused"))
}

fn told(error: &ObserveError) -> (String, String) {
    (error.code().to_string(), error.field().unwrap_or_default().to_owned())
}

fn fires(spoken: &[Spoken]) -> Vec<(&str, u32, u32)> {
    spoken.iter().map(|it| (it.rule.as_str(), it.fire, it.max)).collect()
}

/// Teaches a lesson that speaks twice a run.
fn teach_capped(lab: &Lab) {
    teach(&lab.engine, 0, &format!(r#"{SHELL_FAILED},"max_fires_per_run":2"#));
}

#[test]
fn a_call_is_recorded_as_theirs_and_the_words_as_ours() {
    let lab = Lab::new();
    teach_capped(&lab);
    let spoken = observe(&lab.engine, &call("c1"));
    assert_eq!(fires(&spoken), [("shell-failed", 1, 2)]);
    assert_eq!(spoken[0].text, "bash ended with error; read stderr first.");
    let records = lab.records(&run());
    let rows: Vec<(&str, Origin)> =
        records.iter().map(|it| (it.record.kind().expect("a kind"), it.origin)).collect();
    assert_eq!(
        rows,
        [
            ("core.work.loop.v1", Origin::Engine),
            ("core.work.tool_call.v1", Origin::Door),
            ("core.work.tool_result.v1", Origin::Door),
            ("core.work.observation.v1", Origin::Engine),
        ]
    );
    assert_eq!(records[0].record.body["transport"], Value::from("external"));
    assert_eq!(records[0].record.actor.as_str(), "did:sync:agent:external");
    assert_eq!(records[2].record.parents, [records[1].record.id()]);
    assert_eq!(records[3].record.body["hook"], spoken[0].hook.expect("a hook").into());
    assert!(lab.engine.store().verify(|_, _| {}).expect("verified").fault.is_none());
}

#[test]
fn the_same_call_is_answered_the_same_and_counted_once() {
    let lab = Lab::new();
    teach_capped(&lab);
    let first = observe(&lab.engine, &call("c1"));
    let records = lab.records(&run()).len();
    // Whatever is said of it the second time, and whoever is asked.
    let other = ObservedCall { status: "ok".into(), ..call("c1") };
    for engine in [&lab.engine, &lab.another()] {
        assert_eq!(observe(engine, &call("c1")), first);
        assert_eq!(observe(engine, &other), first);
    }
    assert_eq!(lab.records(&run()).len(), records);
    assert_eq!(fires(&observe(&lab.another(), &call("c2"))), [("shell-failed", 2, 2)]);
    assert_eq!(fires(&observe(&lab.engine, &call("c3"))), []);
    assert_eq!(lab.row("shell-failed")["fires"], Value::from(2));
    assert_eq!(lab.row("shell-failed")["asked"], Value::from(3));
}

#[test]
fn many_at_once_do_not_break_a_cap() {
    let lab = Lab::new();
    teach_capped(&lab);
    let engines: Vec<Engine> = (0..5).map(|_| lab.another()).collect();
    let ask = |n: usize, id: String| {
        let engine = engines[n % engines.len()].clone();
        move || observe(&engine, &call(&id))
    };
    let spoken: Vec<Vec<Spoken>> = std::thread::scope(|scope| {
        // Twenty of them, and each call is told of by two.
        let threads: Vec<_> = (0..20).map(|n| scope.spawn(ask(n, format!("c{}", n / 2)))).collect();
        threads.into_iter().map(|thread| thread.join().expect("joined")).collect()
    });
    for pair in spoken.chunks(2) {
        assert_eq!(pair[0], pair[1], "one call, one answer");
    }
    let heard = |it: &&Vec<Spoken>| !it.is_empty();
    assert_eq!(spoken.iter().filter(heard).count(), 4, "two fires, each told twice");
    let of_kind =
        |kind: &str| lab.records(&run()).iter().filter(|it| it.record.kind() == Some(kind)).count();
    assert_eq!(of_kind("core.work.observation.v1"), 2);
    assert_eq!(of_kind("core.work.tool_result.v1"), 10);
    assert_eq!(of_kind("core.work.loop.v1"), 1);
}

#[test]
fn a_higher_life_starts_the_counts_again_and_a_lower_one_is_over() {
    let lab = Lab::new();
    teach_capped(&lab);
    for id in ["c1", "c2", "c3"] {
        observe(&lab.engine, &call(id));
    }
    let in_life = |life: u32, id: &str| ObservedCall { life, ..call(id) };
    assert_eq!(fires(&observe(&lab.engine, &in_life(3, "c1"))), [("shell-failed", 1, 2)]);
    for engine in [&lab.engine, &lab.another()] {
        let refused = refused(engine, &Caller::operator(), &in_life(2, "c4"));
        assert_eq!(refused, ("INVALID_BODY".into(), "life".into()));
        // What was said of a call stays said.
        assert_eq!(fires(&observe(engine, &call("c2"))), [("shell-failed", 2, 2)]);
    }
}

#[test]
fn what_is_built_in_looks_back_on_the_records() {
    let lab = Lab::new();
    let read = |id: &str, content: &str| {
        let args = object! { "path": "src/lib.rs" };
        ObservedCall { content: content.into(), ..ObservedCall::new(id, "read", args, "ok") }
    };
    assert_eq!(observe(&lab.engine, &read("c1", "x")), []);
    // Another process, which has nothing in mind, says what this one would.
    assert_eq!(fires(&observe(&lab.another(), &read("c2", "x"))), [("repeat-guard", 1, 3)]);
    assert_eq!(observe(&lab.engine, &read("c3", "y")), []);
    let new_life = ObservedCall { life: 2, ..read("c4", "y") };
    assert_eq!(observe(&lab.another(), &new_life), [], "a life begins with no history");
}

#[test]
fn a_run_is_whose_and_where_it_was_first_said_to_be() {
    let lab = Lab::new();
    let clerk = ActorId::parse("did:sync:agent:clerk").expect("an actor");
    register(&lab.engine, "acme/ci");
    let hook = r#""name":"theirs","namespace":"acme","when":"current_actor() == 'did:sync:agent:clerk'","text":"t""#;
    teach(&lab.engine, 0, hook);
    let first = ObservedCall {
        actor: Some(clerk.clone()),
        namespace: Some(Namespace::parse("acme/ci").expect("a namespace")),
        domain: Some("ops".into()),
        ..call("c1")
    };
    assert_eq!(fires(&observe(&lab.engine, &first)), [("theirs", 1, 3)]);
    assert_eq!(fires(&observe(&lab.another(), &call("c2"))), [("theirs", 2, 3)]);
    let operator = Caller::operator();
    let cases = [
        (ObservedCall { actor: Some(ActorId::engine()), ..call("c3") }, "actor"),
        (ObservedCall { namespace: Some(Namespace::root()), ..call("c3") }, "namespace"),
        (ObservedCall { domain: Some("code".into()), ..call("c3") }, "domain"),
    ];
    for (call, field) in cases {
        assert_eq!(refused(&lab.engine, &operator, &call), ("INVALID_BODY".into(), field.into()));
    }
}

#[test]
fn it_takes_the_scope_and_the_right_to_speak_as_the_actor() {
    let lab = Lab::new();
    let bearer = |scopes: &str| Caller::bearer(Scopes::parse(scopes).expect("scopes"));
    let reader = bearer("records:read,config:read,config:write");
    assert_eq!(refused(&lab.engine, &reader, &call("c1")).0, "SCOPE_FORBIDDEN");
    let writer = bearer("records:write");
    let as_engine = ObservedCall { actor: Some(ActorId::engine()), ..call("c1") };
    assert_eq!(refused(&lab.engine, &writer, &as_engine).0, "DID_CLAIM_DENIED");
    assert_eq!(lab.records(&run()).len(), 0, "nothing of it was stored");
    // A run that the operator opened as the engine is not a bearer's to go on with.
    observe(&lab.engine, &as_engine);
    assert_eq!(refused(&lab.engine, &writer, &call("c2")).0, "DID_CLAIM_DENIED");
}

/// The keys of actors are the operator's to use; what a bearer states is signed by the instance.
#[test]
fn what_a_bearer_states_in_the_name_of_the_operator_is_not_signed_by_them() {
    let lab = Lab::new();
    let vera = ActorId::parse("did:sync:user:vera").expect("an actor");
    let call = ObservedCall { actor: Some(vera), ..call("c1") };
    let writer = Caller::bearer(Scopes::parse("records:write").expect("scopes"));
    lab.engine.observe(&writer, &run(), &call).expect("observed");
    let instance = lab.engine.store().keyring().instance().did().to_owned();
    for stored in lab.records(&run()) {
        assert_eq!(stored.signer, instance);
    }
}

#[test]
fn a_run_of_our_own_loop_is_not_theirs() {
    let lab = Lab::new();
    lab.play(&turns(&[bash("true")]));
    let before = lab.records(&spec().thread).len();
    let error = lab.engine.observe(&Caller::operator(), &spec().thread, &call("c1"));
    assert_eq!(told(&error.expect_err("refused")).0, "RUN_NOT_EXTERNAL");
    let error = lab.engine.observe(&Caller::operator(), &ThreadId::config(), &call("c1"));
    assert_eq!(told(&error.expect_err("refused")).1, "thread");
    assert_eq!(lab.records(&spec().thread).len(), before);
}

/// A loop record that came through a door opens nothing and closes nothing.
#[test]
fn a_thread_with_other_records_becomes_a_run() {
    let lab = Lab::new();
    teach_capped(&lab);
    let body = object! { "kind": "core.work.loop.v1", "transport": "in_process" };
    let note = Draft::new(run(), ActorId::engine(), Act::Intend, body);
    lab.engine.ingest_draft(&Caller::operator(), note).expect("stored");
    assert_eq!(fires(&observe(&lab.engine, &call("c1"))), [("shell-failed", 1, 2)]);
    assert_eq!(fires(&observe(&lab.another(), &call("c1"))), [("shell-failed", 1, 2)]);
}

#[test]
fn what_is_no_call_or_too_large_is_refused_and_stores_nothing() {
    let lab = Lab::new();
    let operator = Caller::operator();
    let long = |count: usize| "x".repeat(count);
    let cases = [
        (ObservedCall { call_id: String::new(), ..call("c") }, "call_id"),
        (ObservedCall { call_id: long(257), ..call("c") }, "call_id"),
        (ObservedCall { tool: "a\nb".into(), ..call("c") }, "tool"),
        (ObservedCall { status: String::new(), ..call("c") }, "status"),
        (ObservedCall { domain: Some(long(129)), ..call("c") }, "domain"),
        (ObservedCall { life: 0, ..call("c") }, "life"),
    ];
    for (call, field) in cases {
        assert_eq!(refused(&lab.engine, &operator, &call), ("INVALID_BODY".into(), field.into()));
    }
    let large = ObservedCall { content: long(4 * 1024 * 1024), ..call("c") };
    assert_eq!(refused(&lab.engine, &operator, &large).0, "BODY_TOO_LARGE");
    let nested = |levels| (0..levels).fold(Value::from(1), |inner, _| Value::from(vec![inner]));
    let mut args = Object::new();
    args.insert("deep".into(), nested(200));
    let deep = ObservedCall { args, ..call("c") };
    assert_eq!(refused(&lab.engine, &operator, &deep).0, "INGEST_FAILED");
    assert_eq!(lab.records(&run()).len(), 0);
}

#[test]
fn what_a_tool_said_is_masked_in_the_store_and_whole_for_a_predicate() {
    let lab = Lab::new();
    let secret = format!("AKIA{}", "IOSFODNN7EXAMPLQ");
    let hook =
        format!(r#""name":"seen","when":"record.body.content.contains('{secret}')","text":"t""#);
    teach(&lab.engine, 0, &hook);
    let told = ObservedCall { content: format!("key {secret}"), ..call("c1") };
    assert_eq!(fires(&observe(&lab.engine, &told)), [("seen", 1, 3)]);
    for stored in lab.records(&run()) {
        assert!(!stored.record.canonical().as_str().contains(&secret));
    }
}

#[test]
fn a_predicate_sees_the_records_that_are_stored() {
    let lab = Lab::new();
    let hook = r#""name":"place","text":"t",
        "when":"record.clock == 2 && record.parents.size() == 1 && resource == 'tool:bash'""#;
    teach(&lab.engine, 0, hook);
    assert_eq!(fires(&observe(&lab.engine, &call("c1"))), [("place", 1, 3)]);
    let records = lab.records(&run());
    assert_eq!(records[2].record.clock.get(), 2);
    let parent: RecordId = records[2].record.parents[0];
    assert_eq!(parent, records[1].record.id());
}
