//! The keys of actors: the records that name them, and the table that is folded from those.
//!
//! A key record stands on `th_actor_registry` and was written by the engine itself; the same words
//! from a door are plain data. It names an actor's new key, and the one that it replaces, which has
//! signed the record. The new key has signed the naming of it, so nobody names a key that is not
//! theirs. The key of the instance is that of the actor `did:sync:system:engine`.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{OptionalExtension as _, params};

use super::{Reader, StoreError, Stored, Tx};
use crate::canon::{Canonical, Object, Value};
use crate::identity::{KeyPair, Signature, public_key_of};
use crate::object;
use crate::record::{ACTOR_THREAD, ActorId, ENGINE_ACTOR, Origin, Sequence};

/// The kind of a record that names a key.
pub const KEY_KIND: &str = "core.identity.key.v1";

/// What a key record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyStatement {
    /// Whose key it is.
    pub actor: String,
    /// The key, as `did:key`.
    pub key: String,
    /// The key that it replaces, if that one agrees.
    pub previous: Option<String>,
    /// The new key's signature over the three.
    proof: Signature,
}

impl KeyStatement {
    /// States that `key` is the actor's from now on, in the place of `previous`.
    pub fn new(actor: &ActorId, key: &KeyPair, previous: Option<&str>) -> Self {
        let bytes = proved(actor.as_str(), key.did(), previous);
        let proof = key.sign(bytes.as_bytes());
        let (actor, previous) = (actor.as_str().to_owned(), previous.map(str::to_owned));
        Self { actor, key: key.did().to_owned(), previous, proof }
    }

    /// Returns the body of the record.
    pub fn to_body(&self) -> Object {
        let mut body = object! {
            "actor": self.actor.as_str(),
            "key": self.key.as_str(),
            "kind": KEY_KIND,
            "proof": self.proof.to_string(),
            "topic": "identity_key",
        };
        if let Some(previous) = &self.previous {
            body.insert("previous".into(), previous.as_str().into());
        }
        body
    }

    /// Reads a record that names a key and may do so: the engine wrote it, the new key has proved
    /// itself, and the one before it has signed.
    pub(super) fn read(stored: &Stored) -> Option<Self> {
        let record = &stored.record;
        let counts = stored.origin == Origin::Engine
            && record.thread.as_str() == ACTOR_THREAD
            && record.kind() == Some(KEY_KIND);
        let text = |key| record.body.get(key).and_then(Value::as_str).map(str::to_owned);
        let (actor, key, previous) = (text("actor")?, text("key")?, text("previous"));
        let proof = Signature::parse_exact(&text("proof")?)?;
        let bytes = proved(&actor, &key, previous.as_deref());
        let is_proved = public_key_of(&key)?.verifies(bytes.as_bytes(), &proof);
        let agreed = match &previous {
            Some(previous) => *previous == stored.signer,
            // An actor's key may be lost, and then the instance says so. Its own cannot be.
            None => actor != ENGINE_ACTOR,
        };
        let read = Self { actor, key, previous, proof };
        (counts && is_proved && agreed).then_some(read)
    }
}

/// Returns the bytes by which a new key proves that somebody has it.
fn proved(actor: &str, key: &str, previous: Option<&str>) -> Canonical {
    Canonical::of_object(&object! {
        "actor": actor,
        "key": key,
        "object": "key_possession",
        "previous": previous,
    })
}

/// A key that an actor has or had.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ActorKey {
    /// The key, as `did:key`.
    pub key: String,
    /// The record that names it; 0 for one that an actor had before any record said so.
    pub since: Sequence,
    /// The record that replaces it.
    pub until: Option<Sequence>,
}

/// The keys of every actor, in the order in which they came.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct ActorKeys(BTreeMap<String, Vec<ActorKey>>);

impl ActorKeys {
    /// Takes the next record that names a key.
    pub(super) fn apply(&mut self, sequence: Sequence, statement: KeyStatement) {
        let KeyStatement { actor, key, previous, .. } = statement;
        let keys = self.0.entry(actor).or_default();
        if keys.iter().any(|had| had.key == key) {
            return;
        }
        let current = keys.last_mut();
        match (current, previous) {
            (Some(current), Some(previous)) if current.key != previous => return,
            (Some(current), _) => current.until = Some(sequence),
            (None, Some(previous)) => {
                let (since, until) = (Sequence::default(), Some(sequence));
                keys.push(ActorKey { key: previous, since, until });
            }
            (None, None) => {}
        }
        keys.push(ActorKey { key, since: sequence, until: None });
    }

    /// Returns the keys that an actor has had.
    pub(super) fn of(&self, actor: &str) -> &[ActorKey] {
        self.0.get(actor).map(Vec::as_slice).unwrap_or_default()
    }

    /// Returns the first place where two of them differ.
    pub(super) fn differs_at(&self, other: &Self) -> Option<Sequence> {
        let (ours, theirs) = (self.places(), other.places());
        ours.symmetric_difference(&theirs).map(|(place, ..)| *place).min()
    }

    /// Returns each key with the record that tells of it first.
    fn places(&self) -> BTreeSet<(Sequence, &str, &ActorKey)> {
        let mut places = BTreeSet::new();
        for (actor, keys) in &self.0 {
            for key in keys {
                let unnamed = key.since == Sequence::default();
                let place = key.until.filter(|_| unnamed).unwrap_or(key.since);
                places.insert((place, actor.as_str(), key));
            }
        }
        places
    }
}

impl Tx<'_> {
    /// Notes the key that a record at this sequence names, unless the actor has had it before or the
    /// one that it replaces is not the actor's. Returns whether it is noted.
    pub fn note_key(
        &mut self,
        sequence: Sequence,
        statement: &KeyStatement,
    ) -> Result<bool, StoreError> {
        let KeyStatement { actor, key, previous, .. } = statement;
        let had = self.reader().actor_keys(actor)?;
        let current = had.iter().find(|had| had.until.is_none());
        let is_current = |it: &ActorKey| previous.as_ref().is_none_or(|was| *was == it.key);
        if had.iter().any(|had| had.key == *key) || !current.is_none_or(is_current) {
            return Ok(false);
        }
        let insert = "INSERT INTO actor_keys (actor, key, since, until) VALUES (?1, ?2, ?3, ?4)";
        let at = sequence.get();
        if current.is_some() {
            let sql = "UPDATE actor_keys SET until = ?2 WHERE actor = ?1 AND until IS NULL";
            self.connection.prepare_cached(sql)?.execute(params![actor, at])?;
        } else if let Some(previous) = previous {
            self.connection.prepare_cached(insert)?.execute(params![actor, previous, 0, at])?;
        }
        let none: Option<i64> = None;
        self.connection.prepare_cached(insert)?.execute(params![actor, key, at, none])?;
        Ok(true)
    }

    /// Makes `key` the key of the instance from the end of this transaction on: it signs the head.
    pub fn hand_over(&mut self, key: std::sync::Arc<KeyPair>) {
        self.heir = Some(key);
    }
}

impl Reader<'_> {
    /// Returns the keys that an actor has had, as far as records name them, in order.
    pub fn actor_keys(&self, actor: &str) -> Result<Vec<ActorKey>, StoreError> {
        let sql = "SELECT key, since, until FROM actor_keys WHERE actor = ?1 ORDER BY since";
        let mut statement = self.connection.prepare_cached(sql)?;
        let keys = statement.query_map([actor], |row| key_of(row, 0))?;
        Ok(keys.collect::<Result<_, _>>()?)
    }

    /// Returns the key that an actor has now, as far as records name it.
    pub fn actor_key(&self, actor: &str) -> Result<Option<String>, StoreError> {
        let sql = "SELECT key FROM actor_keys WHERE actor = ?1 AND until IS NULL";
        Ok(self.connection.prepare_cached(sql)?.query_row([actor], |row| row.get(0)).optional()?)
    }

    /// Returns the actors that records name a key of, by name.
    pub fn keyed_actors(&self) -> Result<Vec<String>, StoreError> {
        let sql = "SELECT DISTINCT actor FROM actor_keys ORDER BY actor";
        let mut statement = self.connection.prepare_cached(sql)?;
        Ok(statement.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Returns the keys that this instance had before `key`, the newest first: each has proved that
    /// it follows the next.
    pub fn former_keys(&self, key: &str) -> Result<Vec<String>, StoreError> {
        let condition = "kind = ?1 AND origin = 'engine'";
        let stated = self.list(condition, &[&KEY_KIND], "seq", usize::MAX)?;
        let stated = stated.iter().filter_map(KeyStatement::read);
        let before: BTreeMap<String, String> = stated
            .filter(|it| it.actor == ENGINE_ACTOR)
            .filter_map(|it| Some((it.key, it.previous?)))
            .collect();
        let mut former = Vec::new();
        let mut key = key;
        while let Some(previous) = before.get(key).filter(|it| !former.contains(*it)) {
            former.push(previous.clone());
            key = previous;
        }
        Ok(former)
    }

    /// Returns all that the table says.
    pub(super) fn noted_keys(&self) -> Result<ActorKeys, StoreError> {
        let sql = "SELECT actor, key, since, until FROM actor_keys ORDER BY actor, since";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut keys = ActorKeys::default();
        while let Some(row) = rows.next()? {
            keys.0.entry(row.get(0)?).or_default().push(key_of(row, 1)?);
        }
        Ok(keys)
    }
}

fn key_of(row: &rusqlite::Row<'_>, first: usize) -> Result<ActorKey, rusqlite::Error> {
    Ok(ActorKey {
        key: row.get(first)?,
        since: Sequence::new(row.get(first + 1)?),
        until: row.get::<_, Option<i64>>(first + 2)?.map(Sequence::new),
    })
}
