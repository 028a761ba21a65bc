//! From a checkpoint to what is stored.

use super::{Checkpoint, Flight, Judged, TooLarge, Validation};
use crate::canon::{Canonical, Object, Value, hex};
use crate::object;
use crate::policy::polpo::Word;
use crate::policy::polpo::bounds::CHECKPOINT_BYTES;
use crate::policy::polpo::gate::{Limits, Used, Verdict};

impl Checkpoint {
    /// Returns the checkpoint as it is stored, with its checksum.
    pub fn to_object(&self) -> Result<Object, TooLarge> {
        let mut members = self.members();
        let text = Canonical::of_object(&members);
        let checksum = hex(&text.sha256());
        // With `"checksum":"…",`.
        let own = text.as_bytes().len() + checksum.len() + 14;
        let bytes = self.history_bytes.saturating_add(own as u64);
        if bytes > CHECKPOINT_BYTES {
            return Err(TooLarge { bytes });
        }
        members.extend(object! { "checksum": checksum });
        Ok(members)
    }

    fn members(&self) -> Object {
        let packs: Object =
            self.packs.iter().map(|(name, sha)| (name.clone(), sha.as_str().into())).collect();
        let gates: Vec<Object> = self
            .gates
            .iter()
            .map(|gate| object! { "pack": gate.pack.as_str(), "hook": gate.hook.as_str() })
            .collect();
        let history: Vec<String> = self.history.iter().map(ToString::to_string).collect();
        object! {
            "version": 1,
            "invocation": self.subject.invocation.as_str(),
            "stepInvocation": self.subject.step_invocation.as_deref(),
            "agent": self.subject.agent.as_str(),
            "packs": packs,
            "gates": gates,
            "startedAt": self.started_at.as_millis(),
            "elapsedMs": self.elapsed_ms,
            "limits": limits(&self.limits),
            "used": used(&self.used),
            "history": history,
            "historyBytes": self.history_bytes,
            "phase": self.phase.as_str(),
            "inFlight": self.in_flight.as_ref().map(in_flight),
            "validation": self.validation.as_ref().map(validation),
            "result": self.result.as_ref().map_or(Value::Null, |result| result.to_value()),
            "errorCode": self.failure.map(|failure| failure.code.as_str()),
            "errorCause": self.failure.and_then(|failure| failure.cause).map(|it| it.as_str()),
        }
    }
}

fn limits(limits: &Limits) -> Object {
    object! {
        "maxCycles": limits.gate.max_cycles,
        "maxDurationMs": limits.gate.max_duration_ms,
        "maxTokens": limits.gate.max_tokens,
        "maxTurns": limits.max_turns,
    }
}

fn used(used: &Used) -> Object {
    object! {
        "cycles": used.cycles,
        "turns": used.turns,
        "tokens": used.tokens,
        "attempts": used.attempts,
        "recoveries": used.recoveries,
    }
}

fn in_flight(flight: &Flight) -> Object {
    object! {
        "kind": flight.kind.as_str(),
        "id": flight.id.as_str(),
        "name": flight.name.as_deref(),
        "startedAt": flight.started_at.as_millis(),
    }
}

fn validation(validation: &Validation) -> Object {
    let results: Vec<Object> = validation.results.iter().map(judged).collect();
    let refused = |judged: &Judged| judged.verdict != Verdict::Accept;
    let decided = validation.results.iter().any(refused);
    object! {
        "attempt": validation.attempt,
        "cycle": validation.cycle,
        "candidate": validation.candidate.to_value(),
        "results": results,
        "state": if decided { "decided" } else { "pending" },
    }
}

fn judged(judged: &Judged) -> Object {
    let mut members = object! {
        "executionId": judged.key.execution_id().to_string(),
        "idempotencyKey": judged.key.to_string(),
        "decision": judged.word.map(Word::as_str),
    };
    match &judged.verdict {
        Verdict::Accept => {}
        Verdict::Repair(feedback) => {
            members.extend(object! { "feedback": feedback.clone() });
        }
        Verdict::Refuse(failure) => {
            members.extend(object! {
                "code": failure.code.as_str(),
                "cause": failure.cause.map(|cause| cause.as_str()),
            });
        }
    }
    members
}
