//! Taking an event in: recorded, the hooks asked, and answered, all in one commit.
//!
//! Hooks are asked before the transaction, so that no predicate holds up other writers; what depends
//! on the session as it is then (which life it is in, what waits, what the built-in hooks look back
//! on, the caps) is settled inside. Should the session have moved on to another life meanwhile, or a
//! clock that a predicate may have read be taken, everything is asked again.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::identity::{agent_of, key_of, session_thread};
use super::words::{Packed, Spoken, pack};
use super::{Event, Moment, ToolCall, answer, body};
use crate::canon::{Digest, Object, hash_of};
use crate::engine::{Author, Engine, EngineError, Hooks, RunSeat, count_asked, observation};
use crate::hook::{Asked, Builtin, Candidate, History, HookKey, ReturnedCall, Trace, head};
use crate::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, Sequence, ThreadId};
use crate::secret::mask;
use crate::store::{AnsweredEvent, SessionRow, WaitingWords};
use crate::trust::GENERAL;

/// How long an event that has no id of its own is taken for the same event told twice, in
/// milliseconds. Harnesses start a session twice within a second and a half.
const SAME_EVENT_MILLIS: i64 = 5_000;

/// How often everything may have to be asked again. Each time, another event of the session was
/// stored, so of many that arrive together every one comes to its turn.
const MAX_ATTEMPTS: usize = 256;

/// What came of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// The thread that it was recorded on.
    pub thread: ThreadId,
    /// The words for the agent, if there are any.
    pub text: Option<String>,
    /// The same as the harness reads them: one JSON object.
    pub output: Option<String>,
    /// Whether it ended the session, or the subagent: a report is due.
    pub ended: bool,
}

/// Records an event, asks the hooks if a tool has returned, and answers it.
///
/// `namespace` is where a session runs that this event opens; `default` if absent. `attempt` is a word
/// that the process which tells of the event has made up: told of by the same attempt again, the event
/// has the same answer, and by another, none.
pub fn receive(
    engine: &Engine,
    event: &Event,
    namespace: Option<&Namespace>,
    attempt: &str,
) -> Result<Received, EngineError> {
    let arrival = Arc::new(Arrival::of(event, namespace, attempt));
    for _ in 0..MAX_ATTEMPTS {
        let asking = arrival.ask(engine)?;
        let arriving = Arc::clone(&arrival);
        let said = engine.author(move |author| arriving.store(author, asking.as_ref()))?;
        if let Some(said) = said {
            let text = said.text;
            let output = text.as_deref().map(|text| answer::answer(event, text));
            let ended = matches!(event.moment, Moment::Ended { .. } | Moment::AgentStopped { .. });
            return Ok(Received { thread: arrival.thread.clone(), text, output, ended });
        }
    }
    Err(EngineError::ContendedClock { thread: arrival.thread.to_string() })
}

/// An event on its way in.
struct Arrival {
    event: Event,
    thread: ThreadId,
    /// The thread of the session whose subagent this is.
    parent: Option<ThreadId>,
    actor: ActorId,
    namespace: Namespace,
    key: Digest,
    attempt: String,
}

/// What the hooks have said of a call, and of what.
struct Asking {
    seat: RunSeat,
    asked: Asked,
    /// The clock that the predicates saw, if any of them may have looked.
    clock: Option<Clock>,
}

/// What is answered.
struct Said {
    text: Option<String>,
}

impl Arrival {
    fn of(event: &Event, namespace: Option<&Namespace>, attempt: &str) -> Self {
        let session = |agent| session_thread(event.harness, &event.session_id, agent);
        Self {
            thread: session(event.agent.as_ref().map(|agent| agent.id.as_str())),
            parent: event.agent.as_ref().map(|_| session(None)),
            actor: agent_of(event.harness),
            namespace: namespace.cloned().unwrap_or_else(Namespace::root),
            key: key_of(event),
            attempt: attempt.to_owned(),
            event: event.clone(),
        }
    }

    /// Asks the hooks about a call, as the session stands now.
    fn ask(&self, engine: &Engine) -> Result<Option<Asking>, EngineError> {
        let Moment::Returned(call) = &self.event.moment else { return Ok(None) };
        let (row, parent, clock) = engine.store().read(|reader| {
            let parent = match &self.parent {
                Some(parent) => reader.session(parent)?,
                None => None,
            };
            let clock = reader.next_clock(&self.thread, &self.actor)?;
            Ok((reader.session(&self.thread)?, parent, clock))
        })?;
        let seat = self.seat(row.as_ref().or(parent.as_ref()), row.as_ref());
        let resource = format!("tool:{}", call.canonical);
        let returned = returned(call, &resource, clock);
        let hooks = engine.hooks_about(&returned, &seat.namespace)?;
        let asked = engine.ask_about(&seat, &hooks, &returned)?;
        let looks = hooks.iter().any(|it| it.hook.when().source().contains("clock"));
        Ok(Some(Asking { seat, asked, clock: looks.then_some(clock) }))
    }

    /// Returns where hooks are asked. A subagent runs where its session does.
    fn seat(&self, placed: Option<&SessionRow>, own: Option<&SessionRow>) -> RunSeat {
        RunSeat {
            thread: self.thread.clone(),
            life: own.map_or(1, |row| row.life),
            actor: self.actor.clone(),
            domain: GENERAL.to_owned(),
            namespace: placed.map_or_else(|| self.namespace.clone(), namespace_of),
            hooks: Hooks::Live,
        }
    }

    /// Stores the event and what is said about it; `None` if everything has to be asked again.
    fn store(
        &self,
        author: &mut Author<'_, '_>,
        asking: Option<&Asking>,
    ) -> Result<Option<Said>, EngineError> {
        if let Some(before) = author.sessions().answered(&self.thread, &self.key)? {
            if before.attempt == self.attempt {
                return Ok(Some(Said { text: before.said }));
            }
            let age = author.now().as_millis().saturating_sub(before.at.as_millis());
            if matches!(self.event.moment, Moment::Returned(_)) || age < SAME_EVENT_MILLIS {
                return Ok(Some(Said { text: None }));
            }
        }
        let mut row = self.opened(author)?;
        if self.starts_anew(&row) {
            row.life = row.life.saturating_add(1);
        }
        if let Some(asking) = asking
            && (asking.seat.life != row.life || asking.seat.namespace.as_str() != row.namespace)
        {
            return Ok(None);
        }
        let waiting = author.sessions().waiting(&self.thread)?;
        let (text, sequence) = match (&self.event.moment, asking) {
            (Moment::Returned(call), Some(asking)) => {
                match self.store_call(author, asking, call, &waiting)? {
                    Some(stored) => stored,
                    None => return Ok(None),
                }
            }
            _ => self.store_other(author, &row, &waiting)?,
        };
        let (now, thread) = (author.now(), &self.thread);
        author.sessions().put(thread, &SessionRow { last_event: sequence, last_at: now, ..row })?;
        let attempt = self.attempt.clone();
        let answered = AnsweredEvent { attempt, at: now, said: text.clone() };
        author.sessions().answer(thread, &self.key, &answered)?;
        Ok(Some(Said { text }))
    }

    /// Tells whether counts start again: whoever is resumed or forked, or whose conversation was
    /// cleared, has not been told. What is compacted has.
    fn starts_anew(&self, row: &SessionRow) -> bool {
        let Moment::Started { source: Some(source) } = &self.event.moment else { return false };
        row.last_event > Sequence::default()
            && matches!(source.as_str(), "resume" | "fork" | "clear")
    }

    /// Returns where the session stands, opening it if this is its first event.
    fn opened(&self, author: &mut Author<'_, '_>) -> Result<SessionRow, EngineError> {
        let Some(parent) = &self.parent else {
            let missed = !matches!(self.event.moment, Moment::Started { .. });
            return open(author, &self.thread, &self.namespace, || {
                (body::charter(&self.event, None, missed), Vec::new())
            });
        };
        let above = open(author, parent, &self.namespace, || {
            (body::charter(&Event { agent: None, ..self.event.clone() }, None, true), Vec::new())
        })?;
        let missed = !matches!(self.event.moment, Moment::AgentStarted);
        let row = open(author, &self.thread, &namespace_of(&above), || {
            let body = body::charter(&self.event, Some(parent), missed);
            (body, vec![above.charter])
        })?;
        let fresh = row.last_event == Sequence::default();
        let stopped = matches!(self.event.moment, Moment::AgentStopped { .. });
        let news = [(fresh, "started"), (stopped, "stopped")];
        for (_, what) in news.into_iter().filter(|(is_so, _)| *is_so) {
            let body = body::agent(&self.event, what, &self.thread);
            self.note_above(author, parent, body)?;
        }
        Ok(row)
    }

    /// Records something about the subagent on the thread of its session.
    fn note_above(
        &self,
        author: &mut Author<'_, '_>,
        parent: &ThreadId,
        mut body: Object,
    ) -> Result<(), EngineError> {
        let Some(row) = author.sessions().get(parent)? else { return Ok(()) };
        body.insert("namespace".into(), row.namespace.as_str().into());
        let draft = Draft::new(parent.clone(), self.actor.clone(), Act::Know, body)
            .with_parents(vec![row.charter]);
        let (_, sequence) = author.write_at(draft)?;
        let now = author.now();
        let row = SessionRow { last_event: sequence, last_at: now, ..row };
        Ok(author.sessions().put(parent, &row)?)
    }

    fn draft(&self, act: Act, mut body: Object, row: (&str, RecordId)) -> Draft {
        let (namespace, charter) = row;
        body.insert("namespace".into(), namespace.into());
        Draft::new(self.thread.clone(), self.actor.clone(), act, body).with_parents(vec![charter])
    }

    /// Stores an event at which no hook is asked.
    fn store_other(
        &self,
        author: &mut Author<'_, '_>,
        row: &SessionRow,
        waiting: &[WaitingWords],
    ) -> Result<(Option<String>, Sequence), EngineError> {
        let packed = self.pack(waiting.iter().map(carried).collect());
        let delivers = ids(&packed.said);
        let body = body::event(&self.event, row.life, &delivers);
        let draft = self.draft(Act::Know, body, (&row.namespace, row.charter));
        let (_, sequence) = author.write_at(draft)?;
        for observation in delivers {
            author.sessions().delivered(&self.thread, observation)?;
        }
        Ok((packed.text, sequence))
    }

    /// Stores a call that has returned, and the words of the hooks that have fires left; `None` if a
    /// predicate may have seen a clock that is not the call's.
    fn store_call(
        &self,
        author: &mut Author<'_, '_>,
        asking: &Asking,
        call: &ToolCall,
        waiting: &[WaitingWords],
    ) -> Result<Option<(Option<String>, Sequence)>, EngineError> {
        let Asking { seat, asked, clock } = asking;
        let row = author.sessions().get(&self.thread)?;
        let Some(charter) = row.map(|row| row.charter) else { return Ok(None) };
        let place = (seat.namespace.as_str(), charter);
        // Which clock it has does not depend on what it says.
        let empty = self.draft(Act::Do, Object::new(), place);
        if clock.is_some() && Some(author.next_clock(&empty)?) != *clock {
            return Ok(None);
        }
        let guards = guards(author, seat, call)?;
        let mut fired = Vec::new();
        for candidate in guards.iter().chain(&asked.spoken) {
            let key = (&candidate.key.namespace, &*candidate.key.name);
            if let Some(fire) = author.claim_fire(&seat.thread, seat.life, key, candidate.cap)? {
                fired.push((candidate, fire));
            }
        }
        // Those that wait come first, so how many of them go does not depend on what is new.
        let mut queue: Vec<Spoken> = waiting.iter().map(carried).collect();
        let delivers = ids(&self.pack(queue.clone()).said);
        let body = body::event(&self.event, seat.life, &delivers);
        let (record, sequence) = author.write_at(self.draft(Act::Do, body, place))?;
        for observation in delivers {
            author.sessions().delivered(&self.thread, observation)?;
        }
        // Nor does it depend on the ids of observations, which only a note names.
        queue.extend(fired.iter().map(|(candidate, _)| spoken(candidate, record.id())));
        let said = self.pack(queue.clone()).said.len();
        for (at, (candidate, fire)) in fired.iter().enumerate() {
            let at = waiting.len() + at;
            let how = if at < said { Delivery::Offered } else { Delivery::Carried };
            let id = speak(author, seat, record.id(), (candidate, *fire), how)?;
            if let Some(words) = queue.get_mut(at) {
                words.observation = id;
            }
        }
        let packed = self.pack(queue);
        let keys: BTreeSet<&HookKey> = fired.iter().map(|(candidate, _)| &candidate.key).collect();
        let mut counted = asked.clone();
        counted.spoken.extend(guards.iter().cloned());
        let keys: Vec<&HookKey> = keys.into_iter().collect();
        count_asked(author, &seat.namespace, sequence, &counted, &keys)?;
        Ok(Some((packed.text, sequence)))
    }

    fn pack(&self, queue: Vec<Spoken>) -> Packed {
        pack(queue, self.event.delivers(), self.event.harness.cap())
    }
}

/// Returns the words of the hooks that are built in.
fn guards(
    author: &Author<'_, '_>,
    seat: &RunSeat,
    call: &ToolCall,
) -> Result<Vec<Candidate>, EngineError> {
    let answer = head(&call.content);
    let trace = Trace::of(&call.tool, &call.args, call.status.as_str(), answer);
    let asked = hash_of(&[&trace.args_hash, trace.tool.as_bytes()]);
    let rows = author.sessions();
    let repeats = rows.repeats(&seat.thread, seat.life, &asked, &trace.answer_hash)?;
    let empties = match &trace.target {
        None => 0,
        Some(target) => {
            let target = hash_of(&[target.as_bytes()]);
            rows.empties(&seat.thread, seat.life, &target, trace.empty)?
        }
    };
    let returned = returned(call, "", Clock::default());
    Ok(Builtin::ask(&returned, &History::latest(repeats, empties)))
}

/// Returns the words of a hook as they are recorded.
fn spoken(candidate: &Candidate, observation: RecordId) -> Spoken {
    let text = mask(&candidate.text).into_owned();
    Spoken { rule: candidate.key.name.to_string(), text, observation }
}

fn carried(waiting: &WaitingWords) -> Spoken {
    let WaitingWords { observation, rule, text } = waiting.clone();
    Spoken { rule, text, observation }
}

fn ids(words: &[Spoken]) -> Vec<RecordId> {
    words.iter().map(|words| words.observation).collect()
}

fn namespace_of(row: &SessionRow) -> Namespace {
    Namespace::parse(&row.namespace).unwrap_or_else(|_| Namespace::root())
}

fn returned<'a>(call: &'a ToolCall, resource: &'a str, clock: Clock) -> ReturnedCall<'a> {
    ReturnedCall {
        tool: &call.tool,
        args: &call.args,
        status: call.status.as_str(),
        content: &call.content,
        resource,
        call: None,
        clock,
    }
}

/// Returns where a session stands, opening it with a charter if nothing is known of it.
fn open(
    author: &mut Author<'_, '_>,
    thread: &ThreadId,
    namespace: &Namespace,
    charter: impl FnOnce() -> (Object, Vec<RecordId>),
) -> Result<SessionRow, EngineError> {
    if let Some(row) = author.sessions().get(thread)? {
        return Ok(row);
    }
    let (mut body, parents) = charter();
    body.insert("namespace".into(), namespace.into());
    let draft = Draft::new(thread.clone(), ActorId::engine(), Act::Intend, body);
    let record = author.write(draft.with_parents(parents))?;
    let row = SessionRow {
        charter: record.id(),
        namespace: namespace.as_str().to_owned(),
        life: 1,
        last_event: Sequence::default(),
        last_at: author.now(),
        reported: Sequence::default(),
    };
    author.sessions().put(thread, &row)?;
    Ok(row)
}

/// Whether words went with the event that they are about.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Delivery {
    Offered,
    Carried,
}

/// Records the words of one hook, and lets them wait if they were not offered.
fn speak(
    author: &mut Author<'_, '_>,
    seat: &RunSeat,
    call: RecordId,
    (candidate, fire): (&Candidate, u32),
    delivery: Delivery,
) -> Result<RecordId, EngineError> {
    let mut body = observation(seat, candidate, fire, Some(call));
    let word = match delivery {
        Delivery::Offered => "offered",
        Delivery::Carried => "carried",
    };
    body.insert("delivery".into(), word.into());
    let draft = Draft::new(seat.thread.clone(), ActorId::engine(), Act::Know, body)
        .with_parents(vec![call]);
    let (record, sequence) = author.write_at(draft)?;
    if delivery == Delivery::Carried {
        let Spoken { rule, text, observation } = spoken(candidate, record.id());
        let waiting = WaitingWords { observation, rule, text };
        author.sessions().wait(&seat.thread, sequence, &waiting)?;
    }
    Ok(record.id())
}
