//! The two hooks that are built in.
//!
//! They are asked first, in every namespace, each up to [`DEFAULT_FIRES_PER_RUN`] times a run. They
//! look at what no predicate sees, the earlier calls of the run, and like any hook they only add
//! words.
//!
//! * `repeat-guard` speaks when the call was made before in this run, the same tool with the same
//!   canonical arguments, and its answer (status and text) is the one that call got the last time:
//!   from the second identical call on, as long as the answer has not changed.
//! * `absence-guard` speaks when the call looked something up and found nothing, and at least the
//!   two look-ups of the same target before it found nothing either, whichever tools they used. A
//!   find starts the count again.
//!
//! Both say what was seen and nothing of what it held, so that no answer or argument reaches the
//! actor a second time through them.

use super::{Candidate, DEFAULT_FIRES_PER_RUN, History, HookKey, ReturnedCall, Template};
use crate::record::Namespace;

/// A hook that is built in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Builtin {
    /// The same call, answered the same.
    RepeatGuard,
    /// Circling something that keeps coming back empty.
    AbsenceGuard,
}

/// How many empty look-ups in a row are worth a word.
const EMPTIES: u32 = 3;

impl Builtin {
    /// Every one there is, in the order they speak.
    pub const ALL: &[Self] = &[Self::RepeatGuard, Self::AbsenceGuard];

    /// How often each speaks in one run at most.
    pub const MAX_FIRES_PER_RUN: u32 = DEFAULT_FIRES_PER_RUN;

    /// Returns the name, which no record may take.
    pub const fn name(self) -> &'static str {
        match self {
            Self::RepeatGuard => "repeat-guard",
            Self::AbsenceGuard => "absence-guard",
        }
    }

    /// Returns the one with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|builtin| builtin.name() == name)
    }

    /// Returns what its counts are kept under.
    pub fn key(self) -> HookKey {
        HookKey { namespace: Namespace::root(), name: self.name().into() }
    }

    /// Returns the words, before the tool is filled in.
    pub const fn text(self) -> &'static str {
        match self {
            Self::RepeatGuard => {
                "this ${tool} call was made before with the same arguments and its answer has not \
                 changed: use that answer, or ask something else."
            }
            Self::AbsenceGuard => {
                "the last look-ups of this target all came back empty, and absence is no proof of \
                 absence: check the name, look somewhere else, or go on without it."
            }
        }
    }

    /// Returns the words of those that are built in for `call`, which `history` noted last.
    pub fn ask(call: &ReturnedCall<'_>, history: &History) -> Vec<Candidate> {
        Self::ALL.iter().filter_map(|it| it.candidate(call, history)).collect()
    }

    /// Returns its words for `call`, which `history` noted last, if it has any.
    fn candidate(self, call: &ReturnedCall<'_>, history: &History) -> Option<Candidate> {
        let holds = match self {
            Self::RepeatGuard => history.repeats(),
            Self::AbsenceGuard => history.empties_in_a_row() >= EMPTIES,
        };
        holds.then(|| Candidate {
            key: self.key(),
            record_id: None,
            text: Template::new(self.text()).fill(call.tool, call.status),
            cap: Self::MAX_FIRES_PER_RUN,
        })
    }
}
