//! A row about a run, from its records (contract §2.8).
//!
//! A run that is over says in its outcome how far it came, so a row reads the few records that an
//! index holds for it. Only of a run that goes on are the turns and results since added up.

use super::body::INTERRUPTION_KIND;
use super::{LOOP_KIND, RunSpec, Transport, Verb};
use crate::canon::{Object, Value};
use crate::config::usd_value;
use crate::engine::{DECISION_KIND, DECISION_REQUEST_KIND, Engine, EngineError};
use crate::object;
use crate::record::{Origin, RecordId, Sequence, ThreadId};
use crate::store::{Reader, RunRange, StoreError, Stored, ThreadRange};
use crate::time::Timestamp;

/// How many records are read at once.
const PAGE: usize = 500;

/// How a run stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RowState {
    /// It goes on.
    Running,
    /// It waits for somebody's decision.
    WaitingOnYou,
    /// It did what it was asked to.
    Done,
    /// It ended without.
    Stopped,
    /// It ended before it could have: a budget, or whoever drove it was gone.
    StoppedShort,
}

impl RowState {
    const ALL: [Self; 5] =
        [Self::Running, Self::WaitingOnYou, Self::Done, Self::Stopped, Self::StoppedShort];

    /// Returns the word in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::WaitingOnYou => "waiting_on_you",
            Self::Done => "done",
            Self::Stopped => "stopped",
            Self::StoppedShort => "stopped_short",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// Returns whether nothing more comes unless somebody takes the run up.
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Done | Self::Stopped | Self::StoppedShort)
    }

    const fn after(verb: Verb) -> Self {
        match verb {
            Verb::Completed => Self::Done,
            Verb::AwaitingActor => Self::WaitingOnYou,
            Verb::MaxTurns | Verb::BudgetExhausted => Self::StoppedShort,
            Verb::Failed | Verb::Cancelled | Verb::Blocked | Verb::GuardrailHalt => Self::Stopped,
        }
    }
}

/// The question that a run waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Open {
    /// The record of it.
    pub request: RecordId,
    question: String,
    options: Vec<Value>,
}

/// What there is to say about a run.
#[derive(Debug, Clone)]
pub struct RunRow {
    /// What it was asked to do.
    pub spec: RunSpec,
    /// Where the record stands that opened it.
    pub opened: Sequence,
    /// How it stands.
    pub state: RowState,
    /// The question that it waits for.
    pub ask: Option<Open>,
    /// The question that it was parked for when it ended last.
    pub awaited: Option<RecordId>,
    /// Whether it may be taken up.
    pub resumable: bool,
    /// How often it was taken up.
    pub life: u32,
    tools: Vec<String>,
    verb: Option<Verb>,
    turns: u64,
    calls_ok: u64,
    calls_failed: u64,
    spent_micros: u64,
    started_at: Timestamp,
    ended_at: Option<Timestamp>,
    summary: Option<String>,
    reason: Option<String>,
    needs: Vec<Value>,
    /// Up to which record turns and calls are counted.
    counted_to: Sequence,
}

impl RunRow {
    /// Begins a row with the record that opened a run; `None` if it did not.
    pub fn opened_by(stored: &Stored) -> Option<Self> {
        let (spec, tools) = RunSpec::of_opening(stored)?;
        Some(Self {
            spec,
            opened: stored.sequence,
            state: RowState::Running,
            ask: None,
            awaited: None,
            resumable: false,
            life: 0,
            tools,
            verb: None,
            turns: 0,
            calls_ok: 0,
            calls_failed: 0,
            spent_micros: 0,
            started_at: stored.received_at,
            ended_at: None,
            summary: None,
            reason: None,
            needs: Vec::new(),
            counted_to: stored.sequence,
        })
    }

    /// Adds the next record of the thread. What others than the engine wrote says nothing about the
    /// engine's own runs.
    pub fn add(&mut self, stored: &Stored) {
        let outside = self.spec.transport == Transport::External;
        if stored.origin != Origin::Engine && !outside {
            return;
        }
        let body = &stored.record.body;
        match stored.record.kind() {
            Some("core.work.turn.v1") => {
                self.turns += 1;
                self.spent_micros += number(body, "cost_usd_micros").unwrap_or(0);
            }
            Some("core.work.tool_result.v1") => match text(body, "status") {
                Some("ok") => self.calls_ok += 1,
                _ => self.calls_failed += 1,
            },
            _ if stored.origin != Origin::Engine => {}
            Some(DECISION_REQUEST_KIND) => self.ask = Open::of(stored),
            Some(DECISION_KIND) => self.decided(body),
            Some("core.work.coercion.v1") => {
                self.reason = text(body, "reason").map(str::to_owned);
                let missing = body.get("missing_tools").and_then(Value::as_array);
                self.needs = missing.unwrap_or_default().to_vec();
            }
            Some("core.work.resume.v1") => {
                self.state = RowState::Running;
                self.life += 1;
                (self.verb, self.ended_at, self.summary, self.reason) = (None, None, None, None);
                (self.resumable, self.awaited) = (false, None);
            }
            Some(INTERRUPTION_KIND) => {
                self.state = RowState::StoppedShort;
                self.ended_at = Some(stored.received_at);
                self.reason = text(body, "reason").map(str::to_owned);
                self.resumable = true;
            }
            Some("core.work.loop_outcome.v1") => self.ended(stored),
            _ => {}
        }
    }

    fn decided(&mut self, body: &Object) {
        let request = text(body, "request").and_then(RecordId::parse);
        if self.ask.as_ref().is_some_and(|open| Some(open.request) == request) {
            self.ask = None;
            // It waits for nobody any more, and nobody has taken it up yet.
            if self.state == RowState::WaitingOnYou {
                self.state = RowState::StoppedShort;
            }
        }
    }

    fn ended(&mut self, stored: &Stored) {
        let body = &stored.record.body;
        let Some(verb) = text(body, "outcome").and_then(Verb::parse) else { return };
        let count = |name: &str| number(body, name).unwrap_or(0);
        self.verb = Some(verb);
        self.state = RowState::after(verb);
        self.ended_at = Some(stored.received_at);
        self.summary = text(body, "summary").map(str::to_owned);
        self.resumable = body.get("resumable").and_then(Value::as_bool).unwrap_or(false);
        self.awaited = text(body, "awaits").and_then(RecordId::parse);
        if let Some(kind) = text(body, "budget_kind") {
            self.reason = Some(kind.to_owned());
        }
        // These count over all lives.
        self.turns = count("turns");
        (self.calls_ok, self.calls_failed) = (count("tool_calls_ok"), count("tool_calls_failed"));
        self.spent_micros = count("cost_usd_micros");
        self.counted_to = stored.sequence;
    }

    /// Returns whether the run has what it waited for, so that its server takes it up by itself.
    pub const fn goes_on(&self) -> bool {
        matches!(self.state, RowState::StoppedShort) && self.awaited.is_some()
    }

    /// Returns the word of a report.
    fn report(&self) -> Option<&'static str> {
        Some(match self.verb? {
            Verb::Completed => "done",
            Verb::Blocked => "blocked",
            Verb::AwaitingActor => "needs_you",
            Verb::Cancelled => "rejected",
            Verb::Failed | Verb::MaxTurns | Verb::BudgetExhausted | Verb::GuardrailHalt => {
                "surprised"
            }
        })
    }

    /// Returns the row as answers show it.
    pub fn to_object(&self) -> Object {
        let spec = &self.spec;
        let usd = |micros: Option<u64>| micros.map_or(Value::Null, usd_value);
        let name = spec.actor.as_str().rsplit(':').next().unwrap_or_default();
        let candidates = self.ask.as_ref().map(|open| open.options.clone());
        let reported_by = match self.verb {
            Some(Verb::Blocked | Verb::Completed | Verb::AwaitingActor) => spec.actor.as_str(),
            Some(_) => "did:sync:system:engine",
            None => "",
        };
        object! {
            "object": "run",
            "thread": &spec.thread,
            "actor": spec.actor.as_str(),
            "actor_name": name,
            "model": spec.model.as_str(),
            "goal": spec.goal.as_str(),
            "namespace": &spec.namespace,
            "source_thread": spec.task_of.as_ref().map(ThreadId::as_str),
            "domain": spec.domain.as_str(),
            "definition": Value::Null,
            "prompt": Value::Null,
            "frame": Value::Null,
            "state": self.state.as_str(),
            "outcome": self.verb.map(Verb::as_str),
            "resumable": self.resumable,
            "life": self.life,
            "turns": self.turns,
            "max_turns": spec.limits.max_turns,
            "spent_usd": usd(spec.price.map(|_| self.spent_micros)),
            "ceiling_usd": usd(spec.limits.usd_budget),
            "started_at": self.started_at.to_string(),
            "ended_at": self.ended_at.map(|at| at.to_string()),
            "summary": self.summary.as_deref(),
            "ask": self.ask.as_ref().map(Open::to_object),
            "tools": self.tools.clone(),
            "narrowed": spec.forbidden.clone(),
            "transport": spec.transport.as_str(),
            "tool_calls_ok": self.calls_ok,
            "tool_calls_failed": self.calls_failed,
            "verb": self.report(),
            "needs": self.needs.clone(),
            "reason": self.reason.as_deref(),
            "evidence": Value::Null,
            "candidates": candidates,
            "reported_by": Some(reported_by).filter(|by| !by.is_empty()),
            "tier": spec.tier.as_str(),
        }
    }
}

impl Open {
    fn of(stored: &Stored) -> Option<Self> {
        let body = &stored.record.body;
        let options = body.get("options").and_then(Value::as_array).unwrap_or_default();
        Some(Self {
            request: stored.record.id(),
            question: text(body, "question")?.to_owned(),
            options: options.to_vec(),
        })
    }

    fn to_object(&self) -> Object {
        object! {
            "id": self.request,
            "question": self.question.as_str(),
            "options": self.options.clone(),
        }
    }
}

fn text<'a>(body: &'a Object, name: &str) -> Option<&'a str> {
    body.get(name).and_then(Value::as_str)
}

fn number(body: &Object, name: &str) -> Option<u64> {
    body.get(name).and_then(Value::as_u64)
}

/// Returns the row of a run; `None` if no run stands on this thread.
pub fn row_of(engine: &Engine, thread: &ThreadId) -> Result<Option<RunRow>, EngineError> {
    Ok(engine.store().read(|reader| read(reader, thread))?)
}

/// Returns the rows of the runs in `range` that are in this state, the newest first, at most `limit`
/// of them; and where to go on if there are more.
pub fn rows(
    engine: &Engine,
    range: &RunRange,
    state: Option<RowState>,
    limit: usize,
) -> Result<(Vec<RunRow>, Option<Sequence>), EngineError> {
    let (mut found, mut range) = (Vec::new(), range.clone());
    loop {
        let openings = engine.store().read(|reader| reader.run_openings(&range, PAGE))?;
        for opening in &openings {
            range.before = Some(opening.sequence);
            let Some(row) = row_of(engine, &opening.record.thread)? else { continue };
            // A second opening on a thread opens nothing.
            if row.opened != opening.sequence || state.is_some_and(|state| state != row.state) {
                continue;
            }
            if found.len() >= limit {
                let next = found.last().map(|row: &RunRow| row.opened);
                return Ok((found, next));
            }
            found.push(row);
        }
        if openings.len() < PAGE {
            return Ok((found, None));
        }
    }
}

fn read(reader: &Reader<'_>, thread: &ThreadId) -> Result<Option<RunRow>, StoreError> {
    let marks = reader.run_marks(thread)?;
    let opening = marks.iter().position(|stored| {
        stored.record.kind() == Some(LOOP_KIND) && RunRow::opened_by(stored).is_some()
    });
    let Some((opening, rest)) = opening.and_then(|at| marks.get(at..)?.split_first()) else {
        return Ok(None);
    };
    let Some(mut row) = RunRow::opened_by(opening) else { return Ok(None) };
    for mark in rest {
        row.add(mark);
    }
    if row.verb.is_some() {
        return Ok(Some(row));
    }
    // It goes on, or its records end: what came after its last outcome is added up.
    let mut range = ThreadRange { since_clock: None, after: row.counted_to };
    loop {
        let (page, more) = reader.thread_page(thread, range, PAGE)?;
        for stored in &page {
            range.after = stored.sequence;
            let counted = matches!(
                stored.record.kind(),
                Some("core.work.turn.v1" | "core.work.tool_result.v1")
            );
            if counted && stored.erased.is_none() {
                row.add(stored);
            }
        }
        if !more {
            return Ok(Some(row));
        }
    }
}
