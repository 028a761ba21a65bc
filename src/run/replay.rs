//! A run read again from its records: the same steps, without a model and without tools.
//!
//! Only what the engine wrote is read (decision 14); the same kinds from a door are plain data.
//! Each record is what came of an effect, so the pure step is fed the event that it stands for, and
//! what the step wants stored is held against what is stored.

use super::house;
use super::inbox::{self, MESSAGE_KIND};
use super::outcome::{Outcome, Verb};
use super::state::RunState;
use super::step::advance;
use super::{Blocked, BudgetKind, Effect, Event, RunSpec, Spent, body};
use crate::canon::{Object, Value};
use crate::engine::Heard;
use crate::hook::{History, Trace, head};
use crate::model::{CallRequest, Reply, StopReason, ToolDescription, Usage};
use crate::record::{Draft, Origin, RecordId, Sequence};
use crate::store::Stored;
use crate::tool::{Answer, Status};

/// A run, as its records have it.
#[derive(Debug)]
pub struct Replayed {
    /// Where it stands.
    pub state: RunState,
    /// What it wants done next, if it is not over.
    pub effect: Option<Effect>,
    /// How often it has been taken up again.
    pub life: u32,
    /// What its calls looked like to the built-in hooks.
    pub history: History,
    /// The last record of its thread.
    pub read_to: Sequence,
}

/// Why records are not those of a run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// No record opens a loop.
    #[error("no run stands on this thread")]
    NoRun,
    /// A record of it was erased. What the run knew is not all there any more.
    #[error("the record {record} of this run was erased, so the run cannot be read again")]
    Erased {
        /// The record.
        record: RecordId,
    },
    /// A record is not what the run would have stored there.
    #[error("the record {record} is not what the run would have stored: {what}")]
    Diverged {
        /// The record.
        record: RecordId,
        /// What is different.
        what: String,
    },
}

/// Reads a run from the records of its thread, in the order of arrival. `describe` says how a tool
/// introduces itself, for a run that goes on.
pub fn replay(
    records: &[Stored],
    describe: &dyn Fn(&str) -> Option<ToolDescription>,
) -> Result<Replayed, ReplayError> {
    replay_telling(records, describe, &mut |_| {})
}

/// The same, and tells each event that a record stands for.
pub(super) fn replay_telling(
    records: &[Stored],
    describe: &dyn Fn(&str) -> Option<ToolDescription>,
    tell: &mut dyn FnMut(&Event),
) -> Result<Replayed, ReplayError> {
    let mut records = records.iter().filter(|stored| stored.origin == Origin::Engine);
    if let Some(stored) = records.clone().find(|stored| stored.erased.is_some()) {
        return Err(ReplayError::Erased { record: stored.record.id() });
    }
    let opening = records.find_map(|stored| Some((stored, RunSpec::of_opening(stored)?)));
    let (opening, (spec, tools)) = opening.ok_or(ReplayError::NoRun)?;
    let bare = |name: &String| ToolDescription {
        name: name.clone(),
        description: String::new(),
        parameters: Value::Object(Object::new()),
    };
    let tools = tools
        .iter()
        .filter(|name| !house::is_name(name))
        .map(|name| describe(name).unwrap_or_else(|| bare(name)))
        .collect();
    let mut state = RunState::new(spec, tools);
    tell(&Event::Start);
    let effect = advance(&mut state, Event::Start);
    let mut reading = Reading {
        tell,
        state,
        effect,
        life: 0,
        history: History::default(),
        read_to: opening.sequence,
        mail: Vec::new(),
        call: None,
        returned: None,
    };
    reading.hold(opening, |effect| match effect {
        Effect::Open(draft) => Some(draft),
        _ => None,
    })?;
    reading.feed(Event::Opened(opening.record.id()));
    for stored in records {
        reading.read(stored)?;
    }
    reading.flush();
    let Reading { state, effect, life, history, read_to, .. } = reading;
    Ok(Replayed { state, effect, life, history, read_to })
}

struct Reading<'a> {
    tell: &'a mut dyn FnMut(&Event),
    state: RunState,
    effect: Option<Effect>,
    life: u32,
    history: History,
    read_to: Sequence,
    /// Messages that no turn has heard yet.
    mail: Vec<String>,
    /// The record of a call whose ruling comes next.
    call: Option<Stored>,
    /// The record of a result, and the words that came with it.
    returned: Option<(RecordId, Vec<Heard>)>,
}

impl Reading<'_> {
    fn feed(&mut self, event: Event) {
        (self.tell)(&event);
        self.effect = advance(&mut self.state, event);
    }

    /// The observations of a result stand right behind it; with the next record they are complete.
    fn flush(&mut self) {
        if let Some((result, heard)) = self.returned.take() {
            self.feed(Event::Observed { result, heard });
        }
    }

    /// Holds what is stored against what the run wants stored.
    fn hold(
        &self,
        stored: &Stored,
        wanted: impl FnOnce(&Effect) -> Option<&Draft>,
    ) -> Result<(), ReplayError> {
        match self.effect.as_ref().and_then(wanted) {
            Some(draft) => same(&draft.body, stored),
            None => Err(diverged(stored, "the run does not want this stored here")),
        }
    }

    fn read(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        self.read_to = stored.sequence;
        let Some(kind) = stored.record.kind().and_then(|kind| kind.strip_prefix("core.work."))
        else {
            return Ok(());
        };
        if kind == "observation.v1" {
            self.observation(stored);
            return Ok(());
        }
        self.flush();
        match kind {
            "turn.v1" => self.turn(stored),
            "tool_call.v1" => {
                self.call = Some(stored.clone());
                Ok(())
            }
            "tool_verdict.v1" => self.verdict(stored),
            "tool_result.v1" => self.result(stored),
            "decision_request.v1" => {
                if matches!(self.effect, Some(Effect::Request(_))) {
                    self.feed(Event::Requested(stored.record.id()));
                }
                Ok(())
            }
            "loop_outcome.v1" => self.outcome(stored),
            "resume.v1" => {
                self.life = self.life.saturating_add(1);
                if self.state.outcome().is_some() {
                    self.feed(Event::Resumed);
                }
                Ok(())
            }
            _ => {
                if stored.record.kind() == Some(MESSAGE_KIND) {
                    self.mail.extend(inbox::words(stored));
                }
                Ok(())
            }
        }
    }

    fn turn(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        let body = &stored.record.body;
        let heard = number(body, "messages_heard").unwrap_or(0);
        let new = heard.saturating_sub(self.state.heard_messages.into());
        let new = usize::try_from(new).unwrap_or(usize::MAX).min(self.mail.len());
        if new > 0 {
            let words = self.mail.drain(..new).collect();
            self.feed(Event::Said(words));
        }
        let reply = reply_of(body).ok_or_else(|| diverged(stored, "it does not read as a turn"))?;
        let took_ms = number(body, "duration_ms").unwrap_or(0);
        self.feed(Event::Replied { reply, took_ms });
        self.hold(stored, |effect| match effect {
            Effect::RecordTurn(turn) => Some(&turn.turn),
            _ => None,
        })?;
        self.feed(Event::TurnRecorded(stored.record.id()));
        Ok(())
    }

    fn verdict(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        let body = &stored.record.body;
        let call =
            self.call.take().ok_or_else(|| diverged(stored, "it rules on no call of the run"))?;
        if matches!(self.effect, Some(Effect::Rule(_))) {
            let by = |layer: &str| {
                text(body, "reason").filter(|_| text(body, "layer").as_deref() == Some(layer))
            };
            self.feed(Event::Ruled { rule: text(body, "rule"), refused: by("rule") });
            if matches!(self.effect, Some(Effect::Approve(_))) {
                self.feed(Event::Approved { refused: by("grant") });
            }
            if matches!(self.effect, Some(Effect::Guard(_))) {
                self.feed(Event::Guarded { blocked: blocked_of(body) });
            }
        }
        self.hold(&call, |effect| match effect {
            Effect::RecordCall(ruled) => Some(&ruled.call),
            _ => None,
        })?;
        self.hold(stored, |effect| match effect {
            Effect::RecordCall(ruled) => Some(&ruled.verdict),
            _ => None,
        })?;
        self.feed(Event::CallRecorded(call.record.id()));
        Ok(())
    }

    fn result(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        let body = &stored.record.body;
        let answer = answer_of(body).ok_or_else(|| diverged(stored, "it reads as no result"))?;
        let took_ms = number(body, "duration_ms").unwrap_or(0);
        if !matches!(self.effect, Some(Effect::Observe(_))) {
            let spent = body.get("spent").and_then(Spent::of_object);
            self.feed(match spent {
                Some(spent) => Event::Worked { answer, spent },
                None => Event::Answered { answer, took_ms },
            });
        }
        if matches!(self.effect, Some(Effect::Sift(_))) {
            self.feed(Event::Sifted { blocked: blocked_of(body) });
        }
        let Some(Effect::Observe(returned)) = &self.effect else {
            return Err(diverged(stored, "no call of the run has returned here"));
        };
        let (request, shown) = (&returned.request, &returned.answer);
        let trace = Trace::of(&request.name, &request.args, shown.status.as_str(), &shown.shown);
        self.history.note(&Trace { empty: shown.empty, ..trace });
        same(&body::result(&self.state, returned), stored)?;
        self.returned = Some((stored.record.id(), Vec::new()));
        Ok(())
    }

    fn observation(&mut self, stored: &Stored) {
        let body = &stored.record.body;
        if let Some((_, heard)) = &mut self.returned
            && let (Some(rule), Some(text)) = (text(body, "rule"), text(body, "text"))
        {
            heard.push(Heard { rule, text, record: stored.record.id() });
        }
    }

    fn outcome(&mut self, stored: &Stored) -> Result<(), ReplayError> {
        let body = &stored.record.body;
        let outcome =
            Outcome::of_body(body).ok_or_else(|| diverged(stored, "it reads as no outcome"))?;
        if !matches!(self.effect, Some(Effect::Close(_))) {
            let event = match (outcome.verb, &self.effect) {
                (Verb::Cancelled, _) => Event::Cancelled,
                (Verb::AwaitingActor, Some(Effect::AwaitDecision(_))) => Event::Parked,
                (Verb::BudgetExhausted, Some(Effect::AskModel(_)))
                    if text(body, "budget_kind").as_deref()
                        == Some(BudgetKind::WallClock.as_str()) =>
                {
                    Event::OutOfTime
                }
                (Verb::Failed, _) => {
                    let Outcome { summary, resumable, .. } = outcome;
                    Event::Failed { why: summary, resumable }
                }
                _ => return Err(diverged(stored, "the run is not over here")),
            };
            self.feed(event);
        }
        self.hold(stored, |effect| match effect {
            Effect::Close(ended) => Some(&ended.outcome),
            _ => None,
        })?;
        self.feed(Event::Closed(stored.record.id()));
        Ok(())
    }
}

/// Reads which policy hook blocked what a record is about.
fn blocked_of(body: &Object) -> Option<Blocked> {
    Blocked::of_value(body.get("policy")?)
}

fn diverged(stored: &Stored, what: &str) -> ReplayError {
    ReplayError::Diverged { record: stored.record.id(), what: what.to_owned() }
}

/// Compares two bodies. Data for programs is left out: what was too large was not stored.
fn same(wanted: &Object, stored: &Stored) -> Result<(), ReplayError> {
    let told = |body: &Object| -> Object {
        let mut body = body.clone();
        body.retain(|name, _| name != "data" && name != "truncated");
        body
    };
    let (wanted, found) = (told(wanted), told(&stored.record.body));
    if wanted == found {
        return Ok(());
    }
    let differs = |name: &&String| wanted.get(*name) != found.get(*name);
    let member = wanted.keys().chain(found.keys()).find(differs);
    let member = member.map_or("?", String::as_str);
    Err(diverged(stored, &format!("`{member}` differs")))
}

fn text(body: &Object, name: &str) -> Option<String> {
    body.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn number(body: &Object, name: &str) -> Option<u64> {
    body.get(name).and_then(Value::as_u64)
}

/// Reads a reply from the body of its record.
pub(super) fn reply_of(body: &Object) -> Option<Reply> {
    let call = |call: &Value| -> Option<CallRequest> {
        let call = call.as_object()?;
        Some(CallRequest {
            id: text(call, "id")?,
            name: text(call, "name")?,
            args: call.get("args")?.as_object()?.clone(),
            malformed: text(call, "malformed"),
        })
    };
    let usage = body.get("usage")?.as_object()?;
    Some(Reply {
        text: text(body, "text")?,
        calls: body.get("tool_calls")?.as_array()?.iter().map(call).collect::<Option<_>>()?,
        usage: Usage {
            input_tokens: number(usage, "input_tokens")?,
            output_tokens: number(usage, "output_tokens")?,
            estimated: usage.get("estimated").and_then(Value::as_bool).unwrap_or(false),
        },
        stop: StopReason::parse(body.get("stop")?.as_str()?)?,
    })
}

fn answer_of(body: &Object) -> Option<Answer> {
    let shown = text(body, "content")?;
    Some(Answer {
        status: Status::parse(body.get("status")?.as_str()?)?,
        head: head(&shown).to_owned(),
        shown,
        data: body.get("data").cloned(),
        empty: body.get("empty").and_then(Value::as_bool).unwrap_or(false),
    })
}
