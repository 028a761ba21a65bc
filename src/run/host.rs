//! The runs that a server drives: one thread each, as many at once as it has room for.
//!
//! What a run is equipped with comes from outside, as an [`Outfit`]; where it stands is in its
//! records, so nothing here has to survive. A server that starts marks the runs that nobody drives
//! any more. One that goes away interrupts its own, so that their records end where they can be
//! taken up. A run that parks for a decision goes on by itself when there is one, through whichever
//! door or process it came.

mod admission;
mod attend;
mod error;
mod outfit;

use std::collections::BTreeMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, mpsc};
use std::time::Duration;

use super::worker::Confined;
use super::{
    Auto, Hands, Moment, Nobody, Report, RunError, RunSpec, Transport, Verb, ask_prompt, drive,
    drive_confined, recorded_spec, resume, resume_confined,
};
use crate::cancel::Cancel;
use crate::config::TierName;
use crate::engine::{Caller, Engine, Hooks};
use crate::model::Model;
use crate::policy::Policy;
use crate::record::{ActorId, RecordId, ThreadId};
use crate::secret::mask;
use crate::tool::Toolbox;
pub use admission::{Admission, Ask, Preview, Started};
use attend::Bell;
pub use attend::mark_orphans;
pub use error::HostError;
pub use outfit::{Chosen, Outfit, Unfit};

/// The runs that this process drives. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct Host(Arc<Inner>);

struct Inner {
    engine: Engine,
    outfit: Box<dyn Outfit>,
    capacity: usize,
    /// Held from counting what an actor may begin until what it begins is counted.
    starting: Mutex<()>,
    live: Mutex<Live>,
    /// Rung when a run has ended.
    ended: Condvar,
    bell: Arc<Bell>,
}

#[derive(Default)]
struct Live {
    runs: BTreeMap<ThreadId, Driven>,
    /// The runs that wait for a decision, and for which.
    parked: BTreeMap<ThreadId, RecordId>,
    leaving: bool,
}

/// A run that goes on.
struct Driven {
    actor: ActorId,
    cancel: Cancel,
}

/// The place of one run among those that go on, until it is dropped.
struct Place {
    host: Host,
    thread: ThreadId,
    cancel: Cancel,
}

/// What a thread is to do.
enum Job {
    Drive(Box<RunSpec>),
    Resume,
}

/// What it does it with.
struct Gear {
    model: Box<dyn Model>,
    tools: Toolbox,
    confined: Option<Confined>,
    hooks: Hooks,
    policy: Policy,
}

/// Told when a run is open, or why it could not be.
type Opened = mpsc::SyncSender<Result<(), HostError>>;

impl Host {
    /// How many runs go on at once unless somebody says otherwise.
    pub const CAPACITY: usize = 16;

    /// Returns a host with room for `capacity` runs at once.
    pub fn new(engine: Engine, outfit: impl Outfit + 'static, capacity: usize) -> Self {
        Self(Arc::new(Inner {
            engine,
            outfit: Box::new(outfit),
            capacity,
            starting: Mutex::default(),
            live: Mutex::default(),
            ended: Condvar::new(),
            bell: Arc::default(),
        }))
    }

    /// Returns the engine.
    pub fn engine(&self) -> &Engine {
        &self.0.engine
    }

    /// Returns what runs are equipped with.
    pub fn outfit(&self) -> &dyn Outfit {
        &*self.0.outfit
    }

    /// Begins a run, and returns when it is open. A goal that a policy hook blocks begins none, and
    /// is not counted; nobody waits for what the hooks take but who has asked.
    pub fn start(&self, caller: &Caller, ask: &Ask) -> Result<Started, HostError> {
        let (spec, concurrency) = self.admit(caller, ask)?;
        let gear = self.gear(&spec)?;
        let place = self.place(&spec.thread, &spec.actor, concurrency)?;
        let thread = spec.thread.clone();
        let mut watch = |moment: Moment<'_>| warn(&thread, &moment);
        let spec = ask_prompt(spec, self.engine(), &gear.policy, &place.cancel, &mut watch)?;
        let starting = self.0.starting.lock().unwrap_or_else(PoisonError::into_inner);
        self.check_today(caller, ask)?;
        self.note_admission(caller, &spec)?;
        let started = Started::of(&spec);
        Self::go(place, Job::Drive(Box::new(spec)), gear)?;
        drop(starting);
        Ok(started)
    }

    /// Takes up a run whose records end, and returns when it goes on.
    pub fn resume(&self, thread: &ThreadId) -> Result<(), HostError> {
        let spec = recorded_spec(self.engine(), thread)?;
        let gear = self.gear(&spec)?;
        let place = self.place(thread, &spec.actor, None)?;
        Self::go(place, Job::Resume, gear)
    }

    /// Takes no more runs, interrupts those that go on, and waits until they have ended or `at_most`
    /// has passed. Returns whether they have.
    pub fn leave(&self, at_most: Duration) -> bool {
        let mut live = self.live();
        live.leaving = true;
        for run in live.runs.values() {
            run.cancel.interrupt();
        }
        self.0.bell.ring();
        let waited = self.0.ended.wait_timeout_while(live, at_most, |live| !live.runs.is_empty());
        let (live, _) = waited.unwrap_or_else(PoisonError::into_inner);
        live.runs.is_empty()
    }

    fn live(&self) -> MutexGuard<'_, Live> {
        self.0.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn gear(&self, spec: &RunSpec) -> Result<Gear, HostError> {
        let model = self.outfit().model(spec)?;
        let tools = self.outfit().tools(self.engine(), spec)?;
        let operator = spec.tier == TierName::Operator.as_str();
        let policy = self.outfit().policy(spec, operator)?;
        if spec.transport != Transport::Sandboxed {
            return Ok(Gear { model, tools, confined: None, hooks: Hooks::Live, policy });
        }
        // A confined run is told its hooks when it starts, and keeps to them.
        let hooks = self.engine().frozen_hooks()?;
        let confined = self.outfit().confined(spec.workspace.as_deref());
        Ok(Gear { model, tools, confined, hooks, policy })
    }

    /// Takes a place among the runs that go on, if there is one.
    fn place(
        &self,
        thread: &ThreadId,
        actor: &ActorId,
        concurrency: Option<u32>,
    ) -> Result<Place, HostError> {
        let mut live = self.live();
        if live.leaving {
            return Err(HostError::Leaving);
        }
        let (count, capacity) = (live.runs.len(), self.0.capacity);
        if count >= capacity {
            return Err(HostError::Full { live: count, capacity });
        }
        let own = live.runs.values().filter(|run| run.actor == *actor).count();
        if let Some(most) = concurrency.filter(|most| own >= usize::try_from(*most).unwrap_or(0)) {
            return Err(HostError::ActorFull { actor: actor.clone(), live: own, most });
        }
        if live.runs.contains_key(thread) {
            return Err(HostError::LiveAlready { thread: thread.clone() });
        }
        let cancel = Cancel::new();
        let run = Driven { actor: actor.clone(), cancel: cancel.clone() };
        live.runs.insert(thread.clone(), run);
        Ok(Place { host: self.clone(), thread: thread.clone(), cancel })
    }

    /// Lets a thread drive the run, and returns when it goes on.
    fn go(place: Place, job: Job, gear: Gear) -> Result<(), HostError> {
        let (opened, goes_on) = mpsc::sync_channel(1);
        let name = format!("run-{}", place.thread.as_str().chars().take(11).collect::<String>());
        std::thread::Builder::new()
            .name(name)
            .spawn(move || place.play(job, gear, &opened))
            .map_err(HostError::NoThread)?;
        // A thread that ended without a word has panicked.
        goes_on.recv().unwrap_or(Err(HostError::Broke))
    }
}

impl Place {
    /// Drives the run to where it ends or parks.
    fn play(self, job: Job, gear: Gear, opened: &Opened) {
        let Gear { mut model, tools, confined, hooks, policy } = gear;
        let thread = &self.thread;
        let mut watch = |moment: Moment<'_>| {
            warn(thread, &moment);
            if matches!(moment, Moment::Opened(_) | Moment::Resumed { .. }) {
                // The first word is all that is waited for.
                let _ = opened.try_send(Ok(()));
            }
        };
        let hands = Hands {
            engine: self.host.engine(),
            model: model.as_mut(),
            tools: &tools,
            decider: &mut Nobody,
            approver: &mut Auto,
            policy: &policy,
            hooks,
            cancel: &self.cancel,
            watch: &mut watch,
        };
        let played = match (job, &confined) {
            (Job::Drive(spec), None) => drive(*spec, hands),
            (Job::Drive(spec), Some(confined)) => drive_confined(*spec, hands, confined),
            (Job::Resume, None) => resume(&self.thread, hands),
            (Job::Resume, Some(confined)) => resume_confined(&self.thread, hands, confined),
        };
        match played {
            Ok(report) => self.ended(&report),
            Err(RunError::Interrupted { .. }) => {
                tracing::info!(thread = %self.thread, "a run was interrupted");
            }
            Err(error) => {
                tracing::warn!(thread = %self.thread, %error, "a run could not go on");
                let _ = opened.try_send(Err(error.into()));
            }
        }
    }

    fn ended(&self, report: &Report) {
        tracing::info!(thread = %self.thread, outcome = %report.outcome.verb, "a run ended");
        if report.outcome.verb == Verb::AwaitingActor
            && let Some(request) = report.awaits
        {
            self.host.live().parked.insert(self.thread.clone(), request);
        }
    }
}

/// Logs what a policy hook had to complain of.
fn warn(thread: &ThreadId, moment: &Moment<'_>) {
    if let Moment::Warned(warning) = moment {
        let warning = format!("hook: {warning}");
        tracing::warn!(%thread, warning = &*mask(&warning), "a policy hook failed");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.host.live().runs.remove(&self.thread);
        self.host.0.ended.notify_all();
        // There is room, and what it parked for may be decided already.
        self.host.0.bell.ring();
    }
}
