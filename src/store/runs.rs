//! Finding runs, and what says where they stand, by index.

use rusqlite::params;

use super::read::NOT_ERASED;
use super::{Reader, StoreError, Stored};
use crate::record::{ActorId, Sequence, ThreadId};
use crate::time::Timestamp;

/// The condition of the index `records_of_runs`, word for word: else it is not used.
const MARKS: &str = "kind IN ('core.work.admission.v1', 'core.work.coercion.v1', \
                     'core.work.decision.v1', 'core.work.decision_request.v1', \
                     'core.work.interruption.v1', 'core.work.loop.v1', \
                     'core.work.loop_outcome.v1', 'core.work.resume.v1')";

/// Which runs to look for.
#[derive(Debug, Clone, Default)]
pub struct RunRange {
    /// Only runs that were opened before this place in the order of arrival.
    pub before: Option<Sequence>,
    /// Only runs of this actor.
    pub actor: Option<ActorId>,
    /// Only runs that were opened at this time or later.
    pub since: Option<Timestamp>,
    /// Only runs that were opened before this time.
    pub until: Option<Timestamp>,
}

/// What an actor's runs have come to since some time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Worked {
    /// How many runs were opened, tasks aside.
    pub loops: u64,
    /// What their turns, and those of earlier runs since then, have cost, in micro-dollars.
    pub usd_micros: u64,
}

impl Reader<'_> {
    /// Returns the records that opened runs, the newest first.
    pub fn run_openings(&self, range: &RunRange, limit: usize) -> Result<Vec<Stored>, StoreError> {
        let before = range.before.map_or(i64::MAX, Sequence::get);
        let since = range.since.map_or(i64::MIN, Timestamp::as_millis);
        let until = range.until.map_or(i64::MAX, Timestamp::as_millis);
        let actor = range.actor.as_ref().map(ActorId::as_str);
        let sql = format!(
            "kind = 'core.work.loop.v1' AND origin = 'engine' AND seq < ?1 \
             AND received_at >= ?2 AND received_at < ?3 AND (?4 IS NULL OR actor = ?4) \
             AND {NOT_ERASED}"
        );
        self.list(&sql, &[&before, &since, &until, &actor], "seq DESC", limit)
    }

    /// Returns what says where the run of a thread stands, in the order of arrival: how it was
    /// opened, parked, decided, interrupted, taken up and ended.
    pub fn run_marks(&self, thread: &ThreadId) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("thread = ?1 AND {MARKS} AND origin = 'engine' AND {NOT_ERASED}");
        self.list(&sql, &[&thread.as_str()], "seq", usize::MAX)
    }

    /// Returns what the runs of an actor have come to since `since`. Reads back from the newest and
    /// ends at the first that is older.
    pub fn worked(&self, actor: &ActorId, since: Timestamp) -> Result<Worked, StoreError> {
        let mut worked = Worked::default();
        self.back(actor, "core.work.loop.v1", since, |_| {
            worked.loops = worked.loops.saturating_add(1);
        })?;
        self.back(actor, "core.work.turn.v1", since, |cost| {
            worked.usd_micros = worked.usd_micros.saturating_add(cost);
        })?;
        Ok(worked)
    }

    fn back(
        &self,
        actor: &ActorId,
        kind: &str,
        since: Timestamp,
        mut found: impl FnMut(u64),
    ) -> Result<(), StoreError> {
        let sql = "SELECT received_at, actor = ?2,
                          coalesce(json_extract(canonical, '$.body.cost_usd_micros'), 0)
                   FROM records WHERE kind = ?1 AND origin = 'engine'
                   AND json_extract(canonical, '$.body.task_of') IS NULL ORDER BY seq DESC";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![kind, actor.as_str()])?;
        while let Some(row) = rows.next()? {
            if row.get::<_, i64>(0)? < since.as_millis() {
                break;
            }
            if row.get(1)? {
                found(row.get::<_, i64>(2)?.unsigned_abs());
            }
        }
        Ok(())
    }

    /// Returns the newest record of each run that the server has admitted, for those that have not
    /// been opened before `after`.
    pub fn admissions(&self) -> Result<Vec<Stored>, StoreError> {
        let sql = format!("kind = 'core.work.admission.v1' AND origin = 'engine' AND {NOT_ERASED}");
        self.list(&sql, &[], "seq", usize::MAX)
    }
}
