//! Telling an event that is told twice from one that happens again.

use super::Arrival;
use crate::engine::{Author, EngineError};
use crate::session::Moment;
use crate::store::AnsweredEvent;

/// How long an event that has no id of its own is taken for the same event told twice, in
/// milliseconds. Harnesses start a session twice within a second and a half.
const SAME_EVENT_MILLIS: i64 = 5_000;

impl Arrival {
    /// Tells whether this is the event that somebody else was answered before.
    ///
    /// A call is known by its id. Anything else that comes in the same bytes is the same event if it
    /// comes soon, and nothing has happened in between: who says "go on" twice means it twice.
    pub(super) fn is_told_twice(
        &self,
        author: &Author<'_, '_>,
        before: &AnsweredEvent,
    ) -> Result<bool, EngineError> {
        if matches!(self.event.moment, Moment::Returned(_)) {
            return Ok(true);
        }
        let row = author.sessions().get(&self.thread)?;
        let is_latest = row.is_none_or(|row| row.last_event <= before.sequence);
        let age = author.now().as_millis().saturating_sub(before.at.as_millis());
        Ok(is_latest && age < SAME_EVENT_MILLIS)
    }
}
