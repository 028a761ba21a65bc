//! Questions in a list, with their answers.

use super::ledger::Ledger;
use super::{Decided, DecisionRequest};
use crate::engine::{Engine, EngineError};
use crate::record::{RecordId, Sequence, ThreadId};
use crate::store::Stored;
use crate::time::Timestamp;

/// Which questions are meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DecisionState {
    /// Those that wait for an answer.
    Pending,
    /// Those that have one.
    Answered,
}

impl DecisionState {
    /// Returns the word in requests and answers.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
        }
    }

    /// Reads the word.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Pending, Self::Answered].into_iter().find(|state| state.as_str() == word)
    }
}

/// A question, where it was asked, and its answer if there is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AskedFor {
    /// The record of the question.
    pub id: RecordId,
    /// The run that asks.
    pub thread: ThreadId,
    /// Who asks.
    pub requester: String,
    /// When.
    pub asked_at: Timestamp,
    /// The question.
    pub request: DecisionRequest,
    /// The answer.
    pub decided: Option<Decided>,
}

impl AskedFor {
    fn of(stored: &Stored, decided: Option<Decided>) -> Option<Self> {
        let requester = stored.record.body.get("requester").and_then(|it| it.as_str());
        Some(Self {
            id: stored.record.id(),
            thread: stored.record.thread.clone(),
            requester: requester.unwrap_or_default().to_owned(),
            asked_at: stored.received_at,
            request: DecisionRequest::of(stored)?,
            decided,
        })
    }

    /// Returns whether it is answered.
    pub const fn state(&self) -> DecisionState {
        match self.decided {
            Some(_) => DecisionState::Answered,
            None => DecisionState::Pending,
        }
    }
}

impl Engine {
    /// Returns questions, oldest first, from after `after` on, at most `limit` of them; and where to
    /// go on if there are more.
    pub fn decisions(
        &self,
        state: Option<DecisionState>,
        after: Sequence,
        limit: usize,
    ) -> Result<(Vec<AskedFor>, Option<Sequence>), EngineError> {
        let wanted = |answer: Option<RecordId>| match state {
            None => true,
            Some(DecisionState::Pending) => answer.is_none(),
            Some(DecisionState::Answered) => answer.is_some(),
        };
        let find = |ledger: &Ledger| -> Vec<_> {
            let matching = ledger.after(after).filter(|(.., answer)| wanted(*answer));
            matching.take(limit.saturating_add(1)).collect()
        };
        let mut found = if self.store().is_narrowed() {
            find(&self.store().read(Ledger::over)?)
        } else {
            find(&*self.ledger()?)
        };
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().map(|(at, ..)| *at).filter(|_| more);
        let rows = self.store().read(|reader| {
            let mut rows = Vec::with_capacity(found.len());
            for (_, request, answer) in &found {
                let decided = match answer {
                    Some(answer) => reader.record(*answer)?.as_ref().and_then(Decided::of),
                    None => None,
                };
                let asked = reader.record(*request)?;
                rows.extend(asked.and_then(|asked| AskedFor::of(&asked, decided)));
            }
            Ok(rows)
        })?;
        Ok((rows, next))
    }

    /// Returns one question, with its answer if there is one.
    pub fn asked_for(&self, request: RecordId) -> Result<Option<AskedFor>, EngineError> {
        let stored = self.store().read(|reader| reader.record(request))?;
        let decided = self.decision(request)?;
        Ok(stored.and_then(|stored| AskedFor::of(&stored, decided)))
    }
}
