//! Counting the words of a run against the caps of its hooks.

use std::collections::BTreeMap;

use super::{Candidate, History, HookKey, HookSet, ReturnedCall, RunFacts, shown};
use crate::predicate::Failure;
use crate::record::RecordId;

/// How often each hook has spoken in one life of one run.
///
/// For an embedder that keeps its counts in memory. The engine claims each fire in its store
/// instead, where the count is exact across processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Fires(BTreeMap<HookKey, u32>);

impl Fires {
    /// Counts one more time that `key` speaks and returns the count, or `None` if it has spoken
    /// `cap` times.
    ///
    /// The count belongs to the key and not to the record: a hook that is written again goes on
    /// counting, and a lower cap holds at once.
    pub fn claim(&mut self, key: &HookKey, cap: u32) -> Option<u32> {
        let spoken = self.0.entry(key.clone()).or_default();
        if *spoken >= cap {
            return None;
        }
        *spoken += 1;
        Some(*spoken)
    }
}

/// What the hooks said about one returned call.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Observed {
    /// Words for the next turn, in the order of the hooks.
    pub observations: Vec<Observation>,
    /// Hooks that could not be asked. They say nothing, and they are reported.
    pub skipped: Vec<(HookKey, Failure)>,
}

/// The words that a hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observation {
    /// Which hook; its name is the `rule`.
    pub key: HookKey,
    /// The record of the hook; `None` for one that is built in.
    pub record_id: Option<RecordId>,
    /// The words.
    pub text: String,
    /// The how-manieth time in this run.
    pub fire: u32,
    /// How often it may speak in one run.
    pub cap: u32,
}

impl Observation {
    /// Returns the words as the actor is shown them.
    pub fn shown(&self) -> String {
        shown(&self.key.name, &self.text)
    }
}

impl HookSet {
    /// Asks every hook about `call`, as [`HookSet::ask`] does, and says the words that the caps
    /// have room for.
    pub fn observe(
        &self,
        call: &ReturnedCall<'_>,
        run: &RunFacts<'_>,
        history: &History,
        fires: &mut Fires,
    ) -> Observed {
        let asked = self.ask(call, run, history);
        let say = |candidate: Candidate| {
            let Candidate { key, record_id, text, cap } = candidate;
            let fire = fires.claim(&key, cap)?;
            Some(Observation { key, record_id, text, fire, cap })
        };
        Observed {
            observations: asked.spoken.into_iter().filter_map(say).collect(),
            skipped: asked.skipped,
        }
    }
}
