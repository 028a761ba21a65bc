//! The live configuration: one value behind an atomic swap, folded from the store.
//!
//! It is folded the first time that somebody asks, so a command that asks no hook compiles none.
//! After that only new records are folded, and only when the store says that somebody wrote.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use arc_swap::ArcSwapOption;

use super::{Engine, EngineError, Hooks};
use crate::config::ConfigState;
use crate::hook::HookSet;
use crate::record::{Sequence, ThreadId};
use crate::store::ThreadRange;

/// How many records are read at once.
const PAGE: usize = 1000;

/// The configuration that is in force, as of one sequence.
#[derive(Debug, Clone)]
pub struct Live {
    /// The fold.
    pub config: ConfigState,
    /// The hooks in force.
    pub hooks: HookSet,
    /// Found out when it is first asked for.
    see_clocks: OnceLock<bool>,
}

impl Live {
    /// Tells whether a hook in force may look at the clock of a call.
    pub(super) fn see_clocks(&self) -> bool {
        *self.see_clocks.get_or_init(|| see_clocks(&self.hooks))
    }
}

/// Tells whether one of these hooks may look at the clock of a call: its predicate has the word.
pub(super) fn see_clocks(hooks: &HookSet) -> bool {
    hooks.iter().any(|it| it.hook.when().source().contains("clock"))
}

/// Keeps the live configuration up to date.
#[derive(Default)]
pub(super) struct Refresher {
    current: ArcSwapOption<Live>,
    /// What the store's version was when it was last looked at; held while folding.
    seen: Mutex<Option<i64>>,
}

impl Engine {
    /// Returns the configuration in force now, after looking whether any process has changed it.
    pub fn live(&self) -> Result<Arc<Live>, EngineError> {
        let mut seen = self.0.live.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.whole().data_version()?;
        if let Some(live) = self.0.live.current.load_full()
            && *seen == Some(version)
        {
            return Ok(live);
        }
        let live = self.fold_new()?;
        *seen = Some(version);
        Ok(live)
    }

    /// Tells whether anybody has asked for the configuration yet, so that it is folded.
    pub(super) fn is_live(&self) -> bool {
        self.0.live.current.load().is_some()
    }

    /// Returns the hooks in force now, for a run that is to go on with them.
    pub fn frozen_hooks(&self) -> Result<Hooks, EngineError> {
        Ok(Hooks::Frozen(self.live()?))
    }

    /// Brings the live configuration up to date after a write of this process, if anyone has asked
    /// for it yet.
    pub(super) fn fold_config(&self) -> Result<(), EngineError> {
        let _folding = self.0.live.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if self.0.live.current.load().is_some() {
            self.fold_new()?;
        }
        Ok(())
    }

    /// Folds what stands above the watermark, as read from the store, and swaps it in.
    fn fold_new(&self) -> Result<Arc<Live>, EngineError> {
        let current = self.0.live.current.load_full();
        let after =
            current.as_ref().map_or(Sequence::default(), |live| live.config.watermark().sequence());
        let config_thread = ThreadId::config();
        let last = self.whole().read(|reader| reader.last_of_thread(config_thread.as_str()))?;
        if let Some(current) = current.as_ref().filter(|_| last <= after) {
            return Ok(Arc::clone(current));
        }
        let new = || ConfigState::new(Arc::clone(&self.0.expressions));
        let config = current.map_or_else(new, |live| live.config.clone());
        let mut folding = config.folding();
        loop {
            let range = ThreadRange { since_clock: None, after: folding.watermark().sequence() };
            let (page, more) =
                self.whole().read(|reader| reader.thread_page(&config_thread, range, PAGE))?;
            for stored in &page {
                folding.add(&stored.received());
            }
            if !more {
                break;
            }
        }
        let config = folding.done();
        let hooks = config.hooks().clone();
        let live = Arc::new(Live { config, hooks, see_clocks: OnceLock::new() });
        self.0.live.current.store(Some(Arc::clone(&live)));
        tracing::debug!(
            hooks_loaded = live.config.hooks_loaded(),
            watermark = live.config.watermark().sequence().get(),
            "the live configuration moved"
        );
        Ok(live)
    }
}
