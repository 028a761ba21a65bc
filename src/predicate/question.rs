//! One question to any number of predicates: the facts, and what is made of them when a predicate
//! looks.

use super::facts::{Facts, SystemFacts};

/// Facts that predicates are asked about.
pub(super) struct Question<'f> {
    pub(super) facts: &'f Facts<'f>,
}

impl<'f> Question<'f> {
    pub(super) const fn new(facts: &'f Facts<'f>) -> Self {
        Self { facts }
    }

    /// Returns `record.parents`.
    pub(super) const fn parents(&self) -> &'f [String] {
        self.facts.record.parents
    }

    /// Returns what `system` knows.
    pub(super) const fn system(&self) -> &SystemFacts<'f> {
        &self.facts.system
    }
}
