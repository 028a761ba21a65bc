//! What somebody may see of the store: all of it, or what stands on some threads and in some
//! namespaces.
//!
//! A store that is narrowed to a sight shows what is outside of it exactly as what is not there. On
//! the connection that reads, the table of records is covered by a view of the same name, so that
//! every question of this module is narrowed, those that are added later too.

use std::collections::BTreeSet;

use rusqlite::Connection;

use super::StoreError;
use crate::record::{Namespace, ThreadId};

/// What may be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight(Option<Places>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Places {
    threads: BTreeSet<ThreadId>,
    namespaces: BTreeSet<Namespace>,
}

impl Sight {
    /// Returns the sight of whoever sees everything.
    pub const fn everything() -> Self {
        Self(None)
    }

    /// Returns the sight of whoever sees nothing.
    pub fn nothing() -> Self {
        Self(Some(Places::default()))
    }

    /// Returns whether everything is seen.
    pub const fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a thread.
    pub fn add_thread(&mut self, thread: &ThreadId) {
        if let Some(places) = &mut self.0 {
            places.threads.insert(thread.clone());
        }
    }

    /// Adds a namespace, with all below it. The root has everything below it.
    pub fn add_namespace(&mut self, path: &Namespace) {
        if path.is_root() {
            self.0 = None;
        } else if let Some(places) = &mut self.0 {
            places.namespaces.insert(path.clone());
        }
    }

    /// Returns whether what stands on this thread, in this namespace, is seen.
    pub fn shows(&self, thread: &ThreadId, namespace: &Namespace) -> bool {
        self.0.as_ref().is_none_or(|places| {
            places.threads.contains(thread) || places.shows_namespace(namespace)
        })
    }

    /// Returns whether this namespace is seen on whatever thread.
    pub fn shows_namespace(&self, namespace: &Namespace) -> bool {
        self.0.as_ref().is_none_or(|places| places.shows_namespace(namespace))
    }

    /// Returns whether all that `other` shows is seen.
    pub fn holds(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(places), Some(others)) => {
                places.threads.is_superset(&others.threads)
                    && others.namespaces.iter().all(|path| places.shows_namespace(path))
            }
        }
    }
}

impl Places {
    fn shows_namespace(&self, namespace: &Namespace) -> bool {
        self.namespaces.iter().any(|path| path.covers(namespace))
    }
}

/// A connection on which the records outside of a sight are covered, until this ends.
pub(super) struct Covered<'c> {
    pub(super) connection: &'c Connection,
}

/// A name without a schema means the temporary one first, and SQLite prepares every statement anew
/// when that one changes.
const COVER: &str = "
    CREATE TEMP TABLE sight_threads (thread TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP TABLE sight_namespaces (path TEXT NOT NULL PRIMARY KEY) WITHOUT ROWID;
    CREATE TEMP VIEW records AS
        SELECT * FROM main.records AS r
        WHERE r.thread IN (SELECT thread FROM sight_threads)
           OR EXISTS (SELECT 1 FROM sight_namespaces
                      WHERE path = substr(r.namespace, 1, length(path))
                        AND substr(r.namespace, length(path) + 1, 1) IN ('', '/'));";

const UNCOVER: &str = "
    DROP VIEW IF EXISTS temp.records;
    DROP TABLE IF EXISTS temp.sight_threads;
    DROP TABLE IF EXISTS temp.sight_namespaces;";

impl<'c> Covered<'c> {
    /// Covers what `sight` does not show.
    pub(super) fn by(connection: &'c Connection, sight: &Sight) -> Result<Self, StoreError> {
        let covered = Self { connection };
        let Some(places) = &sight.0 else { return Ok(covered) };
        connection.execute_batch(COVER)?;
        let mut insert = connection.prepare("INSERT INTO sight_threads VALUES (?1)")?;
        for thread in &places.threads {
            insert.execute([thread.as_str()])?;
        }
        let mut insert = connection.prepare("INSERT INTO sight_namespaces VALUES (?1)")?;
        for path in &places.namespaces {
            insert.execute([path.as_str()])?;
        }
        Ok(covered)
    }
}

impl Drop for Covered<'_> {
    fn drop(&mut self) {
        // A connection that only reads is closed with all of it.
        let _ = self.connection.execute_batch(UNCOVER);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Query, Store, StoreOptions, ThreadRange};
    use super::*;
    use crate::identity::{KeyPair, Keyring};
    use crate::object;
    use crate::record::{Act, ActorId, Clock, Draft, Origin, RecordId, Sequence};
    use crate::time::TimeSource;

    fn options() -> StoreOptions {
        let keyring = Keyring::new(KeyPair::from_seed(&[7; 32]));
        StoreOptions::new(keyring, TimeSource::system())
    }

    fn thread(name: &str) -> ThreadId {
        ThreadId::parse(name).expect("a name")
    }

    fn write(store: &Store, on: &str, namespace: &str, clock: i64) -> RecordId {
        let actor = ActorId::parse("did:sync:user:vera").expect("a name");
        let body = object! { "namespace": namespace, "text": "a secret" };
        let draft = Draft::new(thread(on), actor, Act::Intend, body);
        let draft = draft.with_clock(Clock::new(clock).expect("a clock"));
        let prepared = store.prepare(draft).expect("sealed");
        store.append(prepared, Origin::Door).expect("stored").id
    }

    /// Everything that a reader may be asked gives the same answers over what is covered and over a
    /// store that never had it.
    #[test]
    fn what_is_covered_is_not_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let open = |name: &str| Store::open(&folder.path().join(name), options()).expect("open");
        let pairs = [
            (open("all.db"), open("some.db")),
            (
                Store::in_memory(options()).expect("open"),
                Store::in_memory(options()).expect("open"),
            ),
        ];
        let mut sight = Sight::nothing();
        sight.add_thread(&thread("th_a"));
        sight.add_namespace(&Namespace::parse("acme").expect("a path"));
        for (all, some) in pairs {
            let mut hidden = Vec::new();
            for (on, namespace, clock) in [
                ("th_a", "default", 0),
                ("th_b", "acme/site", 0),
                ("th_c", "acme", 0),
                ("th_a", "other", 1),
            ] {
                write(&all, on, namespace, clock);
                write(&some, on, namespace, clock);
            }
            for (on, namespace, clock) in [
                ("th_b", "default", 1),
                ("th_b", "acmeister", 2),
                ("th_z", "ac", 0),
                ("th_c", "other/acme", 9),
            ] {
                hidden.push(write(&all, on, namespace, clock));
            }
            let narrowed = all.narrowed(sight.clone());
            assert!(narrowed.is_narrowed() && !all.is_narrowed());
            let query = object! { "filter": crate::canon::Object::new(), "explain": true };
            let query = Query::parse(&query.into()).expect("a query");
            let tell = |store: &Store| {
                store
                    .read(|reader| {
                        let range = ThreadRange::default();
                        let ids = |found: Vec<super::super::Stored>| -> Vec<RecordId> {
                            found.iter().map(|stored| stored.record.id()).collect()
                        };
                        let threads = reader.threads("", 10)?;
                        let mut said = vec![
                            format!("{threads:?}"),
                            format!("{:?}", ids(reader.query(&query)?.records)),
                            format!("{}", reader.count(&query)?),
                            format!("{:?}", ids(reader.matching(None, None, Some(0), 9)?.0)),
                            format!("{:?}", ids(reader.containing("secret", None, 9)?)),
                            format!("{:?}", reader.moved_threads(Sequence::default(), 9)?.len()),
                            format!("{:?}", reader.threads_with_goals(9)?),
                            format!("{}", reader.thread_count()?),
                        ];
                        for name in ["th_a", "th_b", "th_c", "th_z", "th_none"] {
                            let thread = thread(name);
                            said.push(format!("{:?}", reader.clocks(&thread)?));
                            said.push(format!("{}", reader.has_intent(&thread)?));
                            said.push(format!("{:?}", ids(reader.thread(&thread, range, 9)?)));
                        }
                        for id in &hidden {
                            said.push(format!("{:?}", reader.record(*id)?.is_none()));
                            said.push(format!("{:?}", reader.author(*id)?));
                            said.push(format!("{}", reader.by_prefix(&id.to_string())?.len()));
                        }
                        Ok(said)
                    })
                    .expect("read")
            };
            assert_eq!(tell(&narrowed), tell(&some));
            // Nobody else is narrowed by it, and writing goes on.
            assert_eq!(all.read(|reader| reader.last()).expect("read").get(), 8);
            write(&narrowed, "th_z", "default", 7);
            assert_eq!(all.read(|reader| reader.last()).expect("read").get(), 9);
            let nothing = all.narrowed(Sight::nothing());
            assert_eq!(nothing.read(|reader| reader.last()).expect("read").get(), 0);
        }
    }
}
