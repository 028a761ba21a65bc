//! Compensations: where a run went on although something was not as it should have been, and what
//! was assumed instead (contract §5.1).

use std::collections::BTreeMap;

use super::{Engine, EngineError};
use crate::canon::{Object, Value};
use crate::object;
use crate::record::Sequence;
use crate::store::Stored;

/// The kind of the record of a compensation.
const COMPENSATION_KIND: &str = "core.work.compensation.v1";

/// How many records are read at once.
const PAGE: usize = 1000;

impl Engine {
    /// Returns compensations in the order of arrival, from after `after` on, and where to go on if
    /// there are more.
    pub fn compensations(
        &self,
        after: Sequence,
        limit: usize,
    ) -> Result<(Vec<Object>, Option<Sequence>), EngineError> {
        let (page, more) = self
            .store()
            .read(|reader| reader.engine_written(COMPENSATION_KIND, None, after, limit))?;
        let next = page.last().map(|stored| stored.sequence).filter(|_| more);
        Ok((page.iter().map(compensation).collect(), next))
    }

    /// Returns how often what was assumed where, most often first.
    pub fn compensation_counts(&self) -> Result<Vec<Object>, EngineError> {
        let mut counts: BTreeMap<(String, String), (u64, Option<Stored>)> = BTreeMap::new();
        let mut after = Sequence::default();
        loop {
            let (page, more) = self
                .store()
                .read(|reader| reader.engine_written(COMPENSATION_KIND, None, after, PAGE))?;
            for stored in page {
                after = stored.sequence;
                let key = (text(&stored, "seam"), text(&stored, "assumption"));
                let (count, last) = counts.entry(key).or_default();
                *count += 1;
                *last = Some(stored);
            }
            if !more {
                break;
            }
        }
        let mut rows: Vec<_> = counts.into_iter().collect();
        // Stable, so that equal counts keep the order of their words.
        rows.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
        let row =
            |((seam, assumption), (count, last)): ((String, String), (u64, Option<Stored>))| {
                object! {
                    "assumption": assumption,
                    "count": count,
                    "last_at": last.as_ref().map(|last| last.received_at.to_string()),
                    "last_thread": last.as_ref().map(|last| last.record.thread.as_str().to_owned()),
                    "object": "compensation_count",
                    "seam": seam,
                }
            };
        Ok(rows.into_iter().map(row).collect())
    }
}

fn text(stored: &Stored, field: &str) -> String {
    stored.record.body.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn compensation(stored: &Stored) -> Object {
    let record = &stored.record;
    object! {
        "assumption": text(stored, "assumption"),
        "context": record.body.get("context").cloned(),
        "object": "compensation",
        "received_at": stored.received_at.to_string(),
        "record_id": record.id(),
        "seam": text(stored, "seam"),
        "sequence": stored.sequence.get(),
        "thread": &record.thread,
    }
}
