//! Entries of the registry of namespaces: what there is to say about one, in one record.
//!
//! Comes in: a draft on [`NAMESPACE_THREAD`] with the topic [`NAMESPACE_TOPIC`]. Goes out: which
//! namespace it is about, and whether records may be written there. The newest entry of a namespace
//! is the one that counts (contract §1.11).

use std::fmt;

use super::{Draft, Namespace, Reason, Record, ShapeError, field};

/// The thread whose records say which namespaces there are.
pub const NAMESPACE_THREAD: &str = "th_namespace_registry";

/// The discriminator of its entries.
pub const NAMESPACE_TOPIC: &str = "namespace_entry";

/// Whether records may be written into a namespace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NamespaceStatus {
    /// They may.
    Active,
    /// Not any more; what is there stays.
    Archived,
    /// Nor is it shown among those that there are.
    Deleted,
}

impl NamespaceStatus {
    /// Every status there is.
    pub const ALL: &[Self] = &[Self::Active, Self::Archived, Self::Deleted];

    /// Returns the word of the status.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Archived => "archived",
            Self::Deleted => "deleted",
        }
    }

    /// Reads the word of a status.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|status| status.as_str() == word)
    }
}

impl fmt::Display for NamespaceStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What one record says about one namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamespaceEntry {
    /// Which one; never the root.
    pub id: Namespace,
    /// What becomes of it.
    pub status: NamespaceStatus,
}

impl NamespaceEntry {
    /// Returns whether a draft means to be an entry: on any other thread it is plain data.
    pub fn is_meant(draft: &Draft) -> bool {
        draft.thread.is_namespace_registry() && draft.topic() == Some(NAMESPACE_TOPIC)
    }

    /// Checks a draft that means to be an entry. Fields have their bare names.
    pub fn check(draft: &Draft) -> Result<Self, ShapeError> {
        field::learned(draft)?;
        let bad = |field, message| Err(ShapeError::new(field, Reason::BadValue, message));
        let id = Namespace::parse(field::text(&draft.body, "id")?);
        let id = match id {
            Ok(id) if id.is_root() => {
                return bad("id", "`default` is always there and cannot be changed".to_owned());
            }
            Ok(id) => id,
            Err(error) => return bad("id", format!("`id` {error}")),
        };
        let words = NamespaceStatus::ALL.iter().map(|status| status.as_str());
        let words = words.collect::<Vec<_>>().join(", ");
        match NamespaceStatus::parse(field::text(&draft.body, "status")?) {
            Some(status) => Ok(Self { id, status }),
            None => bad("status", format!("`status` must be one of {words}")),
        }
    }

    /// Reads a record back; `None` if it is no entry, or one that no door would take.
    pub fn of(record: &Record) -> Option<Self> {
        let draft: &Draft = record;
        if Self::is_meant(draft) { Self::check(draft).ok() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Act, ActorId, ThreadId};
    use super::*;
    use crate::canon::Object;
    use crate::object;

    fn draft(act: Act, thread: &str, mut body: Object) -> Draft {
        body.insert("topic".into(), NAMESPACE_TOPIC.into());
        let thread = ThreadId::parse(thread).expect("a thread");
        Draft::new(thread, ActorId::engine(), act, body)
    }

    #[test]
    fn an_entry_names_a_namespace_and_what_becomes_of_it() {
        for status in NamespaceStatus::ALL {
            let body = object! { "id": "acme/site", "status": status.as_str(), "owner": "vera" };
            let entry = NamespaceEntry::check(&draft(Act::Learn, NAMESPACE_THREAD, body));
            let entry = entry.expect("an entry");
            assert_eq!((entry.id.as_str(), entry.status), ("acme/site", *status));
        }
    }

    #[test]
    fn what_is_no_entry_is_refused_by_field() {
        let refused = |act, body: Object| {
            let draft = draft(act, NAMESPACE_THREAD, body);
            NamespaceEntry::check(&draft).expect_err("refused").to_string()
        };
        let whole = object! { "id": "acme", "status": "active" };
        assert!(refused(Act::Know, whole).contains("`act`"));
        for (body, says) in [
            (object! { "status": "active" }, "`id` is missing"),
            (object! { "id": "acme" }, "`status` is missing"),
            (object! { "id": 7, "status": "active" }, "`id` must be a string"),
            (object! { "id": "No", "status": "active" }, "`id` must be 1 to 4 segments"),
            (object! { "id": "acme", "status": "gone" }, "one of active, archived, deleted"),
            (object! { "id": "default", "status": "archived" }, "cannot be changed"),
        ] {
            let message = refused(Act::Learn, body);
            assert!(message.contains(says), "{message}");
        }
    }

    #[test]
    fn an_entry_elsewhere_is_plain_data() {
        let body = object! { "id": "acme", "status": "active" };
        assert!(!NamespaceEntry::is_meant(&draft(Act::Learn, "th_a", body)));
    }
}
