//! Building a base anew, off the path of whoever changes a set.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};

use super::delta::Delta;
use super::index::Index;
use super::lookup::Lasts;
use crate::predicate::worker::Worker;

static REBUILDER: Worker = Worker::new("predicate-index", 1024 * 1024);

/// How many changes a base of so many entries bears before it is built anew. A change costs as
/// much as there were changes before it.
pub(super) fn bearable(entries: usize) -> usize {
    (64 + entries / 32).min(512)
}

/// A base that is being built.
#[derive(Debug, Clone)]
pub(super) struct Rebuild<K, V> {
    built: Arc<OnceLock<Built<K, V>>>,
    /// What has changed since, and so is not in it.
    since: BTreeSet<K>,
}

/// What was built; nothing if that panicked.
pub(super) type Built<K, V> = Option<Arc<Index<K, V>>>;

impl<K: Ord + Clone, V: Clone> Rebuild<K, V> {
    /// Starts to build what `base` and `delta` hold together. Returns nothing where no thread can
    /// be had: then it is tried again with the next change.
    pub(super) fn start(base: &Arc<Index<K, V>>, delta: &Arc<Delta<K, V>>) -> Option<Self>
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        let built = Arc::new(OnceLock::new());
        let wanted = Arc::downgrade(&built);
        let (base, delta) = (Arc::clone(base), Arc::clone(delta));
        let job = move || {
            // Once every set that waits for it is gone, nobody needs it.
            let Some(built) = wanted.upgrade() else { return };
            let index = || {
                let entries = delta.entries(&base).cloned().collect();
                Arc::new(Index::of(entries, Lasts::Long))
            };
            // Nobody else sets it.
            let _ = built.set(catch_unwind(AssertUnwindSafe(index)).ok());
        };
        REBUILDER.submit(Box::new(job)).ok()?;
        Some(Self { built, since: BTreeSet::new() })
    }

    /// Remembers that the entry of this key has changed since.
    pub(super) fn without(mut self, key: K) -> Self {
        self.since.insert(key);
        self
    }

    /// Returns the keys of what has changed since.
    pub(super) const fn since(&self) -> &BTreeSet<K> {
        &self.since
    }

    /// Returns what was built, once it is, and then nothing inside if that panicked.
    pub(super) fn built(&self) -> Option<&Built<K, V>> {
        self.built.get()
    }

    #[cfg(test)]
    pub(super) fn wait(&self) {
        self.built.wait();
    }
}

/// Keeps bases from being built until what this returns is dropped.
#[cfg(test)]
pub(super) fn hold() -> std::sync::mpsc::Sender<()> {
    let (held, holds) = std::sync::mpsc::channel();
    // What is received is that the other end is gone.
    let job = move || drop(holds.recv());
    assert!(REBUILDER.submit(Box::new(job)).is_ok());
    held
}
