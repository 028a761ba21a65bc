//! Opening a session at its first event, and beginning a new life of it.

use super::{Arrival, namespace_of};
use crate::canon::Object;
use crate::engine::{Author, EngineError};
use crate::record::{Act, ActorId, Draft, Namespace, RecordId, Sequence, ThreadId};
use crate::session::body;
use crate::session::{Event, Moment};
use crate::store::SessionRow;

impl Arrival {
    /// Tells whether counts start again: whoever is resumed or forked, or whose conversation was
    /// cleared, has not been told. What is compacted has.
    pub(super) fn starts_anew(&self, row: &SessionRow) -> bool {
        let Moment::Started { source: Some(source) } = &self.event.moment else { return false };
        row.last_event > Sequence::default()
            && matches!(source.as_str(), "resume" | "fork" | "clear")
    }

    /// Returns where the session stands, opening it if this is its first event.
    pub(super) fn opened(&self, author: &mut Author<'_, '_>) -> Result<SessionRow, EngineError> {
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
        Ok(author.sessions().moved(parent, &row, sequence, now)?)
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
    let record = author.begin(draft.with_parents(parents))?;
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
