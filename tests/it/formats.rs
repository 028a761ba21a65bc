//! Files of every format there was: each is opened by each later version.

use std::path::{Path, PathBuf};

use rusqlite::Connection;
use spl::engine::{Caller, Engine, EngineOptions, Home, Scope};
use spl::object;
use spl::predicate::FailureKind;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, Origin, Sequence, ThreadId};
use spl::store::{
    Account, AccountId, AppendError, Counted, Store, StoreError, ThreadRange, Token, TokenId,
};

use crate::support::{Folder, body, note};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/store")
}

/// A few records, a hook, and a row in every table beside the log.
fn fill(store: &Store) {
    let hook =
        body(r#"{"kind":"core.hook.v1","topic":"hook","name":"lesson","when":"true","text":"t"}"#);
    let verdict = body(r#"{"verdict":"accept","domain":"ops","judged_by":"did:sync:agent:clerk"}"#);
    let config = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, hook);
    let judged =
        Draft { judged_by: Some("judge".into()), ..note("th_b", 7, "caf\u{e9} \u{1f511}") };
    let goal = Draft { act: Act::Intend, ..note("th_a", 1, "a goal") };
    let verdict = Draft { body: verdict, ..note("th_b", 8, "") };
    let large = object! { "n": body(r#"{"n":123456789012345678901234567890,"f":0.5}"#) };
    let large = Draft { body: large, ..note("acme/site", 9, "") };
    for draft in [note("th_a", 0, "the first"), goal, judged, verdict, config, large] {
        let prepared = store.prepare(draft).expect("prepared");
        store.append(prepared, Origin::Door).expect("appended");
    }
    let run = ThreadId::parse("th_run").expect("a thread");
    let beside: Result<(), StoreError> = store.write(move |tx| {
        let root = Namespace::root();
        tx.claim_fire(&run, 0, &root, "lesson", 3)?;
        tx.count_call(&root, Sequence::new(6))?;
        let (held, failed) = (Counted { held: true, ..Counted::default() }, FailureKind::Error);
        let failed = Counted { failed: Some(failed), ..Counted::default() };
        for counted in [Counted { spoke: true, ..held }, held, failed] {
            tx.count_hook(&root, "lesson", counted)?;
        }
        let account = Account {
            id: AccountId::parse("sa-ci").expect("an id"),
            name: "ci".into(),
            namespace: "default".into(),
            scopes: "records:read".into(),
            actors: "*".into(),
            created_at: tx.now(),
            revoked_at: None,
            reason: None,
        };
        tx.add_account(&account)?;
        tx.add_token(&Token {
            id: TokenId::of_secret("of the fixture"),
            account: account.id.to_string(),
            name: "ci".into(),
            env: "prod".into(),
            scopes: "records:read".into(),
            created_at: tx.now(),
            expires_at: None,
            revoked_at: None,
        })
    });
    beside.expect("written");
}

fn format_of(path: &Path) -> i64 {
    let raw = Connection::open(path).expect("a connection");
    raw.pragma_query_value(None, "user_version", |row| row.get(0)).expect("a format")
}

/// Returns what a store holds: its records in order, and what is counted beside them.
fn content(store: &Store) -> String {
    let token = TokenId::of_secret("of the fixture");
    store
        .read(|reader| {
            let mut lines = Vec::new();
            for thread in reader.threads("", 100)? {
                for stored in reader.thread(&thread.id, ThreadRange::default(), usize::MAX)? {
                    let (sequence, record) = (stored.sequence.get(), &stored.record);
                    lines.push((sequence, format!("{} {}", record.id(), stored.received_at)));
                }
            }
            lines.sort();
            let lines: Vec<String> =
                lines.into_iter().map(|(sequence, rest)| format!("{sequence} {rest}")).collect();
            let counters = reader.hook_counters()?;
            let calls = reader.seam_calls(&Namespace::root(), Sequence::default())?;
            let token = reader.token(&token)?.map(|token| token.scopes);
            let lines = lines.join("\n");
            Ok(format!("{lines}\n{counters:?}\n{calls} calls\ntoken: {token:?}"))
        })
        .expect("read")
}

/// A new format asks for a file of its own here.
#[test]
fn this_format_has_its_fixture() {
    let folder = Folder::new();
    let store = folder.open();
    fill(&store);
    let fixture = fixtures().join(format!("v{}.sqlite3", format_of(&folder.path())));
    if !fixture.exists() {
        store.backup(&fixture, |_, _| {}).expect("written");
        panic!("{} was missing and is written now: commit it", fixture.display());
    }
    assert!(fixture.metadata().expect("a file").len() < 150_000);
}

#[test]
fn a_file_of_every_format_opens_and_holds_what_was_written() {
    let mut formats = 0;
    for entry in std::fs::read_dir(fixtures()).expect("a folder") {
        let fixture = entry.expect("an entry").path();
        let folder = Folder::new();
        std::fs::copy(&fixture, folder.path()).expect("copied");
        let store = folder.open();
        let about = fixture.display().to_string();
        insta::assert_snapshot!("what_every_format_holds", content(&store));
        let verification = store.verify(|_, _| {}).expect("verified");
        assert_eq!((verification.records, verification.fault), (6, None), "{about}");
        let run = ThreadId::parse("th_run").expect("a thread");
        let claimed =
            store.write(move |tx| tx.claim_fire(&run, 0, &Namespace::root(), "lesson", 3));
        assert_eq!(claimed.expect("claimed"), Some(2), "{about}");
        goes_on(&store);
        formats += 1;
    }
    assert!(formats > 0);
}

/// A repeat is known, a taken clock is refused and a new record continues the chain.
fn goes_on(store: &Store) {
    let append = |draft: Draft| -> Result<bool, AppendError> {
        let prepared = store.prepare(draft)?;
        Ok(store.append(prepared, Origin::Door)?.fresh)
    };
    assert!(!append(note("th_a", 0, "the first")).expect("a repeat"));
    let refused = append(note("th_a", 0, "another first")).expect_err("refused");
    assert!(
        matches!(refused, AppendError::DuplicateClock { clock, .. } if clock == Clock::default())
    );
    assert!(append(note("th_a", 2, "the next")).expect("appended"));
    assert_eq!(store.verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn the_hook_of_every_format_is_in_force() {
    for entry in std::fs::read_dir(fixtures()).expect("a folder") {
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path());
        home.initialise("vera").expect("a home");
        std::fs::copy(entry.expect("an entry").path(), home.store_path()).expect("copied");
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        assert_eq!(engine.live().expect("live").config.hooks_loaded(), 1);
    }
}

/// Whoever had a token before there were accounts goes on as before, in whatever name they wrote.
#[test]
fn the_token_of_every_format_opens_what_it_did() {
    for entry in std::fs::read_dir(fixtures()).expect("a folder") {
        let fixture = entry.expect("an entry").path();
        let dir = tempfile::tempdir().expect("a folder");
        let home = Home::at(dir.path());
        home.initialise("vera").expect("a home");
        // The key that the fixture is signed with.
        std::fs::write(dir.path().join("keys/primary"), [1; 32]).expect("written");
        std::fs::copy(&fixture, home.store_path()).expect("copied");
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        let caller = engine.authenticate("spl_prod_ci_of the fixture").expect("asked");
        let caller = caller.unwrap_or_else(|| panic!("{}: not known", fixture.display()));
        assert!(caller.may(Scope::RecordsRead) && !caller.may(Scope::RecordsWrite));
        let speaks = |actor: &str| caller.may_speak_as(&ActorId::parse(actor).expect("an actor"));
        assert!(speaks("did:sync:user:vera") && !speaks("did:sync:system:engine"));
        let account = caller.account().expect("an account").to_string();
        let account = engine.find_account(&account).expect("found");
        assert_eq!((account.name.as_str(), account.actors.as_str()), ("ci", "*"));
        assert_eq!(engine.revoke_account(&Caller::operator(), &account.id, None).ok(), Some(1));
        assert_eq!(engine.authenticate("spl_prod_ci_of the fixture").expect("asked"), None);
        // That of the home, which such a store may not know yet, is the operator's as it was.
        let bearer = home.token().expect("read").expect("a token");
        assert!(engine.authenticate(&bearer).expect("asked").expect("known").is_operator());
    }
}
