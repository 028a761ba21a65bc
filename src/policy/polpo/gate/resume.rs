//! To go on from a checkpoint (contract-polpo §12.3).

use super::checkpoint::{Checkpoint, FlightKind, Phase};
use super::step::{Gate, Setup, Step, Subject, Wait};
use super::{Effect, GateCause, GateCode, GateFailure};
use crate::policy::polpo::HookName;
use crate::policy::polpo::trace::GateStage;
use crate::time::Timestamp;

/// Goes on from `stored`, which has to be of `subject`, with the gates as they are configured now.
///
/// What was decided stays decided. What may or may not have been done is not done again; somebody has
/// to find out. Limits are the stricter of then and now.
pub fn resume(
    stored: Checkpoint,
    subject: &Subject,
    setup: Option<Setup>,
    now: Timestamp,
) -> Result<(Gate, Step), GateFailure> {
    let invalid = |cause| Err(GateFailure::because(GateCode::CheckpointInvalid, cause));
    if stored.subject != *subject {
        return invalid(GateCause::Identity);
    }
    if let Phase::Accepted | Phase::Failed = stored.phase {
        return Ok(ended(stored, setup, now));
    }
    let Some(setup) = setup.filter(|setup| has_all(setup, &stored)) else {
        return invalid(GateCause::GateMissing);
    };
    if let Some(flight) = &stored.in_flight {
        let cause = match flight.kind {
            FlightKind::Model => GateCause::Model,
            FlightKind::Tool => GateCause::Tool,
        };
        return Err(GateFailure::because(GateCode::EffectUnconfirmed, cause));
    }
    Ok(taken_up(stored, setup, now))
}

/// Tells whether every gate that there was is still there.
fn has_all(setup: &Setup, stored: &Checkpoint) -> bool {
    let is_there =
        |gate: &HookName| setup.validators.iter().any(|validator| validator.hook == *gate);
    setup.subject == stored.subject && stored.gates.iter().all(is_there)
}

fn ended(stored: Checkpoint, setup: Option<Setup>, now: Timestamp) -> (Gate, Step) {
    let phase = stored.phase;
    let failure = stored.failure;
    let validators = setup.map(|setup| setup.validators).unwrap_or_default();
    let mut gate = Gate::at(stored, validators, false, now);
    let effect = if let (Phase::Failed, Some(failure)) = (phase, failure) {
        gate.tell(GateStage::Failed, true);
        gate.over(Effect::Fail(failure))
    } else {
        gate.tell(GateStage::Accepted, true);
        gate.deliver(true)
    };
    done(gate, effect)
}

fn taken_up(mut stored: Checkpoint, setup: Setup, now: Timestamp) -> (Gate, Step) {
    stored.limits = stored.limits.tighter(setup.limits);
    stored.packs = setup.packs;
    stored.gates = setup.validators.iter().map(|validator| validator.hook.clone()).collect();
    let phase = stored.phase;
    let mut gate = Gate::at(stored, setup.validators, setup.structured, now);
    let effect = match phase {
        Phase::Validating => {
            gate.tell(GateStage::Validating, true);
            gate.judge()
        }
        Phase::Continuing => {
            gate.tell(GateStage::Continuing, true);
            gate.reopen()
        }
        Phase::Formatting => {
            gate.wait = Wait::Work;
            Effect::Format
        }
        Phase::Operational | Phase::Accepted | Phase::Failed => gate.go_on(),
    };
    done(gate, effect)
}

fn done(mut gate: Gate, effect: Effect) -> (Gate, Step) {
    let traces = gate.take_traces();
    (gate, Step { effect: Some(effect), traces })
}
