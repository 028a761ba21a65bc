//! Packs that the operator deploys.

use spl::engine::{Caller, Engine, ErasureRequest, IngestError, Scopes};
use spl::policy::polpo::{PACK_KIND, PACKS_THREAD, Pack, PackName, deploy, deployed, read_pack};
use spl::record::ActorId;

fn pack(name: &str, command: &str) -> Pack {
    let text = format!(
        r#"{{"version":1,"hooks":[{{"id":"a","event":"turn:stop",
            "handler":{{"type":"command","command":"{command}"}}}}]}}"#
    );
    let name = PackName::parse(name).expect("a name");
    read_pack(&name, text.as_bytes(), &[]).pack.expect("a pack")
}

fn in_force(engine: &Engine) -> Vec<(String, String)> {
    let deployed = deployed(engine).expect("read");
    deployed.into_iter().map(|it| (it.name.to_string(), it.sha256)).collect()
}

#[test]
fn the_newest_revision_of_each_name_is_in_force() {
    let engine = Engine::in_memory().expect("an engine");
    let operator = Caller::operator();
    let (one, other, changed) = (pack("a", "x"), pack("b", "x"), pack("a", "y"));
    let hash = |pack: &Pack| spl::canon::hex(&pack.sha256);
    let first = deploy(&engine, &operator, &[other.clone(), one.clone()]).expect("deployed");
    assert!(first.iter().all(|it| it.fresh));
    assert_eq!(in_force(&engine), [("a".into(), hash(&one)), ("b".into(), hash(&other))]);
    let again = deploy(&engine, &operator, &[one.clone(), changed.clone()]).expect("deployed");
    assert_eq!((again[0].fresh, again[0].record), (false, first[1].record));
    assert!(again[1].fresh);
    assert_eq!(in_force(&engine), [("a".into(), hash(&changed)), ("b".into(), hash(&other))]);
    // Going back is a revision of its own.
    let back = deploy(&engine, &operator, std::slice::from_ref(&one)).expect("deployed");
    assert!(back[0].fresh && back[0].record != first[1].record);
    assert_eq!(in_force(&engine)[0], ("a".into(), hash(&one)));
}

#[test]
fn nobody_but_the_operator_deploys() {
    let engine = Engine::in_memory().expect("an engine");
    let caller = Caller::bearer(Scopes::default());
    let refused = deploy(&engine, &caller, &[pack("a", "x")]).expect_err("refused");
    assert!(matches!(refused, IngestError::ConfigWriteDenied { .. }), "{refused}");
    assert!(in_force(&engine).is_empty());
}

/// What looks like a deployed pack and was not written for one is none.
#[test]
fn a_record_that_somebody_states_deploys_nothing() {
    let engine = Engine::in_memory().expect("an engine");
    let pack = pack("a", "x");
    let envelope = format!(
        r#"{{"act":"KNOW","actor":"did:sync:user:vera","clock":1,"thread":"{PACKS_THREAD}",
            "body":{{"kind":"{PACK_KIND}","name":"a","sha256":"{}","pack":{}}}}}"#,
        spl::canon::hex(&pack.sha256),
        spl::canon::Value::from(pack.written)
    );
    engine.ingest(&Caller::operator(), envelope.as_bytes()).expect("stored");
    assert!(in_force(&engine).is_empty());
}

/// What is erased is in force no more, and the revision before it is again.
#[test]
fn erasing_a_revision_brings_back_the_one_before() {
    let engine = Engine::in_memory().expect("an engine");
    let operator = Caller::operator();
    let (one, other) = (pack("a", "x"), pack("a", "y"));
    deploy(&engine, &operator, std::slice::from_ref(&one)).expect("deployed");
    let newer = deploy(&engine, &operator, &[other]).expect("deployed");
    let request = ErasureRequest {
        erases: vec![newer[0].record],
        reason: "too loose".into(),
        authorized_by: None,
        actor: ActorId::parse("did:sync:user:vera").expect("an actor"),
        purge: false,
    };
    engine.erase(&operator, &request).expect("erased");
    let sha256 = spl::canon::hex(&one.sha256);
    assert_eq!(in_force(&engine), [("a".into(), sha256)]);
}
