//! What a server looks after while its runs go on by themselves.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::time::Duration;

use super::{Host, HostError, Inner};
use crate::engine::{Driven, Engine, EngineError};
use crate::object;
use crate::record::{Act, ActorId, Draft, RecordId, ThreadId};
use crate::run::body::INTERRUPTION_KIND;
use crate::run::{RowState, RunRow, Transport, row_of, rows};
use crate::store::RunRange;

/// How often it is asked whether anybody has written, in this process or another.
const TICK: Duration = Duration::from_millis(100);

/// How many runs are looked at at once.
const PAGE: usize = 500;

/// Why a run is found that nobody drives.
const ORPHANED: &str = "nobody drives it any more";

/// Rung when there may be something to do.
#[derive(Default)]
pub(super) struct Bell {
    rung: Mutex<bool>,
    heard: Condvar,
}

impl Bell {
    pub(super) fn ring(&self) {
        *self.rung.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.heard.notify_all();
    }

    /// Waits until it is rung or `at_most` has passed, and tells whether it was.
    fn wait(&self, at_most: Duration) -> bool {
        let rung = self.rung.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.heard.wait_timeout_while(rung, at_most, |rung| !*rung);
        let (mut rung, _) = waited.unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *rung)
    }
}

impl Host {
    /// Marks the runs that nobody drives any more, and starts to look after those that wait for a
    /// decision. Returns how many were marked.
    pub fn attend(&self) -> Result<usize, HostError> {
        let marked = mark_orphans(self.engine())?;
        self.adopt()?;
        let (host, bell) = (Arc::downgrade(&self.0), Arc::clone(&self.0.bell));
        std::thread::Builder::new()
            .name("runs".to_owned())
            .spawn(move || attend(&host, &bell))
            .map_err(HostError::NoThread)?;
        Ok(marked)
    }

    /// Looks after the runs that a server has begun and that wait for a decision, or have got one
    /// while there was no server.
    fn adopt(&self) -> Result<(), HostError> {
        let admitted = self.engine().store().read(|reader| reader.admissions());
        let admitted = admitted.map_err(EngineError::from)?;
        let threads: BTreeSet<_> =
            admitted.into_iter().map(|one| one.record.thread.clone()).collect();
        for thread in threads {
            let row = row_of(self.engine(), &thread)?;
            if let Some(request) = row.as_ref().and_then(parked_for) {
                self.live().parked.insert(thread, request);
            }
        }
        self.0.bell.ring();
        Ok(())
    }

    /// Takes up each run whose question has been answered. Returns whether one has to be looked at
    /// again.
    fn go_on(&self) -> bool {
        let parked = self.live().parked.clone();
        let mut again = false;
        for (thread, request) in parked {
            match self.go_on_with(&thread, request) {
                Ok(Waits::No) => drop(self.live().parked.remove(&thread)),
                Ok(Waits::ForDecision) => {}
                Ok(Waits::ForRoom) => again = true,
                Err(error) => {
                    tracing::warn!(%thread, %error, "a run that was decided could not go on");
                    self.live().parked.remove(&thread);
                }
            }
        }
        again
    }

    fn go_on_with(&self, thread: &ThreadId, request: RecordId) -> Result<Waits, HostError> {
        if self.engine().decision(request)?.is_none() {
            return Ok(Waits::ForDecision);
        }
        // Whoever drives it may leave it parked, or gone.
        if self.engine().is_driven(thread)? {
            return Ok(Waits::ForRoom);
        }
        let row = row_of(self.engine(), thread)?;
        if row.as_ref().and_then(parked_for) != Some(request) {
            return Ok(Waits::No);
        }
        // Before it can park again.
        self.live().parked.remove(thread);
        match self.resume(thread) {
            Ok(()) => Ok(Waits::ForDecision),
            Err(HostError::Full { .. } | HostError::Run(crate::run::RunError::Driven(_))) => {
                self.live().parked.insert(thread.clone(), request);
                Ok(Waits::ForRoom)
            }
            Err(error) => Err(error),
        }
    }
}

/// Writes down of each run without an end that nobody drives it, once: whoever marks it holds
/// the right to drive it meanwhile. Returns how many were marked.
pub fn mark_orphans(engine: &Engine) -> Result<usize, HostError> {
    let mut marked = 0;
    let mut range = RunRange::default();
    loop {
        let (found, next) = rows(engine, &range, Some(RowState::Running), PAGE)?;
        for row in found.iter().filter(|row| row.spec.transport != Transport::External) {
            marked += usize::from(mark_orphan(engine, &row.spec.thread)?);
        }
        let Some(next) = next else { return Ok(marked) };
        range.before = Some(next);
    }
}

fn mark_orphan(engine: &Engine, thread: &ThreadId) -> Result<bool, HostError> {
    let _lock = match engine.lock_driver(thread) {
        Ok(lock) => lock,
        Err(Driven::Engine(error)) => return Err(error.into()),
        Err(_) => return Ok(false),
    };
    // It may have ended before the lock was had.
    let Some(row) = row_of(engine, thread)? else { return Ok(false) };
    if row.state != RowState::Running {
        return Ok(false);
    }
    let body = object! {
        "kind": INTERRUPTION_KIND,
        "namespace": &row.spec.namespace,
        "reason": ORPHANED,
    };
    let draft = Draft::new(thread.clone(), ActorId::engine(), Act::Know, body);
    engine.author(move |author| Ok(author.write(draft)?.id()))?;
    tracing::warn!(%thread, "a run was found that nobody drives");
    Ok(true)
}

/// What a parked run waits for.
enum Waits {
    No,
    ForDecision,
    ForRoom,
}

/// Returns the question that a run is parked for, be it answered or not.
fn parked_for(row: &RunRow) -> Option<RecordId> {
    let parked = matches!(row.state, RowState::WaitingOnYou | RowState::StoppedShort);
    row.awaited.filter(|_| parked && row.resumable)
}

fn attend(host: &Weak<Inner>, bell: &Bell) {
    let (mut seen, mut again) = (None, true);
    loop {
        let rung = bell.wait(TICK);
        let Some(host) = host.upgrade().map(Host) else { return };
        let (leaving, idle) = {
            let live = host.live();
            (live.leaving, live.parked.is_empty())
        };
        if leaving {
            return;
        }
        if idle {
            continue;
        }
        let version = host.engine().store().data_version().ok();
        let moved = version.is_none() || seen != version;
        seen = version;
        if rung || moved || again {
            again = host.go_on();
        }
    }
}
