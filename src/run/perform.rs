//! The driver: performs effects, feeds back what came of them, decides nothing.

use std::borrow::Cow;

use super::audited::Audited;
use super::drive::Hands;
use super::inbox::Inbox;
use super::worker::{Confined, Overseer};
use super::{
    Approval, Asking, Blocked, Decision, Effect, Event, Execution, Moment, Returned, Ruled,
    RunError, RunState, Turn, body,
};
use crate::cancel::Cancel;
use crate::engine::{DecisionRequest, Engine, EngineError, RunSeat, ToolReturn};
use crate::hook::History;
use crate::model::CallRequest;
use crate::permission;
use crate::policy::Question;
use crate::record::{Draft, RecordId};
use crate::store::AppendError;
use crate::time::Stopwatch;
use crate::tool::{Answer, Status};

/// Performs the effects of one life of one run.
pub(super) struct Driver<'a> {
    pub(super) hands: Hands<'a>,
    seat: RunSeat,
    history: History,
    inbox: Inbox,
    /// The place in which the tools work, if they are confined to one.
    pub(super) confined: Option<Confined>,
    pub(super) audited: Audited,
    /// Whoever holds the worker to its steps, if the tools work in one.
    overseer: Option<Overseer>,
}

impl<'a> Driver<'a> {
    pub(super) const fn new(
        hands: Hands<'a>,
        seat: RunSeat,
        history: History,
        inbox: Inbox,
        confined: Option<Confined>,
        audited: Audited,
        overseer: Option<Overseer>,
    ) -> Self {
        Self { hands, seat, history, inbox, confined, audited, overseer }
    }

    /// Returns the event that answers an effect.
    pub(super) fn answer(&mut self, state: &RunState, effect: Effect) -> Result<Event, RunError> {
        if let Some(overseer) = &mut self.overseer {
            overseer.heed(&effect);
        }
        let failed = || self.overseer.as_ref().and_then(Overseer::failed);
        let event = match effect.begins() {
            true if self.hands.cancel.is_cancelled() => Event::Cancelled,
            true if let Some(failed) = failed() => failed,
            _ => self.perform(state, effect)?,
        };
        self.tell(&event);
        Ok(event)
    }

    /// Tells the worker what has happened, if there is one.
    pub(super) fn tell(&mut self, event: &Event) {
        if let Some(overseer) = &mut self.overseer {
            overseer.tell(event);
        }
    }

    pub(super) const fn engine(&self) -> &Engine {
        self.hands.engine
    }

    pub(super) const fn cancel(&self) -> &Cancel {
        self.hands.cancel
    }

    pub(super) const fn inbox(&self) -> Inbox {
        self.inbox
    }

    pub(super) fn show(&mut self, moment: Moment<'_>) {
        (self.hands.watch)(moment);
    }

    /// Stores one record.
    pub(super) fn write(&self, draft: Draft) -> Result<RecordId, EngineError> {
        self.hands.engine.author(move |author| Ok(author.write(draft)?.id()))
    }

    /// Stores the record with which the run, or a new life of it, begins.
    pub(super) fn begin(&self, draft: Draft) -> Result<RecordId, EngineError> {
        self.hands.engine.author(move |author| Ok(author.begin(draft)?.id()))
    }

    /// Returns whether a question has been answered, by now or when somebody is asked.
    pub(super) fn is_decided(&mut self, request: RecordId) -> Result<bool, EngineError> {
        if self.hands.engine.decision(request)?.is_some() {
            return Ok(true);
        }
        Ok(self.ask_somebody(request)? == Decision::Made)
    }

    /// Performs an effect and returns the event that answers it.
    pub(super) fn perform(&mut self, state: &RunState, effect: Effect) -> Result<Event, RunError> {
        Ok(match effect {
            Effect::Open(draft) => {
                let opened = self.begin(draft)?;
                (self.hands.watch)(Moment::Opened(&self.seat.thread));
                Event::Opened(opened)
            }
            Effect::AskModel(asking) => self.ask_model(state, &asking)?,
            Effect::RecordTurn(turn) => {
                let Turn { turn, compensations } = *turn;
                let written = self.hands.engine.author(move |author| {
                    let turn = author.write(turn)?.id();
                    for compensation in compensations {
                        author.write(compensation.with_parents(vec![turn]))?;
                    }
                    Ok(turn)
                });
                recorded(written, Event::TurnRecorded)?
            }
            Effect::Rule(request) => self.rule(&request)?,
            Effect::Approve(_) => self.approve(state),
            Effect::Guard(_) => self.guard(state)?,
            Effect::RecordCall(ruled) => {
                // Of a call that may be made it was said before the policy hooks were asked.
                let Ruled { call, verdict, guardrail, denied } = *ruled;
                if let (Some(request), Some(why)) = (state.proposed(), denied) {
                    self.audited.ruling(request, Some(&why));
                }
                let written = self.hands.engine.author(move |author| {
                    let call = author.write(call)?.id();
                    author.write(verdict.with_parents(vec![call]))?;
                    if let Some(guardrail) = guardrail {
                        author.write(guardrail.with_parents(vec![call]))?;
                    }
                    Ok(call)
                });
                recorded(written, Event::CallRecorded)?
            }
            Effect::Execute(execution) => self.execute(&execution),
            Effect::Spawn(execution) => self.work_on(state, &execution)?,
            Effect::Request(execution) => self.request(&execution)?,
            Effect::AwaitDecision(request) => self.await_decision(request)?,
            Effect::Sift(_) => self.sift(state)?,
            Effect::Observe(returned) => self.observe(state, &returned)?,
            Effect::Close(ended) => {
                self.audited.stop(ended.verb);
                let written = self.hands.engine.author(move |author| {
                    if let Some(coercion) = ended.coercion {
                        author.write(coercion)?;
                    }
                    Ok(author.write(ended.outcome)?.id())
                })?;
                Event::Closed(written)
            }
        })
    }

    /// Asks the model, unless somebody has said something that it should hear first.
    fn ask_model(&mut self, state: &RunState, asking: &Asking) -> Result<Event, RunError> {
        let mail = self.inbox.take(self.hands.engine, &self.seat.thread);
        let mail = mail.map_err(EngineError::from)?;
        if mail.stop {
            return Ok(Event::Cancelled);
        }
        if !mail.messages.is_empty() {
            for words in &mail.messages {
                (self.hands.watch)(Moment::Steered(words));
            }
            return Ok(Event::Said(mail.messages));
        }
        self.audited.turn(state.spent());
        let Hands { model, watch, cancel, .. } = &mut self.hands;
        let time = asking.within.map(|within| cancel.within(within));
        let stop = time.as_ref().unwrap_or(cancel);
        let stopwatch = Stopwatch::start();
        let reply = model.turn(&asking.request, stop, &mut |words| watch(Moment::Words(words)));
        let took_ms = millis(&stopwatch);
        Ok(match reply {
            Ok(reply) => {
                self.audited.reply(&reply);
                watch(Moment::Replied { turn: state.spent().turns + 1, reply: &reply });
                Event::Replied { reply, took_ms }
            }
            Err(_) if cancel.is_cancelled() => Event::Cancelled,
            Err(_) if stop.is_cancelled() => Event::OutOfTime,
            Err(error) => {
                let why = format!("the model could not be asked: {error}");
                Event::Failed { why, resumable: true }
            }
        })
    }

    fn rule(&self, request: &CallRequest) -> Result<Event, RunError> {
        let ruling = self.hands.engine.rule_on_call(&self.seat, &request.name, &request.args)?;
        let denied = || {
            let denied = self.hands.policy.denies(&request.name, &request.args);
            denied.map(|why| format!("not executed: {why}"))
        };
        Ok(match ruling {
            permission::Ruling::Off => Event::Ruled { rule: None, refused: denied() },
            permission::Ruling::Allow { rule } => {
                Event::Ruled { rule: Some(rule), refused: denied() }
            }
            permission::Ruling::Deny { rule } => {
                let refused = match &rule {
                    Some(rule) => format!("not executed: the permission rule `{rule}` forbids it"),
                    None => "not executed: no permission rule allows it".to_owned(),
                };
                Event::Ruled { rule, refused: Some(refused) }
            }
        })
    }

    fn execute(&mut self, execution: &Execution) -> Event {
        let Execution { request, within, .. } = execution;
        let Hands { tools, watch, cancel, policy, .. } = &mut self.hands;
        watch(Moment::Calling(request));
        let time = within.map(|within| cancel.within(within));
        let stop = time.as_ref().unwrap_or(cancel);
        let stopwatch = Stopwatch::start();
        let answer = match &mut self.overseer {
            Some(overseer) if Overseer::executes(&request.name) => overseer.execute(request, stop),
            _ => tools.call(&request.name, &request.args, stop),
        };
        let took_ms = millis(&stopwatch);
        self.audited.answer(request, &answer, policy);
        Event::Answered { answer: self.readable(answer), took_ms }
    }

    /// Returns an answer as whoever reads it is to see it.
    fn readable(&self, answer: Answer) -> Answer {
        let shown = |text: String| match self.hands.policy.shown(&text) {
            Cow::Borrowed(_) => text,
            Cow::Owned(text) => text,
        };
        Answer { shown: shown(answer.shown), head: shown(answer.head), ..answer }
    }

    /// Asks whoever approves calls.
    fn approve(&mut self, state: &RunState) -> Event {
        let approval = match state.proposed() {
            Some(request) => self.hands.approver.approve(request),
            None => Approval::Granted,
        };
        Event::Approved {
            refused: match approval {
                Approval::Granted => None,
                Approval::Refused(why) => Some(format!("not executed: {why}")),
            },
        }
    }

    /// The before seam: asks the policy hooks about a call whose arguments fit. What does not fit is
    /// not executed either way, and the tool says why.
    fn guard(&mut self, state: &RunState) -> Result<Event, RunError> {
        let Some(request) = state.proposed() else { return Ok(Event::Guarded { blocked: None }) };
        self.audited.ruling(request, None);
        let question = Question::Before { tool: &request.name, input: &request.args };
        // What fits is looked for where somebody is asked; the tool itself looks in any case.
        let asked = self.hands.policy.concerns(&question) && self.fits(request);
        let blocked = if asked { self.ask_policy(request, &question)? } else { None };
        Ok(Event::Guarded { blocked })
    }

    fn fits(&self, request: &CallRequest) -> bool {
        self.hands.tools.get(&request.name).is_none_or(|tool| tool.check(&request.args).is_ok())
    }

    /// The after seam: asks the policy hooks about a result that nobody has read.
    fn sift(&mut self, state: &RunState) -> Result<Event, RunError> {
        let blocked = match state.unread() {
            Some((request, answer)) => {
                let question = Question::After {
                    tool: &request.name,
                    input: &request.args,
                    text: &answer.shown,
                    failed: answer.status == Status::Error,
                };
                self.ask_policy(request, &question)?
            }
            None => None,
        };
        Ok(Event::Sifted { blocked })
    }

    /// Asks the policy hooks, shows what they say, and records what they block.
    fn ask_policy(
        &mut self,
        request: &CallRequest,
        question: &Question<'_>,
    ) -> Result<Option<Blocked>, RunError> {
        let verdict = self.hands.policy.ask(question, self.hands.cancel);
        for warning in verdict.warnings() {
            self.show(Moment::Warned(&warning));
        }
        let Some(block) = verdict.block() else { return Ok(None) };
        self.audited.block(&verdict, Some(request))?;
        self.show(Moment::Blocked { request, block });
        Ok(Some(Blocked::from(block)))
    }

    /// Makes a record of the question that a call asks.
    fn request(&mut self, execution: &Execution) -> Result<Event, RunError> {
        (self.hands.watch)(Moment::Calling(&execution.request));
        let asked = match DecisionRequest::read(&execution.request.args) {
            Ok(asked) => asked,
            Err(misfit) => {
                return Ok(Event::Answered { answer: Answer::error(misfit), took_ms: 0 });
            }
        };
        let written = self.hands.engine.request_decision(&self.seat, execution.call, &asked);
        recorded(written, |request| {
            (self.hands.watch)(Moment::Asked { request, question: &asked.question });
            Event::Requested(request)
        })
    }

    fn await_decision(&mut self, request: RecordId) -> Result<Event, RunError> {
        if !self.is_decided(request)? {
            return Ok(Event::Parked);
        }
        Ok(match self.hands.engine.decision(request)? {
            Some(decided) => Event::Answered { answer: Answer::ok(decided.in_words()), took_ms: 0 },
            None => Event::Parked,
        })
    }

    fn ask_somebody(&mut self, request: RecordId) -> Result<Decision, EngineError> {
        Ok(match self.hands.engine.decision_request(request)? {
            Some(asked) => self.hands.decider.decide(request, &asked),
            None => Decision::Open,
        })
    }

    /// The post-tool seam: the one place where hooks are asked.
    fn observe(&mut self, state: &RunState, returned: &Returned) -> Result<Event, RunError> {
        let Returned { request, answer, call, .. } = returned;
        self.audited.result(request, answer);
        (self.hands.watch)(Moment::Returned { request, answer });
        let tool_return = ToolReturn {
            tool: request.name.clone(),
            args: request.args.clone(),
            status: answer.status.as_str().to_owned(),
            head: answer.head.clone(),
            answer: answer.shown.clone(),
            resource: format!("tool:{}", request.name),
            empty: answer.empty,
            call: *call,
            result: body::result(state, returned),
        };
        let written = self.hands.engine.tool_returned(&self.seat, &mut self.history, &tool_return);
        recorded(written, |(result, heard)| {
            for words in &heard {
                (self.hands.watch)(Moment::Heard(words));
            }
            Event::Observed { result: result.id(), heard }
        })
    }
}

fn millis(stopwatch: &Stopwatch) -> u64 {
    u64::try_from(stopwatch.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// Returns the event of a step that was stored. One that is too large to be is the run's own doing,
/// and ends it like any other failure; only a store that fails leaves it without an outcome.
fn recorded<T>(
    written: Result<T, EngineError>,
    event: impl FnOnce(T) -> Event,
) -> Result<Event, RunError> {
    match written {
        Ok(written) => Ok(event(written)),
        Err(EngineError::Append(
            error @ (AppendError::TooLarge(_) | AppendError::TooDeep { .. }),
        )) => Ok(Event::Failed { why: error.to_string(), resumable: false }),
        Err(error) => Err(error.into()),
    }
}
