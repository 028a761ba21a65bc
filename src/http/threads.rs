//! Threads (contract §2.5).

use super::ApiState;
use super::answer::Answer;
use super::call::Call;
use super::permit;
use super::problem::Problem;
use super::records::objects;
use super::wire;
use crate::fold::{Fold as _, ThreadState, ThreadStatus};
use crate::record::{Namespace, Sequence, ThreadId};
use crate::store::{Reader, StoreError, ThreadRange, ThreadSummary};

/// How many records are folded at once.
const PAGE: usize = 100;

/// `GET /v1/threads`
pub(super) fn list(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let limit = call.query.limit()?;
    let after = call.query.get("cursor").unwrap_or_default();
    // One more than asked for tells whether there is more.
    let mut threads =
        state.engine().store().read(|reader| reader.threads(after, limit.rows + 1))?;
    let more = threads.len() > limit.rows;
    threads.truncate(limit.rows);
    let last = threads.last().filter(|_| more).map(|last| last.id.clone());
    let threads = permit::keep(state, call, "thread_read", threads, |it| Some(it.id.clone()))?;
    let mut answer = wire::list(threads.iter().map(wire::thread).collect());
    if let Some(last) = last {
        answer.insert("next_cursor".into(), (&last).into());
    }
    limit.mark(&mut answer);
    Ok(Answer::ok(answer))
}

/// `GET /v1/threads/{id}`
pub(super) fn find(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let summary = state.engine().store().read(|reader| summary(reader, &thread))?;
    let summary = summary.ok_or_else(|| Problem::missing("there is no record on this thread"))?;
    Ok(Answer::ok(wire::thread(&summary)))
}

fn summary(reader: &Reader<'_>, thread: &ThreadId) -> Result<Option<ThreadSummary>, StoreError> {
    let Some(first) = reader.thread(thread, ThreadRange::default(), 1)?.pop() else {
        return Ok(None);
    };
    let clocks = reader.clocks(thread)?;
    Ok(Some(ThreadSummary {
        id: thread.clone(),
        last_clock: clocks.last_clock,
        record_count: clocks.record_count,
        // What is stored has passed the check of its shape.
        namespace: first.record.namespace().unwrap_or_else(|_| Namespace::root()).to_string(),
    }))
}

/// `GET /v1/threads/{id}/records`
pub(super) fn records(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let limit = call.query.limit()?;
    let range = ThreadRange {
        since_clock: call.query.number("since")?,
        after: Sequence::new(call.query.number("cursor")?.unwrap_or_default()),
    };
    let (records, more) =
        state.engine().store().read(|reader| reader.thread_page(&thread, range, limit.rows))?;
    let mut list = wire::list(objects(state, &records)?);
    if let Some(last) = records.last().filter(|_| more) {
        list.insert("next_cursor".into(), last.sequence.to_string().into());
    }
    limit.mark(&mut list);
    Ok(Answer::ok(list))
}

/// `GET /v1/threads/{id}/state`
pub(super) fn state(state: &ApiState, call: &Call) -> Result<Answer, Problem> {
    let thread = call.thread()?;
    let (clocks, status) = state.engine().store().read(|reader| {
        // A thread that never had a goal is closed, which its index alone can tell.
        let status = if reader.has_intent(&thread)? {
            status(reader, &thread)?
        } else {
            ThreadStatus::Closed
        };
        Ok((reader.clocks(&thread)?, status))
    })?;
    Ok(Answer::ok(wire::thread_state(&thread, &clocks, status)))
}

fn status(reader: &Reader<'_>, thread: &ThreadId) -> Result<ThreadStatus, StoreError> {
    let mut state = ThreadState::default();
    let mut range = ThreadRange::default();
    loop {
        let (page, more) = reader.thread_page(thread, range, PAGE)?;
        for stored in &page {
            if stored.erased.is_none() {
                state.evolve(&stored.received());
            }
            range.after = stored.sequence;
        }
        if !more {
            return Ok(state.status());
        }
    }
}
