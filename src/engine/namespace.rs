//! Namespaces: which there are, and whether one takes records (contract §1.11).
//!
//! The registry is configuration like any other: its thread takes `config:write`. A record may
//! stand in a namespace if that one and all above it are active; the root always is.

use super::door::check_bounds;
use super::{Author, Caller, Engine, EngineError, IngestError, Scope};
use crate::object;
use crate::record::{
    Act, ActorId, Draft, NAMESPACE_TOPIC, Namespace, NamespaceEntry, NamespaceStatus, ThreadId,
};
use crate::store::{AppendError, NamespaceRow, Tx};

/// What has become of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceChange {
    /// What the registry says about it now.
    pub row: NamespaceRow,
    /// Whether it said something else before.
    pub fresh: bool,
}

impl Engine {
    /// Returns every namespace that was ever registered, by path. The root, which is always there,
    /// is not among them.
    pub fn namespaces(&self) -> Result<Vec<NamespaceRow>, EngineError> {
        Ok(self.whole().read(|reader| reader.namespaces())?)
    }

    /// Refuses a namespace that takes no records, with the command that fixes it.
    pub fn enter_namespace(&self, namespace: &Namespace) -> Result<(), EngineError> {
        match self.whole().read(|reader| reader.rejects(namespace))? {
            None => Ok(()),
            Some(rejected) => Err(AppendError::Namespace(rejected).into()),
        }
    }

    /// Writes into the registry what is to become of a namespace, unless it is so already.
    ///
    /// Takes the scope `config:write`. A namespace becomes active below one that takes records.
    pub fn set_namespace(
        &self,
        caller: &Caller,
        namespace: &Namespace,
        status: NamespaceStatus,
    ) -> Result<NamespaceChange, IngestError> {
        if !caller.may(Scope::ConfigWrite) {
            return Err(IngestError::ConfigWriteDenied { needed: "the scope `config:write`" });
        }
        let body = object! {
            "id": namespace,
            "status": status.as_str(),
            "topic": NAMESPACE_TOPIC,
        };
        let draft = Draft::new(ThreadId::namespace_registry(), ActorId::engine(), Act::Learn, body);
        check_bounds(caller, &draft)?;
        let entry = NamespaceEntry::check(&draft)?;
        self.whole().write(move |tx| change(tx, &entry, draft))
    }

    /// The check of a draft's namespace, in the order of the door.
    pub(super) fn check_namespace(&self, draft: &Draft) -> Result<(), IngestError> {
        for namespace in needed(draft) {
            self.enter_namespace(&namespace)?;
        }
        Ok(())
    }
}

/// The same check inside the transaction that stores the record.
pub(super) fn enter(tx: &Tx<'_>, draft: &Draft) -> Result<(), AppendError> {
    needed(draft).iter().try_for_each(|namespace| tx.enter(namespace))
}

/// Returns the namespaces that must take records for a draft to be stored: its own, and the one
/// above a namespace that is to become active.
fn needed(draft: &Draft) -> Vec<Namespace> {
    let own = draft.namespace().ok().filter(|namespace| !namespace.is_root());
    let above = match NamespaceEntry::is_meant(draft).then(|| NamespaceEntry::check(draft)) {
        Some(Ok(entry)) if entry.status == NamespaceStatus::Active => entry.id.parent(),
        _ => None,
    };
    own.into_iter().chain(above).collect()
}

fn change(
    tx: &mut Tx<'_>,
    entry: &NamespaceEntry,
    draft: Draft,
) -> Result<NamespaceChange, IngestError> {
    let before = tx.reader().namespace(&entry.id)?;
    if before.is_none() && entry.status != NamespaceStatus::Active {
        return Err(IngestError::UnknownNamespace { namespace: entry.id.clone() });
    }
    // One that is active below one that is not takes no records, which is to be heard as well.
    enter(tx, &draft)?;
    if let Some(row) = before.filter(|row| row.status == entry.status) {
        return Ok(NamespaceChange { row, fresh: false });
    }
    Author::over(tx).write(draft)?;
    match tx.reader().namespace(&entry.id)? {
        Some(row) => Ok(NamespaceChange { row, fresh: true }),
        None => Err(IngestError::UnknownNamespace { namespace: entry.id.clone() }),
    }
}
