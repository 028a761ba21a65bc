//! The hooks in force by what a call must be like: kept so that a process that lives for one call
//! reads and compiles no other.
//!
//! A fold of the configuration thread up to one place. Whoever finds that the thread has grown since
//! folds it and writes the index anew.

use rusqlite::params;

use super::{Reader, StoreError, Tx};
use crate::record::{CONFIG_THREAD, Draft, RecordId, Sequence, ShapeError};

/// What a call must be like for a hook to have something to say about it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct IndexedHook {
    /// Where: `*`, `tool=<name>`, `tool^<beginning>`, `resource=<name>` or `resource^<beginning>`.
    pub place: String,
    /// The status that it has to have, if only that.
    pub status: Option<String>,
    /// What has to occur in the answer, if anything.
    pub needle: Option<String>,
    /// The path of the hook's namespace.
    pub namespace: String,
    /// The name of the hook.
    pub name: String,
    /// The record that put it in force.
    pub record: RecordId,
}

impl Reader<'_> {
    /// Returns whether the index has all of the configuration.
    pub fn has_hook_index(&self) -> Result<bool, StoreError> {
        let sql = "SELECT coalesce((SELECT seq FROM hook_index_as_of), 0)
                       >= coalesce((SELECT max(seq) FROM records WHERE thread = ?1), 0)";
        let config = [CONFIG_THREAD];
        Ok(self.connection.prepare_cached(sql)?.query_row(config, |row| row.get(0))?)
    }

    /// Returns what the record of a hook in the index says.
    pub fn indexed_draft(&self, id: RecordId) -> Result<Option<Draft>, StoreError> {
        let sql = "SELECT seq, canonical FROM records WHERE id = ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([id.as_bytes()])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        let (sequence, text): (i64, String) = (row.get(0)?, row.get(1)?);
        let damaged = |error: ShapeError| StoreError::Damaged { sequence, what: error.to_string() };
        Draft::reread(&text).map(Some).map_err(damaged)
    }

    /// Returns the entries at these places, and those at every beginning.
    pub fn hooks_at(&self, places: [&str; 3]) -> Result<Vec<IndexedHook>, StoreError> {
        // Behind `^` comes `_`: between the two stands every beginning.
        let sql = "SELECT place, status, needle, namespace, name, record FROM hook_index
                   WHERE place IN (?1, ?2, ?3)
                      OR (place >= 'resource^' AND place < 'resource_')
                      OR (place >= 'tool^' AND place < 'tool_')";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(places)?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(IndexedHook {
                place: row.get(0)?,
                status: row.get(1)?,
                needle: row.get(2)?,
                namespace: row.get(3)?,
                name: row.get(4)?,
                record: RecordId::from_bytes(row.get(5)?),
            });
        }
        Ok(found)
    }
}

impl Tx<'_> {
    /// Writes the index anew, unless the configuration has grown beyond `as_of`.
    pub fn index_hooks(
        &mut self,
        as_of: Sequence,
        entries: &[IndexedHook],
    ) -> Result<(), StoreError> {
        if self.reader().last_of_thread(CONFIG_THREAD)? != as_of {
            return Ok(());
        }
        self.connection.prepare_cached("DELETE FROM hook_index")?.execute([])?;
        let sql = "INSERT INTO hook_index (place, status, needle, namespace, name, record)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let mut insert = self.connection.prepare_cached(sql)?;
        for IndexedHook { place, status, needle, namespace, name, record } in entries {
            insert.execute(params![place, status, needle, namespace, name, record.as_bytes()])?;
        }
        let sql = "INSERT OR REPLACE INTO hook_index_as_of (one, seq) VALUES (1, ?1)";
        self.connection.prepare_cached(sql)?.execute([as_of.get()])?;
        Ok(())
    }
}
