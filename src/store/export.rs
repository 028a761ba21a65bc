//! Records for another store, a page at a time, so that any number of them takes the memory of one
//! page.

use super::read::{NOT_ERASED, among_threads};
use super::{Reader, StoreError, Stored};
use crate::canon::Object;
use crate::object;
use crate::record::Sequence;

/// The most records of a page.
const PAGE: usize = 500;

/// The most bytes of a page, unless one record alone has more.
const PAGE_BYTES: usize = 1024 * 1024;

/// What is to be exported, and how far that has come.
#[derive(Debug, Clone, Default)]
pub struct ExportRange {
    /// Only records of these threads; of all if there are none.
    pub threads: Vec<String>,
    /// Only records that arrived after this place.
    pub after: Sequence,
    /// None that arrived after this one.
    pub through: Sequence,
}

impl ExportRange {
    /// Returns the names of the threads.
    pub fn names(&self) -> Vec<&str> {
        self.threads.iter().map(String::as_str).collect()
    }
}

impl Stored {
    /// Returns the record with its receipt, as a line of an export holds it.
    pub fn to_export(&self) -> Object {
        let mut envelope = self.record.to_object();
        envelope.remove("object");
        let id = envelope.remove("id");
        let mut line = object! {
            "id": id,
            "origin": self.origin.as_str(),
            "received_at": self.received_at.to_string(),
            "record": envelope,
            "sequence": self.sequence.get(),
            "sig": self.signature.to_string(),
            "signer": self.signer.as_str(),
        };
        if let Some(unproven) = &self.unproven {
            line.insert("unproven".into(), unproven.to_object().into());
        }
        line
    }
}

impl Reader<'_> {
    /// Returns the next records of an export, in the order of arrival. None of them was erased.
    /// There are no more if there are none.
    pub fn export_page(&self, range: &ExportRange) -> Result<Vec<Stored>, StoreError> {
        let names = range.names();
        let (after, through) = (range.after.get(), range.through.get());
        let mut sql = format!("seq > ?1 AND seq <= ?2 AND {NOT_ERASED}");
        let bound = among_threads(&mut sql, vec![&after, &through], &names);
        Ok(self.select(&sql, &bound, "seq", (PAGE, 0), PAGE_BYTES)?.0)
    }
}
