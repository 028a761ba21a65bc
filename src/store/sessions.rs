//! Where captured sessions stand: a row each, what was answered to whom, and the words that wait.
//!
//! All of it follows from the records of a session's thread, and is kept so that an event is taken in
//! without reading the thread. It is written in the transaction that stores the event.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::{Reader, StoreError, Tx};
use crate::canon::Digest;
use crate::record::{RecordId, Sequence, ThreadId};
use crate::time::Timestamp;

/// Where a session stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRow {
    /// The record that opened it.
    pub charter: RecordId,
    /// The path of its namespace.
    pub namespace: String,
    /// How often it was taken up again, from 1. Caps count within one life.
    pub life: u32,
    /// The record of its latest event.
    pub last_event: Sequence,
    /// When that arrived.
    pub last_at: Timestamp,
    /// The latest event that a report covers; 0 without a report.
    pub reported: Sequence,
}

/// What was answered to an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredEvent {
    /// Who told of it: a word that the process made up.
    pub attempt: String,
    /// When.
    pub at: Timestamp,
    /// Where its record stands.
    pub sequence: Sequence,
    /// The words, if there were any.
    pub said: Option<String>,
}

/// Words that wait for an event that can deliver them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingWords {
    /// The record of the observation.
    pub observation: RecordId,
    /// The name of the hook.
    pub rule: String,
    /// The words.
    pub text: String,
}

/// The tables of sessions, inside a transaction.
pub struct SessionRows<'a>(&'a Connection);

impl Tx<'_> {
    /// Returns the tables of sessions.
    pub const fn sessions(&self) -> SessionRows<'_> {
        SessionRows(self.connection)
    }
}

impl Reader<'_> {
    /// Returns where a session stands; `None` for a thread that is none.
    pub fn session(&self, run: &ThreadId) -> Result<Option<SessionRow>, StoreError> {
        SessionRows(self.connection).get(run)
    }

    /// Returns the sessions whose latest event arrived before `before` and is in no report, the one
    /// that waits longest first.
    pub fn unreported_sessions(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> Result<Vec<ThreadId>, StoreError> {
        let sql = "SELECT run FROM sessions_unreported JOIN sessions USING (run)
                   WHERE reported < last_seq AND last_at < ?1 ORDER BY last_at LIMIT ?2";
        let mut statement = self.connection.prepare_cached(sql)?;
        let mut rows = statement.query(params![before.as_millis(), limit])?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            let run: String = row.get(0)?;
            found.extend(ThreadId::parse(&run).ok());
        }
        Ok(found)
    }
}

impl SessionRows<'_> {
    /// Returns where a session stands.
    pub fn get(&self, run: &ThreadId) -> Result<Option<SessionRow>, StoreError> {
        let sql = "SELECT charter, namespace, life, last_seq, last_at, reported
                   FROM sessions WHERE run = ?1";
        let row = self.0.prepare_cached(sql)?.query_row([run.as_str()], |row| {
            Ok(SessionRow {
                charter: RecordId::from_bytes(row.get(0)?),
                namespace: row.get(1)?,
                life: row.get(2)?,
                last_event: Sequence::new(row.get(3)?),
                last_at: Timestamp::from_millis(row.get(4)?),
                reported: Sequence::new(row.get(5)?),
            })
        });
        Ok(row.optional()?)
    }

    /// Notes that an event of a session was stored.
    pub fn moved(
        &self,
        run: &ThreadId,
        row: &SessionRow,
        event: Sequence,
        at: Timestamp,
    ) -> Result<(), StoreError> {
        if row.last_event <= row.reported {
            let sql = "INSERT OR IGNORE INTO sessions_unreported (run) VALUES (?1)";
            self.0.prepare_cached(sql)?.execute([run.as_str()])?;
        }
        self.put(run, &SessionRow { last_event: event, last_at: at, ..row.clone() })
    }

    /// Notes where a session stands.
    pub fn put(&self, run: &ThreadId, row: &SessionRow) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO sessions
                       (run, charter, namespace, life, last_seq, last_at, reported)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
        self.0.prepare_cached(sql)?.execute(params![
            run.as_str(),
            row.charter.as_bytes(),
            row.namespace,
            row.life,
            row.last_event.get(),
            row.last_at.as_millis(),
            row.reported.get(),
        ])?;
        Ok(())
    }

    /// Notes that a report covers the events of a session up to this one.
    pub fn reported(&self, run: &ThreadId, through: Sequence) -> Result<(), StoreError> {
        let sql = "UPDATE sessions SET reported = max(reported, ?2) WHERE run = ?1";
        self.0.prepare_cached(sql)?.execute(params![run.as_str(), through.get()])?;
        let sql = "DELETE FROM sessions_unreported WHERE run = ?1 AND NOT EXISTS (
                       SELECT 1 FROM sessions WHERE run = ?1 AND reported < last_seq)";
        self.0.prepare_cached(sql)?.execute([run.as_str()])?;
        Ok(())
    }

    /// Returns what was answered to an event, if anybody has told of it.
    pub fn answered(
        &self,
        run: &ThreadId,
        event: &Digest,
    ) -> Result<Option<AnsweredEvent>, StoreError> {
        let sql = "SELECT attempt, at, seq, said FROM session_events WHERE run = ?1 AND event = ?2";
        let row = self.0.prepare_cached(sql)?.query_row(params![run.as_str(), event], |row| {
            Ok(AnsweredEvent {
                attempt: row.get(0)?,
                at: Timestamp::from_millis(row.get(1)?),
                sequence: Sequence::new(row.get(2)?),
                said: row.get(3)?,
            })
        });
        Ok(row.optional()?)
    }

    /// Notes what is answered to an event.
    pub fn answer(
        &self,
        run: &ThreadId,
        event: &Digest,
        answer: &AnsweredEvent,
    ) -> Result<(), StoreError> {
        let sql = "INSERT OR REPLACE INTO session_events (run, event, attempt, at, seq, said)
                   VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
        let AnsweredEvent { attempt, at, sequence, said } = answer;
        let row = params![run.as_str(), event, attempt, at.as_millis(), sequence.get(), said];
        self.0.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Returns the words that wait, in their order.
    pub fn waiting(&self, run: &ThreadId) -> Result<Vec<WaitingWords>, StoreError> {
        let sql = "SELECT observation, rule, text FROM session_words WHERE run = ?1 ORDER BY seq";
        let mut statement = self.0.prepare_cached(sql)?;
        let mut rows = statement.query([run.as_str()])?;
        let mut waiting = Vec::new();
        while let Some(row) = rows.next()? {
            waiting.push(WaitingWords {
                observation: RecordId::from_bytes(row.get(0)?),
                rule: row.get(1)?,
                text: row.get(2)?,
            });
        }
        Ok(waiting)
    }

    /// Lets words wait. `sequence` is where their observation stands.
    pub fn wait(
        &self,
        run: &ThreadId,
        sequence: Sequence,
        words: &WaitingWords,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO session_words (run, seq, observation, rule, text)
                   VALUES (?1, ?2, ?3, ?4, ?5)";
        let WaitingWords { observation, rule, text } = words;
        let row = params![run.as_str(), sequence.get(), observation.as_bytes(), rule, text];
        self.0.prepare_cached(sql)?.execute(row)?;
        Ok(())
    }

    /// Notes that words have been delivered.
    pub fn delivered(&self, run: &ThreadId, observation: RecordId) -> Result<(), StoreError> {
        let sql = "DELETE FROM session_words WHERE run = ?1 AND observation = ?2";
        self.0.prepare_cached(sql)?.execute(params![run.as_str(), observation.as_bytes()])?;
        Ok(())
    }

    /// Notes the answer to a call, and returns whether the same call was answered the same the last
    /// time in this life.
    pub fn repeats(
        &self,
        run: &ThreadId,
        life: u32,
        call: &Digest,
        answer: &Digest,
    ) -> Result<bool, StoreError> {
        let sql = "SELECT answer FROM session_answers WHERE run = ?1 AND life = ?2 AND call = ?3";
        let key = params![run.as_str(), life, call];
        let before: Option<Digest> =
            self.0.prepare_cached(sql)?.query_row(key, |row| row.get(0)).optional()?;
        if before.as_ref() == Some(answer) {
            return Ok(true);
        }
        let sql = "INSERT OR REPLACE INTO session_answers (run, life, call, answer)
                   VALUES (?1, ?2, ?3, ?4)";
        self.0.prepare_cached(sql)?.execute(params![run.as_str(), life, call, answer])?;
        Ok(false)
    }

    /// Notes whether a look-up of a target came back empty, and returns how often in a row it has in
    /// this life.
    pub fn empties(
        &self,
        run: &ThreadId,
        life: u32,
        target: &Digest,
        empty: bool,
    ) -> Result<u32, StoreError> {
        let key = params![run.as_str(), life, target];
        if !empty {
            let sql = "DELETE FROM session_empties WHERE run = ?1 AND life = ?2 AND target = ?3";
            self.0.prepare_cached(sql)?.execute(key)?;
            return Ok(0);
        }
        let sql = "INSERT INTO session_empties (run, life, target, n) VALUES (?1, ?2, ?3, 1)
                   ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n";
        Ok(self.0.prepare_cached(sql)?.query_row(key, |row| row.get(0))?)
    }
}
