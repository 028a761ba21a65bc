//! The goals of threads, and which of them are answered.

use std::collections::BTreeMap;

use super::{Item, LABEL_CHARS};
use crate::engine::DECISION_REQUEST_KIND;
use crate::record::{Act, RecordId, Sequence};
use crate::session::account::text;
use crate::session::body::CHARTER_KIND;
use crate::session::entry;
use crate::store::Stored;
use crate::time::Timestamp;

/// Goals, and what answered them, whichever came first.
#[derive(Debug, Default)]
pub(super) struct Goals {
    goals: BTreeMap<(Sequence, RecordId), Goal>,
    answers: BTreeMap<RecordId, (Sequence, Timestamp)>,
}

#[derive(Debug)]
struct Goal {
    item: Item,
    /// A question waits for a person and has a bucket of its own.
    question: bool,
}

impl Goals {
    /// Adds a record.
    pub(super) fn add(&mut self, stored: &Stored) {
        let record = &stored.record;
        let answer = (stored.sequence, stored.received_at);
        match record.act {
            Act::Intend => self.intend(stored),
            Act::Know => record.names("fulfills").for_each(|id| {
                self.answers.entry(id).or_insert(answer);
            }),
            Act::Do => record.names("cancels").for_each(|id| {
                self.answers.entry(id).or_insert(answer);
            }),
            _ => {}
        }
    }

    fn intend(&mut self, stored: &Stored) {
        let record = &stored.record;
        let body = &record.body;
        let kind = record.kind();
        let label = match kind {
            // A subagent belongs to its session.
            Some(CHARTER_KIND) if body.contains_key("parent_thread") => return,
            Some(CHARTER_KIND) => {
                let said = |name: &str| text(body, name).unwrap_or_default();
                format!("{} session {}", said("harness"), said("session_id"))
            }
            _ => {
                let said = ["goal", "question", "text"].iter().find_map(|name| text(body, name));
                said.or(kind).unwrap_or("a goal").to_owned()
            }
        };
        let item = Item {
            thread: record.thread.clone(),
            record: Some(record.id()),
            label: entry::cut(&label, LABEL_CHARS),
            at: stored.received_at,
        };
        let question = kind == Some(DECISION_REQUEST_KIND);
        self.goals.insert((stored.sequence, record.id()), Goal { item, question });
    }

    /// Returns the goals that are open, and those that were closed after `since`, the newest first.
    pub(super) fn into_buckets(self, since: Sequence) -> (Vec<Item>, Vec<Item>) {
        let (mut open, mut closed) = (Vec::new(), Vec::new());
        for ((_, id), Goal { item, question }) in self.goals.into_iter().rev() {
            match self.answers.get(&id) {
                None if question => {}
                None => open.push(item),
                Some((sequence, at)) if *sequence > since => {
                    closed.push((*sequence, Item { at: *at, ..item }));
                }
                Some(_) => {}
            }
        }
        closed.sort_by_key(|(sequence, _)| std::cmp::Reverse(*sequence));
        (open, closed.into_iter().map(|(_, item)| item).collect())
    }
}
