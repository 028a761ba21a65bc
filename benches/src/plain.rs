//! The rival: plain `rusqlite`, with the same tables, indexes, triggers and pragmas, one
//! transaction a row, and nothing signed, hashed or chained. All writers share one connection:
//! with one each they would starve in SQLite's busy polling.

use std::path::Path;
use std::sync::Mutex;

use rusqlite::{Connection, params};

pub struct Plain(Mutex<(Connection, i64)>);

impl Plain {
    pub fn open(path: &Path) -> Self {
        let connection = Connection::open(path).expect("a database");
        connection.pragma_update(None, "journal_mode", "WAL").expect("WAL");
        connection.pragma_update(None, "synchronous", "FULL").expect("FULL");
        connection.pragma_update(None, "cache_size", -16_384).expect("a cache");
        connection
            .execute_batch(include_str!("../../schema/sqlite/0001_records.sql"))
            .expect("tables");
        Self(Mutex::new((connection, 0)))
    }

    pub fn append(&self, writer: usize, clock: i64) {
        let draft = super::records::draft(writer, clock);
        let text = spl::canon::Value::Object(draft.body.clone()).to_string();
        let mut id = [0u8; 32];
        id[..8].copy_from_slice(&(writer as u64).to_le_bytes());
        id[8..16].copy_from_slice(&clock.to_le_bytes());
        let mut guard = self.0.lock().expect("the connection");
        guard.1 += 1;
        let seq = guard.1;
        let transaction = guard.0.transaction().expect("a transaction");
        transaction
            .prepare_cached(
                "INSERT INTO records (seq, id, thread, actor, act, clock, data_type, namespace,
                     kind, verdict, canonical, judged_by, received_at, origin, signer, sig, chain)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, 'SCALAR', 'default', ?7, NULL, ?8, NULL, 0,
                     'door', 'did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK',
                     zeroblob(64), zeroblob(32))",
            )
            .expect("a statement")
            .execute(params![
                seq,
                id,
                draft.thread.as_str(),
                draft.actor.as_str(),
                draft.act.as_str(),
                clock,
                draft.kind(),
                text
            ])
            .expect("a row");
        transaction.commit().expect("durable");
    }
}
