//! Packs that the operator has deployed: what the engine records of it (contract §2.7).
//!
//! How it fits: a pack on disk is a file that anybody may change. A deployed one is a record of the
//! engine's, written for the operator after the pack has passed its reader, and nobody else writes such
//! records. The newest of a name is the revision in force; erasing it brings back the one before.

use std::collections::BTreeMap;
use std::fmt;

use super::{Finding, Pack, PackName};
use crate::canon::{Object, Value, hex};
use crate::code::{Code, Coded};
use crate::engine::{Caller, Engine, EngineError, IngestError};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId, Sequence, ThreadId};
use crate::store::{Reader, StoreError, Stored};
use crate::time::Timestamp;

/// The thread that the engine writes of packs on.
pub const PACKS_THREAD: &str = "th_policy_packs";

/// The kind of those records.
pub const PACK_KIND: &str = "core.policy.pack.v1";

/// How often somebody else may have deployed something meanwhile. Each time somebody did.
const MAX_ATTEMPTS: usize = 256;

/// A revision of a pack, as it is recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployed {
    /// The record of it.
    pub record: RecordId,
    /// When.
    pub at: Timestamp,
    /// The name of the pack.
    pub name: PackName,
    /// The SHA-256 of its canonical text, in hex.
    pub sha256: String,
    /// The pack, as it is written.
    pub pack: Object,
}

impl Deployed {
    fn of(stored: &Stored) -> Option<Self> {
        let body = &stored.record.body;
        let text = |field: &str| body.get(field).and_then(Value::as_str);
        Some(Self {
            record: stored.record.id(),
            at: stored.received_at,
            name: PackName::parse(text("name")?).ok()?,
            sha256: text("sha256")?.to_owned(),
            pack: body.get("pack")?.as_object()?.clone(),
        })
    }

    /// Returns the revision as an answer shows it.
    pub fn to_object(&self) -> Object {
        let hooks = self.pack.get("hooks").and_then(Value::as_array).unwrap_or_default();
        object! {
            "deployed_at": self.at.to_string(),
            "hooks": hooks.len(),
            "id": self.record,
            "name": self.name.as_str(),
            "object": "policy_pack",
            "pack": self.pack.clone(),
            "sha256": self.sha256.as_str(),
        }
    }
}

/// What came of deploying a pack.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Deployment {
    /// The name of the pack.
    pub name: PackName,
    /// The SHA-256 of its canonical text, in hex.
    pub sha256: String,
    /// The record of the revision.
    pub record: RecordId,
    /// Whether it was not the one in force already.
    pub fresh: bool,
}

impl Deployment {
    /// Returns it as an answer shows it.
    pub fn to_object(&self) -> Object {
        object! {
            "fresh": self.fresh,
            "id": self.record,
            "name": self.name.as_str(),
            "sha256": self.sha256.as_str(),
        }
    }
}

/// A pack that is not deployed, since it is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployError {
    /// What it would be called.
    pub name: String,
    /// The first thing that is wrong with it.
    pub finding: Finding,
}

impl fmt::Display for DeployError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the pack `{}` is refused: {}", self.name, self.finding)
    }
}

impl std::error::Error for DeployError {}

impl Coded for DeployError {
    fn code(&self) -> Code {
        Code::PolicyRefused
    }

    fn field(&self) -> Option<&str> {
        Some(&self.finding.path)
    }

    fn reason(&self) -> Option<&'static str> {
        Some(self.finding.code.as_str())
    }

    fn hint(&self) -> Option<String> {
        Some("`spl policy validate` names everything that is wrong.".to_owned())
    }
}

/// Returns the revision in force of each pack that this handle may see, by name.
pub fn deployed(engine: &Engine) -> Result<Vec<Deployed>, StoreError> {
    let in_force = engine.store().read(|reader| read(reader).map(|(in_force, _)| in_force))?;
    Ok(in_force.into_values().collect())
}

/// Deploys packs: all of them in one commit, but for those that are in force already. Only the operator
/// may.
pub fn deploy(
    engine: &Engine,
    caller: &Caller,
    packs: &[Pack],
) -> Result<Vec<Deployment>, IngestError> {
    if !caller.is_operator() {
        return Err(IngestError::ConfigWriteDenied { needed: "the operator or the scope `admin`" });
    }
    for _ in 0..MAX_ATTEMPTS {
        let (in_force, read_to) = engine.whole().read(read)?;
        let there = |pack: &Pack| {
            let found = in_force.get(&pack.name)?;
            (found.sha256 == hex(&pack.sha256)).then_some(found.record)
        };
        let planned: Vec<_> = packs.iter().map(|pack| (pack.clone(), there(pack))).collect();
        if let Some(done) = engine.author(move |author| {
            let Some(thread) = thread() else { return Ok(None) };
            if author.last_of_thread(&thread)? != read_to {
                return Ok(None);
            }
            let each = planned.into_iter().map(|(pack, there)| {
                let (name, sha256) = (pack.name.clone(), hex(&pack.sha256));
                let record = match there {
                    Some(record) => record,
                    None => author.write(draft(&thread, pack))?.id(),
                };
                Ok(Deployment { name, sha256, record, fresh: there.is_none() })
            });
            each.collect::<Result<Vec<_>, EngineError>>().map(Some)
        })? {
            return Ok(done);
        }
    }
    Err(EngineError::ContendedClock { thread: PACKS_THREAD.into() }.into())
}

fn draft(thread: &ThreadId, pack: Pack) -> Draft {
    let body = object! {
        "kind": PACK_KIND,
        "name": pack.name.as_str(),
        "pack": pack.written,
        "sha256": hex(&pack.sha256),
    };
    Draft::new(thread.clone(), ActorId::engine(), Act::Know, body)
}

/// Reads which revisions are in force, and how far their thread goes.
fn read(reader: &Reader<'_>) -> Result<(BTreeMap<PackName, Deployed>, Sequence), StoreError> {
    let mut in_force = BTreeMap::new();
    let Some(thread) = thread() else { return Ok((in_force, Sequence::default())) };
    // Before the records: what comes between is told apart by whoever stores.
    let last = reader.last_of_thread(thread.as_str())?;
    reader.each_engine_written(PACK_KIND, Some(&thread), Sequence::default(), |stored| {
        if let Some(revision) = Deployed::of(stored) {
            in_force.insert(revision.name.clone(), revision);
        }
    })?;
    Ok((in_force, last))
}

fn thread() -> Option<ThreadId> {
    ThreadId::parse(PACKS_THREAD).ok()
}
