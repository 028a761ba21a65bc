//! Records that bring a signature: whose it must be, and what the row keeps.

use spl::canon::Value;
use spl::code::{Code, Coded};
use spl::engine::{Caller, Engine, IngestError, Ingested, Scopes};
use spl::identity::{KeyPair, Signature};
use spl::record::{Draft, Record, RecordId};
use spl::store::{Store, Stored, UnprovenReason};

use crate::support::{Folder, json, note, options};

const VERA: &str = "did:sync:user:vera";

fn engine() -> Engine {
    Engine::in_memory_with(options()).expect("an engine")
}

fn writer() -> Caller {
    Caller::bearer(Scopes::parse("records:write").expect("scopes"))
}

/// The key of vera, as the tests' keyring has it.
fn vera() -> KeyPair {
    KeyPair::from_seed(&[2; 32])
}

/// A note of `actor` at a clock, and its signature by `key`.
fn signed(actor: &str, clock: i64, key: &KeyPair) -> (Value, Signature) {
    let envelope = json(&format!(
        r#"{{"act":"KNOW","actor":"{actor}","thread":"th_a","clock":{clock},"body":{{"n":1.0}}}}"#
    ));
    let draft = Draft::from_envelope(envelope.clone()).expect("a draft");
    let record = Record::seal(draft).expect("a record");
    (envelope, key.sign(record.canonical().as_bytes()))
}

fn with_sig(envelope: &Value, sig: impl Into<Value>) -> String {
    let mut envelope = envelope.as_object().expect("an object").clone();
    envelope.insert("sig".into(), sig.into());
    Value::from(envelope).to_string()
}

fn ingest(engine: &Engine, caller: &Caller, envelope: &str) -> Result<Ingested, IngestError> {
    engine.ingest(caller, envelope.as_bytes())
}

fn row(store: &Store, id: RecordId) -> Stored {
    store.read(|reader| reader.record(id)).expect("read").expect("a record")
}

#[track_caller]
fn refused(engine: &Engine, caller: &Caller, envelope: &str) -> IngestError {
    let before = engine.store().read(|reader| reader.last()).expect("read");
    let error = ingest(engine, caller, envelope).expect_err("refused");
    assert_eq!(engine.store().read(|reader| reader.last()).expect("read"), before);
    error
}

#[test]
fn a_bearer_who_has_the_actor_s_key_speaks_for_it() {
    let engine = engine();
    let key = vera();
    let spellings: [fn(&Signature) -> String; 5] = [
        |sig| sig.to_string(),
        |sig| sig.to_string().replace('+', "-").replace('/', "_"),
        |sig| sig.to_string().trim_end_matches('=').to_owned(),
        |sig| spl::canon::hex(sig.as_bytes()),
        |sig| spl::canon::hex(sig.as_bytes()).to_uppercase(),
    ];
    for (clock, spell) in (0..).zip(spellings) {
        let (envelope, sig) = signed(VERA, clock, &key);
        let envelope = with_sig(&envelope, spell(&sig));
        let ingested = ingest(&engine, &writer(), &envelope).expect(&envelope);
        let stored = row(engine.store(), ingested.appended.id);
        assert_eq!((stored.signer.as_str(), stored.signature), (key.did(), sig));
        let shown = engine.store().shown(&stored).expect("shown");
        assert_eq!(shown.get("signed_by"), Some(&"actor".into()));
        assert_eq!(shown.get("sig"), Some(&sig.to_string().into()));
        assert!(!shown.contains_key("unproven"));
    }
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn what_nobody_has_signed_says_that_the_instance_did() {
    let engine = engine();
    let ingested = engine.ingest_draft(&writer(), note("th_a", 0, "unsigned")).expect("written");
    let shown = engine.store().shown(&row(engine.store(), ingested.appended.id)).expect("shown");
    let instance = engine.store().keyring().instance().did();
    assert_eq!(shown.get("signed_by"), Some(&"custodian".into()));
    assert_eq!(shown.get("signer"), Some(&instance.into()));
    // What the engine itself states has its own key.
    let engine_draft =
        spl::record::Draft { actor: spl::record::ActorId::engine(), ..note("th_b", 0, "") };
    let ingested = engine.ingest_draft(&Caller::operator(), engine_draft).expect("written");
    let shown = engine.store().shown(&row(engine.store(), ingested.appended.id)).expect("shown");
    assert_eq!(shown.get("signed_by"), Some(&"actor".into()));
}

/// Whoever exports a record may have signed it for its actor; that is for nobody here to say.
#[test]
fn what_was_taken_over_is_the_actor_s_only_if_something_here_says_so() {
    let engine = engine();
    let store = engine.store();
    let foreign = KeyPair::from_seed(&[6; 32]);
    let instance = KeyPair::from_seed(&[1; 32]);
    for (clock, (actor, key, by)) in (0..).zip([
        (VERA, &vera(), "actor"),
        (VERA, &foreign, "other"),
        ("did:sync:agent:far", &foreign, "other"),
        ("did:sync:system:engine", &foreign, "other"),
        (foreign.did(), &foreign, "actor"),
        (VERA, &instance, "custodian"),
    ]) {
        let draft = Draft::from_envelope(signed(actor, clock, key).0).expect("a draft");
        let record = Record::seal(draft).expect("a record");
        let id = record.id();
        let signature = key.sign(record.canonical().as_bytes());
        let prepared = Store::prepare_signed(record, key.did(), signature).expect("signed");
        store.append(prepared, spl::record::Origin::Import).expect("taken over");
        let shown = store.shown(&row(store, id)).expect("shown");
        assert_eq!(shown.get("signed_by"), Some(&by.into()), "{actor} by {}", key.did());
    }
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn a_did_key_is_its_own_key() {
    let engine = engine();
    let key = KeyPair::from_seed(&[77; 32]);
    let (envelope, sig) = signed(key.did(), 0, &key);
    let ingested = ingest(&engine, &writer(), &with_sig(&envelope, sig.to_string()));
    let stored = row(engine.store(), ingested.expect("written").appended.id);
    assert_eq!((stored.signer.as_str(), stored.signature), (key.did(), sig));
    let (envelope, sig) = signed(key.did(), 1, &vera());
    let error = refused(&engine, &writer(), &with_sig(&envelope, sig.to_string()));
    assert_eq!((error.code(), error.field()), (Code::InvalidBody, Some("sig")));
}

#[test]
fn a_signature_that_is_not_the_actor_s_is_refused() {
    let engine = engine();
    let (envelope, _) = signed(VERA, 0, &vera());
    let (other, other_sig) = signed(VERA, 1, &vera());
    assert_ne!(envelope, other);
    let by_another = signed(VERA, 0, &KeyPair::from_seed(&[3; 32])).1.to_string();
    for sig in [
        Value::from(by_another),
        other_sig.to_string().into(),
        "".into(),
        "AAAA".into(),
        "not base64 at all".into(),
        "x".repeat(9999).into(),
    ] {
        let error = refused(&engine, &Caller::operator(), &with_sig(&envelope, sig.clone()));
        let said = (error.code(), error.field(), error.reason());
        assert_eq!(said, (Code::InvalidBody, Some("sig"), Some("bad_value")), "{sig}");
    }
    let error = refused(&engine, &writer(), &with_sig(&envelope, 7));
    assert_eq!((error.field(), error.reason()), (Some("sig"), Some("wrong_type")));
    let none = with_sig(&envelope, Value::Null);
    ingest(&engine, &writer(), &none).expect("no signature is none");
}

#[test]
fn a_key_of_another_curve_is_refused_by_name() {
    let engine = engine();
    let actor = "did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme";
    let (envelope, sig) = signed(actor, 0, &vera());
    let error = refused(&engine, &writer(), &with_sig(&envelope, sig.to_string()));
    insta::assert_snapshot!(error, @"`sig` cannot be checked against `did:key:zQ3shokFTS3brHcDQrn82RUDfCZESWL1ZdCEJwekUDPQiYBme`: it spells a key for secp256k1, and only Ed25519 keys sign records");
    ingest(&engine, &writer(), &envelope.to_string()).expect("unsigned, it is a name like another");
}

/// Whoever may not write a hook learns nothing by signing it badly.
#[test]
fn the_gate_and_the_claim_speak_before_the_signature() {
    let engine = engine();
    let hook = json(
        r#"{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
            "body":{"kind":"core.hook.v1","topic":"hook","name":"n","when":"true","text":"t"}}"#,
    );
    let error = refused(&engine, &writer(), &with_sig(&hook, "A".repeat(88)));
    assert_eq!(error.code(), Code::InvalidBody, "what is no signature is no envelope");
    let sig = vera().sign(b"something else").to_string();
    let error = refused(&engine, &writer(), &with_sig(&hook, sig.clone()));
    assert_eq!(error.code(), Code::ConfigWriteDenied);
    let (envelope, _) = signed("did:sync:system:engine", 0, &vera());
    let error = refused(&engine, &writer(), &with_sig(&envelope, sig));
    assert_eq!(error.code(), Code::DidClaimDenied);
}

#[test]
fn a_signature_that_nobody_can_check_is_kept_with_the_reason() {
    let folder = Folder::new();
    let home = spl::engine::Home::at(folder.dir.path());
    home.initialise("vera").expect("a home");
    let open = || Engine::open(&home, spl::engine::EngineOptions::default()).expect("an engine");
    let engine = open();
    let stranger = KeyPair::from_seed(&[5; 32]);
    let instance = engine.store().keyring().instance().did().to_owned();
    for (clock, (actor, reason)) in (0..).zip([
        ("did:sync:agent:far", UnprovenReason::UnknownKey),
        ("did:web:example.org", UnprovenReason::UnknownMethod),
        ("somebody", UnprovenReason::UnknownMethod),
    ]) {
        let (envelope, sig) = signed(actor, clock, &stranger);
        let envelope = with_sig(&envelope, sig.to_string());
        let ingested = ingest(&engine, &writer(), &envelope).expect("written");
        let stored = row(engine.store(), ingested.appended.id);
        let unproven = stored.unproven.expect("kept");
        assert_eq!((unproven.signature, unproven.reason), (sig, reason));
        assert_eq!(stored.signer, instance);
        let shown = engine.store().shown(&stored).expect("shown");
        assert_eq!(shown.get("signed_by"), Some(&"custodian".into()));
        assert_eq!(shown.get("unproven"), Some(&unproven.to_object().into()));
        assert_eq!(stored.receipt().get("unproven"), Some(&unproven.to_object().into()));
    }
    drop(engine);
    let engine = open();
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
    let whole = folder.dir.path().join("whole.db");
    engine.store().backup(&whole, |_, _| {}).expect("copied");
    drop(engine);
    // It is part of the receipt, so it cannot be taken away, nor spelled otherwise.
    for sql in [
        "UPDATE records SET unproven = NULL WHERE seq = 2",
        "UPDATE records SET unproven = replace(unproven, 'unknown_method', 'unknown_key') WHERE seq = 2",
        "UPDATE records SET unproven = unproven || ' ' WHERE seq = 2",
        "UPDATE records SET unproven = (SELECT unproven FROM records WHERE seq = 1) WHERE seq = 2",
    ] {
        let copy = Folder::new();
        std::fs::copy(&whole, copy.path()).expect("copied");
        let raw = rusqlite::Connection::open(copy.path()).expect("opened");
        raw.execute_batch("DROP TRIGGER records_no_update").expect("dropped");
        assert_eq!(raw.execute(sql, []).expect(sql), 1);
        drop(raw);
        let options = spl::engine::EngineOptions {
            store_path: Some(copy.path()),
            ..spl::engine::EngineOptions::default()
        };
        let engine = Engine::open(&home, options).expect("an engine");
        let fault = engine.store().verify(|_, _| {}).expect("verified").fault;
        assert_eq!(fault.expect(sql).sequence, 2, "{sql}");
    }
}

#[test]
fn the_same_record_with_another_signature_is_the_same_record() {
    let engine = engine();
    let (envelope, sig) = signed(VERA, 0, &vera());
    let first = ingest(&engine, &writer(), &envelope.to_string()).expect("written");
    assert!(first.appended.fresh);
    let stored = row(engine.store(), first.appended.id);
    let wrong = KeyPair::from_seed(&[3; 32]).sign(b"nothing of this");
    for sig in [sig, wrong] {
        let again = ingest(&engine, &writer(), &with_sig(&envelope, sig.to_string()));
        let again = again.expect("a repeat");
        assert!(!again.appended.fresh);
        assert_eq!(again.appended.id, first.appended.id);
        let now = row(engine.store(), first.appended.id);
        assert_eq!((&now.signer, now.signature), (&stored.signer, stored.signature));
    }
}
