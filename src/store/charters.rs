//! Finding captured sessions and what was noted down about threads, the newest first.

use rusqlite::params;

use super::read::NOT_ERASED;
use super::{Reader, StoreError, Stored};
use crate::record::{Sequence, ThreadId};
use crate::time::Timestamp;

/// How far a session has come, counted by its records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SessionCounts {
    /// Calls that returned.
    pub calls: u64,
    /// Those that returned with an error.
    pub failed: u64,
    /// Times that a hook spoke.
    pub fires: u64,
    /// The last record of an event.
    pub last_event: Sequence,
    /// When it arrived.
    pub last_at: Timestamp,
    /// The last record that says that the session is over; 0 if none does.
    pub ended: Sequence,
    /// The last record that says that it was begun, taken up, or asked something.
    pub taken_up: Sequence,
    /// The last report; 0 if there is none.
    pub reported: Sequence,
}

impl Reader<'_> {
    /// Returns the records that opened sessions before this place, the newest first; those of
    /// subagents too if `agents` says so.
    pub fn session_charters(
        &self,
        agents: bool,
        before: Option<Sequence>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let before = before.map_or(i64::MAX, Sequence::get);
        let sql = format!(
            "kind = 'core.session.charter.v1' AND origin = 'engine' AND seq < ?1 \
             AND (?2 OR json_extract(canonical, '$.body.parent_thread') IS NULL) AND {NOT_ERASED}"
        );
        self.list(&sql, &[&before, &agents], "seq DESC", limit)
    }

    /// Returns how many sessions were captured, subagents included.
    pub fn session_charter_count(&self) -> Result<u64, StoreError> {
        let sql = format!(
            "SELECT count(*) FROM records
             WHERE kind = 'core.session.charter.v1' AND origin = 'engine' AND {NOT_ERASED}"
        );
        Ok(self.connection.prepare_cached(&sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns the checkpoints that were written before this place, of one thread or of all, the
    /// newest first.
    pub fn checkpoints(
        &self,
        thread: Option<&ThreadId>,
        before: Option<Sequence>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let before = before.map_or(i64::MAX, Sequence::get);
        let thread = thread.map(ThreadId::as_str);
        let sql = format!(
            "kind = 'agent.session.checkpoint' AND act = 'LEARN' AND seq < ?1 \
             AND (?2 IS NULL OR thread = ?2) AND {NOT_ERASED}"
        );
        self.list(&sql, &[&before, &thread], "seq DESC", limit)
    }

    /// Counts the records of a session.
    pub fn session_counts(&self, thread: &ThreadId) -> Result<SessionCounts, StoreError> {
        let sql = format!(
            "SELECT count(*) FILTER (WHERE kind = 'core.session.tool.v1'),
                   count(*) FILTER (WHERE kind = 'core.session.tool.v1'
                                    AND json_extract(canonical, '$.body.status') <> 'ok'),
                   count(*) FILTER (WHERE kind = 'core.work.observation.v1'),
                   coalesce(max(seq) FILTER (WHERE event), 0),
                   coalesce(max(received_at) FILTER (WHERE event), 0),
                   coalesce(max(seq) FILTER (WHERE kind = 'core.session.end.v1'), 0),
                   coalesce(max(seq) FILTER (WHERE kind IN ('core.session.start.v1',
                                                            'core.session.prompt.v1')), 0),
                   coalesce(max(seq) FILTER (WHERE kind = 'core.session.report.v1'), 0)
            FROM (SELECT seq, kind, canonical, received_at,
                         kind IN ('core.session.agent.v1', 'core.session.charter.v1',
                                  'core.session.end.v1', 'core.session.event.v1',
                                  'core.session.prompt.v1', 'core.session.start.v1',
                                  'core.session.tool.v1', 'core.session.turn.v1') AS event
                  FROM records WHERE thread = ?1 AND origin = 'engine' AND {NOT_ERASED})"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        Ok(statement.query_row(params![thread.as_str()], |row| {
            Ok(SessionCounts {
                calls: row.get(0)?,
                failed: row.get(1)?,
                fires: row.get(2)?,
                last_event: Sequence::new(row.get(3)?),
                last_at: Timestamp::from_millis(row.get(4)?),
                ended: Sequence::new(row.get(5)?),
                taken_up: Sequence::new(row.get(6)?),
                reported: Sequence::new(row.get(7)?),
            })
        })?)
    }
}

/// A thread on which something was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedThread {
    /// The thread.
    pub thread: ThreadId,
    /// How many records were.
    pub records: u64,
    /// When the last of them arrived.
    pub last_at: Timestamp,
}

impl Reader<'_> {
    /// Returns the threads on which something was written after `since`, the one that moved last
    /// first.
    pub fn moved_threads(
        &self,
        since: Sequence,
        limit: usize,
    ) -> Result<Vec<MovedThread>, StoreError> {
        let sql = "SELECT moved.thread, moved.n, records.received_at
                   FROM (SELECT thread, count(*) AS n, max(seq) AS last FROM records
                         WHERE seq > ?1 GROUP BY thread ORDER BY last DESC LIMIT ?2) AS moved
                   JOIN records ON records.seq = moved.last
                   ORDER BY moved.last DESC";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![since.get(), limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let Ok(thread) = ThreadId::parse(&row.get::<_, String>(0)?) else { continue };
            let last_at = Timestamp::from_millis(row.get(2)?);
            found.push(MovedThread { thread, records: row.get(1)?, last_at });
        }
        Ok(found)
    }

    /// Returns the threads that have goals, the one with the newest goal first.
    pub fn threads_with_goals(&self, limit: usize) -> Result<Vec<ThreadId>, StoreError> {
        let sql = "SELECT thread FROM records WHERE act = 'INTEND'
                   GROUP BY thread ORDER BY max(seq) DESC LIMIT ?1";
        let mut statement = self.connection.prepare_cached(sql)?;
        let names = statement.query_map([limit], |row| row.get::<_, String>(0))?;
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        Ok(names.iter().filter_map(|name| ThreadId::parse(name).ok()).collect())
    }

    /// Returns the goals of a thread, and what may answer one, in the order of arrival.
    pub fn goals_and_answers(&self, thread: &ThreadId) -> Result<Vec<Stored>, StoreError> {
        let sql = format!(
            "thread = ?1 AND (act = 'INTEND' \
             OR (act = 'KNOW' AND instr(canonical, '\"fulfills\":') > 0) \
             OR (act = 'DO' AND instr(canonical, '\"cancels\":') > 0)) AND {NOT_ERASED}"
        );
        self.list(&sql, &[&thread.as_str()], "seq", usize::MAX)
    }

    /// Returns the newest records of a thread, the newest first.
    pub fn newest_of_thread(
        &self,
        thread: &ThreadId,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("thread = ?1 AND {NOT_ERASED}");
        self.list(&sql, &[&thread.as_str()], "seq DESC", limit)
    }

    /// Returns the records of hooks that were written after `since`, the newest first.
    pub fn hooks_since(&self, since: Sequence, limit: usize) -> Result<Vec<Stored>, StoreError> {
        // What was imported is no hook here.
        let sql = format!(
            "kind = 'core.hook.v1' AND act = 'LEARN' AND thread = 'th_engine_config' AND seq > ?1 \
             AND origin <> 'import' AND {NOT_ERASED}"
        );
        self.list(&sql, &[&since.get()], "seq DESC", limit)
    }
}
