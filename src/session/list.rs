//! Captured sessions in a list, and all there is to say about one.

use super::account::Account;
use super::entry;
use super::read::account_of;
use super::report::summary;
use crate::canon::{Object, Value};
use crate::engine::{Engine, EngineError};
use crate::object;
use crate::record::{Sequence, ThreadId};
use crate::store::{SessionCounts, Stored};
use crate::time::Timestamp;

/// How many records are read at once.
const PAGE: usize = 200;

/// How a captured session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SessionState {
    /// It goes on, as far as is known.
    Open,
    /// Its harness has said that it is over.
    Ended,
    /// Nothing has happened for so long that it was reported.
    Idle,
}

impl SessionState {
    const ALL: [Self; 3] = [Self::Open, Self::Ended, Self::Idle];

    /// Returns the word in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Ended => "ended",
            Self::Idle => "idle",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    fn of_counts(counts: &SessionCounts) -> Self {
        if counts.ended > counts.taken_up {
            Self::Ended
        } else if counts.reported > counts.last_event {
            Self::Idle
        } else {
            Self::Open
        }
    }

    /// Returns how the session of an account stands.
    pub fn of(account: &Account) -> Self {
        if account.has_ended() {
            Self::Ended
        } else if account.is_reported() {
            Self::Idle
        } else {
            Self::Open
        }
    }
}

/// Which sessions to list.
#[derive(Debug, Clone, Default)]
pub struct SessionRange {
    /// Only sessions that were opened before this place in the order of arrival.
    pub before: Option<Sequence>,
    /// Only sessions of this harness.
    pub harness: Option<String>,
    /// Only sessions that stand like this.
    pub state: Option<SessionState>,
    /// Subagents too.
    pub agents: bool,
}

/// Returns the sessions in `range`, the newest first, at most `limit` of them; and where to go on if
/// there are more.
pub fn sessions(
    engine: &Engine,
    range: &SessionRange,
    limit: usize,
) -> Result<(Vec<Object>, Option<Sequence>), EngineError> {
    let (mut found, mut before, mut last) = (Vec::new(), range.before, None);
    loop {
        let charters =
            engine.store().read(|reader| reader.session_charters(range.agents, before, PAGE))?;
        for charter in &charters {
            before = Some(charter.sequence);
            let harness = charter.record.body.get("harness").and_then(Value::as_str);
            if range.harness.as_deref().is_some_and(|wanted| harness != Some(wanted)) {
                continue;
            }
            let thread = &charter.record.thread;
            let counts = engine.store().read(|reader| reader.session_counts(thread))?;
            let state = SessionState::of_counts(&counts);
            if range.state.is_some_and(|wanted| wanted != state) {
                continue;
            }
            if found.len() >= limit {
                return Ok((found, last));
            }
            last = Some(charter.sequence);
            found.push(row(charter, &counts, state));
        }
        if charters.len() < PAGE {
            return Ok((found, None));
        }
    }
}

fn row(charter: &Stored, counts: &SessionCounts, state: SessionState) -> Object {
    let mut row = object! {
        "began_at": charter.received_at.to_string(),
        "calls": counts.calls,
        "failed": counts.failed,
        "fires": counts.fires,
        "last_at": counts.last_at.to_string(),
        "object": "session",
        "state": state.as_str(),
        "thread": &charter.record.thread,
    };
    add_charter(&mut row, &charter.record.body);
    row
}

/// Adds what a charter says of where its session runs.
fn add_charter(object: &mut Object, charter: &Object) {
    const FIELDS: [&str; 10] = [
        "agent_id",
        "agent_type",
        "cwd",
        "harness",
        "missed_start",
        "model",
        "namespace",
        "parent_thread",
        "session_id",
        "transcript_path",
    ];
    let said =
        FIELDS.iter().filter_map(|field| Some(((*field).to_owned(), charter.get(*field)?.clone())));
    object.extend(said);
}

/// Returns all there is to say about the session on a thread; `None` if there is none.
pub fn session(engine: &Engine, thread: &ThreadId) -> Result<Option<Object>, EngineError> {
    let (account, _) = account_of(engine, thread)?;
    let Some(charter) = &account.charter else { return Ok(None) };
    let checkpoints = engine.store().read(|reader| reader.checkpoints(Some(thread), None, 1))?;
    let checkpoint = checkpoints.first().map(|stored| &stored.record.body);
    let mut session = summary(&account, charter);
    add_charter(&mut session, &charter.body);
    let fires: u64 = account.lessons().map(|lesson| lesson.fires).sum();
    let kept = account.transcript.as_ref();
    let more = object! {
        "closing": account.closing.as_deref(),
        "context": entry::context(&account, checkpoint),
        "fires": fires,
        "last_at": at(account.last_at),
        "object": "session",
        "report": account.report.map(|report| report.id),
        "state": SessionState::of(&account).as_str(),
        "thread": thread,
        "through": account.through.get(),
        "transcript": kept.map(|kept| object! {
            "bytes": kept.bytes,
            "sha256": kept.sha256.as_str(),
        }),
    };
    session.extend(more);
    Ok(Some(session))
}

fn at(time: Timestamp) -> String {
    time.to_string()
}
