//! One question to any number of predicates: the facts, and what is read for it only once.

use std::sync::OnceLock;

use super::facts::{Facts, SystemFacts};

/// Facts that predicates are asked about.
pub(super) struct Question<'f> {
    pub(super) facts: &'f Facts<'f>,
    system: OnceLock<SystemFacts<'f>>,
}

impl<'f> Question<'f> {
    pub(super) const fn new(facts: &'f Facts<'f>) -> Self {
        Self { facts, system: OnceLock::new() }
    }

    /// Returns what `system` knows.
    pub(super) fn system(&self) -> &SystemFacts<'f> {
        self.system.get_or_init(|| self.facts.system.read())
    }
}
