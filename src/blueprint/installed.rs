//! What was installed: the records that the engine writes of it.

use std::collections::BTreeMap;

use super::Sort;
use crate::canon::{Digest, Object, Value, hex, unhex};
use crate::object;
use crate::record::{RecordId, Sequence, ThreadId};
use crate::store::{Reader, StoreError, Stored};
use crate::time::Timestamp;

/// The thread that the engine writes of installations on.
pub const BLUEPRINTS_THREAD: &str = "th_blueprints";

/// The kind of those records.
pub const INSTALL_KIND: &str = "core.blueprint.install.v1";

/// One installation, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installation {
    /// The record of it.
    pub record: RecordId,
    /// When.
    pub at: Timestamp,
    /// What it says: the blueprint, who installed it, who vouched for it, and its records.
    pub body: Object,
}

impl Installation {
    fn of(stored: &Stored) -> Self {
        let body = stored.record.body.clone();
        Self { record: stored.record.id(), at: stored.received_at, body }
    }

    fn text(&self, field: &str) -> Option<&str> {
        self.body.get(field).and_then(Value::as_str)
    }

    /// The records of its seeds, by what the seeds say.
    fn seeds(&self) -> impl Iterator<Item = (Digest, RecordId)> {
        let seeds = self.body.get("seeds").and_then(Value::as_array).unwrap_or_default();
        seeds.iter().filter_map(|seed| {
            let text = |field: &str| seed.get(field).and_then(Value::as_str);
            Some((unhex(text("seed")?)?, RecordId::parse(text("record")?)?))
        })
    }

    /// Returns the installation as an answer shows it.
    pub fn to_object(&self) -> Object {
        let mut object = self.body.clone();
        object.remove("kind");
        object.remove("seeds");
        object.insert("object".into(), "blueprint_installation".into());
        object.insert("id".into(), self.record.into());
        object.insert("installed_at".into(), self.at.to_string().into());
        object.insert("records".into(), self.seeds().count().into());
        object
    }
}

/// Returns every installation that this handle may see, in the order of arrival.
pub fn installations(engine: &crate::engine::Engine) -> Result<Vec<Installation>, StoreError> {
    engine.store().read(read).map(|(installations, _)| installations)
}

/// Reads what the engine has written of installations, and how far its thread goes.
fn read(reader: &Reader<'_>) -> Result<(Vec<Installation>, Sequence), StoreError> {
    let Some(thread) = thread() else { return Ok((Vec::new(), Sequence::default())) };
    // Before the records: what comes between is told apart by whoever stores.
    let last = reader.last_of_thread(thread.as_str())?;
    let mut found = Vec::new();
    reader.each_engine_written(INSTALL_KIND, Some(&thread), Sequence::default(), |stored| {
        found.push(Installation::of(stored));
    })?;
    Ok((found, last))
}

/// Returns the thread of installations.
pub(super) fn thread() -> Option<ThreadId> {
    ThreadId::parse(BLUEPRINTS_THREAD).ok()
}

/// What was installed up to now, for a plan to rest on.
#[derive(Debug, Default)]
pub(super) struct Ledger {
    /// The latest installation of each plan.
    plans: BTreeMap<String, RecordId>,
    /// The record of each seed, by all that the record says but its clock.
    seeds: BTreeMap<Digest, RecordId>,
    /// How far the thread was read.
    pub(super) read_to: Sequence,
}

impl Ledger {
    pub(super) fn read(reader: &Reader<'_>) -> Result<Self, StoreError> {
        let (installations, read_to) = read(reader)?;
        let mut ledger = Self { read_to, ..Self::default() };
        for installation in installations {
            if let Some(plan) = installation.text("plan") {
                ledger.plans.insert(plan.to_owned(), installation.record);
            }
            ledger.seeds.extend(installation.seeds());
        }
        Ok(ledger)
    }

    /// Returns the record of the latest installation of a plan.
    pub(super) fn plan(&self, hash: &Digest) -> Option<RecordId> {
        self.plans.get(&hex(hash)).copied()
    }

    /// Returns the record that a seed became.
    pub(super) fn seed(&self, digest: &Digest) -> Option<RecordId> {
        self.seeds.get(digest).copied()
    }
}

/// Returns what an installation says of one of its seeds.
pub(super) fn entry(sort: Sort, digest: &Digest, record: RecordId, fresh: bool) -> Object {
    object! { "record": record, "seed": hex(digest), "sort": sort.as_str(), "written": fresh }
}
