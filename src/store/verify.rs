//! Proof: every row is what was accepted, in the order in which it was accepted.

use std::collections::BTreeMap;

use rusqlite::{Connection, Row};

use super::actor_keys::{ActorKeys, KeyStatement};
use super::append::{namespace_column, verdict_column};
use super::checkpoint::{CHECKPOINT_EVERY, Head, SignedLink, signed_head, signed_link};
use super::read::stored;
use super::tombstone::{Tombstone, all_tombstones};
use super::{Reader, Receipt, Store, StoreError, Stored};
use crate::canon::Digest;
use crate::identity::Keyring;
use crate::record::{ENGINE_ACTOR, Record, Sequence};

/// What a look at every row has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Verification {
    /// How many rows were looked at.
    pub records: u64,
    /// How many of them have a tombstone in the place of their words.
    pub purged: u64,
    /// How many checkpoints there are among them.
    pub checkpoints: u64,
    /// The first thing that is wrong; nothing after it was looked at.
    pub fault: Option<Fault>,
}

/// The first thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Where: the row, or the place of one that is missing; for the head, the sequence it speaks of.
    pub sequence: i64,
    /// What.
    pub what: String,
}

impl Fault {
    fn at(sequence: i64, what: impl Into<String>) -> Self {
        Self { sequence, what: what.into() }
    }
}

impl Store {
    /// Hashes every row again, checks its columns, signature and link, then the checkpoints, the
    /// keys and the head.
    ///
    /// `progress` hears how many rows are done of how many.
    pub fn verify(&self, progress: impl Fn(u64, u64)) -> Result<Verification, StoreError> {
        self.verify_against(None, progress)
    }

    /// The same, and checks that the chain leads through a link that this instance has signed
    /// earlier, and whose own signature holds. An older state of the store does not reach it, and a
    /// history that was written anew has another one in its place.
    pub fn verify_against(
        &self,
        against: Option<&SignedLink>,
        progress: impl Fn(u64, u64),
    ) -> Result<Verification, StoreError> {
        self.read(|reader| {
            let pages = check_pages(reader.connection)?;
            match (pages, self.walk(reader, against, progress)) {
                (None, walked) => walked,
                // What SQLite calls damage may be a row that somebody has changed.
                (Some(_), Ok(walked)) if walked.fault.is_some() => Ok(walked),
                (Some(fault), _) => {
                    Ok(Verification { fault: Some(fault), ..Verification::default() })
                }
            }
        })
    }

    fn walk(
        &self,
        reader: &Reader<'_>,
        against: Option<&SignedLink>,
        progress: impl Fn(u64, u64),
    ) -> Result<Verification, StoreError> {
        let total = u64::try_from(reader.last()?.get()).unwrap_or(0);
        let mut statement = reader.connection.prepare(ROWS)?;
        let mut rows = statement.query([])?;
        let mut walk = Walk::over(reader.connection, against)?;
        while let Some(row) = rows.next()? {
            if let Err(fault) = walk.take(row)? {
                return Ok(Verification { fault: Some(fault), ..walk.found });
            }
            progress(walk.found.records, total);
        }
        let instance = self.instance_of(reader.connection)?;
        let mut fault = walk.end(&reader.noted_keys()?, &instance);
        if fault.is_none() {
            fault = check_head(reader.connection, walk.head, self.keyring())?;
        }
        let fault = fault.or_else(|| walk.reaches(against));
        Ok(Verification { fault, ..walk.found })
    }

    /// Returns the key that the instance had when this store, or this copy of it, was written last.
    fn instance_of(&self, connection: &Connection) -> Result<String, StoreError> {
        let signer = signed_head(connection)?.map(|head| head.signer);
        let ours = signer.filter(|signer| self.keyring().has_signed_with(signer));
        Ok(ours.unwrap_or_else(|| self.keyring().instance().did().to_owned()))
    }

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
    SELECT seq, id, canonical, judged_by, received_at, origin, signer, sig, unproven, chain,
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

/// Goes from row to row.
struct Walk<'a> {
    /// By the place of their rows.
    tombstones: BTreeMap<i64, Tombstone>,
    checkpoints: BTreeMap<i64, SignedLink>,
    against: Option<&'a SignedLink>,
    head: Head,
    /// What the rows so far say of keys.
    keys: ActorKeys,
    /// Who has signed for the instance, and up to where. Which keys it had is known at the end.
    signers: Vec<(i64, String)>,
    found: Verification,
}

impl<'a> Walk<'a> {
    fn over(connection: &Connection, against: Option<&'a SignedLink>) -> Result<Self, StoreError> {
        let sql = "SELECT seq, chain, at, signer, sig FROM checkpoints ORDER BY seq";
        let mut statement = connection.prepare(sql)?;
        let links = statement.query_map([], signed_link)?.collect::<Result<Vec<_>, _>>()?;
        Ok(Self {
            tombstones: all_tombstones(connection)?,
            checkpoints: links.into_iter().map(|it| (it.sequence().get(), it)).collect(),
            against,
            head: Head::default(),
            keys: ActorKeys::default(),
            signers: Vec::new(),
            found: Verification::default(),
        })
    }

    fn take(&mut self, row: &Row<'_>) -> Result<Result<(), Fault>, StoreError> {
        self.found.records += 1;
        let sequence: i64 = row.get(0)?;
        match self.row(sequence, row) {
            Err(StoreError::Damaged { what, .. }) => Ok(Err(Fault::at(sequence, what))),
            Err(StoreError::Failed(error)) if error.is_unreadable() => {
                Ok(Err(Fault::at(sequence, "a column does not read")))
            }
            Ok(Ok(())) => Ok(self.signed_here(sequence).map_or(Ok(()), Err)),
            taken => taken,
        }
    }

    fn row(&mut self, sequence: i64, row: &Row<'_>) -> Result<Result<(), Fault>, StoreError> {
        let fault = |what: &str| Ok(Err(Fault::at(sequence, what)));
        let expected = self.head.sequence.get() + 1;
        if sequence != expected {
            return Ok(Err(Fault::at(expected, "the row is missing")));
        }
        let stored = stored(row)?;
        let namespace: String = row.get(15)?;
        if let Some(tombstone) = self.tombstones.get(&sequence) {
            // Its words are gone, and with them what its id hashes and its signature signs.
            self.found.purged += 1;
            self.signers.push((sequence, tombstone.signer.clone()));
            let record = &stored.record;
            if !columns_agree(row, record, &namespace)?
                || *record.canonical() != record.without_body()
                || !tombstone.stands_for(&stored, &namespace)
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
        if link != row.get::<_, Digest>(9)? {
            return fault("the receipt does not continue the chain");
        }
        self.head = Head { sequence: stored.sequence, chain: link };
        if let Some(statement) = KeyStatement::read(&stored) {
            self.keys.apply(stored.sequence, statement);
        }
        Ok(Ok(()))
    }

    /// Checks what was signed of the chain at this place.
    fn signed_here(&mut self, sequence: i64) -> Option<Fault> {
        let due = sequence % CHECKPOINT_EVERY == 0;
        match self.checkpoints.get(&sequence) {
            Some(checkpoint) => {
                self.found.checkpoints += 1;
                self.signers.push((sequence, checkpoint.signer.clone()));
                if checkpoint.link != self.head || !checkpoint.is_signed() {
                    return Some(Fault::at(sequence, "the checkpoint does not hold"));
                }
            }
            // Before the first one there were none.
            None if due && self.checkpoints.keys().next().is_some_and(|it| *it < sequence) => {
                return Some(Fault::at(sequence, "the checkpoint is missing"));
            }
            None => {}
        }
        let against = self.against.filter(|it| it.sequence() == self.head.sequence)?;
        self.signers.push((sequence, against.signer.clone()));
        let what = "the history up to here is another one than what was signed";
        (against.link != self.head).then(|| Fault::at(sequence, what))
    }

    /// Checks, once every row is known to be whole, who has signed for the instance, and what is
    /// noted of keys.
    fn end(&self, noted: &ActorKeys, instance: &str) -> Option<Fault> {
        let last = self.head.sequence.get();
        if self.checkpoints.keys().next_back().is_some_and(|it| *it > last) {
            return Some(cut_off_after(last));
        }
        let differs = self
            .keys
            .differs_at(noted)
            .map(|at| Fault::at(at.get(), "the table of keys does not say what the records say"));
        let strangers =
            self.signers.iter().filter(|(at, signer)| !self.signs(*at, signer, instance));
        let stranger = strangers.map(|(at, _)| *at).min().map(|at| {
            Fault::at(at, "what was signed here for this instance has another key than it had")
        });
        let led = self.keys.of(ENGINE_ACTOR).last();
        let led = led.filter(|led| led.key != instance).map(|led| {
            let what = "the key of this instance is not the one that its records lead to";
            Fault::at(led.since.get(), what)
        });
        [differs, stranger, led].into_iter().flatten().min_by_key(|fault| fault.sequence)
    }

    /// Tells whether a key was the instance's when the row at `at` was the newest, or later: a
    /// tombstone is of any later day.
    fn signs(&self, at: i64, signer: &str, instance: &str) -> bool {
        let keys = self.keys.of(ENGINE_ACTOR);
        if keys.is_empty() {
            return signer == instance;
        }
        let here = |until: Option<Sequence>| until.is_none_or(|until| at <= until.get());
        keys.iter().any(|key| key.key == signer && here(key.until))
    }

    /// Says if the rows end before what they are held against.
    fn reaches(&self, against: Option<&SignedLink>) -> Option<Fault> {
        let last = self.head.sequence.get();
        let signed = against.map(|it| it.sequence().get()).filter(|signed| *signed > last)?;
        let what = format!("rows are missing from here on: {signed} were signed");
        Some(Fault::at(last + 1, what))
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
    Ok(row.get::<_, String>(10)? == record.thread.as_str()
        && row.get::<_, String>(11)? == record.actor.as_str()
        && row.get::<_, String>(12)? == record.act.as_str()
        && row.get::<_, i64>(13)? == record.clock.get()
        && row.get::<_, String>(14)? == record.data_type.as_str()
        && row.get::<_, String>(15)? == namespace
        && row.get::<_, Option<String>>(16)?.as_deref() == record.kind()
        && row.get::<_, Option<String>>(17)?.as_deref() == verdict)
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
        unproven: stored.unproven.as_ref(),
    }
}

/// Says that what was signed goes further than the rows.
fn cut_off_after(last: i64) -> Fault {
    Fault::at(last + 1, "rows are missing from here on")
}

/// Checks that the signed head is the last link, signed by this instance.
fn check_head(
    connection: &Connection,
    last: Head,
    keyring: &Keyring,
) -> Result<Option<Fault>, StoreError> {
    let fault = |what: &str| Fault::at(last.sequence.get(), what);
    let Some(head) = signed_head(connection)? else {
        let empty = last.sequence == Sequence::default();
        return Ok((!empty).then(|| fault("the head is missing")));
    };
    Ok(if head.sequence() > last.sequence {
        Some(cut_off_after(last.sequence.get()))
    } else if head.link != last {
        Some(fault("the head does not continue the chain"))
    } else if !keyring.has_signed_with(head.signer()) {
        Some(fault("the head is signed by another key than this instance's"))
    } else if !head.is_signed() {
        Some(fault("the head's signature is not this instance's"))
    } else {
        None
    })
}
