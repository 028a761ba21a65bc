//! Storing a call that has returned, and what the hooks have to say about it.

use super::{Arrival, Asking, carried, ids, returned};
use crate::canon::{Object, hash_of};
use crate::engine::{Author, EngineError, RunSeat, count_asked, observation};
use crate::hook::{Builtin, Candidate, History, HookKey, Trace, head};
use crate::record::{Act, ActorId, Clock, Draft, RecordId, Sequence};
use crate::secret::mask;
use crate::session::words::Spoken;
use crate::session::{ToolCall, body};
use crate::store::WaitingWords;

impl Arrival {
    /// Stores a call that has returned, and the words of the hooks that have fires left; `None` if a
    /// predicate may have seen a clock that is not the call's.
    pub(super) fn store_call(
        &self,
        author: &mut Author<'_, '_>,
        asking: &Asking,
        call: &ToolCall,
        charter: RecordId,
        waiting: &[WaitingWords],
    ) -> Result<Option<(Option<String>, Sequence)>, EngineError> {
        let Asking { seat, asked, clock } = asking;
        let place = (seat.namespace.as_str(), charter);
        // Which clock it has does not depend on what it says.
        let empty = self.draft(Act::Do, Object::new(), place);
        if clock.is_some() && Some(author.next_clock(&empty)?) != *clock {
            return Ok(None);
        }
        let mut asked = asked.clone();
        asked.spoken.splice(..0, guards(author, seat, call)?);
        let mut fired = Vec::new();
        for candidate in &asked.spoken {
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
        let keys: Vec<&HookKey> = fired.iter().map(|(candidate, _)| &candidate.key).collect();
        count_asked(author, &seat.namespace, sequence, &asked, &keys)?;
        Ok(Some((packed.text, sequence)))
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
