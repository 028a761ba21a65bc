//! Records that were erased: the mark, and the tombstone of one whose words were taken out.
//!
//! Comes in: the ids that an erasure names, and the wish that the words of one go. Goes out: a mark
//! that folds pass over, or a row that has an empty body, keeps its id, its receipt and its place
//! in the chain, and has a signature of this instance over what is left.
//!
//! A mark follows from the log. A tombstone does not: it is the one change that a row may see, and
//! the trigger `records_no_update` lets no other through.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use super::connection;
use super::lock::FileLock;
use super::read::NOT_ERASED;
use super::{KEY_KIND, Reader, Store, StoreError, Stored, Tx};
use crate::canon::{Canonical, Object, Value};
use crate::identity::{Keyring, Signature};
use crate::object;
use crate::record::{Namespace, Origin, RecordId, Sequence};
use crate::time::Timestamp;

/// How long the file is kept from others for readers to let go of what was taken out.
const PATIENCE: Duration = Duration::from_secs(5);

/// The kind of the record of a hook.
const HOOK_KIND: &str = "core.hook.v1";

/// What is known of a record that was erased.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// The record that erases it.
    pub by: RecordId,
    /// What stands for its words, if they were taken out.
    pub tombstone: Option<Tombstone>,
}

/// What stands for the words of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tombstone {
    /// The record that asked for it.
    pub erasure: RecordId,
    /// When.
    pub at: Timestamp,
    /// The `did:key` of the instance.
    pub signer: String,
    /// Its signature over what is left.
    pub signature: Signature,
    /// Whether the file was rewritten since, so that no free space of it holds the words.
    pub scrubbed: bool,
}

impl Tombstone {
    /// Returns the tombstone as answers show it.
    pub fn to_object(&self) -> Object {
        object! {
            "at": self.at.to_string(),
            "erasure": self.erasure,
            "scrubbed": self.scrubbed,
            "sig": self.signature.to_string(),
            "signer": self.signer.as_str(),
        }
    }

    /// Tells whether its signer has said this about the row: nothing of what is left was changed
    /// since.
    pub(super) fn stands_for(&self, row: &Stored, namespace: &str) -> bool {
        let bytes = signed_bytes(row, namespace, self.erasure, self.at);
        let key = Keyring::public_key(&self.signer);
        row.record.body.is_empty()
            && key.is_some_and(|key| key.verifies(bytes.as_bytes(), &self.signature))
    }
}

/// Returns the bytes that a tombstone signs. `row` may still have its words.
fn signed_bytes(row: &Stored, namespace: &str, erasure: RecordId, at: Timestamp) -> Canonical {
    Canonical::of_object(&object! {
        "at": at.as_millis(),
        "erasure": erasure,
        "id": row.record.id(),
        "left": row.record.without_body().as_str(),
        "namespace": namespace,
        "seq": row.sequence.get(),
    })
}

/// Returns the tombstone of a row, if it has one.
pub(super) fn tombstone_of(
    connection: &Connection,
    sequence: Sequence,
) -> Result<Option<Tombstone>, StoreError> {
    let sql = "SELECT erasure, at, signer, sig, scrubbed FROM tombstones WHERE seq = ?1";
    let row = connection.prepare_cached(sql)?.query_row([sequence.get()], |row| {
        Ok(Tombstone {
            erasure: RecordId::from_bytes(row.get(0)?),
            at: Timestamp::from_millis(row.get(1)?),
            signer: row.get(2)?,
            signature: Signature::from_bytes(row.get(3)?),
            scrubbed: row.get(4)?,
        })
    });
    Ok(row.optional()?)
}

/// Returns every tombstone, by the place of its row.
pub(super) fn all_tombstones(
    connection: &Connection,
) -> Result<BTreeMap<i64, Tombstone>, StoreError> {
    let mut statement = connection.prepare("SELECT seq FROM tombstones")?;
    let places = statement.query_map([], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    let mut all = BTreeMap::new();
    for place in places {
        if let Some(tombstone) = tombstone_of(connection, Sequence::new(place))? {
            all.insert(place, tombstone);
        }
    }
    Ok(all)
}

impl Tx<'_> {
    /// Marks the records that an erasure names. What was marked before keeps its mark.
    pub(super) fn mark_erased(
        &self,
        erasure: RecordId,
        ids: impl Iterator<Item = RecordId>,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR IGNORE INTO erased (id, erasure) VALUES (?1, ?2)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for id in ids {
            insert.execute(params![id.as_bytes(), erasure.as_bytes()])?;
        }
        Ok(())
    }

    /// Takes the words out of a record that was erased, and out of what was kept of them beside it.
    /// Returns whether it had any: one that is not there, was not erased or was purged before, or
    /// that names a key, is left as it is.
    ///
    /// The file holds them until [`Store::scrub`].
    pub fn purge(&mut self, id: RecordId) -> Result<bool, StoreError> {
        let Some(row) = self.reader().record(id)? else { return Ok(false) };
        let Some(Erased { by, tombstone: None }) = row.erased else { return Ok(false) };
        // What an actor has signed is checked by what names the actor's key.
        if row.record.kind() == Some(KEY_KIND) && row.origin == Origin::Engine {
            return Ok(false);
        }
        let namespace: String = self
            .connection
            .prepare_cached("SELECT namespace FROM records WHERE seq = ?1")?
            .query_row([row.sequence.get()], |row| row.get(0))?;
        let key = self.keyring.instance();
        let signature = key.sign(signed_bytes(&row, &namespace, by, self.now).as_bytes());
        let sql = "INSERT INTO tombstones (seq, erasure, at, signer, sig)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        self.connection.prepare_cached(sql)?.execute(params![
            row.sequence.get(),
            by.as_bytes(),
            self.now.as_millis(),
            key.did(),
            signature.as_bytes(),
        ])?;
        let sql = "UPDATE records SET canonical = ?2, kind = NULL, verdict = NULL WHERE seq = ?1";
        let left = row.record.without_body();
        self.connection.prepare_cached(sql)?.execute(params![row.sequence.get(), left.as_str()])?;
        self.forget(&row)?;
        Ok(true)
    }

    /// Deletes what tables beside the log have copied from the words of a record.
    fn forget(&self, row: &Stored) -> Result<(), StoreError> {
        let (id, record) = (row.record.id(), &row.record);
        let text = |name: &str| record.body.get(name).and_then(Value::as_str).unwrap_or_default();
        let delete = |sql: &str, bound: &[&dyn rusqlite::ToSql]| -> Result<(), StoreError> {
            self.connection.prepare_cached(sql)?.execute(bound)?;
            Ok(())
        };
        delete("DELETE FROM session_words WHERE observation = ?1", &[id.as_bytes()])?;
        // What an event was answered holds the words of observations.
        let words = text("text");
        delete(
            "UPDATE session_events SET said = NULL
             WHERE run = ?1 AND (seq = ?2 OR (?3 <> '' AND instr(said, ?3) > 0))",
            &[&record.thread.as_str(), &row.sequence.get(), &words],
        )?;
        delete("DELETE FROM hook_index WHERE record = ?1", &[id.as_bytes()])?;
        if record.kind() != Some(HOOK_KIND) {
            return Ok(());
        }
        // The name of a hook is its own words too, unless another record has it.
        let namespace = record.namespace().unwrap_or_else(|_| Namespace::root());
        for table in ["hook_counters", "fires"] {
            let sql = format!(
                "DELETE FROM {table} WHERE namespace = ?1 AND name = ?2 AND NOT EXISTS (
                     SELECT 1 FROM records WHERE kind = '{HOOK_KIND}' AND namespace = ?1
                     AND json_extract(canonical, '$.body.name') = ?2)"
            );
            delete(&sql, &[&namespace.as_str(), &text("name")])?;
        }
        Ok(())
    }
}

impl Reader<'_> {
    /// Returns a number that moves whenever records were marked as erased.
    pub fn erasures(&self) -> Result<i64, StoreError> {
        let sql = "SELECT coalesce(max(n), 0) FROM erased";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns how many records had their words taken out while the file may still hold them.
    pub fn unscrubbed(&self) -> Result<u64, StoreError> {
        let sql = "SELECT count(*) FROM tombstones WHERE scrubbed = 0";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns how many records behind `after` were erased, of these threads or, if there are none,
    /// of all.
    pub fn erased_count(&self, threads: &[&str], after: Sequence) -> Result<u64, StoreError> {
        let mut sql = format!("SELECT count(*) FROM records WHERE seq > ?1 AND NOT ({NOT_ERASED})");
        let after = after.get();
        let bound = super::read::among_threads(&mut sql, vec![&after], threads);
        Ok(self.connection.prepare_cached(&sql)?.query_row(&*bound, |row| row.get(0))?)
    }
}

impl Store {
    /// Writes the file anew, so that nothing of what was taken out of it is left in its free space
    /// or in its log. Nobody writes meanwhile. Returns whether it is so; if not, somebody was still
    /// reading, and it is to be done again.
    pub fn scrub(&self) -> Result<bool, StoreError> {
        let Some(path) = self.path() else { return Ok(true) };
        let lock = FileLock::beside(path).map_err(|_| StoreError::Poisoned)?;
        let _held = lock.hold().map_err(|_| StoreError::Poisoned)?;
        connection::name_log(path, connection::length_of_log(path));
        rewrite(path)
    }
}

fn rewrite(path: &Path) -> Result<bool, StoreError> {
    let connection = connection::connect(path)?;
    connection.busy_timeout(PATIENCE)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update(None, "secure_delete", true)?;
    // Holds what is left of the store, so a long one does not have to fit into memory.
    connection.pragma_update(None, "temp_store", "FILE")?;
    connection.execute_batch("VACUUM")?;
    let cut = "PRAGMA wal_checkpoint(TRUNCATE)";
    let busy: i64 = connection.query_row(cut, [], |row| row.get(0))?;
    if busy != 0 {
        return Ok(false);
    }
    connection.execute("UPDATE tombstones SET scrubbed = 1 WHERE scrubbed = 0", [])?;
    Ok(true)
}
