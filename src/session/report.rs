//! The report of a captured session: what was asked, done and failed in it, which lessons spoke, and
//! what followed them.
//!
//! The engine writes it when a harness says that a session is over, and for a session that has been
//! silent for a while, since not every harness says so. Where more happens later, a newer report
//! covers it. What a report says follows from the records of the session's thread up to the one that
//! it names, so it is the same whoever makes it.

use std::ops::ControlFlow;

use super::account::{Account, AgentSeen, Charter, Failure, Lesson, Tally};
use super::read::account_of;
use crate::canon::{Object, Value};
use crate::engine::{Engine, EngineError};
use crate::object;
use crate::record::{Act, ActorId, Draft, Record, Sequence, ThreadId};
use crate::time::Timestamp;

/// The kind of the record of a report.
pub const REPORT_KIND: &str = "core.session.report.v1";

/// After how long without an event a session is reported as one that is idle.
pub const IDLE_MILLIS: i64 = 30 * 60 * 1000;

/// How often a thread may turn out to have grown before its report is left to the next time.
const MAX_ATTEMPTS: usize = 8;

/// How many sessions are looked at in one go.
const PAGE: usize = 100;

/// The most subagents that a report names.
const MAX_AGENTS: usize = 100;

/// Writes a report of the session on a thread, and of its subagents, if anything has happened that
/// none covers yet.
///
/// Returns the record; `None` if there is nothing new, nothing to tell of, or no session.
pub fn report(engine: &Engine, thread: &ThreadId) -> Result<Option<Record>, EngineError> {
    report_below(engine, thread, None)
}

/// The same; of a subagent, `above` is the session that it is taken for one of, and whether that
/// says that it is over.
fn report_below(
    engine: &Engine,
    thread: &ThreadId,
    above: Option<(&ThreadId, bool)>,
) -> Result<Option<Record>, EngineError> {
    for _ in 0..MAX_ATTEMPTS {
        // Most that are asked about have nothing new, which a row can tell.
        let row = engine.store().read(|reader| reader.session(thread))?;
        if row.is_none_or(|row| row.reported >= row.last_event) {
            return Ok(None);
        }
        let (account, seen) = account_of(engine, thread)?;
        let Some(charter) = &account.charter else { return Ok(None) };
        let over = match above {
            Some((session, _)) if account.parent() != Some(session.as_str()) => return Ok(None),
            Some((_, over)) => over || account.has_ended(),
            None => is_over(engine, &account)?,
        };
        let due = body(&account, over).filter(|_| !account.is_reported());
        let draft = due.map(|body| {
            Draft::new(thread.clone(), ActorId::engine(), Act::Know, body)
                .with_parents(vec![charter.id])
        });
        if account.is_main() {
            for agent in account.agents().values() {
                let Ok(child) = ThreadId::parse(&agent.thread) else { continue };
                report_below(engine, &child, Some((thread, over || agent.stopped)))?;
            }
        }
        match write(engine, thread, draft, (seen, account.through))? {
            ControlFlow::Break(written) => return Ok(written),
            ControlFlow::Continue(()) => {}
        }
    }
    Ok(None)
}

/// Writes the reports of the sessions in which nothing has happened for half an hour, and returns
/// how many were written: those that wait longest first, and not more than are soon done.
pub fn report_idle(engine: &Engine, now: Timestamp) -> Result<usize, EngineError> {
    let before = Timestamp::from_millis(now.as_millis().saturating_sub(IDLE_MILLIS));
    let idle = engine.store().read(|reader| reader.unreported_sessions(before, PAGE))?;
    let mut written = 0;
    for thread in &idle {
        written += usize::from(report(engine, thread)?.is_some());
    }
    Ok(written)
}

/// The same as of now. Where every session is reported, not even the time is asked for.
pub fn report_silent(engine: &Engine) -> Result<usize, EngineError> {
    let any = engine.store().read(|reader| reader.unreported_sessions(Timestamp::LAST, 1))?;
    if any.is_empty() {
        return Ok(0);
    }
    report_idle(engine, engine.store().now())
}

/// Returns whether a session is over, and not only silent. A subagent is over with its own end or
/// with that of its session.
fn is_over(engine: &Engine, account: &Account) -> Result<bool, EngineError> {
    let parent = account.parent().and_then(|parent| ThreadId::parse(parent).ok());
    let (Some(parent), Some(id)) = (parent, account.agent_id()) else {
        return Ok(account.has_ended());
    };
    let (above, _) = account_of(engine, &parent)?;
    let stopped = above.agents().get(id).is_some_and(|agent| agent.stopped);
    Ok(account.has_ended() || stopped || above.has_ended())
}

/// Notes how far a session is reported, and writes its report if there is one. If its thread has
/// grown since it was read up to `seen`, that goes on.
fn write(
    engine: &Engine,
    thread: &ThreadId,
    draft: Option<Draft>,
    (seen, through): (Sequence, Sequence),
) -> Result<ControlFlow<Option<Record>>, EngineError> {
    let thread = thread.clone();
    engine.author(move |author| {
        if author.last_of_thread(&thread)? != seen {
            return Ok(ControlFlow::Continue(()));
        }
        let record = draft.map(|draft| author.write(draft)).transpose()?;
        author.sessions().reported(&thread, through)?;
        Ok(ControlFlow::Break(record))
    })
}

/// Returns the body of the report of a session; `None` if there is nothing to tell of.
///
/// `over` says that it has ended, and is not only silent.
pub fn body(account: &Account, over: bool) -> Option<Object> {
    let charter = account.charter.as_ref().filter(|_| account.has_content())?;
    let mut body = summary(account, charter);
    body.insert("fulfills".into(), charter.id.into());
    body.insert("kind".into(), REPORT_KIND.into());
    body.insert("through".into(), account.through.get().into());
    body.insert("reason".into(), if over { "ended" } else { "idle" }.into());
    body.insert("ended_at".into(), account.last_at.to_string().into());
    if let Some(namespace) = charter.body.get("namespace") {
        body.insert("namespace".into(), namespace.clone());
    }
    Some(body)
}

/// Returns what a report and an answer about a session both say.
pub(super) fn summary(account: &Account, charter: &Charter) -> Object {
    let said = |field: &str| charter.body.get(field).cloned().unwrap_or(Value::Null);
    let asked: Vec<&str> = account.asked().collect();
    let done: Vec<Object> = account.done().iter().map(done_object).collect();
    let failures: Vec<Object> = account.failures().map(failure_object).collect();
    let lessons: Vec<Object> = account.lessons().map(lesson_object).collect();
    let undelivered: Vec<Value> = account.undelivered().map(Value::from).collect();
    let agents: Vec<Object> = account.agents().iter().take(MAX_AGENTS).map(agent_object).collect();
    let mut summary = object! {
        "agents": agents,
        "asked": asked,
        "began_at": charter.began_at.to_string(),
        "calls": account.calls,
        "done": done,
        "failed": account.failed,
        "failures": failures,
        "harness": said("harness"),
        "lessons": lessons,
        "lives": account.lives,
        "prompts": account.prompts,
        "session_id": said("session_id"),
        "turns": account.turns,
        "undelivered": undelivered,
    };
    if let Some(reason) = account.end_reason() {
        summary.insert("end_reason".into(), reason.into());
    }
    summary
}

fn done_object((tool, tally): (&String, &Tally)) -> Object {
    object! { "calls": tally.calls, "failed": tally.failed, "tool": tool.as_str() }
}

fn failure_object(failure: &Failure) -> Object {
    object! {
        "content": failure.content.as_str(),
        "record": failure.record,
        "tool": failure.tool.as_str(),
    }
}

fn lesson_object(lesson: &Lesson) -> Object {
    let mut object = object! {
        "carried": lesson.carried,
        "fires": lesson.fires,
        "followed": object! {
            "error": lesson.then_error,
            "none": lesson.then_none(),
            "ok": lesson.then_ok,
        },
        "offered": lesson.offered,
        "rule": lesson.rule.as_str(),
    };
    if let Some(hook) = lesson.hook {
        object.insert("hook".into(), hook.into());
    }
    object
}

fn agent_object((id, agent): (&String, &AgentSeen)) -> Object {
    let mut object = object! {
        "agent_id": id.as_str(),
        "end": if agent.stopped { "stopped" } else { "unknown" },
        "thread": agent.thread.as_str(),
    };
    if let Some(kind) = &agent.kind {
        object.insert("agent_type".into(), kind.as_str().into());
    }
    object
}
