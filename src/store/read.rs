//! Reading: one consistent state of the store, whatever is written meanwhile.

use std::collections::BTreeMap;

use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ValueRef};
use rusqlite::{Connection, OptionalExtension as _, Row, ToSql, params};

use super::tombstone::{Erased, tombstone_of};
use super::{StoreError, Unproven};
use crate::canon::Object;
use crate::identity::Signature;
use crate::object;
use crate::record::{
    ActorId, Clock, Namespace, Origin, Received, Record, RecordId, Sequence, ThreadId,
};
use crate::time::Timestamp;

/// How many records are read at once where all of them are wanted.
const PAGE: usize = 500;

/// A record together with what this store says about its arrival.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The record.
    pub record: Record,
    /// Its place in the order of arrival.
    pub sequence: Sequence,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Where it came from.
    pub origin: Origin,
    /// The `did:key` of the key that signed it.
    pub signer: String,
    /// The signature over its canonical bytes.
    pub signature: Signature,
    /// Whether it was erased. Folds pass over such a record.
    pub erased: Option<Erased>,
    /// The signature that came with it and that nobody here could check.
    pub unproven: Option<Unproven>,
}

impl Stored {
    /// Returns the record as every answer shows it (contract §2.3), with its sequence. One that was
    /// erased says so; it has its words until it is purged.
    pub fn to_object(&self) -> Object {
        let mut object = self.record.to_object();
        object.insert("sequence".into(), self.sequence.get().into());
        if let Some(Erased { by, tombstone }) = &self.erased {
            object.insert("erased".into(), true.into());
            object.insert("erased_by".into(), (*by).into());
            if let Some(tombstone) = tombstone {
                object.insert("purged".into(), true.into());
                object.insert("tombstone".into(), tombstone.to_object().into());
            }
        }
        object
    }

    /// Returns whether its words were taken out. What is left is an envelope with an empty body.
    pub fn is_purged(&self) -> bool {
        self.erased.as_ref().is_some_and(|erased| erased.tombstone.is_some())
    }

    /// Returns all that a fold may look at.
    pub const fn received(&self) -> Received<'_> {
        Received {
            record: &self.record,
            sequence: self.sequence,
            received_at: self.received_at,
            origin: self.origin,
        }
    }

    /// Returns what this store says about the record's arrival.
    pub fn receipt(&self) -> Object {
        let mut receipt = object! {
            "origin": self.origin.as_str(),
            "received_at": self.received_at.to_string(),
            "sequence": self.sequence.get(),
            "sig": self.signature.to_string(),
            "signer": self.signer.as_str(),
        };
        if let Some(unproven) = &self.unproven {
            receipt.insert("unproven".into(), unproven.to_object().into());
        }
        receipt
    }
}

/// The clocks of a thread, from its index alone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ThreadClocks {
    /// How many records stand on it.
    pub record_count: u64,
    /// The highest clock of any actor.
    pub last_clock: i64,
    /// The highest clock of each actor.
    pub actor_clocks: BTreeMap<String, i64>,
    /// The newest record.
    pub head: Option<RecordId>,
}

/// One thread in a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadSummary {
    /// The thread.
    pub id: ThreadId,
    /// The highest clock of any actor.
    pub last_clock: i64,
    /// How many records stand on it.
    pub record_count: u64,
    /// The namespace of its first record.
    pub namespace: String,
}

/// What came of asking a hook.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookCounters {
    /// Times it held.
    pub matched: u64,
    /// Times it spoke.
    pub fires: u64,
    /// Times it failed, by kind.
    pub failed: HookFailures,
    /// How many evaluations were timed.
    pub samples: u64,
    /// What those took.
    pub nanos: u64,
    /// When it last spoke.
    pub last_fire: Option<Timestamp>,
}

/// How often a hook failed, for each kind of failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HookFailures {
    /// CEL defines no result.
    pub error: u64,
    /// Too much work.
    pub over_budget: u64,
    /// Too much memory.
    pub too_large: u64,
    /// Neither true nor false.
    pub not_boolean: u64,
    /// A fault of ours.
    pub panicked: u64,
}

impl HookFailures {
    /// Returns how often it failed in one way or another.
    pub const fn total(&self) -> u64 {
        self.error + self.overruns() + self.not_boolean + self.panicked
    }

    /// Returns how often it wanted more work or more memory than its budget.
    pub const fn overruns(&self) -> u64 {
        self.over_budget + self.too_large
    }
}

impl HookCounters {
    /// Returns what an evaluation takes, going by those that were timed.
    pub const fn mean_nanos(&self) -> Option<u64> {
        self.nanos.checked_div(self.samples)
    }
}

/// Which records of a thread to read.
#[derive(Debug, Clone, Copy, Default)]
pub struct ThreadRange {
    /// Only clocks from this one on.
    pub since_clock: Option<i64>,
    /// Only records that arrived after this one.
    pub after: Sequence,
}

/// Reads from one state of the store.
pub struct Reader<'c> {
    pub(super) connection: &'c Connection,
}

/// The most bytes of records in one answer.
const ANSWER_BYTES: usize = 32 * 1024 * 1024;

/// The highest clock below a used one that is free itself. There is one: nobody has used them all.
const HIGHEST_GAP: &str = "
    SELECT clock - 1 FROM records AS used
    WHERE thread = ?1 AND actor = ?2 AND clock > 0 AND NOT EXISTS (
        SELECT 1 FROM records
        WHERE thread = used.thread AND actor = used.actor AND clock = used.clock - 1)
    ORDER BY clock DESC LIMIT 1";

/// What [`stored`] reads, and who erased it.
pub(super) const COLUMNS: &str = "seq, id, canonical, judged_by, received_at, origin, signer, sig, unproven, \
     (SELECT erasure FROM erased WHERE erased.id = records.id)";

/// The condition of a row that no erasure marks.
pub(super) const NOT_ERASED: &str =
    "NOT EXISTS (SELECT 1 FROM erased WHERE erased.id = records.id)";

/// Narrows a condition to some threads, if there are any, and returns what is bound then.
pub(super) fn among_threads<'a>(
    condition: &mut String,
    mut bound: Vec<&'a dyn ToSql>,
    threads: &'a [&'a str],
) -> Vec<&'a dyn ToSql> {
    let place = |at: usize| format!("?{}", bound.len() + 1 + at);
    let places: Vec<String> = (0..threads.len()).map(place).collect();
    if !places.is_empty() {
        condition.push_str(&format!(" AND thread IN ({})", places.join(", ")));
    }
    bound.extend(threads.iter().map(|thread| thread as &dyn ToSql));
    bound
}

impl<'c> Reader<'c> {
    pub(super) const fn new(connection: &'c Connection) -> Self {
        Self { connection }
    }

    /// Returns the record with this id.
    pub fn record(&self, id: RecordId) -> Result<Option<Stored>, StoreError> {
        Ok(self.list("id = ?1", &[&id.as_bytes()], "seq", 1)?.pop())
    }

    /// Returns the records whose ids start with these hex digits, at most two of them.
    pub fn by_prefix(&self, prefix: &str) -> Result<Vec<Stored>, StoreError> {
        if prefix.len() > 64 || !prefix.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Ok(Vec::new());
        }
        let bound = |fill: char| {
            let digits = format!("{:fill_to$}", prefix.to_ascii_lowercase(), fill_to = 64);
            crate::canon::unhex::<32>(&digits.replace(' ', &fill.to_string())).unwrap_or_default()
        };
        let (low, high) = (bound('0'), bound('f'));
        self.list("id BETWEEN ?1 AND ?2", &[&low, &high], "seq", 2)
    }

    /// Returns records of a thread in the order of arrival.
    pub fn thread(
        &self,
        thread: &ThreadId,
        range: ThreadRange,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let since = range.since_clock.unwrap_or(0);
        let bound: [&dyn ToSql; 3] = [&thread.as_str(), &range.after.get(), &since];
        self.list("thread = ?1 AND seq > ?2 AND clock >= ?3", &bound, "seq", limit)
    }

    /// The same for an answer: no more than fit into one, and whether there is more.
    pub fn thread_page(
        &self,
        thread: &ThreadId,
        range: ThreadRange,
        limit: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        let since = range.since_clock.unwrap_or(0);
        let bound: [&dyn ToSql; 3] = [&thread.as_str(), &range.after.get(), &since];
        self.page("thread = ?1 AND seq > ?2 AND clock >= ?3", &bound, "seq", limit, 0)
    }

    /// Returns the records of a thread with this clock, one an actor.
    pub fn at_clock(&self, thread: &ThreadId, clock: Clock) -> Result<Vec<Stored>, StoreError> {
        let bound: [&dyn ToSql; 2] = [&thread.as_str(), &clock.get()];
        self.list("thread = ?1 AND clock = ?2", &bound, "seq", 100)
    }

    /// Returns the records that match every filter given (contract §2.4), in the order of arrival:
    /// no more than fit into one answer, and whether there is more.
    pub fn matching(
        &self,
        thread: Option<&str>,
        actor: Option<&str>,
        since_clock: Option<i64>,
        limit: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        // The planner sees which filters there are, so that it can use an index.
        let mut sql = String::from("TRUE");
        let mut bound: Vec<&dyn ToSql> = Vec::new();
        if let Some(thread) = &thread {
            bound.push(thread);
            sql.push_str(&format!(" AND thread = ?{}", bound.len()));
        }
        if let Some(actor) = &actor {
            bound.push(actor);
            sql.push_str(&format!(" AND actor = ?{}", bound.len()));
        }
        if let Some(since) = &since_clock {
            bound.push(since);
            sql.push_str(&format!(" AND clock >= ?{}", bound.len()));
        }
        self.page(&sql, &bound, "seq", limit, 0)
    }

    /// Returns the newest records whose text holds `needle`, ASCII letters of either case. Those
    /// that were erased are not found.
    pub fn containing(
        &self,
        needle: &str,
        thread: Option<&str>,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        // The text is canonical JSON, so a needle is looked for as it would be spelled there.
        let spelled = crate::canon::Value::from(needle).to_string();
        let inner = spelled.trim_start_matches('"').strip_suffix('"').unwrap_or(&spelled);
        let sql = format!(
            "instr(lower(canonical), lower(?1)) > 0 AND (?2 IS NULL OR thread = ?2) AND {NOT_ERASED}"
        );
        self.list(&sql, &[&inner, &thread], "seq DESC", limit)
    }

    /// Returns the evidence for trust that arrived after `after` and was not erased: no more than
    /// fit into one answer, and whether there is more.
    pub fn verdicts(
        &self,
        after: Sequence,
        limit: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        let sql = format!("verdict IS NOT NULL AND seq > ?1 AND {NOT_ERASED}");
        self.page(&sql, &[&after.get()], "seq", limit, 0)
    }

    /// Returns the records of a kind that the engine wrote itself, on one thread or on all, that
    /// arrived after `after` and were not erased: no more than fit into one answer, and whether
    /// there is more.
    pub fn engine_written(
        &self,
        kind: &str,
        thread: Option<&ThreadId>,
        after: Sequence,
        limit: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        match thread.map(ThreadId::as_str) {
            None => {
                let sql = format!("kind = ?1 AND seq > ?2 AND origin = 'engine' AND {NOT_ERASED}");
                self.page(&sql, &[&kind, &after.get()], "seq", limit, 0)
            }
            Some(thread) => {
                // The plus keeps the index by kind out: a thread is short beside all runs there
                // were.
                let sql = format!(
                    "thread = ?1 AND seq > ?2 AND +kind = ?3 AND origin = 'engine' AND {NOT_ERASED}"
                );
                self.page(&sql, &[&thread, &after.get(), &kind], "seq", limit, 0)
            }
        }
    }

    /// Calls `found` with each of them, in the order of arrival.
    pub fn each_engine_written(
        &self,
        kind: &str,
        thread: Option<&ThreadId>,
        mut after: Sequence,
        mut found: impl FnMut(&Stored),
    ) -> Result<(), StoreError> {
        loop {
            let (page, more) = self.engine_written(kind, thread, after, PAGE)?;
            page.iter().for_each(&mut found);
            match page.last() {
                Some(stored) if more => after = stored.sequence,
                _ => return Ok(()),
            }
        }
    }

    /// Returns who wrote the record with this id, and where it stands.
    pub fn author(&self, id: RecordId) -> Result<Option<(Sequence, ActorId)>, StoreError> {
        let sql = "SELECT seq, actor FROM records WHERE id = ?1";
        let row = self
            .connection
            .prepare_cached(sql)?
            .query_row([id.as_bytes()], |row| Ok((row.get(0)?, row.get::<_, String>(1)?)))
            .optional()?;
        Ok(row.and_then(|(sequence, actor)| {
            Some((Sequence::new(sequence), ActorId::parse(&actor).ok()?))
        }))
    }

    /// Returns the highest sequence of a thread, 0 if it has no records.
    pub fn last_of_thread(&self, thread: &str) -> Result<Sequence, StoreError> {
        self.sequence("SELECT coalesce(max(seq), 0) FROM records WHERE thread = ?1", [thread])
    }

    /// Returns the highest sequence there is, which is also the number of records.
    pub fn last(&self) -> Result<Sequence, StoreError> {
        self.sequence("SELECT coalesce(max(seq), 0) FROM records", [])
    }

    fn sequence(&self, sql: &str, bound: impl rusqlite::Params) -> Result<Sequence, StoreError> {
        let number = self.connection.prepare_cached(sql)?.query_row(bound, |row| row.get(0))?;
        Ok(Sequence::new(number))
    }

    /// Returns whether this clock is taken.
    pub fn has_clock(
        &self,
        thread: &ThreadId,
        actor: &ActorId,
        clock: Clock,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM records WHERE thread = ?1 AND actor = ?2 AND clock = ?3";
        let bound = params![thread.as_str(), actor.as_str(), clock.get()];
        Ok(self.connection.prepare_cached(sql)?.exists(bound)?)
    }

    /// Returns a free clock of this actor on this thread: the one after the highest; and where that
    /// was the last one there is, the highest that nobody has used.
    pub fn next_clock(&self, thread: &ThreadId, actor: &ActorId) -> Result<Clock, StoreError> {
        let sql = "SELECT max(clock) FROM records WHERE thread = ?1 AND actor = ?2";
        let key = [thread.as_str(), actor.as_str()];
        let highest: Option<i64> =
            self.connection.prepare_cached(sql)?.query_row(key, |row| row.get(0))?;
        let next = match highest {
            None => 0,
            Some(highest) if highest < i64::MAX => highest + 1,
            // Whoever posts the last clock takes nobody's turn away.
            Some(_) => {
                self.connection.prepare_cached(HIGHEST_GAP)?.query_row(key, |row| row.get(0))?
            }
        };
        Ok(Clock::new(next).unwrap_or_default())
    }

    /// Returns the clocks of a thread; of an unknown one, zeros.
    pub fn clocks(&self, thread: &ThreadId) -> Result<ThreadClocks, StoreError> {
        let sql =
            "SELECT actor, max(clock), count(*) FROM records WHERE thread = ?1 GROUP BY actor";
        let mut clocks = ThreadClocks::default();
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([thread.as_str()])?;
        while let Some(row) = rows.next()? {
            let (actor, clock, count): (String, i64, u64) = (row.get(0)?, row.get(1)?, row.get(2)?);
            clocks.last_clock = clocks.last_clock.max(clock);
            clocks.record_count += count;
            clocks.actor_clocks.insert(actor, clock);
        }
        let head = "SELECT id FROM records WHERE thread = ?1 ORDER BY seq DESC LIMIT 1";
        clocks.head = self
            .connection
            .prepare_cached(head)?
            .query_row([thread.as_str()], |row| row.get(0).map(RecordId::from_bytes))
            .optional()?;
        Ok(clocks)
    }

    /// Returns whether a thread has a goal on it: only then does it have a status worth folding.
    pub fn has_intent(&self, thread: &ThreadId) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM records WHERE thread = ?1 AND act = 'INTEND' LIMIT 1";
        Ok(self.connection.prepare_cached(sql)?.exists([thread.as_str()])?)
    }

    /// Returns whether a record was ever written that means to put permission rules in force or out
    /// of it.
    pub fn has_permission_switch(&self) -> Result<bool, StoreError> {
        let sql = r#"SELECT EXISTS (
                         SELECT 1 FROM records INDEXED BY records_of_the_permission_switch
                         WHERE thread = 'th_engine_config'
                         AND instr(canonical, '"topic":"permissions_enabled"') > 0)"#;
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns how many threads there are. Walks an index from end to end.
    pub fn thread_count(&self) -> Result<i64, StoreError> {
        let sql = "SELECT count(*) FROM (SELECT DISTINCT thread FROM records)";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns threads by name, after `after`.
    pub fn threads(&self, after: &str, limit: usize) -> Result<Vec<ThreadSummary>, StoreError> {
        let sql = "SELECT thread, max(clock), count(*), min(seq) FROM records
                   WHERE thread > ?1 GROUP BY thread ORDER BY thread LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![after, bounded(limit)])?;
        let mut threads = Vec::new();
        while let Some(row) = rows.next()? {
            let first: i64 = row.get(3)?;
            let name: String = row.get(0)?;
            threads.push(ThreadSummary {
                id: ThreadId::parse(&name).map_err(|error| damaged(first, error.to_string()))?,
                last_clock: row.get(1)?,
                record_count: row.get(2)?,
                namespace: self
                    .connection
                    .prepare_cached("SELECT namespace FROM records WHERE seq = ?1")?
                    .query_row([first], |row| row.get(0))?,
            });
        }
        Ok(threads)
    }

    /// Returns the namespaces in which hooks were asked.
    pub fn seam_namespaces(&self) -> Result<Vec<Namespace>, StoreError> {
        // From each to the next by index: there are few, and a row for every call.
        let sql = "WITH RECURSIVE spaces (namespace) AS (
                       SELECT min(namespace) FROM seam_calls
                       UNION ALL
                       SELECT (SELECT min(c.namespace) FROM seam_calls c
                               WHERE c.namespace > spaces.namespace)
                       FROM spaces WHERE spaces.namespace IS NOT NULL)
                   SELECT namespace FROM spaces WHERE namespace IS NOT NULL";
        let mut statement = self.connection.prepare_cached(sql)?;
        let names = statement.query_map([], |row| row.get::<_, String>(0))?;
        let names: Vec<String> = names.collect::<Result<_, _>>()?;
        Ok(names.iter().filter_map(|name| Namespace::parse(name).ok()).collect())
    }

    /// Returns about how many calls hooks were asked in this namespace, after `since`.
    pub fn seam_calls(&self, namespace: &Namespace, since: Sequence) -> Result<u64, StoreError> {
        let sql = "SELECT coalesce(
                       (SELECT n FROM seam_calls WHERE namespace = ?1 ORDER BY seq DESC LIMIT 1), 0)
                   - coalesce((SELECT n FROM seam_calls WHERE namespace = ?1 AND seq <= ?2
                               ORDER BY seq DESC LIMIT 1), 0)";
        let bound = params![namespace.as_str(), since.get()];
        Ok(self.connection.prepare_cached(sql)?.query_row(bound, |row| row.get(0))?)
    }

    /// Returns the counters of every hook that held, failed or was timed.
    pub fn hook_counters(&self) -> Result<BTreeMap<(Namespace, String), HookCounters>, StoreError> {
        let sql = "SELECT namespace, name, matched, fires, errors, over_budget, too_large,
                          not_boolean, panicked, samples, nanos, last_fire
                   FROM hook_counters";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query([])?;
        let mut counters = BTreeMap::new();
        while let Some(row) = rows.next()? {
            let namespace: String = row.get(0)?;
            let Ok(namespace) = Namespace::parse(&namespace) else { continue };
            let row_counters = HookCounters {
                matched: row.get(2)?,
                fires: row.get(3)?,
                failed: HookFailures {
                    error: row.get(4)?,
                    over_budget: row.get(5)?,
                    too_large: row.get(6)?,
                    not_boolean: row.get(7)?,
                    panicked: row.get(8)?,
                },
                samples: row.get(9)?,
                nanos: row.get(10)?,
                last_fire: row.get::<_, Option<i64>>(11)?.map(Timestamp::from_millis),
            };
            counters.insert((namespace, row.get(1)?), row_counters);
        }
        Ok(counters)
    }

    /// Returns the bytes that the file takes.
    pub fn size_bytes(&self) -> Result<u64, StoreError> {
        let sql = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size";
        Ok(self.connection.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    /// Returns rows that satisfy `condition`, which is text of this module with parameters bound.
    pub(super) fn list(
        &self,
        condition: &str,
        bound: &[&dyn ToSql],
        order: &str,
        limit: usize,
    ) -> Result<Vec<Stored>, StoreError> {
        let (records, _) = self.select(condition, bound, order, (limit, 0), usize::MAX)?;
        Ok(records)
    }

    /// The same, for an answer, which must fit into memory: stops before the row that would make it
    /// longer than [`ANSWER_BYTES`], unless it is the first. Also returns whether there is more.
    pub(super) fn page(
        &self,
        condition: &str,
        bound: &[&dyn ToSql],
        order: &str,
        limit: usize,
        offset: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        // One more than asked for tells whether there is more.
        let rows = (limit.saturating_add(1), offset);
        let (mut records, stopped) = self.select(condition, bound, order, rows, ANSWER_BYTES)?;
        let more = stopped || records.len() > limit;
        records.truncate(limit);
        Ok((records, more))
    }

    pub(super) fn select(
        &self,
        condition: &str,
        bound: &[&dyn ToSql],
        order: &str,
        (limit, offset): (usize, usize),
        most_bytes: usize,
    ) -> Result<(Vec<Stored>, bool), StoreError> {
        let (limit, offset) = (bounded(limit), bounded(offset));
        let sql = format!(
            "SELECT {COLUMNS} FROM records WHERE {condition} ORDER BY {order} \
             LIMIT {limit} OFFSET {offset}"
        );
        let mut statement = self.connection.prepare_cached(&sql)?;
        let mut rows = statement.query(bound)?;
        let mut records: Vec<Stored> = Vec::new();
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let mut stored = stored(row)?;
            if let Some(by) = row.get::<_, Option<_>>(9)?.map(RecordId::from_bytes) {
                let tombstone = tombstone_of(self.connection, stored.sequence)?;
                stored.erased = Some(Erased { by, tombstone });
            }
            bytes += stored.record.canonical().as_bytes().len();
            if bytes > most_bytes && !records.is_empty() {
                return Ok((records, true));
            }
            records.push(stored);
        }
        Ok((records, false))
    }
}

fn bounded(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}

fn damaged(sequence: i64, what: String) -> StoreError {
    StoreError::Damaged { sequence, what }
}

/// Reads a row with [`COLUMNS`], all but the last of them.
pub(super) fn stored(row: &Row<'_>) -> Result<Stored, StoreError> {
    let sequence: i64 = row.get(0)?;
    let id = RecordId::from_bytes(row.get(1)?);
    let canonical: String = row.get(2)?;
    let record = Record::reread(id, canonical, row.get(3)?)
        .map_err(|error| damaged(sequence, error.to_string()))?;
    Ok(Stored {
        record,
        sequence: Sequence::new(sequence),
        received_at: Timestamp::from_millis(row.get(4)?),
        origin: row.get(5)?,
        signer: row.get(6)?,
        signature: Signature::from_bytes(row.get(7)?),
        unproven: unproven(row, 8, sequence)?,
        erased: None,
    })
}

/// Reads the column `unproven`.
pub(super) fn unproven(
    row: &Row<'_>,
    column: usize,
    sequence: i64,
) -> Result<Option<Unproven>, StoreError> {
    let Some(text) = row.get_ref(column)?.as_str_or_null().map_err(rusqlite::Error::from)? else {
        return Ok(None);
    };
    let read = Unproven::from_column(text);
    read.map(Some).ok_or_else(|| damaged(sequence, "`unproven` is no signature".into()))
}

impl FromSql for Origin {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        Self::parse(value.as_str()?).ok_or(FromSqlError::InvalidType)
    }
}
