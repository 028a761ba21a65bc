//! The live set: every hook in force, asked in the order of their words.

use std::collections::BTreeMap;
use std::sync::Arc;

use rpds::RedBlackTreeMapSync;

use super::{Builtin, History, Hook, HookKey, ReturnedCall, RunFacts, head, shown};
use crate::predicate::{
    BodyFacts, Facts, Failure, FailureKind, Predicate, PredicateSet, RecordFacts, Ruling,
};
use crate::record::{Act, DataType, Namespace, RecordId};
use crate::time::Stopwatch;

/// A hook that is in force, and the record that put it there.
#[derive(Debug, Clone)]
pub struct InForce {
    /// The hook.
    pub hook: Arc<Hook>,
    /// The record; `None` for a hook that an embedder brings along.
    pub record_id: Option<RecordId>,
}

/// How many evaluations of one call are told about at most, however many were timed: each is a row
/// of counters to write.
pub const MAX_TIMED: usize = 64;

/// Every hook in force. The two that are built in are always among them.
///
/// A copy is another handle on the same hooks, until either is changed.
#[derive(Debug, Clone, Default)]
pub struct HookSet {
    /// The hooks of each namespace by its path, in the order of their names. Along one line of
    /// descent the depths differ, so asking from the root down is the order of decision 7.
    spaces: RedBlackTreeMapSync<Box<str>, PredicateSet<HookKey, InForce>>,
    len: usize,
}

/// What the hooks have to say about one returned call.
///
/// Every hook that speaks in the run's namespace was asked once. What is in neither list did not
/// hold.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Asked {
    /// Words, in the order of the hooks, before any cap.
    pub spoken: Vec<Candidate>,
    /// Hooks that could not be asked. They say nothing, and they are reported.
    pub skipped: Vec<(HookKey, Failure)>,
    /// What some evaluations took, in nanoseconds, if they were timed.
    pub timed: Vec<(HookKey, u64)>,
}

/// The words of one hook for one call. They are said if the hook's cap has room for them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Which hook.
    pub key: HookKey,
    /// The record of the hook; `None` for one that is built in.
    pub record_id: Option<RecordId>,
    /// The words, with their blanks filled.
    pub text: String,
    /// How often the hook may speak in one run.
    pub cap: u32,
}

impl Candidate {
    /// Returns the words as the actor is shown them.
    pub fn shown(&self) -> String {
        shown(&self.key.name, &self.text)
    }
}

/// What one call adds to the counters of one hook, beside that it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// Its predicate held.
    pub held: bool,
    /// Its predicate failed.
    pub failed: Option<FailureKind>,
    /// What evaluating its predicate took, if that was timed.
    pub nanos: Option<u64>,
}

impl Asked {
    /// Returns what to add to the counters, for each hook that held, failed or was timed.
    pub fn tally(&self) -> BTreeMap<&HookKey, Tally> {
        let mut tally = BTreeMap::<_, Tally>::new();
        for candidate in &self.spoken {
            tally.entry(&candidate.key).or_default().held = true;
        }
        for (key, failure) in &self.skipped {
            tally.entry(key).or_default().failed = Some(failure.kind());
        }
        for (key, nanos) in &self.timed {
            tally.entry(key).or_default().nanos = Some(*nanos);
        }
        tally
    }
}

impl InForce {
    fn candidate(&self, call: &ReturnedCall<'_>) -> Candidate {
        Candidate {
            key: self.hook.key().clone(),
            record_id: self.record_id,
            text: self.hook.text().fill(call.tool, call.status),
            cap: self.hook.max_fires_per_run(),
        }
    }

    fn keyed(self) -> (HookKey, Self, Predicate) {
        (self.hook.key().clone(), self.clone(), self.hook.when().clone())
    }
}

impl HookSet {
    /// Returns the set of these hooks. Of two with one key the later stands; one that is not
    /// enabled is left out.
    pub fn new(hooks: impl IntoIterator<Item = InForce>) -> Self {
        let keyed: BTreeMap<HookKey, InForce> =
            hooks.into_iter().map(|in_force| (in_force.hook.key().clone(), in_force)).collect();
        let mut spaces: BTreeMap<Box<str>, Vec<InForce>> = BTreeMap::new();
        for (key, in_force) in keyed {
            if in_force.hook.enabled() {
                spaces.entry(key.namespace.as_str().into()).or_default().push(in_force);
            }
        }
        let len = spaces.values().map(Vec::len).sum();
        let index = |hooks: Vec<InForce>| hooks.into_iter().map(InForce::keyed).collect();
        let spaces = spaces.into_iter().map(|(path, hooks)| (path, index(hooks)));
        Self { spaces: spaces.collect(), len }
    }

    /// Puts a hook in force, in the place of its namesake. One that is not enabled takes that place
    /// away. What this takes does not depend on how many hooks there are.
    pub fn insert(&mut self, in_force: InForce) {
        if !in_force.hook.enabled() {
            self.remove(in_force.hook.key());
            return;
        }
        let (key, in_force, when) = in_force.keyed();
        let path = key.namespace.as_str();
        let mut space = self.spaces.get(path).cloned().unwrap_or_default();
        let others = self.len - space.len();
        let path = path.into();
        space.insert(key, in_force, when);
        self.len = others + space.len();
        self.spaces.insert_mut(path, space);
    }

    /// Takes a hook out of force. What this takes does not depend on how many hooks there are.
    pub fn remove(&mut self, key: &HookKey) {
        let path = key.namespace.as_str();
        let Some(mut space) = self.spaces.get(path).cloned() else { return };
        if !space.remove(key) {
            return;
        }
        self.len -= 1;
        if space.is_empty() {
            self.spaces.remove_mut(path);
        } else {
            self.spaces.insert_mut(path.into(), space);
        }
    }

    /// Returns how many hooks there are, without those built in.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns whether there are only those built in.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Asks every hook of the run's namespace and of those above it about `call`, which is the one
    /// that `history` noted last.
    ///
    /// Caps are not applied here: whoever says the words claims each fire where it is counted.
    pub fn ask(&self, call: &ReturnedCall<'_>, run: &RunFacts<'_>, history: &History) -> Asked {
        self.ask_with(call, run, history, None)
    }

    /// The same, and tells what evaluating predicates took by `watch`: of up to [`MAX_TIMED`] of
    /// them, spread over all that were evaluated.
    pub fn ask_timed(
        &self,
        call: &ReturnedCall<'_>,
        run: &RunFacts<'_>,
        history: &History,
        watch: &Stopwatch,
    ) -> Asked {
        let mut asked = self.ask_with(call, run, history, Some(watch));
        let step = asked.timed.len().div_ceil(MAX_TIMED).max(1);
        let first = call.call.map_or(0, |id| usize::from(id.as_bytes()[1]) % step);
        asked.timed = asked.timed.into_iter().skip(first).step_by(step).collect();
        asked
    }

    fn ask_with(
        &self,
        call: &ReturnedCall<'_>,
        run: &RunFacts<'_>,
        history: &History,
        watch: Option<&Stopwatch>,
    ) -> Asked {
        let spoken = Builtin::ask(call, history);
        let mut asked = Asked { spoken, ..Asked::default() };
        let facts = facts(call, run);
        for space in self.lineage(run.namespace) {
            let Asked { spoken, skipped, timed } = &mut asked;
            let hear = |_: &HookKey, in_force: &InForce, ruling| match ruling {
                Ruling::Holds => spoken.push(in_force.candidate(call)),
                Ruling::DoesNotHold => {}
                Ruling::Failed(failure) => skipped.push((in_force.hook.key().clone(), failure)),
            };
            match watch {
                None => space.ask(&facts, hear),
                Some(watch) => {
                    let took = |key: &HookKey, nanos| timed.push((key.clone(), nanos));
                    space.ask_timed(&facts, watch, took, hear);
                }
            }
        }
        asked
    }

    /// Returns every hook, without those built in.
    pub fn iter(&self) -> impl Iterator<Item = &InForce> {
        self.spaces.values().flat_map(|space| space.iter().map(|(_, in_force, _)| in_force))
    }

    /// Returns the hooks that a call in `namespace` is asked about, in the order of their words,
    /// without those built in.
    pub fn speaking_in<'a>(
        &'a self,
        namespace: &'a Namespace,
    ) -> impl Iterator<Item = &'a InForce> {
        self.lineage(namespace).flat_map(|space| space.iter().map(|(_, in_force, _)| in_force))
    }

    /// Returns the hooks of `namespace` and of those above it, from the root down.
    fn lineage<'a>(
        &'a self,
        namespace: &'a Namespace,
    ) -> impl Iterator<Item = &'a PredicateSet<HookKey, InForce>> {
        namespace.lineage().filter_map(|path| self.spaces.get(path))
    }
}

/// The synthetic record that a predicate sees (contract §5.3).
fn facts<'a>(call: &'a ReturnedCall<'_>, run: &'a RunFacts<'_>) -> Facts<'a> {
    Facts {
        record: RecordFacts {
            act: Act::Call.as_str(),
            actor: run.actor.as_str(),
            thread: run.thread.as_str(),
            data_type: DataType::Scalar.as_str(),
            clock: call.clock.get(),
            parents: call.call.as_slice(),
            body: BodyFacts::Call {
                tool: call.tool,
                args: call.args,
                status: call.status,
                content: head(call.content),
            },
        },
        resource: call.resource,
        actor: run.actor.as_str(),
        namespace: run.namespace.as_str(),
        trust: run,
        now_secs: run.now.as_secs(),
        system: run.system,
    }
}
