//! Proof: every row is what was accepted, in the order in which it was accepted.

use std::collections::BTreeMap;

use rusqlite::Row;

use super::append::{Head, namespace_column, verdict_column};
use super::read::stored;
use super::tombstone::{Tombstone, all_tombstones};
use super::{Receipt, Store, StoreError, Stored};
use crate::canon::Digest;
use crate::identity::{Keyring, PublicKey, Signature};
use crate::record::{Record, Sequence};

/// What a look at every row has found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// How many rows were looked at.
    pub records: u64,
    /// How many of them have a tombstone in the place of their words.
    pub purged: u64,
    /// The first thing that is wrong; nothing after it was looked at.
    pub fault: Option<Fault>,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where; for the head, the sequence it speaks of.
    pub sequence: i64,
    /// What.
    pub what: String,
}

impl Store {
    /// Hashes every row again, checks its columns, signature and link, and then the head.
    ///
    /// `progress` hears how many rows are done of how many.
    pub fn verify(&self, progress: impl Fn(u64, u64)) -> Result<Verification, StoreError> {
        self.read(|reader| {
            let total = u64::try_from(reader.last()?.get()).unwrap_or(0);
            if let Some(fault) = check_pages(reader.connection)? {
                return Ok(Verification { records: 0, purged: 0, fault: Some(fault) });
            }
            let mut statement = reader.connection.prepare(ROWS)?;
            let mut rows = statement.query([])?;
            let tombstones = all_tombstones(reader.connection)?;
            let keyring = self.keyring();
            let (head, records, purged) = (Head::default(), 0, 0);
            let mut walk = Walk { tombstones, keyring, head, records, purged };
            while let Some(row) = rows.next()? {
                if let Err(fault) = walk.row(row)? {
                    let Walk { records, purged, .. } = walk;
                    return Ok(Verification { records, purged, fault: Some(fault) });
                }
                progress(walk.records, total);
            }
            let fault = check_head(reader.connection, walk.head, self.keyring())?;
            Ok(Verification { records: walk.records, purged: walk.purged, fault })
        })
    }
}

impl Store {
    /// Checks that the signed head is the newest row: a look that costs nothing and sees a tail
    /// that was cut off. Other rows are not looked at.
    pub fn verify_head(&self) -> Result<Option<Fault>, StoreError> {
        self.read(|reader| {
            let sql = "SELECT seq, chain FROM records ORDER BY seq DESC LIMIT 1";
            let mut statement = reader.connection.prepare(sql)?;
            let mut rows = statement.query([])?;
            let last = match rows.next()? {
                Some(row) => Head { sequence: Sequence::new(row.get(0)?), chain: row.get(1)? },
                None => Head::default(),
            };
            check_head(reader.connection, last, self.keyring())
        })
    }
}

const ROWS: &str = "
    SELECT seq, id, canonical, judged_by, received_at, origin, signer, sig, chain,
           thread, actor, act, clock, data_type, namespace, kind, verdict
    FROM records ORDER BY seq";

/// Asks SQLite whether the pages of the file hang together, indexes included: rows that read well
/// may stand behind an index that no longer finds them.
fn check_pages(connection: &rusqlite::Connection) -> Result<Option<Fault>, StoreError> {
    let sql = "PRAGMA integrity_check(1)";
    let found: Result<String, _> = connection.query_row(sql, [], |row| row.get(0));
    Ok(match found {
        Ok(ok) if ok == "ok" => None,
        Ok(what) => Some(Fault { sequence: 0, what: format!("the file is damaged: {what}") }),
        Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseCorrupt) => {
            Some(Fault { sequence: 0, what: "the file is damaged".into() })
        }
        Err(error) => return Err(error.into()),
    })
}

struct Walk<'a> {
    /// By the place of their rows.
    tombstones: BTreeMap<i64, Tombstone>,
    keyring: &'a Keyring,
    head: Head,
    records: u64,
    purged: u64,
}

impl Walk<'_> {
    fn row(&mut self, row: &Row<'_>) -> Result<Result<(), Fault>, StoreError> {
        self.records += 1;
        let sequence: i64 = row.get(0)?;
        let fault = |what: &str| Ok(Err(Fault { sequence, what: what.into() }));
        if sequence != self.head.sequence.get() + 1 {
            return fault("a row is missing before this one");
        }
        let stored = match stored(row) {
            Ok(stored) => stored,
            Err(StoreError::Damaged { what, .. }) => return fault(&what),
            Err(error) => return Err(error),
        };
        if let Some(tombstone) = self.tombstones.get(&sequence) {
            // Its words are gone, and with them what its id hashes and its signature signs.
            self.purged += 1;
            let namespace: String = row.get(14)?;
            if !columns_agree(row, &stored.record, &namespace)?
                || !tombstone.stands_for(&stored, &namespace, self.keyring)
            {
                return fault("the tombstone is not this instance's over what is left");
            }
        } else if !hashes_to_its_id(&stored) {
            return fault("the bytes do not hash to the id");
        } else if !columns_agree(row, &stored.record, namespace_column(&stored.record).as_str())? {
            return fault("a column does not say what the bytes say");
        } else if !is_signed(&stored) {
            return fault("the signature is not the signer's over these bytes");
        }
        let link = receipt_of(&stored).chain(&self.head.chain);
        if link != row.get::<_, Digest>(8)? {
            return fault("the receipt does not continue the chain");
        }
        self.head = Head { sequence: Sequence::new(sequence), chain: link };
        Ok(Ok(()))
    }
}

fn hashes_to_its_id(stored: &Stored) -> bool {
    let judged_by = stored.record.judged_by.clone();
    Record::from_canonical(stored.record.canonical().as_str(), judged_by).is_ok_and(|record| {
        record.id() == stored.record.id() && record.canonical() == stored.record.canonical()
    })
}

fn columns_agree(row: &Row<'_>, record: &Record, namespace: &str) -> Result<bool, StoreError> {
    let verdict = verdict_column(record);
    Ok(row.get::<_, String>(9)? == record.thread.as_str()
        && row.get::<_, String>(10)? == record.actor.as_str()
        && row.get::<_, String>(11)? == record.act.as_str()
        && row.get::<_, i64>(12)? == record.clock.get()
        && row.get::<_, String>(13)? == record.data_type.as_str()
        && row.get::<_, String>(14)? == namespace
        && row.get::<_, Option<String>>(15)?.as_deref() == record.kind()
        && row.get::<_, Option<String>>(16)?.as_deref() == verdict)
}

fn is_signed(stored: &Stored) -> bool {
    let bytes = stored.record.canonical().as_bytes();
    Keyring::public_key(&stored.signer).is_some_and(|key| key.verifies(bytes, &stored.signature))
}

fn receipt_of(stored: &Stored) -> Receipt<'_> {
    Receipt {
        id: stored.record.id(),
        sequence: stored.sequence,
        received_at: stored.received_at,
        origin: stored.origin,
        signer: &stored.signer,
        signature: stored.signature,
        judged_by: stored.record.judged_by.as_deref(),
    }
}

/// Checks that the signed head is the last link, signed by this instance.
fn check_head(
    connection: &rusqlite::Connection,
    last: Head,
    keyring: &Keyring,
) -> Result<Option<Fault>, StoreError> {
    let sql = "SELECT seq, chain, signer, sig FROM head";
    let mut statement = connection.prepare(sql)?;
    let mut rows = statement.query([])?;
    let fault = |what: &str| Fault { sequence: last.sequence.get(), what: what.into() };
    let Some(row) = rows.next()? else {
        let empty = last.sequence == Sequence::default();
        return Ok((!empty).then(|| fault("the head is missing")));
    };
    let head = Head { sequence: Sequence::new(row.get(0)?), chain: row.get(1)? };
    let signer: String = row.get(2)?;
    let signature = Signature::from_bytes(row.get(3)?);
    let key: PublicKey = keyring.instance().public();
    Ok(if head.sequence > last.sequence {
        Some(fault("rows are missing after this one"))
    } else if head != last {
        Some(fault("the head does not continue the chain"))
    } else if signer != keyring.instance().did() {
        Some(fault("the head is signed by another key than this instance's"))
    } else if !key.verifies(head.signed_bytes().as_bytes(), &signature) {
        Some(fault("the head's signature is not this instance's"))
    } else {
        None
    })
}
