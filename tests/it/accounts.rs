//! Service accounts and their tokens: what they open, for how long, and what is written down of it.

use spl::canon::Value;
use spl::code::{Code, Coded as _};
use spl::engine::{
    AccountError, Actors, Caller, Engine, EngineOptions, Expiry, Home, Minted, NewAccount, Scopes,
    Wish,
};
use spl::record::{ActorId, Namespace, ThreadId};
use spl::store::{Account, AccountId, Stored, ThreadRange, TokenId};
use spl::time::{TimeSource, Timestamp};

struct Instance {
    dir: tempfile::TempDir,
}

impl Instance {
    fn new() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        Home::at(dir.path().join("home")).initialise("vera").expect("a home");
        Self { dir }
    }

    fn home(&self) -> Home {
        Home::at(self.dir.path().join("home"))
    }

    /// Opens it at a time that moves by a second each time it is asked.
    fn open(&self) -> Engine {
        let time = TimeSource::stepped(Timestamp::from_millis(1_796_000_000_000), 1000);
        Engine::open(&self.home(), EngineOptions { time, ..EngineOptions::default() })
            .expect("an engine")
    }
}

fn scopes(csv: &str) -> Scopes {
    Scopes::parse(csv).expect("scopes")
}

fn new(name: &str, csv: &str, actors: &str) -> NewAccount {
    NewAccount {
        id: None,
        name: name.into(),
        namespace: Namespace::root(),
        scopes: scopes(csv),
        actors: Actors::parse(actors).expect("actors"),
    }
}

fn made(engine: &Engine, csv: &str) -> (Account, Minted) {
    let wish = Wish::default();
    let (account, minted) = engine
        .create_account(&Caller::operator(), new("ci", csv, ""), Some(&wish))
        .expect("an account");
    (account, minted.expect("a token"))
}

fn known(engine: &Engine, minted: &Minted) -> Option<Caller> {
    engine.authenticate(&minted.bearer).expect("asked")
}

fn records(engine: &Engine, thread: &str) -> Vec<Stored> {
    let thread = ThreadId::parse(thread).expect("a thread");
    engine.store().read(|reader| reader.thread(&thread, ThreadRange::default(), 100)).expect("read")
}

/// What the records say happened: kind, event and who did it.
fn told(engine: &Engine) -> Vec<String> {
    let text = |stored: &Stored, key: &str| {
        stored.record.body.get(key).and_then(Value::as_str).unwrap_or("-").to_owned()
    };
    records(engine, "api_tokens_default")
        .iter()
        .map(|it| ["kind", "event", "name", "by"].map(|key| text(it, key)).join(" "))
        .collect()
}

#[test]
fn what_happens_is_written_down_and_no_secret_is() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, minted) = made(&engine, "records:read");
    let caller = known(&engine, &minted).expect("known");
    assert_eq!(caller.name(), account.id.as_str());
    let second = engine.rotate_token(&caller, &minted.id).expect("rotated");
    engine.revoke_tokens(&Caller::operator(), second.id.as_str()).expect("revoked");
    engine.revoke_account(&Caller::operator(), &account.id, Some("over")).expect("revoked");
    let own = account.id.as_str();
    assert_eq!(
        told(&engine),
        [
            "core.service_account.v1 created admin operator".to_owned(),
            "core.api_token.v1 minted admin operator".to_owned(),
            "core.service_account.v1 created ci operator".to_owned(),
            "core.api_token.v1 minted ci operator".to_owned(),
            format!("core.api_token.v1 rotated ci {own}"),
            "core.api_token.v1 revoked ci operator".to_owned(),
            "core.service_account.v1 revoked ci operator".to_owned(),
        ]
    );
    let all = records(&engine, "api_tokens_default");
    let secrets = [&minted.bearer, &second.bearer];
    for stored in &all {
        assert_eq!(stored.origin.as_str(), "engine");
        let text = stored.record.canonical().as_str();
        for bearer in secrets {
            let secret = bearer.rsplit_once('_').expect("a secret").1;
            assert!(!text.contains(secret), "{text}");
        }
    }
    let last = all.last().expect("a record");
    assert_eq!(last.record.body.get("reason"), Some(&"over".into()));
    // Nor anywhere else in the file.
    drop(engine);
    let mut file = std::fs::read(instance.home().store_path()).expect("the store");
    let mut log = instance.home().store_path().into_os_string();
    log.push("-wal");
    file.extend(std::fs::read(log).unwrap_or_default());
    for bearer in secrets {
        let secret = bearer.rsplit_once('_').expect("a secret").1.as_bytes();
        assert!(!file.windows(secret.len()).any(|window| window == secret));
    }
}

#[test]
fn a_revoked_account_makes_all_its_tokens_dead() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, first) = made(&engine, "records:read");
    let operator = Caller::operator();
    let second = engine.mint(&operator, &account.id, &Wish::default()).expect("minted");
    assert!(known(&engine, &first).is_some() && known(&engine, &second).is_some());
    assert_eq!(engine.revoke_account(&operator, &account.id, None).expect("revoked"), 2);
    assert_eq!((known(&engine, &first), known(&engine, &second)), (None, None));
    for error in [
        engine.revoke_account(&operator, &account.id, None).map(drop),
        engine.mint(&operator, &account.id, &Wish::default()).map(drop),
        engine.rotate_token(&operator, &first.id).map(drop),
        engine.rotate_account(&operator, &account.id).map(drop),
    ] {
        assert_eq!(error.expect_err("it is gone").code(), Code::NotFound);
    }
    // Its id is not to be had again.
    let again = NewAccount { id: Some(account.id), ..new("ci", "records:read", "") };
    let error = engine.create_account(&operator, again, None).expect_err("taken");
    assert!(matches!(error, AccountError::Taken), "{error}");
}

#[test]
fn a_token_ends_when_it_says() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, _) = made(&engine, "records:read");
    let wish = Wish { expires: Some(Expiry::parse("1m").expect("a span")), ..Wish::default() };
    let minted = engine.mint(&Caller::operator(), &account.id, &wish).expect("minted");
    let ends = engine.token(&minted.id).expect("read").expect("there").expires_at.expect("ends");
    let caller = known(&engine, &minted).expect("known");
    // A new secret is no longer life.
    let rotated = engine.rotate_token(&caller, &minted.id).expect("rotated");
    let token = engine.token(&rotated.id).expect("read").expect("there");
    assert_eq!(token.expires_at, Some(ends));
    assert_eq!(known(&engine, &minted), None);
    let asked = (0..100).take_while(|_| known(&engine, &rotated).is_some()).count();
    assert!((1..60).contains(&asked), "{asked}");
    assert!(engine.store().now() >= ends);
    for late in ["2020-01-01T00:00:00Z", "0d"] {
        let wish = Expiry::parse(late).map(|it| Wish { expires: Some(it), ..Wish::default() });
        let refused = wish.is_err()
            || engine.mint(&Caller::operator(), &account.id, &wish.expect("read")).is_err();
        assert!(refused, "{late}");
    }
}

#[test]
fn a_token_has_no_more_than_its_account() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, _) = made(&engine, "records:read,namespace:acme:write");
    let mint = |csv: &str| {
        let wish = Wish { scopes: Some(scopes(csv)), ..Wish::default() };
        engine.mint(&Caller::operator(), &account.id, &wish)
    };
    for less in ["records:read", "thread:a:read", "namespace:acme/site:write"] {
        mint(less).unwrap_or_else(|error| panic!("{less}: {error}"));
    }
    for more in ["records:write", "admin", "config:read", "namespace:default:write"] {
        let error = mint(more).map(drop).expect_err(more);
        assert_eq!((error.code(), error.field()), (Code::InvalidBody, Some("scopes")));
    }
}

#[test]
fn a_key_is_rotated_by_its_holder_and_by_the_operator() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, minted) = made(&engine, "records:read");
    let (other, others) = made(&engine, "records:read");
    let caller = known(&engine, &minted).expect("known");
    let none = TokenId::of_secret("nobody's");
    let nowhere = AccountId::parse("sa-nowhere").expect("an id");
    let refusals = [
        engine.rotate_token(&caller, &others.id).map(drop),
        engine.rotate_token(&caller, &none).map(drop),
        engine.rotate_account(&caller, &other.id).map(drop),
        engine.rotate_account(&caller, &nowhere).map(drop),
    ];
    let said: Vec<String> = refusals
        .into_iter()
        .map(|refused| refused.expect_err("not its own"))
        .map(|error| format!("{} {error}", error.code()))
        .collect();
    assert!(said.iter().all(|one| *one == said[0]), "{said:?}");
    assert!(said[0].starts_with("ROTATE_NOT_SELF"), "{said:?}");

    let narrow = Wish { scopes: Some(scopes("thread:a:read")), ..Wish::default() };
    let narrow = engine.mint(&Caller::operator(), &account.id, &narrow).expect("minted");
    let holder = known(&engine, &narrow).expect("known");
    // Who holds less does not come to more by rotating the key of the account.
    let rotated = engine.rotate_account(&holder, &account.id).expect("rotated");
    let now = known(&engine, &rotated).expect("known");
    assert_eq!(now.scope_words(), ["thread:a:read"]);
    assert_eq!((known(&engine, &minted), known(&engine, &narrow)), (None, None));
    let whole = engine.rotate_account(&Caller::operator(), &account.id).expect("rotated");
    assert_eq!(known(&engine, &whole).expect("known").scope_words(), ["records:read"]);
    assert_eq!(known(&engine, &rotated), None);
}

#[test]
fn the_token_of_the_home_is_replaced_where_it_lies() {
    let instance = Instance::new();
    let engine = instance.open();
    let bearer = instance.home().token().expect("read").expect("a token");
    let caller = engine.authenticate(&bearer).expect("asked").expect("known");
    assert_eq!(caller.account().map(AccountId::as_str), Some("sa-admin"));
    let id = caller.token().expect("a token").clone();
    let rotated = engine.rotate_token(&caller, &id).expect("rotated");
    assert_eq!(instance.home().token().expect("read"), Some(rotated.bearer.clone()));
    assert_eq!(instance.home().exposed(), Vec::<std::path::PathBuf>::new());
    assert_eq!(engine.authenticate(&bearer).expect("asked"), None);
    drop(engine);
    assert!(known(&instance.open(), &rotated).expect("known").is_operator());
}

/// Whoever lost the admin account makes another token by making the home whole again.
#[test]
fn a_home_gets_a_new_account_when_the_old_one_was_revoked() {
    let instance = Instance::new();
    let admin = AccountId::parse("sa-admin").expect("an id");
    let engine = instance.open();
    engine.revoke_account(&Caller::operator(), &admin, None).expect("revoked");
    let bearer = instance.home().token().expect("read").expect("a token");
    assert_eq!(engine.authenticate(&bearer).expect("asked"), None);
    drop(engine);
    std::fs::remove_file(instance.home().token_path()).expect("removed");
    instance.home().initialise("vera").expect("made");
    let bearer = instance.home().token().expect("read").expect("a token");
    let caller = instance.open().authenticate(&bearer).expect("asked").expect("known");
    assert!(caller.is_operator());
    assert_ne!(caller.account(), Some(&admin));
}

#[test]
fn only_the_operator_has_to_do_with_accounts() {
    let instance = Instance::new();
    let engine = instance.open();
    let (account, minted) = made(&engine, "records:read,records:write,config:read,config:write");
    let caller = known(&engine, &minted).expect("known");
    for refused in [
        engine.create_account(&caller, new("x", "records:read", ""), None).map(drop),
        engine.mint(&caller, &account.id, &Wish::default()).map(drop),
        engine.revoke_account(&caller, &account.id, None).map(drop),
        engine.revoke_tokens(&caller, "ci").map(drop),
    ] {
        assert_eq!(refused.expect_err("refused").code(), Code::ScopeForbidden);
    }
}

#[test]
fn an_account_is_refused_by_field() {
    let instance = Instance::new();
    let engine = instance.open();
    let operator = Caller::operator();
    let field = |new: NewAccount| {
        let error = engine.create_account(&operator, new, None).expect_err("refused");
        (error.code().as_str(), error.field().map(str::to_owned))
    };
    for (new, wanted) in [
        (new("", "records:read", ""), "name"),
        (new("a\nb", "records:read", ""), "name"),
        (new("a", "", ""), "scopes"),
        (new("a", "records:write", "did:sync:system:engine"), "actors"),
    ] {
        assert_eq!(field(new), ("INVALID_BODY", Some(wanted.into())));
    }
    let system = new("a", "admin", "did:sync:system:engine");
    let (account, _) = engine.create_account(&operator, system, None).expect("an account");
    assert_eq!(account.actors, "did:sync:system:engine");
    assert_eq!(
        account.id.did(),
        ActorId::parse(&format!("did:sync:system:{}", account.id)).expect("a DID")
    );
}
