//! Taking an event in: recorded, the hooks asked, and answered, all in one commit.
//!
//! Hooks are asked before the transaction, so that no predicate holds up other writers; what depends
//! on the session as it is then (which life it is in, what waits, what the built-in hooks look back
//! on, the caps) is settled inside. Should the session have moved on to another life meanwhile, or a
//! clock that a predicate may have read be taken, everything is asked again.

mod call;
mod opening;
mod twice;

use std::sync::Arc;

use super::identity::{agent_of, key_of, session_thread};
use super::words::{Packed, Spoken, pack};
use super::{Decided, Event, Moment, ToolCall, answer, body};
use crate::canon::{Digest, Object};
use crate::engine::{Author, Engine, EngineError, Hooks, RunSeat};
use crate::hook::{Asked, ReturnedCall};
use crate::record::{Act, ActorId, Clock, Draft, Namespace, RecordId, Sequence, ThreadId};
use crate::store::{AnsweredEvent, SessionRow, WaitingWords};
use crate::trust::GENERAL;

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
        let (row, parent) = engine.store().read(|reader| {
            let parent = match &self.parent {
                Some(parent) => reader.session(parent)?,
                None => None,
            };
            Ok((reader.session(&self.thread)?, parent))
        })?;
        let seat = self.seat(row.as_ref().or(parent.as_ref()), row.as_ref());
        let resource = format!("tool:{}", call.canonical);
        let mut returned = returned(call, &resource, Clock::default());
        let concerned = engine.hooks_about(&returned, &seat.namespace)?;
        let mut clock = None;
        if concerned.see_clocks {
            let store = engine.store();
            returned.clock = store.read(|reader| reader.next_clock(&self.thread, &self.actor))?;
            clock = Some(returned.clock);
        }
        let asked = engine.ask_about(&seat, &concerned.hooks, &returned)?;
        Ok(Some(Asking { seat, asked, clock }))
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
            if self.is_told_twice(author, &before)? {
                return Ok(Some(Said { text: None }));
            }
        }
        let mut row = self.opened(author)?;
        if let Some(Decided::Refused(refusal)) = &self.event.decided {
            let namespace = namespace_of(&row);
            author.write(refusal.to_draft(&self.thread, &self.actor, &namespace))?;
        }
        if self.starts_anew(&row) {
            author.enter(&namespace_of(&row))?;
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
                match self.store_call(author, asking, call, row.charter, &waiting)? {
                    Some(stored) => stored,
                    None => return Ok(None),
                }
            }
            _ => self.store_other(author, &row, &waiting)?,
        };
        let (now, thread) = (author.now(), &self.thread);
        author.sessions().moved(thread, &row, sequence, now)?;
        let attempt = self.attempt.clone();
        let answered = AnsweredEvent { attempt, at: now, sequence, said: text.clone() };
        author.sessions().answer(thread, &self.key, &answered)?;
        Ok(Some(Said { text }))
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

    fn pack(&self, queue: Vec<Spoken>) -> Packed {
        let context = match &self.event.decided {
            Some(Decided::Added(context)) => Some(context.as_str()),
            _ => None,
        };
        pack(context, queue, self.event.delivers(), self.event.harness.cap())
    }
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
