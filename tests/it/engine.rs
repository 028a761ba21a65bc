//! Doors, the live set, and the post-tool seam of a real engine on a real file.

use spl::canon::{Object, Value};
use spl::code::{Code, Coded as _};
use spl::engine::{
    Caller, Engine, EngineOptions, Home, Hooks, IngestError, RunSeat, Scopes, ToolReturn,
};
use spl::hook::History;
use spl::object;
use spl::record::{ActorId, Namespace, RecordId, ThreadId};

use crate::support::register;

struct Instance {
    dir: tempfile::TempDir,
}

impl Instance {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        Home::at(dir.path()).initialise("vera").expect("a home");
        Self { dir }
    }

    fn open(&self) -> Engine {
        Engine::open(&Home::at(self.dir.path()), EngineOptions::default()).expect("an engine")
    }
}

fn bearer(scopes: &str) -> Caller {
    Caller::bearer(Scopes::parse(scopes).expect("scopes"))
}

/// A hook with `extra` members in its body.
fn hook(name: &str, clock: i64, extra: &str) -> String {
    format!(
        r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
            "clock":{clock},"body":{{"kind":"core.hook.v1","topic":"hook","name":"{name}",
            "when":"record.body.tool == \"bash\"","text":"t"{extra}}}}}"#
    )
}

fn ingest(engine: &Engine, caller: &Caller, envelope: &str) -> Result<bool, IngestError> {
    engine.ingest(caller, envelope.as_bytes()).map(|ingested| ingested.appended.fresh)
}

#[track_caller]
fn refused(engine: &Engine, caller: &Caller, envelope: &str) -> (Code, Option<String>) {
    let before = engine.live().expect("live").config.hooks_loaded();
    let error = ingest(engine, caller, envelope).expect_err("refused");
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), before, "nothing is loaded");
    (error.code(), error.field().map(str::to_owned))
}

#[test]
fn a_hook_is_in_force_when_the_door_answers() {
    let instance = Instance::new();
    let engine = instance.open();
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 0);
    assert!(ingest(&engine, &Caller::operator(), &hook("lesson", 0, "")).expect("written"));
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
    assert!(!ingest(&engine, &Caller::operator(), &hook("lesson", 0, "")).expect("a repeat"));
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
}

#[test]
fn a_hook_written_by_another_process_is_seen_at_the_next_question() {
    let instance = Instance::new();
    let (here, there) = (instance.open(), instance.open());
    assert_eq!(here.live().expect("live").config.hooks_loaded(), 0);
    ingest(&there, &Caller::operator(), &hook("lesson", 0, "")).expect("written");
    assert_eq!(here.live().expect("live").config.hooks_loaded(), 1);
    ingest(&there, &Caller::operator(), &hook("lesson", 1, ",\"enabled\":false")).expect("written");
    assert_eq!(here.live().expect("live").config.hooks_loaded(), 0);
}

#[test]
fn one_predicate_in_many_namespaces_is_compiled_once() {
    let instance = Instance::new();
    let engine = instance.open();
    for clock in 0..20 {
        register(&engine, &format!("team-{clock}"));
        let space = format!(",\"namespace\":\"team-{clock}\"");
        ingest(&engine, &Caller::operator(), &hook("lesson", clock, &space)).expect("written");
    }
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 20);
    let stats = engine.expressions().stats();
    assert_eq!((stats.misses, stats.size), (1, 1));
    // At the door and again at load.
    assert_eq!(stats.hits, 2 * 20 - 1);
}

/// Past the door, so that the engine is not told.
#[test]
fn a_hook_that_reached_the_store_is_in_force_also_in_memory() {
    use spl::record::{Draft, Origin};
    let instance = Instance::new();
    for engine in [instance.open(), Engine::in_memory().expect("an engine")] {
        assert_eq!(engine.live().expect("live").config.hooks_loaded(), 0);
        let envelope = crate::support::json(&hook("lesson", 0, ""));
        let draft = Draft::from_envelope(envelope).expect("an envelope");
        let prepared = engine.store().prepare(draft).expect("prepared");
        engine.store().append(prepared, Origin::Door).expect("appended");
        assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
    }
}

#[test]
fn each_forbidden_field_is_refused_by_name() {
    let instance = Instance::new();
    let engine = instance.open();
    for field in ["priority", "action", "suppress", "replace", "order", "instead_of"] {
        let envelope = hook("lesson", 0, &format!(",\"{field}\":1"));
        let (code, named) = refused(&engine, &Caller::operator(), &envelope);
        assert_eq!((code, named.as_deref()), (Code::InvalidBody, Some(field)));
    }
    let envelope = hook("lesson", 0, ",\"colour\":1");
    let (code, named) = refused(&engine, &Caller::operator(), &envelope);
    assert_eq!((code, named.as_deref()), (Code::InvalidBody, Some("colour")));
}

/// Records that reach the file past every door are refused at load, by the same validator.
#[test]
fn each_forbidden_field_is_refused_at_load() {
    use spl::record::{Draft, Origin};
    let instance = Instance::new();
    let engine = instance.open();
    let fields = ["priority", "action", "suppress", "replace", "order", "instead_of", "colour"];
    for (clock, field) in (0..).zip(fields) {
        let envelope = hook(field, clock, &format!(",\"{field}\":1"));
        let draft = Draft::from_envelope(crate::support::json(&envelope)).expect("an envelope");
        let prepared = engine.store().prepare(draft).expect("prepared");
        engine.store().append(prepared, Origin::Door).expect("past the door");
    }
    let engine = instance.open();
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 0);
    let rows = engine.hook_rows().expect("rows");
    for field in fields {
        let row = rows
            .iter()
            .find(|row| row.get("name").and_then(Value::as_str) == Some(field))
            .expect("a row");
        assert_eq!(row.get("loaded"), Some(&Value::Bool(false)));
        let named = row.get("refused").and_then(|refused| refused.get("field"));
        assert_eq!(named.and_then(Value::as_str), Some(field));
    }
}

#[test]
fn the_gate_speaks_before_any_other_word_about_the_body() {
    let instance = Instance::new();
    let engine = instance.open();
    let malformed = hook("lesson", 0, ",\"priority\":1");
    for scopes in ["records:write", "records:write,config:write", "config:write"] {
        for envelope in [&hook("lesson", 0, ""), &malformed] {
            let (code, field) = refused(&engine, &bearer(scopes), envelope);
            assert_eq!((code, field), (Code::ConfigWriteDenied, None), "{scopes}");
        }
    }
    assert!(ingest(&engine, &bearer("admin"), &hook("lesson", 0, "")).expect("written"));
}

#[test]
fn ordinary_configuration_takes_its_scope() {
    let instance = Instance::new();
    let engine = instance.open();
    let topic = |topic: &str, clock: i64| {
        format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
                "clock":{clock},"body":{{"topic":"{topic}","name":"n"}}}}"#
        )
    };
    assert!(ingest(&engine, &bearer("config:write"), &topic("routing_rule", 0)).expect("written"));
    let denied = (Code::ConfigWriteDenied, None);
    assert_eq!(refused(&engine, &bearer("records:write"), &topic("routing_rule", 1)), denied);
    for gated in ["permission_rule", "permissions_enabled", "auth_required", "auth_cors_origins"] {
        assert_eq!(refused(&engine, &bearer("config:write"), &topic(gated, 2)), denied, "{gated}");
    }
}

#[test]
fn scopes_are_asked_before_the_body_is_read() {
    let instance = Instance::new();
    let engine = instance.open();
    let (code, _) = refused(&engine, &bearer("records:read"), "not JSON");
    assert_eq!(code, Code::ScopeForbidden);
    let (code, _) = refused(&engine, &bearer("records:write"), "not JSON");
    assert_eq!(code, Code::IngestFailed);
}

#[test]
fn only_the_operator_speaks_as_the_instance() {
    let instance = Instance::new();
    let engine = instance.open();
    let envelope = r#"{"act":"KNOW","actor":"did:sync:system:engine","thread":"t"}"#;
    let (code, _) = refused(&engine, &bearer("records:write"), envelope);
    assert_eq!(code, Code::DidClaimDenied);
    assert!(ingest(&engine, &Caller::operator(), envelope).expect("written"));
}

/// A bearer may name the operator as the actor; it does not get the operator's signature for that.
#[test]
fn only_the_operator_signs_with_the_operator_s_key() {
    let instance = Instance::new();
    let engine = instance.open();
    let signer = |caller: &Caller, actor: &str, clock: i64| {
        let envelope =
            format!(r#"{{"act":"KNOW","actor":"{actor}","thread":"t","clock":{clock}}}"#);
        let ingested = engine.ingest(caller, envelope.as_bytes()).expect("written");
        let id = ingested.appended.id;
        let stored = engine.store().read(|reader| reader.record(id)).expect("read");
        stored.expect("the record").signer
    };
    let keyring = engine.store().keyring();
    let (instance, vera) =
        (keyring.instance().did(), keyring.signer_of("did:sync:user:vera").did());
    assert_ne!(instance, vera);
    assert_eq!(signer(&Caller::operator(), "did:sync:user:vera", 0), vera);
    assert_eq!(signer(&bearer("admin"), "did:sync:user:vera", 1), vera);
    assert_eq!(signer(&bearer("records:write"), "did:sync:user:vera", 2), instance);
    assert_eq!(signer(&Caller::operator(), "did:sync:user:else", 3), instance);
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn an_observation_without_a_rule_is_refused() {
    let instance = Instance::new();
    let engine = instance.open();
    let observation = |rule: &str| {
        format!(
            r#"{{"act":"KNOW","actor":"a","thread":"t","body":
                {{"kind":"core.work.observation.v1","text":"t"{rule}}}}}"#
        )
    };
    for rule in ["", ",\"rule\":\"\"", ",\"rule\":7"] {
        let (code, field) = refused(&engine, &Caller::operator(), &observation(rule));
        assert_eq!((code, field.as_deref()), (Code::InvalidBody, Some("body.rule")));
    }
    let good = observation(",\"rule\":\"lesson\"");
    assert!(ingest(&engine, &bearer("records:write"), &good).expect("written"));
}

#[test]
fn hostile_bodies_are_refused_and_nothing_is_kept() {
    let instance = Instance::new();
    let engine = instance.open();
    let operator = Caller::operator();
    let nested = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let numbers = format!(
        r#"{{"act":"KNOW","actor":"a","thread":"t","body":{{"n":[{}1e308]}}}}"#,
        "1e308,".repeat(650_000)
    );
    let large = "x".repeat(5 * 1024 * 1024);
    for (envelope, code) in [
        ("", Code::IngestFailed),
        (r#"{"act":"KNOW""#, Code::IngestFailed),
        (r#"{"act":"KNOW","act":"DO"}"#, Code::IngestFailed),
        (nested.as_str(), Code::IngestFailed),
        (large.as_str(), Code::BodyTooLarge),
        (numbers.as_str(), Code::BodyTooLarge),
        (r#"{"act":"KNOW","actor":"a","thread":"t","body":{"n":1e400}}"#, Code::IngestFailed),
        (r#"{"act":"KNOW","actor":"a","thread":"t","body":{"s":"\ud800"}}"#, Code::IngestFailed),
    ] {
        assert_eq!(refused(&engine, &operator, envelope).0, code);
    }
    let error = engine.ingest(&operator, b"{\"act\":\"\xff\"}").expect_err("refused");
    assert_eq!(error.code(), Code::IngestFailed);
    assert_eq!(engine.store().read(|reader| reader.last()).expect("read").get(), 0);
    let private = r#"{"act":"KNOW","actor":"a","thread":"t",
        "body":{"$serde_json::private::Number":"12"}}"#;
    let ingested = engine.ingest(&operator, private.as_bytes()).expect("an ordinary object");
    assert_eq!(
        ingested.record.body.get("$serde_json::private::Number").and_then(Value::as_str),
        Some("12")
    );
}

/// A record that is stored and cannot be read back would stand in the way of everything after it.
#[test]
fn a_draft_that_was_built_too_deep_is_refused_like_one_that_was_read() {
    use spl::record::{Act, ActorId, Draft};
    let instance = Instance::new();
    let engine = instance.open();
    let draft = |levels: usize| {
        // The envelope and the body are two.
        let deep = (2..levels).fold(Value::Null, |inside, _| Value::Array(vec![inside]));
        let actor = ActorId::parse("a").expect("an actor");
        Draft::new(ThreadId::config(), actor, Act::Know, spl::object! { "deep": deep })
    };
    let error = engine.ingest_draft(&Caller::operator(), draft(129)).expect_err("refused");
    assert_eq!(error.code(), Code::IngestFailed);
    engine.ingest_draft(&Caller::operator(), draft(128)).expect("written");
    let error = engine.author(move |author| author.write(draft(161))).expect_err("refused");
    assert_eq!(error.code(), Code::IngestFailed);
    engine.author(move |author| author.write(draft(160))).expect("written");
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
    assert_eq!(engine.live().expect("live").config.hooks_loaded(), 0);
}

#[test]
fn two_writers_race_for_one_clock_and_one_wins() {
    let instance = Instance::new();
    let engines = [instance.open(), instance.open()];
    let racers: Vec<_> = (0..16)
        .map(|number| {
            let engine = engines[number % 2].clone();
            std::thread::spawn(move || {
                let envelope = format!(
                    r#"{{"act":"KNOW","actor":"a","thread":"t","clock":1,"body":{{"n":{number}}}}}"#
                );
                ingest(&engine, &Caller::operator(), &envelope)
            })
        })
        .collect();
    let results: Vec<_> = racers.into_iter().map(|racer| racer.join().expect("no panic")).collect();
    assert_eq!(results.iter().filter(|result| matches!(result, Ok(true))).count(), 1);
    for error in results.into_iter().filter_map(Result::err) {
        assert!(error.to_string().contains("DuplicateClock"), "{error}");
        assert_eq!(error.code(), Code::IngestFailed);
    }
}

#[test]
fn tokens_open_the_door_until_they_are_revoked() {
    let instance = Instance::new();
    let engine = instance.open();
    let scopes = Scopes::parse("records:read").expect("scopes");
    let minted = engine.mint_token("ci", &scopes).expect("minted");
    let caller = engine.authenticate(&minted.bearer).expect("asked").expect("known");
    assert!(!caller.is_operator());
    assert_eq!(engine.authenticate("spl_prod_ci_0000").expect("asked"), None);
    assert_eq!(engine.authenticate("").expect("asked"), None);
    assert_eq!(engine.revoke_tokens(&Caller::operator(), "ci").expect("revoked"), 1);
    assert_eq!(engine.authenticate(&minted.bearer).expect("asked"), None);
}

/// Who verifies a copy must not change it, nor take an empty file for a store without records.
#[test]
fn opening_a_store_changes_nothing() {
    let instance = Instance::new();
    let engine = instance.open();
    let tokens = || engine.store().read(|reader| reader.tokens()).expect("read").len();
    let version = engine.store().data_version().expect("a version");
    drop(instance.open());
    assert_eq!((engine.store().data_version().expect("a version"), tokens()), (version, 0));
    assert_eq!(engine.tokens().expect("tokens").len(), 1);
    assert_eq!(tokens(), 1);

    let store_path = Some(instance.dir.path().join("copy.db"));
    std::fs::write(instance.dir.path().join("copy.db"), b"").expect("written");
    let options = EngineOptions { store_path, ..EngineOptions::default() };
    let error = Engine::open(&Home::at(instance.dir.path()), options).err().expect("refused");
    assert!(error.to_string().contains("it is empty"), "{error}");
}

/// Also before it was ever used.
#[test]
fn the_home_token_can_be_revoked() {
    let instance = Instance::new();
    let engine = instance.open();
    let bearer = Home::at(instance.dir.path()).token().expect("read").expect("a token");
    assert_eq!(engine.revoke_tokens(&Caller::operator(), "admin").expect("revoked"), 1);
    assert_eq!(engine.authenticate(&bearer).expect("asked"), None);
    assert_eq!(instance.open().authenticate(&bearer).expect("asked"), None);
}

#[test]
fn the_home_token_is_the_operator_s() {
    let instance = Instance::new();
    let engine = instance.open();
    let bearer = Home::at(instance.dir.path()).token().expect("read").expect("a token");
    assert!(engine.authenticate(&bearer).expect("asked").expect("known").is_operator());
    assert!(instance.open().authenticate(&bearer).expect("asked").is_some());
}

#[test]
fn trust_is_folded_as_verdicts_arrive() {
    let instance = Instance::new();
    let engine = instance.open();
    let clerk = spl::record::ActorId::parse("did:sync:agent:clerk").expect("an actor");
    assert_eq!(engine.standing(&clerk, "ops").expect("asked").count, 0);
    for clock in 0..5 {
        let verdict = format!(
            r#"{{"act":"KNOW","actor":"did:sync:user:vera","thread":"t","clock":{clock},
                "body":{{"verdict":"accept","domain":"ops","judged_by":"did:sync:agent:clerk"}}}}"#
        );
        ingest(&engine, &Caller::operator(), &verdict).expect("written");
    }
    let standing = engine.standing(&clerk, "ops").expect("asked");
    assert_eq!(standing.count, 5);
    assert!((standing.score - 0.5655).abs() < 0.001, "{}", standing.score);
}

#[test]
fn one_call_in_64_is_timed() {
    let instance = Instance::new();
    let engine = instance.open();
    ingest(&engine, &Caller::operator(), &hook("lesson", 0, "")).expect("written");
    let seat = RunSeat {
        thread: ThreadId::parse("th_run").expect("a thread"),
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk").expect("an actor"),
        domain: "ops".into(),
        namespace: Namespace::root(),
        hooks: Hooks::Live,
    };
    let mut history = History::default();
    for first in 0..=u8::MAX {
        let returned = ToolReturn {
            tool: "bash".into(),
            args: Object::new(),
            status: "ok".into(),
            head: String::new(),
            answer: String::new(),
            resource: "tool:bash".into(),
            empty: false,
            call: RecordId::from_bytes([first; 32]),
            result: object! { "number": u64::from(first) },
        };
        engine.tool_returned(&seat, &mut history, &returned).expect("recorded");
    }
    let rows = engine.hook_rows().expect("rows");
    let row = rows.iter().find(|row| row["name"].as_str() == Some("lesson")).expect("a row");
    assert_eq!((row["asked"].as_u64(), row["matched"].as_u64()), (Some(256), Some(256)));
    let Value::Object(timing) = &row["timing"] else { panic!("an object") };
    assert_eq!(timing["samples"].as_u64(), Some(4));
    let (nanos, mean) = (timing["nanos"].as_u64(), timing["mean_nanos"].as_u64());
    assert_eq!(nanos.map(|nanos| nanos / 4), mean);
    assert!(nanos > Some(0));
}

#[test]
fn health_counts_what_is_in_force() {
    let instance = Instance::new();
    let engine = instance.open();
    ingest(&engine, &Caller::operator(), &hook("lesson", 0, "")).expect("written");
    let health = engine.health().expect("health");
    let work_loop = health.get("work_loop").expect("work_loop");
    assert_eq!(work_loop.get("hooks_loaded").and_then(Value::as_i64), Some(1));
    assert_eq!(work_loop.get("hooks_builtin").and_then(Value::as_i64), Some(2));
}

#[test]
fn namespaces_and_threads_are_any_well_formed_name() {
    let instance = Instance::new();
    let engine = instance.open();
    register(&engine, "acme/site");
    let envelope = r#"{"act":"KNOW","actor":"a","thread":"music.library/2 #?","body":
        {"namespace":"acme/site"}}"#;
    let ingested = engine.ingest(&Caller::operator(), envelope.as_bytes()).expect("written");
    assert_eq!(
        ingested.record.namespace(),
        Namespace::parse("acme/site").map_err(|_| unreachable!())
    );
    let thread = ThreadId::parse("music.library/2 #?").expect("a thread");
    let clocks = engine.store().read(|reader| reader.clocks(&thread)).expect("read");
    assert_eq!(clocks.record_count, 1);
}
