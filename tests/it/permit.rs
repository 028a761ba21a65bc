//! Permission rules at a real engine: the door, the ruling on a call, the rows.

use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, EngineOptions, Home, IngestError, RunSeat, Scopes};
use spl::object;
use spl::permission::Ruling;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, Origin, RecordId, ThreadId};

use crate::support::{rule, switch, with};

const CLERK: &str = "did:sync:agent:clerk";

fn actor(name: &str) -> ActorId {
    ActorId::parse(name).expect("an actor")
}

fn seat(namespace: &str) -> RunSeat {
    RunSeat {
        thread: ThreadId::parse("th_run").expect("a thread"),
        life: 0,
        actor: actor(CLERK),
        domain: "ops".into(),
        namespace: Namespace::parse(namespace).expect("a namespace"),
        hooks: spl::engine::Hooks::Live,
    }
}

/// Writes configuration as vera, at the next clock.
fn configure_as(engine: &Engine, caller: &Caller, body: Object) -> Result<RecordId, IngestError> {
    let draft = Draft::new(ThreadId::config(), actor("did:sync:user:vera"), Act::Learn, body);
    let clock = engine
        .store()
        .read(|reader| reader.next_clock(&draft.thread, &draft.actor))
        .expect("a clock");
    Ok(engine.ingest_draft(caller, draft.with_clock(clock))?.record.id())
}

#[track_caller]
fn configure(engine: &Engine, body: Object) -> RecordId {
    configure_as(engine, &Caller::operator(), body).expect("written")
}

/// Puts the rules in force, and leaves the operator what it takes to write more of them.
fn put_in_force(engine: &Engine) {
    let operator = rule("operator", "allow", "resource == 'record_write'");
    configure(engine, with(operator, "priority", 1000));
    configure(engine, switch(true));
}

#[track_caller]
fn ruling(engine: &Engine, tool: &str, args: &Object) -> Ruling {
    engine.rule_on_call(&seat("acme"), tool, args).expect("asked")
}

fn allow(rule: &str) -> Ruling {
    Ruling::Allow { rule: rule.into() }
}

fn deny(rule: &str) -> Ruling {
    Ruling::Deny { rule: Some(rule.into()) }
}

const UNRULED: Ruling = Ruling::Deny { rule: None };

#[test]
fn a_call_is_ruled_on_by_what_any_process_has_written() {
    let dir = tempfile::tempdir().expect("a folder");
    let home = Home::at(dir.path());
    home.initialise("vera").expect("a home");
    let open = || Engine::open(&home, EngineOptions::default()).expect("an engine");
    let (here, there) = (open(), open());
    let none = Object::new();
    configure(&there, rule("no-bash", "deny", "resource == 'tool:bash'"));
    assert_eq!(ruling(&here, "bash", &none), Ruling::Off);
    put_in_force(&there);
    assert_eq!(ruling(&here, "bash", &none), deny("no-bash"));
    // What nobody allows is refused.
    assert_eq!(ruling(&here, "read_file", &none), UNRULED);
    configure(&there, with(rule("rest", "allow", "true"), "priority", -1));
    assert_eq!(ruling(&here, "read_file", &none), allow("rest"));
    assert_eq!(ruling(&here, "bash", &none), deny("no-bash"));
    configure(&there, with(rule("no-bash", "deny", "true"), "enabled", false));
    assert_eq!(ruling(&here, "bash", &none), allow("rest"));
    configure(&there, switch(false));
    assert_eq!(ruling(&here, "bash", &none), Ruling::Off);
}

#[test]
fn in_force_without_a_rule_everything_is_refused() {
    let engine = Engine::in_memory().expect("an engine");
    configure(&engine, switch(true));
    assert_eq!(ruling(&engine, "read_file", &Object::new()), UNRULED);
}

#[test]
fn a_rule_reads_the_call_as_it_would_be_recorded() {
    let engine = Engine::in_memory().expect("an engine");
    put_in_force(&engine);
    // Two records of the run's actor: the call would be the third.
    let note = |author: &mut spl::engine::Author<'_, '_>| {
        let thread = ThreadId::parse("th_run").expect("a thread");
        author.write(Draft::new(thread, actor(CLERK), Act::Do, Object::new()))
    };
    engine.author(move |author| note(author).and_then(|_| note(author))).expect("written");
    let args = object! { "command": "rm -rf build", "depth": 3 };
    for (number, expression) in [
        "record.act == 'CALL' && record.data_type == 'SCALAR'",
        "record.actor == 'did:sync:agent:clerk' && current_actor() == record.actor",
        "record.thread == 'th_run' && record.clock == 2 && size(record.parents) == 0",
        "record.body.tool == 'bash' && record.body.args.command.startsWith('rm')",
        "record.body.args.depth > 2",
        "resource == 'tool:bash' && current_namespace() == 'acme'",
        "now() > 0 && system.records_total > 1",
        "!has(record.body.status)",
    ]
    .into_iter()
    .enumerate()
    {
        let body = with(rule(&format!("r{number}"), "deny", expression), "priority", number);
        configure(&engine, body);
        assert_eq!(ruling(&engine, "bash", &args), deny(&format!("r{number}")), "{expression}");
    }
}

/// A hook learns of its own run's actor alone; a rule is the operator's, and learns of anybody.
#[test]
fn a_rule_may_ask_how_far_anybody_is_trusted() {
    let engine = Engine::in_memory().expect("an engine");
    put_in_force(&engine);
    let other = "did:sync:agent:other";
    configure(&engine, rule("known", "allow", &format!("trust('{other}', 'code') > 0.1")));
    configure(&engine, rule("counted", "deny", &format!("trust_count('{other}', 'code') > 1")));
    assert_eq!(ruling(&engine, "bash", &Object::new()), UNRULED);
    for clock in 0..2 {
        let body = object! { "domain": "code", "judged_by": other, "verdict": "accept" };
        let thread = ThreadId::parse("th_verdicts").expect("a thread");
        let draft = Draft::new(thread, actor("did:sync:user:vera"), Act::Know, body)
            .with_clock(Clock::new(clock).expect("a clock"));
        engine.ingest_draft(&Caller::operator(), draft).expect("written");
        let want = if clock == 0 { allow("known") } else { deny("counted") };
        assert_eq!(ruling(&engine, "bash", &Object::new()), want);
    }
}

#[test]
fn a_rule_that_fails_neither_allows_nor_denies_and_is_reported() {
    let engine = Engine::in_memory().expect("an engine");
    put_in_force(&engine);
    let failing = with(rule("fails", "deny", "record.body.args.path == '/'"), "priority", 9);
    configure(&engine, failing);
    configure(&engine, rule("rest", "allow", "true"));
    assert_eq!(ruling(&engine, "bash", &object! { "path": "/" }), deny("fails"));
    assert_eq!(ruling(&engine, "bash", &Object::new()), allow("rest"));
    assert_eq!(ruling(&engine, "bash", &Object::new()), allow("rest"));
    let permissions = engine.permissions().expect("rows");
    let rows = permissions["data"].as_array().expect("a list");
    let row = rows.iter().find(|row| row.get("name") == Some(&"fails".into())).expect("a row");
    assert_eq!(row.get("errors").and_then(Value::as_u64), Some(2));
    let last = row.get("last_error").and_then(Value::as_str).expect("a sentence");
    assert!(last.contains("path"), "{last}");
}

/// A malformed rule is refused where it is written; one whose predicate does not compile is stored,
/// skipped and reported, and the one before it stays in force.
#[test]
fn the_door_looks_at_the_shape_and_load_at_the_predicate() {
    let engine = Engine::in_memory().expect("an engine");
    put_in_force(&engine);
    let refused = |body: Object| {
        let error = configure_as(&engine, &Caller::operator(), body).expect_err("refused");
        (error.code(), error.field().map(str::to_owned))
    };
    let at = |field: &str| (Code::InvalidBody, Some(field.to_owned()));
    assert_eq!(refused(object! { "topic": "permission_rule" }), at("name"));
    assert_eq!(refused(rule("r", "block", "true")), at("action"));
    assert_eq!(refused(with(rule("r", "deny", "true"), "prio", 1)), at("prio"));
    assert_eq!(refused(object! { "topic": "permissions_enabled" }), at("enabled"));
    assert_eq!(refused(with(switch(true), "enabled", "yes")), at("enabled"));

    let good = configure(&engine, rule("r", "allow", "true"));
    let bad = configure(&engine, rule("r", "deny", "resource = 1"));
    assert_eq!(ruling(&engine, "bash", &Object::new()), allow("r"));
    let permissions = engine.permissions().expect("rows");
    assert_eq!(permissions["enabled"], Value::Bool(true));
    let [_, row] = permissions["data"].as_array().expect("a list") else { panic!("two rows") };
    assert_eq!(row.get("record_id"), Some(&good.into()));
    let refused = row.get("refused").expect("a report");
    assert_eq!(refused.get("record_id"), Some(&bad.into()));
    assert_eq!(refused.get("reason"), Some(&"bad_cel".into()));
}

#[test]
fn rules_and_transports_take_the_operator_and_tiers_do_not() {
    let engine = Engine::in_memory().expect("an engine");
    let scopes = "records:read,records:write,config:read,config:write";
    let bearer = Caller::bearer(Scopes::parse(scopes).expect("scopes"));
    let kind_alone = object! { "kind": "core.permission_rule.v1" };
    let transport = |topic: &str| object! { "topic": topic, "transport": "in_process" };
    for body in [
        rule("r", "allow", "true"),
        switch(false),
        kind_alone,
        transport("work_loop_transport"),
        transport("work_loop_transport_members"),
    ] {
        let error = configure_as(&engine, &bearer, body.clone()).expect_err("refused");
        assert_eq!(error.code(), Code::ConfigWriteDenied, "{body:?}");
    }
    let tier = object! { "kind": "core.engine.tier.v1", "tier": "trial", "max_turns": 1 };
    let given = object! { "topic": "actor_tier", "actor": CLERK, "tier": "paid" };
    for body in [tier, given] {
        configure_as(&engine, &bearer, body).expect("written");
    }
    let live = engine.live().expect("live");
    assert_eq!(live.config.tier_of(&actor(CLERK)).name.as_str(), "paid");
    // What is malformed is stored, and has no effect.
    let odd = object! { "topic": "actor_tier", "actor": CLERK, "tier": "operator" };
    configure_as(&engine, &bearer, odd).expect("stored");
    let tiers = engine.tiers().expect("rows");
    let [row] = tiers["actors"].as_array().expect("a list") else { panic!("one actor") };
    assert_eq!(row.get("tier"), Some(&"paid".into()));
    assert!(row.get("refused").is_some_and(|refused| *refused != Value::Null));
}

#[test]
fn a_record_elsewhere_that_looks_like_a_rule_is_none() {
    let engine = Engine::in_memory().expect("an engine");
    put_in_force(&engine);
    let thread = ThreadId::parse("th_elsewhere").expect("a thread");
    let draft = Draft::new(
        thread,
        actor("did:sync:user:vera"),
        Act::Learn,
        object! { "topic": "permission_rule", "action": "allow", "name": 7 },
    );
    engine.ingest_draft(&Caller::operator(), draft).expect("data like any other");
    assert_eq!(ruling(&engine, "bash", &Object::new()), UNRULED);
}

/// An import passes no door, so it must not rule either.
#[test]
fn an_imported_rule_is_kept_and_not_loaded() {
    let engine = Engine::in_memory().expect("an engine");
    let body = rule("theirs", "allow", "true");
    let draft = Draft::new(ThreadId::config(), actor("did:sync:user:them"), Act::Learn, body);
    let store = engine.store();
    let prepared = store.prepare(draft).expect("prepared");
    store.write(move |tx| tx.append(&prepared, Origin::Import)).expect("imported");
    configure(&engine, switch(true));
    assert_eq!(ruling(&engine, "bash", &Object::new()), UNRULED);
}
