//! Permission rules over requests at a real engine, the way out of a lock-out, and what refusals
//! leave behind.

use proptest::prelude::*;
use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Denial, Due, Engine, EngineOptions, Home, IngestError, Request, Scopes};
use spl::identity::{KeyPair, Keyring};
use spl::object;
use spl::permission::Ruling;
use spl::record::{Act, ActorId, Draft, RecordId, ThreadId};
use spl::store::{StoreOptions, ThreadRange};
use spl::time::{TimeSource, Timestamp};

use crate::lab::{Lab, bash, bodies, turns};
use crate::support::{register, rule, switch, with};

const CLERK: &str = "did:sync:agent:clerk";

fn actor(name: &str) -> ActorId {
    ActorId::parse(name).expect("an actor")
}

fn thread(name: &str) -> ThreadId {
    ThreadId::parse(name).expect("a thread")
}

/// Somebody who is not the operator, and who acts as the clerk.
fn clerk() -> Caller {
    let scopes = Scopes::parse("records:read,records:write,config:read,config:write");
    Caller::bearer(scopes.expect("scopes")).claiming(actor(CLERK)).expect("allowed")
}

/// Writes as the engine itself does, which no rule judges.
fn author(engine: &Engine, draft: Draft) -> RecordId {
    engine.author(move |author| Ok(author.write(draft)?.id())).expect("written")
}

fn configure(engine: &Engine, body: Object) -> RecordId {
    author(engine, Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body))
}

/// An engine with the namespaces that these tests write into.
fn engine() -> Engine {
    let engine = Engine::in_memory().expect("an engine");
    register(&engine, "acme/site");
    engine
}

fn stated(engine: &Engine, caller: &Caller, draft: Draft) -> Result<RecordId, IngestError> {
    let clock = engine.store().read(|reader| reader.next_clock(&draft.thread, &draft.actor));
    let draft = draft.with_clock(clock.expect("a clock"));
    Ok(engine.ingest_draft(caller, draft)?.record.id())
}

fn asked(
    engine: &Engine,
    caller: &Caller,
    resource: &str,
    on: Option<&str>,
    body: &Object,
) -> Result<(), IngestError> {
    let on = on.map(thread);
    engine.permit(caller, &Request { resource, thread: on.as_ref(), body })
}

/// What is asked of each rule, with a letter for each. One of them says once more whether rules are in
/// force.
fn requests(engine: &Engine, in_force: bool) -> String {
    let (operator, clerk, nothing) = (Caller::operator(), clerk(), Object::new());
    let note = |on: &str, body: Object| Draft::new(thread(on), actor(CLERK), Act::Know, body);
    let again = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, switch(in_force));
    let acme = || object! { "namespace": "acme" };
    let answers = [
        ('a', stated(engine, &clerk, note("th_a", Object::new())).map(drop)),
        ('b', stated(engine, &clerk, note("th_b", acme())).map(drop)),
        ('c', stated(engine, &operator, again).map(drop)),
        ('r', asked(engine, &clerk, "thread_read", Some("th_a"), &nothing)),
        ('s', asked(engine, &clerk, "thread_read", Some("th_b"), &nothing)),
        ('k', asked(engine, &operator, "config_read", None, &nothing)),
        ('d', asked(engine, &clerk, "dispatch", None, &with(acme(), "budget_usd", 5))),
    ];
    let mut allowed = String::new();
    for (letter, answer) in answers {
        match answer {
            Ok(()) => allowed.push(letter),
            Err(error) => assert_eq!(error.code(), Code::PermissionDenied, "{letter}: {error}"),
        }
    }
    allowed
}

#[test]
fn a_rule_sees_who_asks_for_what_and_where() {
    for (expression, wanted) in [
        ("true", "abcrskd"),
        ("false", ""),
        ("resource == 'record_write'", "abc"),
        ("resource.endsWith('_read')", "rsk"),
        ("resource == 'dispatch'", "d"),
        ("current_actor() == 'did:sync:agent:clerk'", "abrsd"),
        // Without a home the operator is the engine.
        ("current_actor() == 'did:sync:system:engine'", "ck"),
        ("record.actor == current_actor()", "abcrskd"),
        ("record.thread == 'th_a'", "ar"),
        ("record.thread == 'th_engine_config'", "c"),
        ("record.act == 'GET'", "rsk"),
        ("record.act == 'KNOW'", "ab"),
        ("current_namespace() == 'acme'", "bsd"),
        ("record.body.topic == 'permissions_enabled'", "c"),
        ("has(record.body.budget_usd) && record.body.budget_usd <= 5", "d"),
        ("trust_count(current_actor(), 'code') == 0 && now() > 0", "abcrskd"),
        // It fails wherever it is asked, so it is skipped.
        ("record.body.nothing.there", ""),
    ] {
        let engine = engine();
        let first = Draft::new(
            thread("th_b"),
            ActorId::engine(),
            Act::Know,
            object! { "namespace": "acme" },
        );
        author(&engine, first);
        configure(&engine, rule("r", "allow", expression));
        assert_eq!(requests(&engine, false), "abcrskd", "they are not in force yet");
        configure(&engine, switch(true));
        assert_eq!(requests(&engine, true), wanted, "{expression}");
        // The same as an exception from everything.
        configure(&engine, with(rule("rest", "allow", "true"), "priority", -1));
        configure(&engine, with(rule("r", "deny", expression), "priority", 1));
        let rest: String = "abcrskd".chars().filter(|letter| !wanted.contains(*letter)).collect();
        assert_eq!(requests(&engine, true), rest, "all but {expression}");
        configure(&engine, switch(false));
        assert_eq!(requests(&engine, false), "abcrskd", "they are not in force any more");
    }
}

#[test]
fn in_force_without_a_rule_the_operator_is_refused_and_the_engine_is_not() {
    let engine = engine();
    configure(&engine, switch(true));
    assert_eq!(requests(&engine, true), "");
    let note = Draft::new(thread("th_a"), ActorId::engine(), Act::Know, Object::new());
    author(&engine, note);
}

#[test]
fn a_namespace_below_adds_refusals_and_undoes_none() {
    let engine = engine();
    let place = |namespace: &str| object! { "namespace": namespace };
    let may =
        |namespace: &str| asked(&engine, &clerk(), "dispatch", None, &place(namespace)).is_ok();
    let all = ["default", "acme", "acme/site", "other"];
    configure(&engine, with(rule("all", "allow", "true"), "priority", 1));
    configure(&engine, with(with(rule("no", "deny", "true"), "namespace", "acme"), "priority", 2));
    configure(&engine, switch(true));
    assert_eq!(all.map(may), [true, false, false, true]);
    let below = with(rule("yes", "allow", "true"), "namespace", "acme/site");
    configure(&engine, with(below, "priority", i64::MAX));
    assert_eq!(all.map(may), [true, false, false, true]);
}

/// Rules say nothing to whoever they refuse: not that there is one, nor which.
#[test]
fn a_refusal_names_its_rule_to_the_operator_alone() {
    let engine = engine();
    configure(&engine, rule("sesame", "deny", "resource == 'thread_read' && 'open' == 'open'"));
    configure(&engine, switch(true));
    let none = Object::new();
    let refusal = |caller: &Caller, resource: &str| {
        let error = asked(&engine, caller, resource, None, &none).expect_err("refused");
        (error.to_string(), error.hint())
    };
    let (by_rule, hint) = refusal(&Caller::operator(), "thread_read");
    assert_eq!(by_rule, "the permission rule `sesame` does not allow this");
    assert!(hint.is_some_and(|hint| hint.contains("permissions-unlock")));
    let (by_none, _) = refusal(&Caller::operator(), "dispatch");
    assert_eq!(by_none, "no permission rule allows this");
    let told = refusal(&clerk(), "thread_read");
    assert_eq!(told, ("the permission rules do not allow this".to_owned(), None));
    assert_eq!(told, refusal(&clerk(), "dispatch"));
    assert_eq!(told, refusal(&Caller::agent(), "dispatch"));
}

/// The order of the door: who may not claim an actor is told that, rules or not, and who is refused
/// by the rules learns nothing about gates and shapes.
#[test]
fn the_rules_stand_between_the_claim_and_the_gate() {
    let engine = engine();
    configure(&engine, switch(true));
    let refused = |act_as: ActorId, on: ThreadId, body: Object| {
        let draft = Draft::new(on, act_as, Act::Learn, body);
        stated(&engine, &clerk(), draft).expect_err("refused").code()
    };
    let hook = || object! { "kind": "core.hook.v1", "topic": "hook", "veto": true };
    assert_eq!(refused(ActorId::engine(), ThreadId::config(), hook()), Code::DidClaimDenied);
    assert_eq!(refused(actor(CLERK), ThreadId::config(), hook()), Code::PermissionDenied);
    let odd = object! { "namespace": "NOT ONE" };
    assert_eq!(refused(actor(CLERK), thread("th_a"), odd), Code::PermissionDenied);
    configure(&engine, rule("all", "allow", "true"));
    assert_eq!(refused(actor(CLERK), ThreadId::config(), hook()), Code::ConfigWriteDenied);
}

fn home() -> (tempfile::TempDir, Home) {
    let dir = tempfile::tempdir().expect("a folder");
    let home = Home::at(dir.path());
    home.initialise("vera").expect("a home");
    (dir, home)
}

fn open(home: &Home) -> Engine {
    Engine::open(home, EngineOptions::default()).expect("an engine")
}

#[test]
fn the_preflight_says_what_the_operator_would_be_left() {
    let (_dir, home) = home();
    let engine = open(&home);
    let left = || {
        let preflight = engine.preflight().expect("asked");
        assert_eq!(preflight.actor, actor("did:sync:user:vera"));
        let allowed = preflight.rulings.iter().map(|(_, ruling)| ruling.allows());
        (preflight.passes(), allowed.collect::<Vec<_>>())
    };
    assert_eq!(left(), (false, vec![false, false, false]));
    configure(&engine, rule("reads", "allow", "resource.endsWith('_read')"));
    assert_eq!(left(), (false, vec![false, true, true]));
    // Notes may be written, and the switch may not.
    configure(&engine, rule("notes", "allow", "record.thread == 'th_notes'"));
    assert_eq!(left(), (false, vec![false, true, true]));
    let vera = "current_actor() == 'did:sync:user:vera'";
    configure(&engine, rule("operator", "allow", vera));
    assert_eq!(left(), (true, vec![true, true, true]));
    configure(&engine, with(rule("no", "deny", "resource == 'config_read'"), "priority", 1));
    assert_eq!(left(), (false, vec![true, true, false]));
    let preflight = engine.preflight().expect("asked");
    assert_eq!(preflight.rulings[2].1, Ruling::Deny { rule: Some("no".into()) });
}

#[test]
fn whoever_is_locked_out_unlocks_beside_a_running_server() {
    let (_dir, home) = home();
    let (server, command) = (open(&home), open(&home));
    configure(&server, switch(true));
    let off = || Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, switch(false));
    let error = stated(&server, &Caller::operator(), off()).expect_err("locked out");
    assert_eq!(error.code(), Code::PermissionDenied);
    let written = command.unlock_permissions().expect("written");
    assert!(!server.permissions_in_force().expect("asked"));
    let rows = server.permissions().expect("rows");
    assert_eq!(rows["record_id"], written.into());
    stated(&server, &Caller::operator(), off()).expect("written");
}

/// A process that lives for one command does not fold the configuration to learn that nobody ever
/// put rules in force.
#[test]
fn rules_that_were_never_in_force_cost_nothing() {
    let (_dir, home) = home();
    let writer = open(&home);
    let hook = object! {
        "kind": "core.hook.v1", "topic": "hook", "name": "h", "when": "true", "text": "t",
    };
    configure(&writer, hook);
    let here = open(&home);
    let misses = || here.expressions().stats().misses;
    let note = Draft::new(thread("th_a"), actor(CLERK), Act::Know, Object::new());
    stated(&here, &clerk(), note.clone()).expect("written");
    assert_eq!(misses(), 0, "the hook was compiled");
    configure(&writer, switch(true));
    stated(&here, &clerk(), note).expect_err("refused");
    assert_eq!(misses(), 1);
}

/// An engine whose clock moves by this much whenever it is asked.
fn stepped(step_millis: i64) -> Engine {
    let start = Timestamp::from_millis(1_796_000_040_000);
    let keyring = Keyring::new(KeyPair::from_seed(&[1; 32]));
    let time = TimeSource::stepped(start, step_millis);
    Engine::in_memory_with(StoreOptions::new(keyring, time)).expect("an engine")
}

fn denials(engine: &Engine) -> Vec<Object> {
    let read = |reader: &spl::store::Reader<'_>| {
        reader.thread(&ThreadId::security(), ThreadRange::default(), 1000)
    };
    let stored = engine.store().read(read).expect("read");
    for stored in &stored {
        assert_eq!(stored.origin, spl::record::Origin::Engine);
        assert_eq!(stored.record.act, Act::Know);
        assert_eq!(stored.record.actor, ActorId::governance());
    }
    stored.into_iter().map(|stored| stored.record.body.clone()).collect()
}

#[test]
fn a_flood_of_refusals_is_one_record_a_minute_for_each_caller_and_reason() {
    const STEP: i64 = 6;
    // At this pace a minute holds 10,000 refusals.
    let engine = stepped(STEP);
    let callers = ["sa-a", "sa-b"];
    let codes = [Code::PermissionDenied, Code::ScopeForbidden];
    let mut at = engine.store().now().as_millis();
    let mut wanted = std::collections::BTreeMap::new();
    for n in 0..20_000_usize {
        let (caller, code) = (callers[n % 2], codes[n / 2 % 2]);
        engine.note_denial(&Denial { caller, code, resource: Some("thread_read"), actor: None });
        at += STEP;
        let minute = Timestamp::from_millis(at).to_string()[..16].to_owned();
        *wanted.entry((minute, caller.to_owned(), code.as_str().to_owned())).or_insert(0) += 1;
    }
    assert_eq!(denials(&engine), Vec::<Object>::new(), "a refusal writes nothing itself");
    let over = engine.write_denials(Due::Over).expect("written");
    assert_eq!(over, 8, "two minutes are over");
    engine.write_denials(Due::All).expect("written");
    let rows = denials(&engine);
    let told = |row: &Object| {
        let text = |key: &str| row[key].as_str().expect("text").to_owned();
        let minute = text("from")[..16].to_owned();
        assert_eq!(minute, text("to")[..16]);
        ((minute, text("caller"), text("code")), row["count"].as_u64().expect("a count"))
    };
    assert_eq!(rows.iter().map(told).collect::<std::collections::BTreeMap<_, _>>(), wanted);
    assert_eq!(rows.len(), wanted.len(), "one record each");
    assert_eq!(wanted.values().sum::<u64>(), 20_000);
}

#[test]
fn a_row_of_denials_tells_who_what_and_when_and_nothing_else() {
    let engine = stepped(1000);
    for (resource, actor) in [("dispatch", None), ("thread_read", Some("did:sync:user:vera"))] {
        let resource = Some(resource);
        let code = Code::PermissionDenied;
        engine.note_denial(&Denial { caller: "sa-a", code, resource, actor });
    }
    // The minute is not over.
    assert_eq!(engine.write_denials(Due::Over).expect("written"), 0);
    assert_eq!(engine.write_denials(Due::All).expect("written"), 1);
    let [row] = &denials(&engine)[..] else { panic!("one row") };
    insta::assert_snapshot!(Value::from(row.clone()), @r#"{"actors_claimed":["did:sync:user:vera"],"caller":"sa-a","code":"PERMISSION_DENIED","count":2,"from":"2026-11-30T00:54:00.000Z","kind":"core.audit.denial.v1","resources":["dispatch","thread_read"],"to":"2026-11-30T00:54:01.000Z","topic":"permission_denied"}"#);
}

const SPACES: [&str; 3] = ["default", "acme", "acme/site"];
const RESOURCES: [&str; 3] = ["thread_read", "dispatch", "record_write"];
const SAYS: [&str; 5] = [
    "true",
    "resource == 'dispatch'",
    "resource.endsWith('_read')",
    "record.body.nothing.there",
    "current_actor() == 'did:sync:agent:clerk'",
];

#[derive(Debug, Clone)]
struct Written {
    space: usize,
    deny: bool,
    priority: i64,
    says: usize,
}

impl Written {
    fn write(&self, engine: &Engine, name: &str) {
        let action = if self.deny { "deny" } else { "allow" };
        let body = rule(name, action, SAYS[self.says]);
        let body = with(body, "namespace", SPACES[self.space]);
        configure(engine, with(body, "priority", self.priority));
    }
}

fn arb_rule(spaces: std::ops::Range<usize>) -> impl Strategy<Value = Written> {
    (spaces, any::<bool>(), -1_i64..3, 0..SAYS.len())
        .prop_map(|(space, deny, priority, says)| Written { space, deny, priority, says })
}

/// Whether each request is allowed in each namespace: by its resource, then by its namespace.
fn table(engine: &Engine) -> [[bool; 3]; 3] {
    RESOURCES.map(|resource| {
        SPACES.map(|namespace| {
            let body = object! { "namespace": namespace };
            if resource == "record_write" {
                let draft = Draft::new(thread("th_a"), actor(CLERK), Act::Know, body);
                stated(engine, &clerk(), draft).is_ok()
            } else {
                asked(engine, &clerk(), resource, None, &body).is_ok()
            }
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    /// One more refusal, wherever it is written, allows no request that was not allowed; and what is
    /// written in a namespace says nothing above it.
    #[test]
    fn one_more_rule_below_says_nothing_above_and_one_more_refusal_allows_nothing(
        rules in prop::collection::vec(arb_rule(0..3), 0..6),
        more in arb_rule(0..3),
    ) {
        let engine = engine();
        for (number, rule) in rules.iter().enumerate() {
            rule.write(&engine, &format!("r{number}"));
        }
        configure(&engine, switch(true));
        let before = table(&engine);
        more.write(&engine, "more");
        let after = table(&engine);
        for (before, after) in before.iter().zip(&after) {
            prop_assert_eq!(&before[..more.space], &after[..more.space]);
            for (before, after) in before.iter().zip(after) {
                prop_assert!(!more.deny || *before || !*after);
            }
        }
    }

    /// What a rule of a namespace refuses, no rule below it allows.
    #[test]
    fn no_rule_below_allows_a_request_that_one_above_refuses(
        above in prop::collection::vec(arb_rule(0..1), 0..5),
        below in prop::collection::vec(arb_rule(1..3), 0..5),
    ) {
        let engine = engine();
        // Whatever nobody has an opinion on is refused by a rule.
        configure(&engine, with(rule("rest", "deny", "true"), "priority", -9));
        for (number, rule) in above.iter().enumerate() {
            rule.write(&engine, &format!("above{number}"));
        }
        configure(&engine, switch(true));
        let root = table(&engine).map(|row| row[0]);
        for (number, rule) in below.iter().enumerate() {
            let rule = Written { priority: i64::MAX, ..rule.clone() };
            rule.write(&engine, &format!("below{number}"));
        }
        for (root, row) in root.into_iter().zip(table(&engine)) {
            prop_assert_eq!(row[0], root);
            prop_assert!(root || row == [false; 3]);
        }
    }
}

/// What a rule was asked about is what is recorded and what is executed, and its ruling is a record.
#[test]
fn a_call_of_a_run_is_ruled_on_recorded_and_then_executed_or_not() {
    let lab = Lab::new();
    let touches = "resource == 'tool:bash' && record.body.args.command.contains('touch')";
    configure(&lab.engine, with(rule("no-touch", "deny", touches), "priority", 1));
    configure(&lab.engine, rule("rest", "allow", "resource.startsWith('tool:')"));
    configure(&lab.engine, switch(true));
    let played = lab.play(&turns(&[bash("touch executed"), bash("echo fine >fine")]));
    assert!(!lab.workspace().join("executed").exists());
    assert!(lab.workspace().join("fine").exists());
    let verdicts = bodies(&played, "core.work.tool_verdict.v1");
    let text = |body: &Object, key: &str| body.get(key).and_then(Value::as_str).map(str::to_owned);
    let told =
        |key| verdicts.iter().map(|it| text(it, key).unwrap_or_default()).collect::<Vec<_>>();
    assert_eq!(told("decision"), ["deny", "allow"]);
    assert_eq!(told("layer"), ["rule", "allow"]);
    assert_eq!(told("rule"), ["no-touch", "rest"]);
    let calls = bodies(&played, "core.work.tool_call.v1");
    let commands: Vec<_> =
        calls.iter().filter_map(|call| call["args"].get("command")?.as_str()).collect();
    assert_eq!(commands, ["touch executed", "echo fine >fine"]);
}
