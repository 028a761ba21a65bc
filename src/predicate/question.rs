//! One question to any number of predicates: the facts, and what is found out for it only once.

use std::sync::{Arc, OnceLock};

use super::facts::{Facts, SystemFacts};
use super::pattern::Pattern;

/// How many patterns are remembered. Each costs a look at every other, and hooks that share one
/// share few.
const REMEMBERED: usize = 2;

/// Facts that predicates are asked about.
pub(super) struct Question<'f> {
    pub(super) facts: &'f Facts<'f>,
    system: OnceLock<SystemFacts<'f>>,
    /// Whether the first patterns that were searched for occur in the content.
    found: [OnceLock<(usize, bool)>; REMEMBERED],
}

impl<'f> Question<'f> {
    pub(super) const fn new(facts: &'f Facts<'f>) -> Self {
        Self { facts, system: OnceLock::new(), found: [const { OnceLock::new() }; REMEMBERED] }
    }

    /// Returns what `system` knows.
    pub(super) fn system(&self) -> &SystemFacts<'f> {
        self.system.get_or_init(|| self.facts.system.read())
    }

    /// Tells whether the pattern occurs in the content, which `search` finds out. Equal patterns are
    /// one, so of many hooks that look for the same one looks.
    pub(super) fn found(&self, pattern: &'f Arc<Pattern>, search: impl Fn() -> bool) -> bool {
        // It outlives the question, so no other one comes to stand where it does.
        let place = Arc::as_ptr(pattern).addr();
        for slot in &self.found {
            let (known, occurs) = slot.get_or_init(|| (place, search()));
            if *known == place {
                return *occurs;
            }
        }
        search()
    }
}
