//! Coming back: what there is to know of the instance, and of one room of it, which is a thread.
//!
//! Everything is derived when it is asked for, from the goals of threads and what answered them, the
//! questions that wait, and the newest checkpoint. Five buckets: what was *closed* since that
//! checkpoint, what is *open*, what is *waiting* for a person, what has *moved*, and what was
//! *learned*.

mod goals;

use super::account::text;
use super::checkpoint::ATTENTION_THREAD;
use super::entry;
use super::read::account_of;
use crate::canon::{Object, Value};
use crate::engine::{AskedFor, DecisionState, Engine, EngineError};
use crate::object;
use crate::record::{RecordId, Sequence, ThreadId};
use crate::store::Stored;
use crate::time::Timestamp;
use goals::Goals;

/// How many threads with goals are looked at, the newest first.
const MAX_ROOMS: usize = 200;

/// The most items of one bucket.
const MAX_ITEMS: usize = 20;

/// The most questions that are looked at.
const MAX_QUESTIONS: usize = 1000;

/// The most characters of what an item says.
const LABEL_CHARS: usize = 200;

/// One thing in a bucket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// Where.
    pub thread: ThreadId,
    /// The record, if it is one.
    pub record: Option<RecordId>,
    /// What it is, in words.
    pub label: String,
    /// When it arrived.
    pub at: Timestamp,
}

/// Something that was learned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Learned {
    /// The record that says so.
    pub record: RecordId,
    /// The name of the lesson; what was noted down has none.
    pub name: Option<String>,
    /// What it says.
    pub text: String,
}

/// What there is to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Overview {
    /// What was answered or given up.
    pub closed: Vec<Item>,
    /// What waits for an answer.
    pub open: Vec<Item>,
    /// What waits for a person.
    pub waiting: Vec<Item>,
    /// Where something was written.
    pub moved: Vec<Item>,
    /// What was learned.
    pub learned: Vec<Learned>,
}

impl Item {
    fn to_object(&self) -> Object {
        object! {
            "at": self.at.to_string(),
            "label": self.label.as_str(),
            "record": self.record,
            "thread": &self.thread,
        }
    }
}

impl Learned {
    /// Returns it in one line.
    pub fn in_words(&self) -> String {
        match &self.name {
            Some(name) => format!("{name}: {}", self.text),
            None => self.text.clone(),
        }
    }

    fn to_object(&self) -> Object {
        object! {
            "name": self.name.as_deref(),
            "record": self.record,
            "text": self.text.as_str(),
        }
    }
}

impl Overview {
    /// Returns the five buckets.
    pub fn to_object(&self) -> Object {
        let items = |items: &[Item]| -> Vec<Object> {
            items.iter().take(MAX_ITEMS).map(Item::to_object).collect()
        };
        let learned: Vec<Object> =
            self.learned.iter().take(MAX_ITEMS).map(Learned::to_object).collect();
        object! {
            "closed": items(&self.closed),
            "learned": learned,
            "moved": items(&self.moved),
            "open": items(&self.open),
            "waiting": items(&self.waiting),
        }
    }
}

/// Returns what there is to know of the whole instance; closed, moved and learned is what was so
/// after `since`.
pub fn overview(engine: &Engine, since: Option<Sequence>) -> Result<Overview, EngineError> {
    let since = since.unwrap_or_default();
    let mut overview = Overview { waiting: waiting(engine, None)?, ..Overview::default() };
    let goals = engine.store().read(|reader| {
        let mut goals = Goals::default();
        for thread in reader.threads_with_goals(MAX_ROOMS)? {
            reader.goals_and_answers(&thread)?.iter().for_each(|stored| goals.add(stored));
        }
        Ok(goals)
    })?;
    (overview.open, overview.closed) = goals.into_buckets(since);
    let moved = engine.store().read(|reader| reader.moved_threads(since, MAX_ITEMS + 2))?;
    let moved = moved.into_iter().filter(|moved| moved.thread.as_str() != ATTENTION_THREAD);
    overview.moved = moved
        .map(|moved| Item {
            label: entry::plural(moved.records, "record"),
            thread: moved.thread,
            record: None,
            at: moved.last_at,
        })
        .take(MAX_ITEMS)
        .collect();
    overview.learned = learned(engine, since)?;
    Ok(overview)
}

/// Returns what somebody who comes back needs to know: what was left, what has moved since, what
/// needs them, what there is, and where to go first.
pub fn reentry(engine: &Engine) -> Result<Object, EngineError> {
    let left = engine.store().read(|reader| reader.checkpoints(None, None, 1))?.pop();
    let overview = overview(engine, left.as_ref().map(|left| left.sequence))?;
    let (records, threads, sessions) = engine.store().read(|reader| {
        Ok((reader.last()?, reader.thread_count()?, reader.session_charter_count()?))
    })?;
    let suggested = overview.waiting.first().or_else(|| moved_and_open(&overview));
    let objects = |items: &[Item]| -> Vec<Object> {
        items.iter().take(MAX_ITEMS).map(Item::to_object).collect()
    };
    Ok(object! {
        "left": left.as_ref().map(left_object),
        "moved": objects(&overview.moved),
        "needs": objects(&overview.waiting),
        "object": "resume",
        "room": Value::Null,
        "suggested_room": suggested.map(|item| item.thread.as_str()),
        "totals": object! {
            "closed": overview.closed.len(),
            "learned": overview.learned.len(),
            "open": overview.open.len(),
            "records": records.get(),
            "sessions": sessions,
            "threads": threads,
            "waiting": overview.waiting.len(),
        },
    })
}

/// Returns the open goal whose thread has moved last.
fn moved_and_open(overview: &Overview) -> Option<&Item> {
    let open = |thread: &ThreadId| overview.open.iter().find(|item| item.thread == *thread);
    overview.moved.iter().find_map(|moved| open(&moved.thread)).or(overview.open.first())
}

/// Returns the brief of one room: five buckets of its own, and the text for whoever takes it up if it
/// is a captured session.
pub fn brief(engine: &Engine, room: &ThreadId) -> Result<Object, EngineError> {
    let (left, goals, newest) = engine.store().read(|reader| {
        let mut goals = Goals::default();
        reader.goals_and_answers(room)?.iter().for_each(|stored| goals.add(stored));
        let left = reader.checkpoints(Some(room), None, 1)?.pop();
        Ok((left, goals, reader.newest_of_thread(room, MAX_ITEMS)?))
    })?;
    let since = left.as_ref().map(|left| left.sequence).unwrap_or_default();
    let (account, _) = account_of(engine, room)?;
    let mut overview = Overview { waiting: waiting(engine, Some(room))?, ..Overview::default() };
    (overview.open, overview.closed) = goals.into_buckets(since);
    overview.moved = newest
        .iter()
        .filter(|stored| stored.sequence > since)
        .map(|stored| Item {
            thread: room.clone(),
            record: Some(stored.record.id()),
            label: label_of(&stored.record.body, stored.record.act.as_str()),
            at: stored.received_at,
        })
        .collect();
    overview.learned = left.iter().flat_map(noted).collect();
    overview.learned.extend(account.lessons().filter_map(|lesson| {
        Some(Learned {
            record: lesson.last?,
            name: Some(lesson.rule.clone()),
            text: lesson.words.clone(),
        })
    }));
    let checkpoint = left.as_ref().map(|left| &left.record.body);
    let context = account.charter.is_some().then(|| entry::context(&account, checkpoint));
    let mut brief = overview.to_object();
    brief.extend(object! {
        "context": context,
        "left": left.as_ref().map(left_object),
        "object": "resume",
        "room": room,
    });
    Ok(brief)
}

/// Finds a room by its name or by the beginning of one; `None` if no thread, or more than one, is
/// called so.
pub fn find_room(engine: &Engine, name: &str) -> Result<Option<ThreadId>, EngineError> {
    Ok(engine.store().read(|reader| {
        if let Ok(thread) = ThreadId::parse(name)
            && reader.last_of_thread(name)? > Sequence::default()
        {
            return Ok(Some(thread));
        }
        let found = reader.threads(name, 2)?;
        let mut found = found.into_iter().map(|found| found.id);
        let mut called_so = found.by_ref().take_while(|thread| thread.as_str().starts_with(name));
        Ok(match (called_so.next(), called_so.next()) {
            (Some(only), None) => Some(only),
            _ => None,
        })
    })?)
}

fn waiting(engine: &Engine, room: Option<&ThreadId>) -> Result<Vec<Item>, EngineError> {
    let pending = Some(DecisionState::Pending);
    let (asked, _) = engine.decisions(pending, Sequence::default(), MAX_QUESTIONS)?;
    let here = asked.into_iter().filter(|asked| room.is_none_or(|room| asked.thread == *room));
    Ok(here.map(question).collect())
}

fn question(asked: AskedFor) -> Item {
    Item {
        label: entry::cut(&asked.request.question, LABEL_CHARS),
        thread: asked.thread,
        record: Some(asked.id),
        at: asked.asked_at,
    }
}

/// Returns the lessons that were written after `since`, and what was noted down.
fn learned(engine: &Engine, since: Sequence) -> Result<Vec<Learned>, EngineError> {
    let (hooks, checkpoints) = engine.store().read(|reader| {
        Ok((reader.hooks_since(since, MAX_ITEMS)?, reader.checkpoints(None, None, MAX_ITEMS)?))
    })?;
    let on = |stored: &&Stored| {
        stored.record.body.get("enabled").and_then(Value::as_bool).unwrap_or(true)
    };
    let lessons = hooks.iter().filter(on).map(|stored| Learned {
        record: stored.record.id(),
        name: text(&stored.record.body, "name").map(str::to_owned),
        text: entry::cut(text(&stored.record.body, "text").unwrap_or_default(), LABEL_CHARS),
    });
    let fresh = |stored: &&Stored| {
        stored.sequence > since && stored.record.thread.as_str() != ATTENTION_THREAD
    };
    let notes = checkpoints.iter().filter(fresh).flat_map(noted);
    Ok(lessons.chain(notes).collect())
}

fn noted(checkpoint: &Stored) -> impl Iterator<Item = Learned> + use<> {
    let record = checkpoint.record.id();
    let learnings = checkpoint.record.body.get("learnings").and_then(Value::as_array);
    let texts: Vec<String> = learnings
        .unwrap_or_default()
        .iter()
        .filter_map(Value::as_str)
        .map(|text| entry::cut(text, LABEL_CHARS))
        .collect();
    texts.into_iter().map(move |text| Learned { record, name: None, text })
}

fn left_object(stored: &Stored) -> Object {
    let body = &stored.record.body;
    let member = |name: &str| body.get(name).cloned().unwrap_or(Value::Null);
    object! {
        "at": stored.received_at.to_string(),
        "learnings": member("learnings"),
        "next_steps": member("next_steps"),
        "record": stored.record.id(),
        "summary": member("summary"),
        "thread": &stored.record.thread,
    }
}

/// Returns what a record says, in one line.
fn label_of(body: &Object, otherwise: &str) -> String {
    const SAYING: [&str; 7] =
        ["goal", "question", "text", "summary", "answer", "content", "reason"];
    let kind = text(body, "kind");
    let said = SAYING.iter().find_map(|name| text(body, name).filter(|said| !said.is_empty()));
    let label = match (kind, said) {
        (Some(kind), Some(said)) => format!("{kind}: {said}"),
        (None, Some(said)) => said.to_owned(),
        (kind, None) => kind.unwrap_or(otherwise).to_owned(),
    };
    entry::cut(&label, LABEL_CHARS)
}
