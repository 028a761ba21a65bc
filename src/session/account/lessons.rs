//! Which lessons spoke in a session, and what followed them.

use std::collections::BTreeMap;

use super::{head, text};
use crate::record::{Record, RecordId};

/// The most characters of what a lesson said last.
const WORDS_CHARS: usize = 400;

/// A lesson that spoke.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lesson {
    /// Its name.
    pub rule: String,
    /// The record of it; a guard that is built in has none.
    pub hook: Option<RecordId>,
    /// What it said last.
    pub words: String,
    /// The record of that.
    pub last: Option<RecordId>,
    /// How often it spoke.
    pub fires: u64,
    /// How often its words were handed to the harness with the call itself.
    pub offered: u64,
    /// How often they had to wait for a later event.
    pub carried: u64,
    /// After how many of them the next call went well.
    pub then_ok: u64,
    /// After how many of them the next call failed.
    pub then_error: u64,
}

impl Lesson {
    /// Returns after how many of its fires no call followed.
    pub const fn then_none(&self) -> u64 {
        self.fires.saturating_sub(self.then_ok).saturating_sub(self.then_error)
    }
}

type Key = (String, Option<RecordId>);

/// The lessons of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Lessons {
    spoken: BTreeMap<Key, Lesson>,
    /// Whose words wait for an event that can deliver them.
    waiting: BTreeMap<RecordId, Key>,
    /// Whose words the model has, with no call since.
    heard: Vec<Key>,
}

impl Lessons {
    /// Adds the record of an observation.
    pub(super) fn spoken(&mut self, record: &Record) {
        let body = &record.body;
        let rule = text(body, "rule").unwrap_or_default().to_owned();
        let hook = text(body, "hook").and_then(RecordId::parse);
        let key = (rule, hook);
        let lesson = self.spoken.entry(key.clone()).or_default();
        (lesson.rule, lesson.hook) = key.clone();
        lesson.words = head(text(body, "text").unwrap_or_default(), WORDS_CHARS);
        lesson.last = Some(record.id());
        lesson.fires += 1;
        if text(body, "delivery") == Some("carried") {
            lesson.carried += 1;
            self.waiting.insert(record.id(), key);
        } else {
            lesson.offered += 1;
            self.heard.push(key);
        }
    }

    /// Notes that words which waited were delivered.
    pub(super) fn delivered(&mut self, observation: RecordId) {
        self.heard.extend(self.waiting.remove(&observation));
    }

    /// Notes that a call returned.
    pub(super) fn returned(&mut self, ok: bool) {
        for key in self.heard.drain(..) {
            let Some(lesson) = self.spoken.get_mut(&key) else { continue };
            if ok {
                lesson.then_ok += 1;
            } else {
                lesson.then_error += 1;
            }
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Lesson> {
        self.spoken.values()
    }

    pub(super) fn undelivered(&self) -> impl Iterator<Item = RecordId> {
        self.waiting.keys().copied()
    }
}
