//! A hook, once it has passed the validator.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use super::Template;
use crate::predicate::Predicate;
use crate::record::Namespace;

/// The cap of a hook that names none.
pub const DEFAULT_FIRES_PER_RUN: u32 = 3;

/// What tells hooks apart: only a newer record of the same key replaces a hook.
///
/// Keys are ordered as words are (decision 7): by the depth of the namespace, then by the bytes of
/// the name. Namesakes at one depth never speak in one run; their order is that of the namespaces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct HookKey {
    /// Where it speaks: here and below.
    pub namespace: Namespace,
    /// The `rule` of its observations.
    pub name: Arc<str>,
}

impl Ord for HookKey {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.namespace.depth(), &self.name, &self.namespace).cmp(&(
            other.namespace.depth(),
            &other.name,
            &other.namespace,
        ))
    }
}

impl PartialOrd for HookKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for HookKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} in {}", self.name, self.namespace)
    }
}

/// A hook that has passed the validator, [`Hook::check`].
#[derive(Debug)]
pub struct Hook {
    pub(super) key: HookKey,
    pub(super) when: Predicate,
    pub(super) text: Template,
    pub(super) max_fires_per_run: u32,
    pub(super) enabled: bool,
}

impl Hook {
    /// Returns what tells this hook from others.
    pub const fn key(&self) -> &HookKey {
        &self.key
    }

    /// Returns the predicate that is asked about each returned call.
    pub const fn when(&self) -> &Predicate {
        &self.when
    }

    /// Returns the words.
    pub const fn text(&self) -> &Template {
        &self.text
    }

    /// Returns how often it speaks in one run at most.
    pub const fn max_fires_per_run(&self) -> u32 {
        self.max_fires_per_run
    }

    /// Returns whether it is to be loaded.
    pub const fn enabled(&self) -> bool {
        self.enabled
    }
}
