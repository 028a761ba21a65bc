//! From what is stored to a checkpoint. Whatever is not exactly one is none.

use std::collections::BTreeMap;

use super::{Checkpoint, Flight, FlightKind, Judged, Phase, Validation};
use crate::canon::{Canonical, Limits as ReadLimits, Object, Value, hex, parse};
use crate::policy::polpo::bounds::RECOVERIES;
use crate::policy::polpo::envelope::Candidate;
use crate::policy::polpo::gate::{
    GateCause, GateCode, GateFailure, Limits, Subject, Used, Verdict,
};
use crate::policy::polpo::{GateLimits, HookName, IdempotencyKey, Word, is_feedback};
use crate::record::RecordId;
use crate::time::Timestamp;

impl Checkpoint {
    /// Reads the text of a checkpoint.
    pub fn parse(text: &[u8]) -> Result<Self, GateFailure> {
        let value = parse(text, ReadLimits::STORED).map_err(|_| invalid(GateCause::Unreadable))?;
        Self::of_object(value.into_object().ok_or_else(|| invalid(GateCause::Unreadable))?)
    }

    /// Reads a checkpoint that was stored.
    pub fn of_object(mut members: Object) -> Result<Self, GateFailure> {
        let checksum = members.remove("checksum");
        let computed = hex(&Canonical::of_object(&members).sha256());
        match checksum {
            Some(Value::String(checksum)) if checksum == computed => {}
            Some(_) => return Err(invalid(GateCause::Checksum)),
            None => return Err(invalid(GateCause::Unreadable)),
        }
        if members.remove("version").and_then(|version| version.as_u64()) != Some(1) {
            return Err(invalid(GateCause::Version));
        }
        let checkpoint =
            checkpoint(Members(members)).ok_or_else(|| invalid(GateCause::Unreadable))?;
        if checkpoint.goes_together() {
            Ok(checkpoint)
        } else {
            Err(invalid(GateCause::Inconsistent))
        }
    }

    /// Tells whether a machine could have come to this.
    fn goes_together(&self) -> bool {
        let Used { cycles, attempts, recoveries, .. } = self.used;
        let judged = attempts == cycles.saturating_add(1);
        let rounds = match self.phase {
            Phase::Operational | Phase::Formatting | Phase::Continuing => attempts == cycles,
            Phase::Validating | Phase::Accepted => judged,
            Phase::Failed => judged || attempts == cycles,
        };
        let at_work = matches!(self.phase, Phase::Operational | Phase::Formatting);
        let being_validated =
            matches!(self.phase, Phase::Validating | Phase::Continuing | Phase::Accepted);
        let of_this_answer = self.validation.as_ref().is_none_or(|validation| {
            validation.attempt == attempts
                && validation.attempt == validation.cycle.saturating_add(1)
        });
        rounds
            && of_this_answer
            && recoveries <= RECOVERIES
            && !self.gates.is_empty()
            && (at_work || self.in_flight.is_none())
            && (self.validation.is_some() == being_validated || self.phase == Phase::Failed)
            && self.result.is_some() == (self.phase == Phase::Accepted)
            && self.failure.is_some() == (self.phase == Phase::Failed)
    }
}

pub(super) const fn invalid(cause: GateCause) -> GateFailure {
    GateFailure::because(GateCode::CheckpointInvalid, cause)
}

/// The members of an object that are still to be read.
struct Members(Object);

impl Members {
    fn of(value: Value) -> Option<Self> {
        value.into_object().map(Self)
    }

    fn value(&mut self, key: &str) -> Option<Value> {
        self.0.remove(key)
    }

    fn number(&mut self, key: &str) -> Option<u64> {
        self.value(key)?.as_u64()
    }

    fn time(&mut self, key: &str) -> Option<Timestamp> {
        self.value(key)?.as_i64().map(Timestamp::from_millis)
    }

    fn text(&mut self, key: &str) -> Option<String> {
        text(self.value(key)?)
    }

    /// Reads a member that may be null; it has to be there.
    #[expect(clippy::option_option, reason = "unreadable, null, or a value")]
    fn option<T>(&mut self, key: &str, read: impl FnOnce(Value) -> Option<T>) -> Option<Option<T>> {
        match self.value(key)? {
            Value::Null => Some(None),
            value => read(value).map(Some),
        }
    }

    fn list<T>(&mut self, key: &str, read: impl Fn(Value) -> Option<T>) -> Option<Vec<T>> {
        match self.value(key)? {
            Value::Array(elements) => elements.into_iter().map(read).collect(),
            _ => None,
        }
    }

    /// Ends the reading: nothing may be left.
    fn end(self) -> Option<()> {
        self.0.is_empty().then_some(())
    }
}

fn text(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text),
        _ => None,
    }
}

fn checkpoint(mut members: Members) -> Option<Checkpoint> {
    let code = members.option("errorCode", |code| GateCode::parse(code.as_str()?))?;
    let cause = members.option("errorCause", |cause| GateCause::parse(cause.as_str()?))?;
    let checkpoint = Checkpoint {
        subject: Subject {
            invocation: members.text("invocation")?,
            step_invocation: members.option("stepInvocation", text)?,
            agent: members.text("agent")?,
        },
        packs: packs(members.value("packs")?)?,
        gates: members.list("gates", hook)?,
        started_at: members.time("startedAt")?,
        elapsed_ms: members.number("elapsedMs")?,
        limits: limits(members.value("limits")?)?,
        used: used(members.value("used")?)?,
        history: members.list("history", |id| RecordId::parse(id.as_str()?))?,
        history_bytes: members.number("historyBytes")?,
        phase: Phase::parse(&members.text("phase")?)?,
        in_flight: members.option("inFlight", flight)?,
        validation: members.option("validation", validation)?,
        result: members.option("result", Candidate::of_value)?,
        failure: code.map(|code| GateFailure { code, cause }),
    };
    members.end()?;
    (code.is_some() || cause.is_none()).then_some(checkpoint)
}

fn packs(value: Value) -> Option<BTreeMap<String, String>> {
    value.into_object()?.into_iter().map(|(name, sha)| Some((name, text(sha)?))).collect()
}

fn hook(value: Value) -> Option<HookName> {
    let mut members = Members::of(value)?;
    let hook = HookName { pack: members.text("pack")?, hook: members.text("hook")? };
    members.end().map(|()| hook)
}

fn limits(value: Value) -> Option<Limits> {
    let mut members = Members::of(value)?;
    let limits = Limits {
        gate: GateLimits {
            max_cycles: members.number("maxCycles")?,
            max_duration_ms: members.number("maxDurationMs")?,
            max_tokens: members.number("maxTokens")?,
        },
        max_turns: members.number("maxTurns")?,
    };
    members.end().map(|()| limits)
}

fn used(value: Value) -> Option<Used> {
    let mut members = Members::of(value)?;
    let used = Used {
        cycles: members.number("cycles")?,
        turns: members.number("turns")?,
        tokens: members.number("tokens")?,
        attempts: members.number("attempts")?,
        recoveries: members.number("recoveries")?,
    };
    members.end().map(|()| used)
}

fn flight(value: Value) -> Option<Flight> {
    let mut members = Members::of(value)?;
    let flight = Flight {
        kind: match members.text("kind")?.as_str() {
            "model" => FlightKind::Model,
            "tool" => FlightKind::Tool,
            _ => return None,
        },
        id: members.text("id")?,
        name: members.option("name", text)?,
        started_at: members.time("startedAt")?,
    };
    members.end().map(|()| flight)
}

fn validation(value: Value) -> Option<Validation> {
    let mut members = Members::of(value)?;
    // What it says follows from the results.
    members.text("state")?;
    let validation = Validation {
        attempt: members.number("attempt")?,
        cycle: members.number("cycle")?,
        candidate: Candidate::of_value(members.value("candidate")?)?,
        results: members.list("results", judged)?,
    };
    members.end().map(|()| validation)
}

fn judged(value: Value) -> Option<Judged> {
    let mut members = Members::of(value)?;
    let key = IdempotencyKey::parse(&members.text("idempotencyKey")?)?;
    if members.text("executionId")? != key.execution_id().to_string() {
        return None;
    }
    let word = members.option("decision", |word| Word::parse(word.as_str()?))?;
    let verdict = match (members.value("feedback"), members.value("code")) {
        (Some(feedback), None) if is_feedback(&feedback) => Verdict::Repair(feedback),
        (None, Some(code)) => {
            let code = GateCode::parse(code.as_str()?)?;
            let cause = members.option("cause", |cause| GateCause::parse(cause.as_str()?))?;
            Verdict::Refuse(GateFailure { code, cause })
        }
        (None, None) if word == Some(Word::Allow) => Verdict::Accept,
        _ => return None,
    };
    members.end().map(|()| Judged { key, word, verdict })
}
