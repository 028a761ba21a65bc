//! What the records of a thread say of a run that somebody else drives.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use super::facts::{CALL_KIND, EXTERNAL, LOOP_KIND, RESULT_KIND};
use super::{ObservedCall, PAGE};
use crate::canon::{Digest, Object, Value, hash_of, hex};
use crate::hook::{History, Trace};
use crate::record::{
    ActorId, Namespace, Origin, Reason, Record, RecordId, Sequence, ShapeError, ThreadId,
};
use crate::store::{Reader, StoreError, Stored, ThreadRange};
use crate::trust::GENERAL;

/// How many runs are kept in mind. Another is read from its records.
const MAX_RUNS: usize = 64;

/// How many calls of one life the built-in hooks look back on.
const MAX_LOOK_BACK: usize = 256;

/// The runs that somebody was told of lately, the latest last.
#[derive(Debug, Default)]
pub(in crate::engine) struct ExternalRuns(VecDeque<(ThreadId, Arc<Mutex<ExternalRun>>)>);

impl ExternalRuns {
    /// Returns what is known of a run.
    pub(super) fn of(&mut self, thread: &ThreadId) -> Arc<Mutex<ExternalRun>> {
        let known = self.0.iter().position(|(known, _)| known == thread);
        let entry = known.and_then(|at| self.0.remove(at));
        let entry = entry.unwrap_or_else(|| (thread.clone(), Arc::default()));
        let run = Arc::clone(&entry.1);
        self.0.push_back(entry);
        if self.0.len() > MAX_RUNS {
            self.0.pop_front();
        }
        run
    }
}

/// What the records of a thread say of a run that somebody else drives: a fold over them, as far as
/// they have been read.
#[derive(Debug, Default)]
pub(super) struct ExternalRun {
    read_to: Sequence,
    opening: Option<Opening>,
    /// The highest life seen.
    life: u32,
    /// Where the result of each call stands, by its life and its id.
    answered: BTreeMap<Digest, (Sequence, RecordId)>,
    /// The record of the call that was read last; its result comes next.
    called: Option<Stored>,
    /// The latest calls of this life, oldest first.
    recent: VecDeque<Noted>,
}

/// The record that opened a run.
#[derive(Debug, Clone)]
pub(super) struct Opening {
    /// The record; `None` for a run that is to be opened.
    pub(super) id: Option<RecordId>,
    pub(super) actor: ActorId,
    pub(super) namespace: Namespace,
    pub(super) domain: String,
    pub(super) transport: String,
    pub(super) external: bool,
}

impl Opening {
    /// Returns the opening of a run whose first call this is.
    pub(super) fn of(call: &ObservedCall) -> Self {
        Self {
            id: None,
            actor: call.actor.clone().unwrap_or_else(ObservedCall::nameless),
            namespace: call.namespace.clone().unwrap_or_else(Namespace::root),
            domain: call.domain.clone().unwrap_or_else(|| GENERAL.to_owned()),
            transport: EXTERNAL.to_owned(),
            external: true,
        }
    }

    fn read(stored: &Stored) -> Option<Self> {
        let record = &stored.record;
        if stored.origin != Origin::Engine || record.kind() != Some(LOOP_KIND) {
            return None;
        }
        let text = |field: &str| record.body.get(field).and_then(Value::as_str);
        let transport = text("transport").unwrap_or_default().to_owned();
        Some(Self {
            id: Some(record.id()),
            actor: record.actor.clone(),
            namespace: record.namespace().unwrap_or_else(|_| Namespace::root()),
            domain: text("domain").unwrap_or(GENERAL).to_owned(),
            external: transport == EXTERNAL,
            transport,
        })
    }

    /// Returns this opening, unless the call says something else about the run.
    pub(super) fn agreeing_with(&self, call: &ObservedCall) -> Result<Self, ShapeError> {
        let differs = |field: &str, known: &str| {
            let message = format!("`{field}` does not change during a run: this one has `{known}`");
            Err(ShapeError::new(field, Reason::BadValue, message))
        };
        if call.actor.as_ref().is_some_and(|actor| *actor != self.actor) {
            return differs("actor", self.actor.as_str());
        }
        if call.namespace.as_ref().is_some_and(|namespace| *namespace != self.namespace) {
            return differs("namespace", self.namespace.as_str());
        }
        if call.domain.as_ref().is_some_and(|domain| *domain != self.domain) {
            return differs("domain", &self.domain);
        }
        Ok(self.clone())
    }
}

impl ExternalRun {
    /// Reads what has arrived since.
    pub(super) fn catch_up(
        &mut self,
        reader: &Reader<'_>,
        thread: &ThreadId,
    ) -> Result<(), StoreError> {
        loop {
            let range = ThreadRange { since_clock: None, after: self.read_to };
            let (page, more) = reader.thread_page(thread, range, PAGE)?;
            for stored in page {
                self.read_to = stored.sequence;
                if stored.erased.is_none() {
                    self.read(stored);
                }
            }
            if !more {
                return Ok(());
            }
        }
    }

    fn read(&mut self, stored: Stored) {
        if self.opening.is_none() {
            self.opening = Opening::read(&stored);
        }
        if stored.origin != Origin::Door {
            return;
        }
        match stored.record.kind() {
            Some(CALL_KIND) => self.called = Some(stored),
            Some(RESULT_KIND) => {
                if let Some(called) = self.called.take() {
                    self.returned(&called.record, &stored);
                }
            }
            _ => {}
        }
    }

    fn returned(&mut self, called: &Record, stored: &Stored) {
        let result = &stored.record;
        let Some((life, call_id)) = key_of(&result.body) else { return };
        if result.parents.first() != Some(&called.id())
            || key_of(&called.body) != Some((life, call_id))
        {
            return;
        }
        let place = (stored.sequence, result.id());
        self.answered.entry(digest(life, call_id)).or_insert(place);
        if life < self.life {
            return;
        }
        if life > self.life {
            self.life = life;
            self.recent.clear();
        }
        self.recent.push_back(Noted::of(called, result));
        if self.recent.len() > MAX_LOOK_BACK {
            self.recent.pop_front();
        }
    }

    pub(super) const fn read_to(&self) -> Sequence {
        self.read_to
    }

    pub(super) const fn opening(&self) -> Option<&Opening> {
        self.opening.as_ref()
    }

    /// Returns the result of a call that was told of before.
    pub(super) fn answered(&self, life: u32, call_id: &str) -> Option<(Sequence, RecordId)> {
        self.answered.get(&digest(life, call_id)).copied()
    }

    /// Refuses a life that is over.
    pub(super) fn check_life(&self, life: u32) -> Result<(), ShapeError> {
        if life >= self.life {
            return Ok(());
        }
        let message = format!("`life` {life} is over: the run is in its life {}", self.life);
        Err(ShapeError::new("life", Reason::BadValue, message))
    }

    /// Returns the history of a life of the run, with the call that these records are of.
    pub(super) fn history_with(&self, life: u32, called: &Record, result: &Record) -> History {
        let mut history = History::default();
        if life == self.life {
            self.recent.iter().for_each(|noted| history.note(&noted.trace()));
        }
        history.note(&Noted::of(called, result).trace());
        history
    }
}

/// A call of the run, as the built-in hooks remember it.
#[derive(Debug)]
struct Noted {
    tool: String,
    args_hash: Digest,
    answer_hash: Digest,
    empty: bool,
    /// The hash of what it looked up, which may be long.
    target: Option<String>,
}

impl Noted {
    /// Goes by what is recorded, so that whoever reads it again remembers the same.
    fn of(called: &Record, result: &Record) -> Self {
        let text = |field: &str| result.body.get(field).and_then(Value::as_str).unwrap_or_default();
        let none = Object::new();
        let args = called.body.get("args").and_then(Value::as_object).unwrap_or(&none);
        let trace = Trace::of(text("tool"), args, text("status"), text("content"));
        Self {
            tool: text("tool").to_owned(),
            args_hash: trace.args_hash,
            answer_hash: trace.answer_hash,
            empty: trace.empty,
            target: trace.target.map(|target| hex(&hash_of(&[target.as_bytes()]))),
        }
    }

    fn trace(&self) -> Trace<'_> {
        Trace {
            tool: &self.tool,
            args_hash: self.args_hash,
            answer_hash: self.answer_hash,
            empty: self.empty,
            target: self.target.clone(),
        }
    }
}

fn key_of(body: &Object) -> Option<(u32, &str)> {
    let life = u32::try_from(body.get("life")?.as_u64()?).ok()?;
    Some((life, body.get("call_id")?.as_str()?))
}

fn digest(life: u32, call_id: &str) -> Digest {
    hash_of(&[&life.to_be_bytes(), call_id.as_bytes()])
}
