//! Blueprints: what is refused, what is written, and that it is all of it or nothing.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use spl::blueprint::{
    BLUEPRINTS_THREAD, Blueprint, BlueprintError, BlueprintSet, Installed, Plan, Sort, State,
    Vouched, Voucher, install, installations, plan,
};
use spl::canon::{Limits, Object, Value, hex, parse};
use spl::code::{Code, Coded as _};
use spl::engine::{Caller, Engine, Scopes};
use spl::identity::KeyPair;
use spl::object;
use spl::record::{Act, ActorId, Draft, Origin, ThreadId};
use spl::time::Timestamp;

use crate::lab::Lab;

/// Whose blueprints the fixtures are.
const AUTHOR: &str = "did:web:orchard.example";

/// When they are signed, in milliseconds.
const SIGNED_AT: i64 = 1_796_000_000_000;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/blueprint").join(name)
}

/// A case: a blueprint, who wants to install it, and what comes of it.
struct Case {
    name: String,
    members: Object,
}

impl Case {
    fn all(of: &str) -> Vec<Self> {
        let entries = fs::read_dir(folder(of)).expect("a folder");
        let mut cases: Vec<Self> = entries
            .map(|entry| {
                let path = entry.expect("an entry").path();
                let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
                let case = parse(&fs::read(&path).expect("a file"), Limits::DOOR).expect(&name);
                let members = case.into_object().expect("an object");
                let known =
                    ["about", "blueprint", "caller", "extends", "signed_by", "trusts", "want"];
                let unknown = members.keys().find(|key| !known.contains(&key.as_str()));
                assert_eq!(unknown, None, "{name}");
                Self { name, members }
            })
            .collect();
        cases.sort_by(|a, b| a.name.cmp(&b.name));
        cases
    }

    fn named(of: &str, name: &str) -> Self {
        Self::all(of).into_iter().find(|case| case.name == name).expect("a case")
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.members.get(key).map(|value| value.as_str().expect("a text"))
    }

    fn want(&self, key: &str) -> Option<&Value> {
        self.members["want"].get(key)
    }

    fn caller(&self) -> Caller {
        match self.text("caller") {
            None => Caller::operator(),
            Some(scopes) => Caller::bearer(Scopes::parse(scopes).expect("scopes")),
        }
    }

    fn by(&self) -> ActorId {
        match self.text("caller") {
            None => ActorId::engine(),
            Some(_) => actor("did:sync:agent:clerk"),
        }
    }

    fn set(&self, lab: &Lab) -> Result<BlueprintSet, BlueprintError> {
        let mut blueprint = self.members["blueprint"].clone();
        if let Some(signer) = self.text("signed_by") {
            let key = match signer {
                "operator" => operator_key(lab),
                "author" => author_key(),
                "stranger" => KeyPair::from_seed(&[9; 32]),
                other => panic!("nobody is called {other}"),
            };
            blueprint = signed(&Blueprint::read(blueprint)?, &key).to_object().into();
        }
        let extended = self.members.get("extends").and_then(Value::as_array).unwrap_or_default();
        BlueprintSet::read(blueprint, extended.to_vec())
    }

    /// Lets the operator trust whom the case says.
    fn trust(&self, engine: &Engine) {
        match self.text("trusts") {
            None => {}
            Some("author") => trust(engine, None),
            Some("revoked") => trust(engine, Some(SIGNED_AT / 1000 - 1)),
            Some("revoked-later") => trust(engine, Some(SIGNED_AT / 1000)),
            Some(other) => panic!("nobody trusts {other}"),
        }
    }
}

fn actor(name: &str) -> ActorId {
    ActorId::parse(name).expect("an actor")
}

fn author_key() -> KeyPair {
    KeyPair::from_seed(&[7; 32])
}

fn operator_key(lab: &Lab) -> KeyPair {
    let path = lab.engine.home().expect("a home").secrets_path().join("operator-identity.key");
    let seed = fs::read(path).expect("a key");
    KeyPair::from_seed(seed.as_slice().try_into().expect("32 bytes"))
}

fn signed(blueprint: &Blueprint, key: &KeyPair) -> Blueprint {
    blueprint.clone().sign(key, Timestamp::from_millis(SIGNED_AT))
}

/// Lets the operator trust the author of the fixtures.
fn trust(engine: &Engine, revoked_after: Option<i64>) {
    let mut body = object! {
        "name": AUTHOR,
        "public_key": author_key().public().to_base64(),
        "topic": "auth_blueprint_author",
    };
    body.extend(revoked_after.map(|at| ("revoked_after".to_owned(), at.into())));
    let clock = engine
        .store()
        .read(|reader| reader.next_clock(&ThreadId::config(), &actor("did:sync:user:vera")));
    let draft = Draft::new(ThreadId::config(), actor("did:sync:user:vera"), Act::Learn, body);
    let draft = draft.with_clock(clock.expect("a clock"));
    engine.ingest_draft(&Caller::operator(), draft).expect("trusted");
}

fn last(engine: &Engine) -> i64 {
    engine.store().read(|reader| reader.last()).expect("read").get()
}

fn loaded(engine: &Engine) -> usize {
    engine.live().expect("live").config.hooks_loaded()
}

fn planned(lab: &Lab, set: &BlueprintSet) -> Plan {
    plan(&lab.engine, &Caller::operator(), &ActorId::engine(), set).expect("a plan")
}

fn installed(engine: &Engine, set: &BlueprintSet) -> Result<Installed, BlueprintError> {
    let accepted = hex(&set.plan_hash());
    install(engine, &Caller::operator(), &ActorId::engine(), set, &accepted)
}

/// A blueprint of these seeds, signed by the operator.
fn ours(lab: &Lab, seeds: Vec<Object>) -> BlueprintSet {
    let blueprint = Blueprint::read(blueprint(seeds).into()).expect("a blueprint");
    BlueprintSet::assemble(signed(&blueprint, &operator_key(lab)), Vec::new()).expect("a set")
}

fn blueprint(seeds: Vec<Object>) -> Object {
    object! {
        "author": AUTHOR,
        "format": 1,
        "name": "orchard",
        "object": "blueprint",
        "seeds": seeds,
        "version": "1.0.0",
    }
}

fn hook(name: &str, text: &str) -> Object {
    object! {
        "act": "LEARN",
        "body": object! {
            "kind": "core.hook.v1",
            "name": name,
            "text": text,
            "topic": "hook",
            "when": "resource == \"tool:bash\"",
        },
        "thread": "th_engine_config",
    }
}

fn note(text: &str) -> Object {
    object! { "act": "KNOW", "body": object! { "text": text }, "thread": "th_orchard_notes" }
}

#[test]
fn what_is_refused_is_refused_by_name_and_leaves_nothing() {
    for case in Case::all("refused") {
        let lab = Lab::new();
        case.trust(&lab.engine);
        let (before, name) = (last(&lab.engine), &case.name);
        let refused = case.set(&lab).and_then(|set| {
            let (caller, by) = (case.caller(), case.by());
            let shown = plan(&lab.engine, &caller, &by, &set).expect("a plan");
            let accepted = hex(&shown.hash);
            let refused = install(&lab.engine, &caller, &by, &set, &accepted).expect_err(name);
            let foreseen = shown.refused.expect("the plan says so");
            assert_eq!(foreseen.to_string(), refused.to_string(), "{name}");
            assert_eq!((foreseen.code(), foreseen.field()), (refused.code(), refused.field()));
            Err::<(), _>(refused)
        });
        let refused = refused.expect_err(name);
        let want = |key: &str| case.want(key).and_then(Value::as_str);
        assert_eq!(Some(refused.code().as_str()), want("code"), "{name}: {refused}");
        assert_eq!(refused.field(), want("field"), "{name}: {refused}");
        if let Some(says) = want("says") {
            assert!(refused.to_string().contains(says), "{name}: {refused}");
        }
        if refused.code() == Code::ConfigWriteDenied {
            let said = format!("{refused} {:?} {:?}", refused.hint(), refused.reason());
            assert!(!said.contains("tests-first") && !said.contains("priority"), "{name}: {said}");
        }
        assert_eq!(last(&lab.engine), before, "{name}");
        assert_eq!(loaded(&lab.engine), 0, "{name}");
    }
}

#[test]
fn what_is_accepted_is_written_once() {
    for case in Case::all("accepted") {
        let lab = Lab::new();
        case.trust(&lab.engine);
        let name = &case.name;
        let (set, caller, by) = (case.set(&lab).expect(name), case.caller(), case.by());
        let shown = plan(&lab.engine, &caller, &by, &set).expect("a plan");
        assert!(shown.refused.is_none(), "{name}: {:?}", shown.refused);
        let want = |key: &str| case.want(key).and_then(Value::as_u64).expect("a number");
        for (key, sort) in
            [("content", Sort::Content), ("rules", Sort::Rule), ("hooks", Sort::Hook)]
        {
            let count = shown.seeds.iter().filter(|it| it.placed.seed.sort() == sort).count();
            assert_eq!(count as u64, want(key), "{name}: {key}");
        }
        assert_eq!(
            Some(shown.vouched.as_str()),
            case.want("vouched_by").and_then(Value::as_str),
            "{name}"
        );
        let accepted = hex(&shown.hash);
        let before = last(&lab.engine);
        let first = install(&lab.engine, &caller, &by, &set, &accepted).expect(name);
        assert!(first.fresh && first.there.is_empty(), "{name}");
        assert_eq!(first.written.len(), shown.seeds.len(), "{name}");
        let seeds = i64::try_from(shown.seeds.len()).expect("few");
        assert_eq!(last(&lab.engine), before + seeds + 1, "{name}");
        assert_eq!(loaded(&lab.engine) as u64, want("hooks"), "{name}");
        // A second time, by this process and by another, nothing is written.
        for engine in [&lab.engine, &lab.another()] {
            let second = install(engine, &caller, &by, &set, &accepted).expect(name);
            assert!(!second.fresh && second.written.is_empty(), "{name}");
            assert_eq!((&second.there, second.record), (&first.written, first.record), "{name}");
            assert_eq!(last(engine), before + seeds + 1, "{name}");
        }
        assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None, "{name}");
    }
}

/// Content is stated by whoever installs it, hooks as the engine's operator says.
#[test]
fn the_records_are_the_installers_and_the_note_is_the_engines() {
    let lab = Lab::new();
    let set = ours(&lab, vec![hook("a", "A."), note("Pears.")]);
    let vera = actor("did:sync:user:vera");
    let accepted = hex(&set.plan_hash());
    let done = install(&lab.engine, &Caller::operator(), &vera, &set, &accepted).expect("done");
    let stored =
        |id| lab.engine.store().read(|reader| reader.record(id)).expect("read").expect("a record");
    // Content first, hooks last, whatever the file says.
    let threads: Vec<String> =
        done.written.iter().map(|id| stored(*id).record.thread.to_string()).collect();
    assert_eq!(threads, ["th_orchard_notes", "th_engine_config"]);
    for id in &done.written {
        let stored = stored(*id);
        assert_eq!((stored.origin, stored.record.actor.as_str()), (Origin::Door, vera.as_str()));
    }
    let note = stored(done.record);
    assert_eq!(note.origin, Origin::Engine);
    assert_eq!(note.record.thread.as_str(), BLUEPRINTS_THREAD);
    assert_eq!(note.record.body["by"], Value::from("did:sync:user:vera"));
    assert_eq!(note.record.body["vouched_by"], Value::from("operator"));
    let list = installations(&lab.engine).expect("a list");
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].to_object()["records"], Value::from(2));
}

#[test]
fn another_plan_than_the_accepted_one_is_not_carried_out() {
    let lab = Lab::new();
    let set = ours(&lab, vec![hook("a", "A.")]);
    let other = ours(&lab, vec![hook("a", "B.")]);
    let (caller, by) = (Caller::operator(), ActorId::engine());
    for (accepted, code) in [
        (hex(&other.plan_hash()), Code::PlanMismatch),
        (hex(&set.plan_hash()).to_uppercase(), Code::PlanMismatch),
        (String::new(), Code::BlueprintRefused),
        (hex(&set.plan_hash())[..63].to_owned(), Code::BlueprintRefused),
    ] {
        let refused = install(&lab.engine, &caller, &by, &set, &accepted).expect_err("refused");
        assert_eq!((refused.code(), refused.field()), (code, Some("accept_plan")), "{accepted}");
    }
    assert_eq!((last(&lab.engine), loaded(&lab.engine)), (0, 0));
}

/// A change here makes every plan that somebody has written down another one.
#[test]
fn a_plan_hash_is_what_it_was() {
    let lab = Lab::new();
    let case = Case::named("accepted", "signed_by_the_operator");
    let set = case.set(&lab).expect("a set");
    let mut hashes = vec![
        format!("blueprint {}", hex(&set.blueprint().hash())),
        format!("plan      {}", hex(&set.plan_hash())),
    ];
    // Who signed it, and whether, is no part of it; nor is the instance.
    let unsigned = BlueprintSet::read(case.members["blueprint"].clone(), Vec::new());
    assert_eq!(unsigned.expect("a set").plan_hash(), set.plan_hash());
    assert_eq!(case.set(&Lab::new()).expect("a set").plan_hash(), set.plan_hash());
    let base = Blueprint::read(blueprint(vec![hook("a", "A.")]).into()).expect("a blueprint");
    let mut top = blueprint(vec![note("Pears.")]);
    top.insert("extends".into(), vec![hex(&base.hash())].into());
    let top = Blueprint::read(top.into()).expect("a blueprint");
    let set = BlueprintSet::assemble(top, vec![base]).expect("a set");
    hashes.push(format!("extending {}", hex(&set.plan_hash())));
    insta::assert_snapshot!(hashes.join("\n"));
}

#[test]
fn each_word_of_a_hook_and_a_rule_is_in_the_plan() {
    let lab = Lab::new();
    let hash = |seed: Object| ours(&lab, vec![seed]).plan_hash();
    let plain = hash(hook("a", "A."));
    let with = |key: &str, value: Value| {
        let mut seed = hook("a", "A.");
        let Some(Value::Object(body)) = seed.get_mut("body") else { panic!("a body") };
        body.insert(key.into(), value);
        hash(seed)
    };
    let others = [
        hash(hook("b", "A.")),
        hash(hook("a", "B.")),
        with("when", "true".into()),
        with("max_fires_per_run", 4.into()),
        with("enabled", false.into()),
        with("namespace", "default".into()),
    ];
    for (at, other) in others.iter().enumerate() {
        assert_ne!(*other, plain, "{at}");
        assert!(!others[..at].contains(other), "{at}");
    }
}

/// A disabled or changed hook is written again, and no other.
#[test]
fn what_is_not_in_force_any_more_is_written_again() {
    let lab = Lab::new();
    let set = ours(&lab, vec![hook("a", "A."), hook("b", "B."), note("Pears.")]);
    let first = installed(&lab.engine, &set).expect("installed");
    let mut disabled = hook("a", "A.");
    let Some(Value::Object(body)) = disabled.get_mut("body") else { panic!("a body") };
    body.insert("enabled".into(), false.into());
    disabled.insert("actor".into(), "did:sync:user:vera".into());
    let draft = Draft::from_envelope(disabled.into()).expect("a draft");
    lab.engine.ingest_draft(&Caller::operator(), draft).expect("disabled");
    let states: Vec<&str> =
        planned(&lab, &set).seeds.iter().map(|it| it.state.expect("known").as_str()).collect();
    assert_eq!(states, ["there", "replaces", "there"]);
    let second = installed(&lab.engine, &set).expect("installed");
    assert_eq!((second.written.len(), second.there.len()), (1, 2));
    assert!(first.written.contains(&second.there[0]));
    assert_eq!(loaded(&lab.engine), 2);
    assert!(!installed(&lab.engine, &set).expect("installed").fresh);
}

/// A newer version brings what is new, and leaves the rest.
#[test]
fn a_newer_version_writes_what_has_changed() {
    let lab = Lab::new();
    installed(&lab.engine, &ours(&lab, vec![hook("a", "A."), note("Pears.")])).expect("installed");
    let newer = ours(&lab, vec![hook("a", "A!"), note("Pears."), note("Plums.")]);
    let done = installed(&lab.engine, &newer).expect("installed");
    assert_eq!((done.written.len(), done.there.len()), (2, 1));
    assert_eq!(installations(&lab.engine).expect("a list").len(), 2);
}

/// What somebody else has stated is not what this installer states.
#[test]
fn content_is_known_by_what_it_says_and_by_whom() {
    let lab = Lab::new();
    let set = ours(&lab, vec![note("Pears.")]);
    installed(&lab.engine, &set).expect("installed");
    let (caller, vera) = (Caller::operator(), actor("did:sync:user:vera"));
    let shown = plan(&lab.engine, &caller, &vera, &set).expect("a plan");
    assert_eq!(shown.seeds[0].state, Some(State::New));
}

/// A record on the thread of installations that a door has taken is none of one.
#[test]
fn an_installation_is_what_the_engine_says_of_it() {
    let lab = Lab::new();
    let set = ours(&lab, vec![note("Pears.")]);
    let seed = set.seeds()[0].seed.draft(&ActorId::engine());
    let body = object! {
        "kind": "core.blueprint.install.v1",
        "plan": hex(&set.plan_hash()),
        "seeds": vec![object! { "record": "ab".repeat(32), "seed": "cd".repeat(32) }],
    };
    let thread = ThreadId::parse(BLUEPRINTS_THREAD).expect("a thread");
    let forged = Draft::new(thread, seed.actor, Act::Know, body);
    lab.engine.ingest_draft(&Caller::operator(), forged).expect("stored as data");
    assert_eq!(installations(&lab.engine).expect("a list"), []);
    assert!(installed(&lab.engine, &set).expect("installed").fresh);
}

#[test]
fn of_many_that_install_at_once_one_writes() {
    let lab = Lab::new();
    let set = ours(&lab, vec![hook("a", "A."), note("Pears."), note("Plums.")]);
    let done: Vec<Installed> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                let (engine, set) = (lab.another(), &set);
                scope.spawn(move || installed(&engine, set).expect("installed"))
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert_eq!(done.iter().filter(|done| done.fresh).count(), 1);
    assert_eq!(last(&lab.engine), 4);
    assert!(done.iter().all(|it| it.record == done[0].record));
}

#[test]
fn what_extends_replaces_what_it_extends() {
    let lab = Lab::new();
    let base = Blueprint::read(
        blueprint(vec![hook("a", "Of the base."), hook("b", "B."), note("Pears.")]).into(),
    )
    .expect("a blueprint");
    let middle = extending(&[&base], vec![hook("a", "Of the middle."), note("Pears.")]);
    let top = extending(&[&middle, &base], vec![hook("c", "C.")]);
    let top = signed(&top, &operator_key(&lab));
    // In whatever order they are given.
    let set = BlueprintSet::assemble(top.clone(), vec![middle.clone(), base.clone()]);
    let set = set.expect("a set");
    let other = BlueprintSet::assemble(top, vec![base.clone(), middle]).expect("a set");
    assert_eq!(set.plan_hash(), other.plan_hash());
    let texts: Vec<&str> = set.seeds().iter().filter_map(|it| it.seed.text("text")).collect();
    // Equal content stands once, and content goes first.
    assert_eq!(texts, ["Pears.", "B.", "Of the middle.", "C."]);
    assert_eq!(installed(&lab.engine, &set).expect("installed").written.len(), 4);
    assert_eq!(loaded(&lab.engine), 3);
}

fn extending(bases: &[&Blueprint], seeds: Vec<Object>) -> Blueprint {
    let mut blueprint = blueprint(seeds);
    let hashes: Vec<String> = bases.iter().map(|base| hex(&base.hash())).collect();
    blueprint.insert("extends".into(), hashes.into());
    Blueprint::read(blueprint.into()).expect("a blueprint")
}

/// The signature of what extends covers what is extended: another base is another hash.
#[test]
fn a_base_that_was_changed_is_not_the_one_that_was_signed() {
    let lab = Lab::new();
    let base = Blueprint::read(blueprint(vec![hook("a", "A.")]).into()).expect("a blueprint");
    let changed = Blueprint::read(blueprint(vec![hook("a", "B.")]).into()).expect("a blueprint");
    let top = signed(&extending(&[&base], Vec::new()), &operator_key(&lab));
    let refused = BlueprintSet::assemble(top, vec![changed]).expect_err("refused");
    assert_eq!((refused.code(), refused.field()), (Code::BlueprintRefused, Some("extends")));
}

/// What is wrong in a blueprint that is extended is named with its place there.
#[test]
fn a_bad_seed_of_a_base_is_named_where_it_stands() {
    let lab = Lab::new();
    let mut bad = hook("a", "A.");
    let Some(Value::Object(body)) = bad.get_mut("body") else { panic!("a body") };
    body.insert("priority".into(), 1.into());
    let base = Blueprint::read(blueprint(vec![note("Pears."), bad]).into()).expect("a blueprint");
    let top = signed(&extending(&[&base], vec![note("Plums.")]), &operator_key(&lab));
    let set = BlueprintSet::assemble(top, vec![base]).expect("a set");
    let refused = installed(&lab.engine, &set).expect_err("refused");
    assert_eq!(refused.field(), Some("extends[0].seeds[1].body.priority"));
    assert_eq!(last(&lab.engine), 0);
}

#[test]
fn trust_in_an_author_is_configuration_of_the_operator() {
    let lab = Lab::new();
    let envelope = |body: &str| {
        format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
                "body":{{"topic":"auth_blueprint_author",{body}}}}}"#
        )
    };
    let key = author_key();
    let member = Caller::bearer(Scopes::parse("config:write,records:write").expect("scopes"));
    let good = envelope(&format!(r#""name":"{}""#, key.did()));
    let refused = lab.engine.ingest(&member, good.as_bytes()).expect_err("refused");
    assert_eq!(refused.code(), Code::ConfigWriteDenied);
    for (body, field) in [
        (r#""public_key":"AAAA""#.to_owned(), "name"),
        (format!(r#""name":"{AUTHOR}""#), "public_key"),
        (format!(r#""name":"{AUTHOR}","public_key":"no key""#), "public_key"),
        (
            format!(
                r#""name":"{}","public_key":"{}""#,
                key.did(),
                KeyPair::from_seed(&[3; 32]).did()
            ),
            "public_key",
        ),
        (format!(r#""name":"{}","revoked_after":-1"#, key.did()), "revoked_after"),
        (format!(r#""name":"{}","revoked_after":"now""#, key.did()), "revoked_after"),
        (format!(r#""name":"{}","enabled":"yes""#, key.did()), "enabled"),
        (format!(r#""name":"{}","key":"x""#, key.did()), "key"),
    ] {
        let refused = lab.engine.ingest(&Caller::operator(), envelope(&body).as_bytes());
        let refused = refused.expect_err(&body);
        assert_eq!((refused.code(), refused.field()), (Code::InvalidBody, Some(field)), "{body}");
    }
    lab.engine.ingest(&Caller::operator(), good.as_bytes()).expect("trusted");
    let live = lab.engine.live().expect("live");
    let known = live.config.blueprint_author(&actor(key.did())).expect("an author");
    assert!(known.trusts(i64::MAX) && known.key == key.public());
}

/// A good record stays in force behind a newer one that load refuses, and an erased one does not.
#[test]
fn who_is_trusted_follows_the_newest_record() {
    let lab = Lab::new();
    let blueprint = Blueprint::read(blueprint(vec![hook("a", "A.")]).into()).expect("a blueprint");
    let set = BlueprintSet::assemble(signed(&blueprint, &author_key()), Vec::new());
    let set = set.expect("a set");
    let vouched = || planned(&lab, &set).vouched;
    assert!(matches!(vouched(), Vouched::Nobody(_)));
    trust(&lab.engine, None);
    assert_eq!(vouched(), Vouched::By(Voucher::Author));
    trust(&lab.engine, Some(0));
    assert!(matches!(vouched(), Vouched::Nobody(why) if why.contains("trusted no more")));
    trust(&lab.engine, Some(SIGNED_AT / 1000));
    assert_eq!(vouched(), Vouched::By(Voucher::Author));
}

/// `schema/blueprint.json` takes what is read and nothing else.
#[test]
fn the_schema_says_what_is_read() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("schema/blueprint.json");
    let schema = fs::read_to_string(path).expect("a schema");
    let schema: serde_json::Value = serde_json::from_str(&schema).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    let valid =
        |value: &Value| schema.is_valid(&serde_json::from_str(&value.to_string()).expect("JSON"));
    for case in Case::all("refused").iter().chain(&Case::all("accepted")) {
        let blueprint = &case.members["blueprint"];
        let read = Blueprint::read(blueprint.clone());
        assert_eq!(valid(blueprint), read.is_ok(), "{}: {read:?}", case.name);
    }
    let starter = spl::blueprint::starter().expect("it reads");
    assert!(valid(&signed(&starter, &author_key()).to_object().into()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// Whatever byte of a signed blueprint is changed to whatever: it does not read, or says the
    /// same, or nobody's signature is over it.
    #[test]
    fn a_changed_byte_breaks_the_signature(at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let whole = blueprint(vec![hook("a", "A."), note("Pears."), note("Plums")]);
        let whole = Blueprint::read(whole.into()).expect("a blueprint");
        let whole = signed(&whole, &author_key());
        let mut bytes = Value::from(whole.to_object()).to_string().into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        let Ok(changed) = Blueprint::parse(&bytes) else { return Ok(()) };
        let same = changed == whole;
        let taken = BlueprintSet::assemble(changed, Vec::new());
        prop_assert_eq!(taken.is_ok(), same, "byte {} as {}", at, byte);
    }

    /// A blueprint says the same when it is read back.
    #[test]
    fn what_is_written_is_read_back(texts in prop::collection::vec(".{0,20}", 0..4)) {
        let mut seeds: Vec<Object> = texts.iter().map(|text| note(text)).collect();
        seeds.dedup();
        let whole = Blueprint::read(blueprint(seeds).into()).expect("a blueprint");
        let whole = signed(&whole, &author_key());
        let text = Value::from(whole.to_object()).to_string();
        prop_assert_eq!(Blueprint::parse(text.as_bytes()).expect("read"), whole);
    }
}
