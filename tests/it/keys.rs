//! Keys of the instance and of actors: made, replaced, kept elsewhere and put back.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use spl::code::{Code, Coded};
use spl::engine::{Caller, Engine, EngineOptions, Home, IdentityError, KeyState, Scopes};
use spl::identity::KeyPair;
use spl::record::{ACTOR_THREAD, ActorId, Draft, ENGINE_ACTOR, Origin, Record, RecordId, ThreadId};
use spl::store::{Proof, Stored, ThreadRange};

use crate::support::note;

const VERA: &str = "did:sync:user:vera";
const CLERK: &str = "did:sync:agent:clerk";

struct Keeper {
    dir: tempfile::TempDir,
    home: Home,
}

impl Keeper {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path().join("home"));
        home.initialise("vera").expect("a home");
        Self { dir, home }
    }

    fn open(&self) -> Engine {
        Engine::open(&self.home, EngineOptions::default()).expect("an engine")
    }

    /// Writes as the operator, in a process of its own.
    fn writes(&self, actor: &str, thread: &str, clock: i64) -> Stored {
        let engine = self.open();
        let draft = Draft { actor: id(actor), ..note(thread, clock, "text") };
        let ingested = engine.ingest_draft(&Caller::operator(), draft).expect("written");
        row(&engine, ingested.appended.id)
    }

    #[track_caller]
    fn verifies(&self) {
        let verified = self.open().store().verify(|_, _| {}).expect("verified");
        assert_eq!(verified.fault, None);
    }

    fn state(&self, actor: &str) -> KeyState {
        self.open().identity(actor).expect("looked").state
    }

    fn key(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }
}

fn id(actor: &str) -> ActorId {
    ActorId::parse(actor).expect("an actor")
}

fn row(engine: &Engine, id: RecordId) -> Stored {
    engine.store().read(|reader| reader.record(id)).expect("read").expect("a record")
}

fn key_records(engine: &Engine) -> Vec<Stored> {
    let thread = ThreadId::parse(ACTOR_THREAD).expect("a thread");
    let read = engine.store().read(|reader| reader.thread(&thread, ThreadRange::default(), 100));
    read.expect("read")
}

#[test]
fn an_actor_is_given_a_key_and_signs_with_it() {
    let keeper = Keeper::new();
    let before = keeper.writes(CLERK, "th_a", 0);
    let engine = keeper.open();
    let instance = engine.store().keyring().instance().did().to_owned();
    assert_eq!(before.signer, instance);
    let change = engine.generate_identity(&id(CLERK), false).expect("a key");
    let mode = fs::metadata(&change.path).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let stated = row(&engine, change.record);
    assert_eq!((stated.origin, stated.signer.as_str()), (Origin::Engine, instance.as_str()));
    assert_eq!(
        (stated.record.thread.as_str(), stated.record.actor.as_str()),
        (ACTOR_THREAD, ENGINE_ACTOR)
    );
    drop(engine);
    assert_eq!(keeper.writes(CLERK, "th_a", 1).signer, change.key);
    assert_eq!(keeper.state(CLERK), KeyState::Agrees);
    let again = keeper.open().generate_identity(&id(CLERK), true).expect_err("refused");
    assert!(matches!(again, IdentityError::HasKey { .. }), "{again}");
    let itself = keeper.open().generate_identity(&id(&change.key), false).expect_err("refused");
    assert!(matches!(itself, IdentityError::IsKey { .. }), "{itself}");
    assert_eq!(keeper.home.exposed(), Vec::<PathBuf>::new());
    keeper.verifies();
}

/// Posts a note signed elsewhere, as a bearer without any right to the actor's key.
fn posts(
    engine: &Engine,
    actor: &str,
    clock: i64,
    key: &KeyPair,
) -> Result<RecordId, (Code, String)> {
    let caller = Caller::bearer(Scopes::parse("records:write").expect("scopes"));
    let draft = Draft { actor: id(actor), ..note("th_signed", clock, "text") };
    let record = Record::seal(draft).expect("a record");
    let mut envelope = record.to_object();
    envelope.remove("object");
    envelope.remove("id");
    let sig = key.sign(record.canonical().as_bytes()).to_string();
    envelope.insert("sig".into(), sig.into());
    let envelope = spl::canon::Value::from(envelope).to_string();
    let ingested = engine.ingest(&caller, envelope.as_bytes());
    ingested.map(|it| it.appended.id).map_err(|error| (error.code(), error.to_string()))
}

fn seed(path: PathBuf) -> KeyPair {
    let bytes: [u8; 32] = fs::read(path).expect("read").try_into().expect("a seed");
    KeyPair::from_seed(&bytes)
}

#[test]
fn what_a_replaced_key_has_signed_stays_and_what_it_signs_now_is_refused() {
    let keeper = Keeper::new();
    let path = keeper.key("secrets/operator-identity.key");
    let old = seed(path.clone());
    let before = keeper.writes(VERA, "th_a", 0);
    assert_eq!(before.signer, old.did());
    let engine = keeper.open();
    posts(&engine, VERA, 0, &old).expect("its key");
    let change = engine.rotate_identity(&id(VERA)).expect("rotated");
    let stated = row(&engine, change.record);
    assert_eq!((change.previous.as_deref(), stated.signer.as_str()), (Some(old.did()), old.did()));
    assert_eq!(stated.record.actor.as_str(), VERA);
    drop(engine);
    let new = seed(path.clone());
    assert_eq!(
        (new.did(), keeper.writes(VERA, "th_a", 1).signer.as_str()),
        (&*change.key, &*change.key)
    );
    let engine = keeper.open();
    posts(&engine, VERA, 1, &new).expect("its key");
    let (code, message) = posts(&engine, VERA, 2, &old).expect_err("refused");
    assert_eq!(code, Code::InvalidBody);
    assert_eq!(message, "`sig` was made with a key that `did:sync:user:vera` has replaced");
    drop(engine);
    assert_eq!(keeper.state(VERA), KeyState::Agrees);
    // Put back, the old key is not the one that records name.
    let put_back: [u8; 32] = [7; 32];
    fs::write(&path, put_back).expect("written");
    assert_eq!(keeper.state(VERA), KeyState::Differs);
    let error = keeper.open().rotate_identity(&id(VERA)).expect_err("refused");
    assert!(matches!(error, IdentityError::OtherKey { .. }), "{error}");
    keeper.verifies();
}

#[test]
fn the_key_of_the_instance_is_followed_from_one_to_the_next() {
    let keeper = Keeper::new();
    let path = keeper.key("keys/primary");
    let first = seed(path.clone());
    let early = keeper.writes("did:sync:agent:x", "th_a", 0);
    assert_eq!(early.signer, first.did());
    let engine = keeper.open();
    let proved = engine.store().read(|reader| reader.proof(early.record.id())).expect("read");
    let proved = proved.expect("a proof").to_object();
    let kept = engine.store().read(|reader| reader.head()).expect("read").expect("a head");
    let copy = keeper.dir.path().join("copy.db");
    engine.store().backup(&copy, |_, _| {}).expect("copied");
    engine.rotate_identity(&id(ENGINE_ACTOR)).expect("rotated");
    // This process goes on with the old key, and writes nothing more.
    let refused = engine.ingest_draft(&Caller::operator(), note("th_a", 0, "late"));
    assert_eq!(refused.expect_err("refused").code(), Code::StorePoisoned);
    drop(engine);
    let second = seed(path.clone());
    assert_ne!(second.did(), first.did());
    keeper.verifies();
    let later = keeper.writes("did:sync:agent:x", "th_a", 1);
    assert_eq!(later.signer, second.did());
    keeper.open().rotate_identity(&id(ENGINE_ACTOR)).expect("rotated again");
    let third = seed(path.clone());
    let engine = keeper.open();
    let head = engine.store().read(|reader| reader.head()).expect("read").expect("a head");
    assert_eq!(head.signer(), third.did());
    let verified = engine.store().verify_against(Some(&kept), |_, _| {}).expect("verified");
    assert_eq!((verified.records, verified.fault), (4, None));
    for stored in [&early, &later] {
        let shown = engine.store().shown(&row(&engine, stored.record.id())).expect("shown");
        assert_eq!(shown.get("signed_by"), Some(&"custodian".into()), "whichever key it had");
    }
    let bytes = spl::canon::Value::from(proved).to_string();
    Proof::parse(bytes.as_bytes()).expect("a proof").check(Some(first.did())).expect("it holds");
    drop(engine);
    // A copy from before is one of this instance too.
    let options = || EngineOptions { store_path: Some(copy.clone()), ..EngineOptions::default() };
    let engine = Engine::open(&keeper.home, options()).expect("an engine");
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
    drop(engine);
    // The key that no record leads to is not.
    fs::write(&path, [7; 32]).expect("written");
    for (options, sequence) in [(EngineOptions::default(), 4), (options(), 1)] {
        let engine = Engine::open(&keeper.home, options).expect("an engine");
        let fault = engine.store().verify(|_, _| {}).expect("verified").fault.expect("a fault");
        assert_eq!(fault.sequence, sequence, "{}", fault.what);
    }
}

/// A process that stops after the record is durable has left the new key beside the old one.
#[test]
fn a_rotation_that_was_stopped_on_the_way_is_brought_to_its_end() {
    let keeper = Keeper::new();
    keeper.writes(VERA, "th_a", 0);
    for (name, actor) in [("keys/primary", ENGINE_ACTOR), ("secrets/operator-identity.key", VERA)] {
        let (path, next) = (keeper.key(name), keeper.key(&format!("{name}.next")));
        let old = fs::read(&path).expect("read");
        let key = keeper.open().rotate_identity(&id(actor)).expect("rotated").key;
        fs::rename(&path, &next).expect("moved");
        fs::write(&path, &old).expect("written");
        assert_eq!(keeper.state(actor), KeyState::Agrees);
        assert_eq!(seed(path.clone()).did(), key);
        assert!(!next.exists());
        // One that no record names changes nothing.
        fs::write(&next, [7; 32]).expect("written");
        assert_eq!(keeper.state(actor), KeyState::Agrees);
        assert_eq!(seed(path).did(), key);
        keeper.writes("did:sync:agent:x", "th_b", i64::from(actor != VERA));
    }
    keeper.verifies();
}

#[test]
fn the_words_of_a_key_record_from_a_door_are_plain_data() {
    let keeper = Keeper::new();
    let engine = keeper.open();
    engine.generate_identity(&id(CLERK), false).expect("a key");
    let named = key_records(&engine).remove(0).record;
    let thief = KeyPair::from_seed(&[5; 32]);
    let statement = spl::store::KeyStatement::new(&id(CLERK), &thief, None);
    for (clock, body) in (10..).zip([named.body.clone(), statement.to_body()]) {
        let thread = ThreadId::parse(ACTOR_THREAD).expect("a thread");
        let draft = Draft { thread, body, ..note("th_x", clock, "") };
        engine.ingest_draft(&Caller::operator(), draft).expect("a record like another");
    }
    let keys = engine.store().read(|reader| reader.actor_keys(CLERK)).expect("read");
    assert_eq!(keys.len(), 1);
    assert!(posts(&engine, CLERK, 0, &thief).is_err());
    assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn a_key_is_kept_elsewhere_and_put_back() {
    let keeper = Keeper::new();
    keeper.writes(VERA, "th_a", 0);
    let file = keeper.dir.path().join("instance.backup");
    let did = keeper.home.back_up_key(&id(ENGINE_ACTOR), &file).expect("kept");
    assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o600);
    let twice = keeper.home.back_up_key(&id(ENGINE_ACTOR), &file).expect_err("refused");
    assert_eq!(twice.code(), Code::Internal, "{twice}");
    let there = keeper.home.recover_key(&file, false).expect("there already");
    assert!(!there.fresh);
    // The key is gone, and with it the way into the store.
    let path = keeper.key("keys/primary");
    fs::remove_file(&path).expect("removed");
    assert!(Engine::open(&keeper.home, EngineOptions::default()).is_err());
    let recovered = keeper.home.recover_key(&file, false).expect("put back");
    assert_eq!((recovered.fresh, recovered.key.as_str()), (true, did.as_str()));
    assert_eq!(fs::metadata(&path).expect("a file").permissions().mode() & 0o777, 0o600);
    keeper.verifies();
    // Never over another key, nor against what records name, unless somebody insists.
    keeper.open().rotate_identity(&id(ENGINE_ACTOR)).expect("rotated");
    let error = keeper.home.recover_key(&file, false).expect_err("refused");
    assert!(matches!(error, IdentityError::HasKey { .. }), "{error}");
    let kept = fs::read(&path).expect("read");
    fs::remove_file(&path).expect("removed");
    let error = keeper.home.recover_key(&file, false).expect_err("refused");
    assert!(matches!(error, IdentityError::OtherKey { .. }), "{error}");
    keeper.home.recover_key(&file, true).expect("insisted");
    assert_eq!(keeper.state(ENGINE_ACTOR), KeyState::Replaced);
    fs::write(&path, kept).expect("written");
    keeper.verifies();
}

#[test]
fn a_file_that_is_no_backup_is_refused_and_says_nothing_of_what_is_in_it() {
    let keeper = Keeper::new();
    let good = keeper.dir.path().join("good.backup");
    keeper.home.back_up_key(&id(VERA), &good).expect("kept");
    let text = fs::read_to_string(&good).expect("read");
    let digits = text.split("\"seed\":\"").nth(1).expect("a seed")[..64].to_owned();
    let other = format!("{}{}", &digits[1..], &digits[..1]);
    let file = keeper.dir.path().join("bad.backup");
    for bad in [
        String::new(),
        "{}".into(),
        text.replace(&digits, &other),
        text.replace(&digits, &digits[..62]),
        text.replace(VERA, ""),
        text.replace("identity_backup", "backup"),
        "x".repeat(10_000),
    ] {
        fs::write(&file, &bad).expect("written");
        let error = keeper.home.recover_key(&file, true).expect_err("refused");
        assert!(matches!(error, IdentityError::NotABackup { .. }), "{error}");
        let said = format!("{error} {error:?} {:?}", error.hint());
        assert!(!said.contains(&digits[..16]), "{said}");
    }
    assert_eq!(seed(keeper.key("secrets/operator-identity.key")).did(), {
        keeper.home.recover_key(&good, false).expect("there").key
    });
}

#[test]
fn a_key_that_is_lost_is_given_up_only_if_somebody_insists() {
    let keeper = Keeper::new();
    let change = keeper.open().generate_identity(&id(CLERK), false).expect("a key");
    keeper.writes(CLERK, "th_a", 0);
    fs::remove_file(&change.path).expect("removed");
    assert_eq!(keeper.state(CLERK), KeyState::Missing);
    let error = keeper.open().rotate_identity(&id(CLERK)).expect_err("refused");
    assert!(matches!(error, IdentityError::NoKey { .. }), "{error}");
    let error = keeper.open().generate_identity(&id(CLERK), false).expect_err("refused");
    assert!(matches!(error, IdentityError::OtherKey { .. }), "{error}");
    let again = keeper.open().generate_identity(&id(CLERK), true).expect("insisted");
    assert_eq!(keeper.state(CLERK), KeyState::Agrees);
    assert_eq!(keeper.writes(CLERK, "th_a", 1).signer, again.key);
    let keys = keeper.open().store().read(|reader| reader.actor_keys(CLERK)).expect("read");
    assert_eq!(keys.iter().filter(|key| key.until.is_none()).count(), 1);
    assert_eq!(keys.len(), 2);
    keeper.verifies();
}
