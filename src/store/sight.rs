//! What somebody may see of the store: all of it, or what stands on some threads and in some
//! namespaces.
//!
//! A store that is narrowed to a sight shows what is outside of it exactly as what is not there.
//! The tables that hold records are covered, on the connection that reads, by views of the same
//! names; so every question of this module is narrowed, the next one included.

use std::collections::BTreeSet;

use crate::record::{Namespace, ThreadId};

/// What may be seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sight(Option<Places>);

#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Places {
    threads: BTreeSet<ThreadId>,
    namespaces: BTreeSet<Namespace>,
}

impl Sight {
    /// Returns the sight of whoever sees everything.
    pub const fn everything() -> Self {
        Self(None)
    }

    /// Returns the sight of whoever sees nothing.
    pub fn nothing() -> Self {
        Self(Some(Places::default()))
    }

    /// Returns whether everything is seen.
    pub const fn is_everything(&self) -> bool {
        self.0.is_none()
    }

    /// Adds a thread.
    pub fn add_thread(&mut self, thread: &ThreadId) {
        if let Some(places) = &mut self.0 {
            places.threads.insert(thread.clone());
        }
    }

    /// Adds a namespace, with all below it. The root has everything below it.
    pub fn add_namespace(&mut self, path: &Namespace) {
        if path.is_root() {
            self.0 = None;
        } else if let Some(places) = &mut self.0 {
            places.namespaces.insert(path.clone());
        }
    }

    /// Returns whether what stands on this thread, in this namespace, is seen.
    pub fn shows(&self, thread: &ThreadId, namespace: &Namespace) -> bool {
        self.0.as_ref().is_none_or(|places| {
            places.threads.contains(thread) || places.shows_namespace(namespace)
        })
    }

    /// Returns whether this namespace is seen on whatever thread.
    pub fn shows_namespace(&self, namespace: &Namespace) -> bool {
        self.0.as_ref().is_none_or(|places| places.shows_namespace(namespace))
    }

    /// Returns whether all that `other` shows is seen.
    pub fn holds(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(places), Some(others)) => {
                places.threads.is_superset(&others.threads)
                    && others.namespaces.iter().all(|path| places.shows_namespace(path))
            }
        }
    }
}

impl Places {
    fn shows_namespace(&self, namespace: &Namespace) -> bool {
        self.namespaces.iter().any(|path| path.covers(namespace))
    }
}
