//! A run from its start, or from where its records end, to its outcome.

use std::path::PathBuf;
use std::time::Duration;

use super::audited::Audited;
use super::inbox::Inbox;
use super::perform::Driver;
use super::replay::{Replayed, replay, replay_telling};
use super::step::advance;
use super::worker::{Briefing, Confined, Overseer};
use super::{
    Approver, Decider, Effect, Event, Moment, Outcome, Report, RunError, RunSpec, RunState,
    TrackRecord, Transport, Verb, ask_prompt, body,
};
use crate::cancel::Cancel;
use crate::canon::Value;
use crate::engine::{DriverLock, Engine, Hooks, RunSeat};
use crate::hook::History;
use crate::model::{Model, ToolDescription};
use crate::policy::Policy;
use crate::record::{Origin, Sequence, ThreadId};
use crate::store::{Stored, ThreadRange};
use crate::tool::{Answer, Toolbox};

/// How often a driver looks whether somebody wants its run to stop, while a model or a tool works.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How many records are read at once.
const PAGE: usize = 1000;

/// What a call is answered with whose effect nobody knows.
const UNKNOWN: &str = "the run was interrupted while this call was executed: whether it took \
                       effect is not known, and it was not done again; look before you repeat it";

/// Why a run was interrupted that was being driven.
const INTERRUPTED: &str = "whoever drove it went away";

/// What a run is driven with.
pub struct Hands<'a> {
    /// The instance.
    pub engine: &'a Engine,
    /// Who takes the turns.
    pub model: &'a mut dyn Model,
    /// What may be called.
    pub tools: &'a Toolbox,
    /// Who may be asked at once.
    pub decider: &'a mut dyn Decider,
    /// Who approves calls.
    pub approver: &'a mut dyn Approver,
    /// The policy hooks, and what else the operator has set up about a run.
    pub policy: &'a Policy,
    /// Which hooks are asked.
    pub hooks: Hooks,
    /// Raised by whoever wants the run to stop.
    pub cancel: &'a Cancel,
    /// Told each moment as it comes.
    pub watch: &'a mut dyn FnMut(Moment<'_>),
}

/// Runs a goal to its end.
///
/// A model that fails ends the run with an outcome; only a store that fails ends it without one,
/// and then it can be resumed. The driver holds the lock of its thread for as long as it lives.
pub fn drive(spec: RunSpec, hands: Hands<'_>) -> Result<Report, RunError> {
    begin(spec, hands, None, None)
}

/// The same, with the tools of the workspace in a place that reaches nothing else. Where there is
/// no such place to be had, nothing is begun.
pub fn drive_confined(
    spec: RunSpec,
    hands: Hands<'_>,
    confined: &Confined,
) -> Result<Report, RunError> {
    begin(RunSpec { transport: Transport::Sandboxed, ..spec }, hands, Some(confined), None)
}

pub(super) fn begin(
    mut spec: RunSpec,
    hands: Hands<'_>,
    confined: Option<&Confined>,
    part_of: Option<&Audited>,
) -> Result<Report, RunError> {
    same_place(&spec, confined)?;
    let lock = hands.engine.lock_driver(&spec.thread)?;
    if spec.prompt.is_none() {
        let Hands { engine, policy, cancel, .. } = hands;
        spec = ask_prompt(spec, engine, policy, cancel, hands.watch)?;
    }
    let standing = hands.engine.standing(&spec.actor, &spec.domain)?;
    spec.track_record = TrackRecord::of(standing);
    let state = RunState::new(spec, describe(hands.tools));
    let audited = audited(&hands, state.spec(), part_of);
    let seat = seat_of(state.spec(), 0, hands.hooks.clone());
    let read_to = last_of(hands.engine, &seat.thread)?;
    let overseer = oversee(confined, &state, &hands.hooks, &[])?;
    let inbox = Inbox::after(read_to);
    let mut driver =
        Driver::new(hands, seat, History::default(), inbox, confined.cloned(), audited, overseer);
    driver.tell(&Event::Start);
    run(driver, state, Event::Start, &lock)
}

/// Takes up a run where its records end.
///
/// Nothing that has completed is done again. A call that was being executed when the run was
/// interrupted is answered with that; fire counts start again, in the next life of the run.
pub fn resume(thread: &ThreadId, hands: Hands<'_>) -> Result<Report, RunError> {
    take_up(thread, hands, None, None)
}

/// The same for a run whose tools work in a place.
pub fn resume_confined(
    thread: &ThreadId,
    hands: Hands<'_>,
    confined: &Confined,
) -> Result<Report, RunError> {
    take_up(thread, hands, Some(confined), None)
}

pub(super) fn take_up(
    thread: &ThreadId,
    hands: Hands<'_>,
    confined: Option<&Confined>,
    part_of: Option<&Audited>,
) -> Result<Report, RunError> {
    let lock = hands.engine.lock_driver(thread)?;
    let tools = describe(hands.tools);
    let described = |name: &str| tools.iter().find(|tool| tool.name == name).cloned();
    let mut past = Vec::new();
    let mut tell = |event: &Event| past.push(Overseer::past(event));
    let replayed = replay_telling(&records_of(hands.engine, thread)?, &described, &mut tell)?;
    let Replayed { state, effect, life, history, read_to } = replayed;
    same_place(state.spec(), confined)?;
    if let Some(outcome) = state.outcome().filter(|outcome| !outcome.resumable) {
        return Err(RunError::Finished { thread: thread.clone(), verb: outcome.verb });
    }
    let life = life.saturating_add(1);
    let audited = audited(&hands, state.spec(), part_of);
    let seat = seat_of(state.spec(), life, hands.hooks.clone());
    let overseer = oversee(confined, &state, &hands.hooks, &past)?;
    let mut driver = Driver::new(
        hands,
        seat,
        history,
        Inbox::after(read_to),
        confined.cloned(),
        audited,
        overseer,
    );
    if let Some(request) = state.awaits()
        && !driver.is_decided(request)?
    {
        return Err(RunError::Undecided { thread: thread.clone(), request });
    }
    driver.begin(body::resume(&state, life))?;
    driver.show(Moment::Resumed { thread, life });
    let next = match effect {
        None => Event::Resumed,
        // Whatever was begun and has no result may have happened.
        Some(Effect::Execute(_)) => Event::Answered { answer: Answer::error(UNKNOWN), took_ms: 0 },
        Some(effect) => driver.perform(&state, effect)?,
    };
    driver.tell(&next);
    run(driver, state, next, &lock)
}

/// Returns what a run was asked to do, from the record that opened it.
pub fn recorded_spec(engine: &Engine, thread: &ThreadId) -> Result<RunSpec, RunError> {
    let replayed = replay(&records_of(engine, thread)?, &|_| None)?;
    Ok(replayed.state.spec().clone())
}

/// Reads the records that the engine wrote on a thread, in the order of arrival.
pub fn records_of(engine: &Engine, thread: &ThreadId) -> Result<Vec<Stored>, RunError> {
    let mut records = Vec::new();
    let mut range = ThreadRange::default();
    loop {
        let page = engine
            .store()
            .read(|reader| reader.thread(thread, range, PAGE))
            .map_err(crate::engine::EngineError::from)?;
        let Some(last) = page.last() else { return Ok(records) };
        range.after = last.sequence;
        records.extend(page.into_iter().filter(|stored| stored.origin == Origin::Engine));
    }
}

fn run(
    mut driver: Driver<'_>,
    mut state: RunState,
    mut event: Event,
    _lock: &DriverLock,
) -> Result<Report, RunError> {
    let done = Cancel::new();
    let (engine, cancel) = (driver.engine().clone(), driver.cancel().clone());
    let thread = state.spec().thread.clone();
    let mut inbox = driver.inbox();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !done.wait(LOOK_EVERY) {
                if inbox.take(&engine, &thread).is_ok_and(|mail| mail.stop) {
                    cancel.cancel();
                }
            }
        });
        let ended = loop {
            let Some(effect) = advance(&mut state, event) else { break Ok(()) };
            if driver.cancel().is_interrupted() && (effect.begins() || effect.closes()) {
                break Err(interrupted(&driver, &state));
            }
            match driver.answer(&state, effect) {
                Ok(next) => event = next,
                // A task of it was.
                Err(RunError::Interrupted { .. }) => break Err(interrupted(&driver, &state)),
                Err(error) => break Err(error),
            }
        };
        done.cancel();
        ended
    })?;
    let outcome = match state.outcome() {
        Some(outcome) => outcome.clone(),
        None => Outcome::new(Verb::Failed, "the run stopped without an outcome"),
    };
    driver.show(Moment::Closed(&outcome));
    let (calls_ok, calls_failed) = state.calls();
    Ok(Report {
        thread: state.spec().thread.clone(),
        outcome,
        spent: *state.spent(),
        calls_ok,
        calls_failed,
        observations: state.observations(),
        awaits: state.awaits(),
    })
}

/// Returns where it is remembered what happens: for a task, where it is for the run it is part of.
fn audited(hands: &Hands<'_>, spec: &RunSpec, part_of: Option<&Audited>) -> Audited {
    match part_of {
        Some(whole) => whole.of_task(spec),
        None => Audited::open(hands.engine, hands.policy, spec),
    }
}

/// Notes that a run was interrupted: its records end where it can be taken up.
fn interrupted(driver: &Driver<'_>, state: &RunState) -> RunError {
    let noted = driver.write(body::interruption(state, INTERRUPTED));
    let thread = state.spec().thread.clone();
    noted.map_or_else(Into::into, |_| RunError::Interrupted { thread })
}

fn seat_of(spec: &RunSpec, life: u32, hooks: Hooks) -> RunSeat {
    RunSeat {
        thread: spec.thread.clone(),
        life,
        actor: spec.actor.clone(),
        domain: spec.domain.clone(),
        namespace: spec.namespace.clone(),
        hooks,
    }
}

/// A run that is to be confined is never driven in the open, whoever asks for it.
fn same_place(spec: &RunSpec, confined: Option<&Confined>) -> Result<(), RunError> {
    let fits = match spec.transport {
        Transport::InProcess => confined.is_none(),
        Transport::Sandboxed => confined.is_some(),
        // Nobody here drives somebody else's loop.
        Transport::External => false,
    };
    if fits {
        return Ok(());
    }
    Err(RunError::Elsewhere { thread: spec.thread.clone(), transport: spec.transport })
}

/// Starts the worker of a run that is confined.
fn oversee(
    confined: Option<&Confined>,
    state: &RunState,
    hooks: &Hooks,
    past: &[Value],
) -> Result<Option<Overseer>, RunError> {
    let Some(confined) = confined else { return Ok(None) };
    let briefing = Briefing {
        spec: state.spec().clone(),
        tools: state.tools.clone(),
        hooks: Briefing::hooks_of(hooks),
        live_hooks: matches!(hooks, Hooks::Live),
        workspace: confined.place.workspace().map(PathBuf::from).unwrap_or_default(),
    };
    Ok(Some(Overseer::start(confined, &briefing, past)?))
}

fn last_of(engine: &Engine, thread: &ThreadId) -> Result<Sequence, RunError> {
    let last = engine.store().read(|reader| reader.last_of_thread(thread.as_str()));
    Ok(last.map_err(crate::engine::EngineError::from)?)
}

fn describe(tools: &Toolbox) -> Vec<ToolDescription> {
    let describe = |spec: &crate::tool::ToolSpec| ToolDescription {
        name: spec.name.clone(),
        description: spec.description.clone(),
        parameters: spec.parameters.clone(),
    };
    tools.specs().map(describe).collect()
}
