//! What several tests need: stores with pinned keys and time, and small records.

use spl::canon::{Limits, Object, Value, parse};
use spl::engine::{Caller, Engine};
use spl::identity::{KeyPair, Keyring};
use spl::object;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, NamespaceStatus, ThreadId};
use spl::store::{Store, StoreOptions};
use spl::time::{TimeSource, Timestamp};

/// Keys that are the same in every run.
pub(crate) fn keyring() -> Keyring {
    Keyring::new(KeyPair::from_seed(&[1; 32]))
        .with_actor("did:sync:user:vera", KeyPair::from_seed(&[2; 32]))
}

/// A time that moves by a second each time it is asked.
pub(crate) fn time() -> TimeSource {
    TimeSource::stepped(Timestamp::from_millis(1_796_000_000_000), 1000)
}

pub(crate) fn options() -> StoreOptions {
    StoreOptions::new(keyring(), time())
}

/// A store in a folder of its own, which ends with the value.
pub(crate) struct Folder {
    pub(crate) dir: tempfile::TempDir,
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self { dir: tempfile::tempdir().expect("a folder") }
    }

    pub(crate) fn path(&self) -> std::path::PathBuf {
        self.dir.path().join("hub.db")
    }

    pub(crate) fn open(&self) -> Store {
        Store::open(&self.path(), options()).expect("a store")
    }
}

pub(crate) fn json(text: &str) -> Value {
    parse(text.as_bytes(), Limits::DOOR).expect("JSON")
}

pub(crate) fn body(text: &str) -> Object {
    json(text).as_object().expect("an object").clone()
}

/// A statement of vera's on a thread.
pub(crate) fn note(thread: &str, clock: i64, text: &str) -> Draft {
    Draft::new(
        ThreadId::parse(thread).expect("a thread"),
        ActorId::parse("did:sync:user:vera").expect("an actor"),
        Act::Know,
        spl::object! { "text": text },
    )
    .with_clock(Clock::new(clock).expect("a clock"))
}

/// Registers a namespace and those above it, as their operator does.
pub(crate) fn register(engine: &Engine, path: &str) {
    let namespace = Namespace::parse(path).expect("a namespace");
    for path in namespace.lineage().skip(1) {
        let namespace = Namespace::parse(path).expect("a namespace");
        engine
            .set_namespace(&Caller::operator(), &namespace, NamespaceStatus::Active)
            .expect("registered");
    }
}

/// The body of a permission rule.
pub(crate) fn rule(name: &str, action: &str, expression: &str) -> Object {
    object! {
        "action": action, "expression": expression, "name": name, "topic": "permission_rule",
    }
}

/// A body with one more member.
pub(crate) fn with(mut body: Object, field: &str, value: impl Into<Value>) -> Object {
    body.insert(field.into(), value.into());
    body
}

/// The body that puts permission rules in force, or out of it.
pub(crate) fn switch(enabled: bool) -> Object {
    object! { "topic": "permissions_enabled", "enabled": enabled }
}
