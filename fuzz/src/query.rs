//! Queries: one that reads well is one that SQLite runs.

use std::sync::LazyLock;

use spl::canon::{Limits, Value, parse};
use spl::identity::{KeyPair, Keyring};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Origin, ThreadId};
use spl::store::{Query, Store, StoreOptions};
use spl::time::{TimeSource, Timestamp};

static STORE: LazyLock<Store> = LazyLock::new(small_store);

/// Checks that what `Query::parse` takes is answered, within its limit, and no more than there is.
///
/// # Panics
///
/// Where it does not hold.
pub fn check(bytes: &[u8]) -> bool {
    let Ok(request) = parse(bytes, Limits::DOOR) else { return false };
    let query = match Query::parse(&request) {
        Ok(query) => query,
        Err(error) => {
            assert!(!error.message.is_empty());
            return false;
        }
    };
    let (page, count) = STORE
        .read(|reader| Ok((reader.query(&query)?, reader.count(&query)?)))
        .expect("SQLite takes every query that reads well");
    let found = u64::try_from(page.records.len()).expect("a short page");
    assert!(found <= count, "{found} of {count}");
    true
}

fn small_store() -> Store {
    let keyring = Keyring::new(KeyPair::from_seed(&[1; 32]));
    let time = TimeSource::stepped(Timestamp::from_millis(1_796_000_000_000), 1000);
    let store = Store::in_memory(StoreOptions::new(keyring, time)).expect("a store");
    let bodies = [
        object! { "kind": "note", "text": "a", "n": 1_i64 },
        object! { "kind": "note", "text": "A", "n": Value::from_float(1.5), "deep": object! { "er": true } },
        object! { "n": "1", "flag": false, "none": Value::Null },
        object! { "list": vec![1_i64, 2], "caf\u{e9}": "\u{1f511}", "quote\"": "'" },
    ];
    for (clock, body) in (0..).zip(bodies) {
        let thread = ThreadId::parse("th_a").expect("a thread");
        let actor = ActorId::parse("did:sync:user:vera").expect("an actor");
        let clock = Clock::new(clock).expect("a clock");
        let draft = Draft::new(thread, actor, Act::Know, body).with_clock(clock);
        let prepared = store.prepare(draft).expect("prepared");
        store.append(prepared, Origin::Door).expect("appended");
    }
    store
}
