//! The one transition of a gate (contract-polpo §11.5).

use std::collections::BTreeMap;

use super::checkpoint::{Checkpoint, Flight, FlightKind, Judged, Phase, Validation};
use super::{
    Appended, Asking, Effect, Event, GateCause, GateCode, GateFailure, Limits, Purpose, Reopening,
    Used, Verdict, WriteFault, WritePoint, diagnostics, verdict,
};
use crate::policy::polpo::bounds::RECOVERIES;
use crate::policy::polpo::envelope::{Attempt, Candidate};
use crate::policy::polpo::trace::{GateStage, GateTrace};
use crate::policy::polpo::{
    Event as HookEvent, HookName, IdempotencyKey, Identity, Occurrence, Outcome, Selected,
};
use crate::time::Timestamp;

/// Whose gate it is.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subject {
    /// The run, where it is durable; else the request.
    pub invocation: String,
    /// The step of a loop, if it is one.
    pub step_invocation: Option<String>,
    /// The agent.
    pub agent: String,
}

/// A hook that carries a gate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Validator {
    /// Which.
    pub hook: HookName,
    /// How long its handler may take.
    pub timeout_ms: u64,
}

impl Validator {
    /// Returns the validator that a selected hook is.
    pub fn of(selected: &Selected<'_>, managed: bool) -> Self {
        let timeout = selected.hook.timeout(managed).as_millis();
        let timeout_ms = u64::try_from(timeout).unwrap_or(u64::MAX);
        Self { hook: HookName::from(selected), timeout_ms }
    }
}

/// The gates of an invocation, as they are configured now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// Whose.
    pub subject: Subject,
    /// The packs, and the SHA-256 of each.
    pub packs: BTreeMap<String, String>,
    /// The validators, in their order.
    pub validators: Vec<Validator>,
    /// What holds.
    pub limits: Limits,
    /// Whether a form of the answer was asked for.
    pub structured: bool,
}

/// A gate at work. It changes only through [`step()`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gate {
    pub(super) kept: Checkpoint,
    pub(super) validators: Vec<Validator>,
    pub(super) structured: bool,
    pub(super) wait: Wait,
    pub(super) now: Timestamp,
    traces: Vec<GateTrace>,
}

/// What a gate waits for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Wait {
    /// Whatever the work wants next.
    Work,
    /// The model or the tool that is in flight.
    Landing,
    /// That a checkpoint is durable, to go on like this.
    Write(WritePoint, Next),
    /// The validator with this execution. Whether its time was cut to that of the gate.
    Validator(IdempotencyKey, bool),
    /// Nothing: it is over, or goes on in another process.
    Over,
}

/// How to go on once a checkpoint is durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Call the model, which may write so many tokens.
    CallModel(u64),
    /// Call the tool.
    CallTool,
    /// Go on with the work.
    GoOn,
    /// See what the validators have said, and ask the next.
    Judge,
    /// Tell the model what to mend.
    Reopen,
    /// Give the answer.
    Deliver,
    /// Say that there is none.
    Fail(GateFailure),
    /// Let the process go.
    Suspend,
}

/// What came of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What to do, if the event changed anything.
    pub effect: Option<Effect>,
    /// What there is to tell.
    pub traces: Vec<GateTrace>,
}

/// Returns the gate after `event`, which happened at `now`, and what is to be done.
///
/// An event that the gate does not wait for changes nothing.
pub fn step(mut gate: Gate, now: Timestamp, event: Event) -> (Gate, Step) {
    gate.clock(now);
    let effect = gate.advance(event);
    let traces = std::mem::take(&mut gate.traces);
    (gate, Step { effect, traces })
}

impl Gate {
    /// Begins a gate. There is none without a validator.
    pub fn begin(setup: Setup, now: Timestamp) -> Option<Self> {
        if setup.validators.is_empty() {
            return None;
        }
        let kept = Checkpoint {
            subject: setup.subject,
            packs: setup.packs,
            gates: setup.validators.iter().map(|validator| validator.hook.clone()).collect(),
            started_at: now,
            elapsed_ms: 0,
            limits: setup.limits,
            used: Used::default(),
            history: Vec::new(),
            history_bytes: 0,
            phase: Phase::Operational,
            in_flight: None,
            validation: None,
            result: None,
            failure: None,
        };
        Some(Self::at(kept, setup.validators, setup.structured, now))
    }

    pub(super) fn at(
        kept: Checkpoint,
        validators: Vec<Validator>,
        structured: bool,
        now: Timestamp,
    ) -> Self {
        let mut gate =
            Self { kept, validators, structured, wait: Wait::Work, now, traces: Vec::new() };
        gate.clock(now);
        gate
    }

    /// Returns all of it that is stored.
    pub const fn checkpoint(&self) -> &Checkpoint {
        &self.kept
    }

    /// Returns what would be stored if these records were written with it: their ids may be known no
    /// sooner than in the commit.
    pub fn checkpoint_with(&self, appended: &[Appended]) -> Checkpoint {
        let mut kept = self.kept.clone();
        append(&mut kept, appended);
        kept
    }

    /// Returns whether an answer without a gate may still be mended in this invocation.
    pub const fn may_recover(&self) -> bool {
        let Used { turns, recoveries, .. } = self.kept.used;
        recoveries < RECOVERIES && turns < self.kept.limits.max_turns
    }

    /// Time never goes back, and what has gone by is never forgotten.
    fn clock(&mut self, now: Timestamp) {
        self.now = now;
        let since = now.as_millis().saturating_sub(self.kept.started_at.as_millis());
        let since = u64::try_from(since).unwrap_or(0);
        self.kept.elapsed_ms = self.kept.elapsed_ms.max(since);
    }

    fn advance(&mut self, event: Event) -> Option<Effect> {
        match (self.wait.clone(), event) {
            (Wait::Over, _) => None,
            (_, Event::Cancelled) => {
                self.wait = Wait::Over;
                Some(Effect::Cancel)
            }
            (Wait::Work, Event::Model { id, purpose, cap }) => self.model(id, purpose, cap),
            (Wait::Work, Event::Tool { id, name }) => self.tool(id, name),
            (Wait::Work, Event::Answered(candidate)) => Some(self.answered(candidate)),
            (Wait::Work, Event::Suspended) => {
                Some(self.write(WritePoint::Suspended, Next::Suspend))
            }
            (Wait::Landing, Event::ModelEnded { tokens }) if self.flies(FlightKind::Model) => {
                Some(self.model_ended(tokens))
            }
            (Wait::Landing, Event::ToolEnded) if self.flies(FlightKind::Tool) => {
                self.kept.in_flight = None;
                Some(self.write(WritePoint::Landed, Next::GoOn))
            }
            (Wait::Write(point, next), Event::Written(appended)) => {
                append(&mut self.kept, &appended);
                Some(self.written(point, next))
            }
            (Wait::Write(_, next), Event::NotWritten(fault)) => Some(self.not_written(next, fault)),
            (Wait::Validator(key, cut_short), Event::Validated(outcome)) => {
                Some(self.validated(key, cut_short, &outcome))
            }
            _ => None,
        }
    }

    fn flies(&self, kind: FlightKind) -> bool {
        self.kept.in_flight.as_ref().is_some_and(|flight| flight.kind == kind)
    }

    /// Before each call of the model.
    fn model(&mut self, id: String, purpose: Purpose, cap: u64) -> Option<Effect> {
        let used = &self.kept.used;
        let fits = match purpose {
            Purpose::Work => self.kept.phase == Phase::Operational,
            Purpose::Formatting => self.kept.phase == Phase::Formatting,
            Purpose::Recovery => used.recoveries < RECOVERIES,
            Purpose::Compaction => true,
        };
        if !fits {
            return None;
        }
        let is_turn = purpose != Purpose::Compaction;
        let limits = &self.kept.limits;
        if let Some(code) = limits.exhausted(used, self.kept.elapsed_ms, is_turn) {
            return Some(self.fail(GateFailure::of(code)));
        }
        let cap = cap.min(limits.gate.max_tokens.saturating_sub(used.tokens));
        let used = &mut self.kept.used;
        used.turns = used.turns.saturating_add(u64::from(is_turn));
        used.recoveries += u64::from(purpose == Purpose::Recovery);
        self.fly(FlightKind::Model, id, None);
        Some(self.write(WritePoint::InFlight, Next::CallModel(cap)))
    }

    fn tool(&mut self, id: String, name: String) -> Option<Effect> {
        if self.kept.phase != Phase::Operational {
            return None;
        }
        self.fly(FlightKind::Tool, id, Some(name));
        Some(self.write(WritePoint::InFlight, Next::CallTool))
    }

    fn fly(&mut self, kind: FlightKind, id: String, name: Option<String>) {
        self.kept.in_flight = Some(Flight { kind, id, name, started_at: self.now });
    }

    /// After each call of the model. What it has used is used, whatever came of it.
    fn model_ended(&mut self, tokens: Option<u64>) -> Effect {
        self.kept.in_flight = None;
        let Some(tokens) = tokens else {
            return self.fail(GateFailure::of(GateCode::UsageUnknown));
        };
        let used = &mut self.kept.used;
        used.tokens = used.tokens.saturating_add(tokens);
        if used.tokens > self.kept.limits.gate.max_tokens {
            return self.fail(GateFailure::of(GateCode::TokensExhausted));
        }
        self.write(WritePoint::Landed, Next::GoOn)
    }

    fn answered(&mut self, candidate: Candidate) -> Effect {
        if self.structured && self.kept.phase == Phase::Operational {
            self.kept.phase = Phase::Formatting;
            return Effect::Format;
        }
        let used = &mut self.kept.used;
        used.attempts = used.attempts.saturating_add(1);
        let (attempt, cycle) = (used.attempts, used.cycles);
        let results = Vec::new();
        self.kept.validation = Some(Validation { attempt, cycle, candidate, results });
        self.kept.phase = Phase::Validating;
        self.write(WritePoint::Validating, Next::Judge)
    }

    /// Goes by what the validators have said of the answer at hand: the first that does not accept
    /// ends the round, and one that has said nothing yet is asked.
    pub(super) fn judge(&mut self) -> Effect {
        let Some(validation) = self.kept.validation.clone() else {
            return self.fail(inconsistent());
        };
        for validator in self.validators.clone() {
            let key = self.key(&validator.hook, validation.attempt);
            match validation.result(&key).map(|judged| &judged.verdict) {
                None => return self.ask(validator, key, &validation),
                Some(Verdict::Accept) => {}
                Some(Verdict::Repair(_)) => return self.repair(),
                Some(Verdict::Refuse(failure)) => return self.fail(*failure),
            }
        }
        self.kept.phase = Phase::Accepted;
        self.kept.result = Some(validation.candidate);
        self.write(WritePoint::Accepted, Next::Deliver)
    }

    fn ask(
        &mut self,
        validator: Validator,
        key: IdempotencyKey,
        validation: &Validation,
    ) -> Effect {
        let Checkpoint { limits, used, elapsed_ms, .. } = &self.kept;
        if let Some(code) = limits.keeps_from_validation(used, *elapsed_ms) {
            return self.fail(GateFailure::of(code));
        }
        let left = limits.remaining(used, *elapsed_ms).ms;
        self.wait = Wait::Validator(key.clone(), left < validator.timeout_ms);
        Effect::Validate(Box::new(Asking {
            hook: validator.hook,
            key,
            candidate: validation.candidate.clone(),
            attempt: Attempt { attempt: validation.attempt, cycle: validation.cycle },
            timeout_ms: validator.timeout_ms.min(left),
        }))
    }

    fn validated(&mut self, key: IdempotencyKey, cut_short: bool, outcome: &Outcome) -> Effect {
        let word = match outcome {
            Outcome::Answered(answer) => Some(answer.decision.word()),
            Outcome::Failed(_) => None,
        };
        let verdict = verdict(outcome, cut_short);
        if let Some(validation) = &mut self.kept.validation {
            validation.results.push(Judged { key, word, verdict });
        }
        self.write(WritePoint::Judged, Next::Judge)
    }

    fn repair(&mut self) -> Effect {
        let Checkpoint { limits, used, elapsed_ms, .. } = &self.kept;
        if let Some(code) = limits.keeps_from_repair(used, *elapsed_ms) {
            return self.fail(GateFailure::of(code));
        }
        self.kept.used.cycles = self.kept.used.cycles.saturating_add(1);
        self.kept.phase = Phase::Continuing;
        self.write(WritePoint::Continuing, Next::Reopen)
    }

    /// Tells the model what to mend. With that in its history, the work goes on.
    pub(super) fn reopen(&mut self) -> Effect {
        let Some(reopening) = self.reopening() else {
            return self.fail(inconsistent());
        };
        self.kept.validation = None;
        self.kept.phase = Phase::Operational;
        self.wait = Wait::Write(WritePoint::Reopened, Next::GoOn);
        Effect::Write { point: WritePoint::Reopened, append: Some(Box::new(reopening)) }
    }

    fn reopening(&self) -> Option<Reopening> {
        let validation = self.kept.validation.as_ref()?;
        let (hook, feedback) = self.validators.iter().find_map(|validator| {
            let key = self.key(&validator.hook, validation.attempt);
            match &validation.result(&key)?.verdict {
                Verdict::Repair(feedback) => Some((&validator.hook, feedback)),
                Verdict::Accept | Verdict::Refuse(_) => None,
            }
        })?;
        let Checkpoint { limits, used, elapsed_ms, .. } = &self.kept;
        let left = limits.remaining(used, *elapsed_ms).cycles;
        let message = diagnostics(hook, validation.attempt, used.cycles, left, feedback);
        Some(Reopening { answer: validation.candidate.clone(), message })
    }

    pub(super) fn fail(&mut self, failure: GateFailure) -> Effect {
        self.kept.phase = Phase::Failed;
        self.kept.failure = Some(failure);
        self.kept.result = None;
        self.write(WritePoint::Failed, Next::Fail(failure))
    }

    fn write(&mut self, point: WritePoint, next: Next) -> Effect {
        self.wait = Wait::Write(point, next);
        Effect::Write { point, append: None }
    }

    fn written(&mut self, point: WritePoint, next: Next) -> Effect {
        match point {
            WritePoint::Validating => self.tell(GateStage::Validating, false),
            WritePoint::Continuing => self.tell(GateStage::Continuing, false),
            WritePoint::Accepted => self.tell(GateStage::Accepted, false),
            WritePoint::Failed => self.tell(GateStage::Failed, false),
            WritePoint::InFlight
            | WritePoint::Landed
            | WritePoint::Judged
            | WritePoint::Reopened
            | WritePoint::Suspended => {}
        }
        match next {
            Next::CallModel(cap) => {
                self.wait = Wait::Landing;
                Effect::CallModel { cap }
            }
            Next::CallTool => {
                self.wait = Wait::Landing;
                Effect::CallTool
            }
            Next::GoOn => self.go_on(),
            Next::Judge => self.judge(),
            Next::Reopen => self.reopen(),
            Next::Deliver => self.deliver(false),
            Next::Fail(failure) => self.over(Effect::Fail(failure)),
            Next::Suspend => self.over(Effect::Suspend),
        }
    }

    pub(super) fn go_on(&mut self) -> Effect {
        self.wait = Wait::Work;
        Effect::GoOn
    }

    pub(super) fn deliver(&mut self, replayed: bool) -> Effect {
        match self.kept.result.clone() {
            Some(answer) if self.kept.phase == Phase::Accepted => {
                self.over(Effect::Deliver { answer, replayed })
            }
            _ => self.fail(inconsistent()),
        }
    }

    pub(super) fn over(&mut self, effect: Effect) -> Effect {
        self.wait = Wait::Over;
        effect
    }

    /// What cannot be written is not done.
    fn not_written(&mut self, next: Next, fault: WriteFault) -> Effect {
        let failure = match (next, fault) {
            // There is no answer for whatever reason it is.
            (Next::Fail(failure), _) => failure,
            (_, WriteFault::TooLarge) => {
                // Without what made it too large, at least the end may find room.
                self.kept.validation = None;
                self.kept.in_flight = None;
                return self.fail(GateFailure::of(GateCode::CheckpointTooLarge));
            }
            (_, WriteFault::Failed) => {
                GateFailure::because(GateCode::CheckpointInvalid, GateCause::WriteFailed)
            }
        };
        self.kept.phase = Phase::Failed;
        self.kept.failure = Some(failure);
        self.kept.result = None;
        self.tell(GateStage::Failed, false);
        self.over(Effect::Fail(failure))
    }

    /// Returns the key of a validator's execution.
    pub(super) fn key(&self, hook: &HookName, attempt: u64) -> IdempotencyKey {
        let Subject { invocation, step_invocation, agent } = &self.kept.subject;
        Identity {
            invocation,
            step_invocation: step_invocation.as_deref(),
            agent,
            hook,
            event: HookEvent::TurnStop,
            occurrence: Occurrence::Gate(attempt),
        }
        .key()
    }

    pub(super) fn tell(&mut self, stage: GateStage, replayed: bool) {
        let Checkpoint { gates, limits, used, elapsed_ms, failure, .. } = &self.kept;
        let executions = gates
            .iter()
            .filter(|_| used.attempts > 0)
            .map(|hook| self.key(hook, used.attempts).execution_id())
            .collect();
        let trace = GateTrace {
            stage,
            attempt: used.attempts,
            cycle: used.cycles,
            executions,
            remaining: limits.remaining(used, *elapsed_ms),
            code: failure.map(|failure| failure.code.as_str()),
            replayed,
        };
        self.traces.push(trace);
    }

    pub(super) fn take_traces(&mut self) -> Vec<GateTrace> {
        std::mem::take(&mut self.traces)
    }
}

const fn inconsistent() -> GateFailure {
    GateFailure::because(GateCode::CheckpointInvalid, GateCause::Inconsistent)
}

fn append(kept: &mut Checkpoint, appended: &[Appended]) {
    for Appended { id, bytes } in appended {
        kept.history.push(*id);
        kept.history_bytes = kept.history_bytes.saturating_add(*bytes);
    }
}
