//! Trust: verdicts on an actor's work, added up to a score (contract §8).
//!
//! Comes in: verdict records, in the order of arrival. Goes out: the [`Standing`] of an actor in a
//! domain at a point in time that is handed in.
//!
//! A verdict is a KNOW whose `body.verdict` is `accept` or `reject`. Who stated it is the
//! evaluator. Who is judged is `body.judged_by`, or else the author of the record that `reviews` names, or
//! `fulfills` where there is no `reviews`: a verdict that reviews one record while it closes
//! another judges the first. Nobody judges himself. A verdict taken over from another store weighs
//! half.
//!
//! **Invariant:** there is no prior and no configuration. Without verdicts the score is 0, and one
//! verdict is one observation however many records it names by one author.
//!
//! **Invariant:** work, session and policy kinds count only where the engine wrote them
//! (decision 14). From a door they are plain data.

mod authors;
mod verdict;
mod wilson;

pub use authors::{Authors, KnownAuthors};
pub use verdict::Verdict;
pub use wilson::wilson_lower_bound;

use std::collections::BTreeMap;

use crate::canon::Value;
use crate::predicate::Trust;
use crate::record::{ActorId, Received, Sequence};
use crate::time::Timestamp;

/// The domain of a verdict that names none.
pub const GENERAL: &str = "general";

/// How the verdicts on one actor in one domain add up at one point in time.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Standing {
    /// The Wilson lower bound of the aged verdicts, from 0 to 1.
    pub score: f64,
    /// How many verdicts were counted, each as one whatever its age.
    pub count: u64,
}

impl Standing {
    /// Returns the score as answers show it: six decimals.
    pub fn shown_score(&self) -> Value {
        rounded(self.score)
    }
}

/// Returns a share as answers show it: six decimals.
pub(crate) fn rounded(share: f64) -> Value {
    const DECIMALS: f64 = 1e6;
    Value::from_float((share * DECIMALS).round() / DECIMALS)
}

/// The standing that somebody was asked about: of whom and in which domain is theirs to know.
impl Trust for Standing {
    fn score(&self, _: &str, _: &str) -> f64 {
        self.score
    }

    fn count(&self, _: &str, _: &str) -> i64 {
        i64::try_from(self.count).unwrap_or(i64::MAX)
    }
}

/// Every verdict that counts, by who is judged and in which domain.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct TrustFold {
    verdicts: BTreeMap<ActorId, BTreeMap<String, Vec<Verdict>>>,
    watermark: Sequence,
}

impl TrustFold {
    /// Adds one record, the next in the order of arrival. What is no verdict changes nothing but
    /// the watermark, so verdicts alone may be handed in; a record seen before counts once.
    ///
    /// `authors` tells who wrote what stands *before* this record. Asking for it, instead of
    /// remembering every author of the store here, keeps this state as small as its verdicts; the
    /// bound keeps the answer the same at every later time.
    pub fn evolve(&mut self, received: &Received<'_>, authors: &impl Authors) {
        if received.sequence <= self.watermark {
            return;
        }
        self.watermark = received.sequence;
        let Some(verdict) = Verdict::read(received) else { return };
        let domain = verdict::domain(received.record);
        for actor in verdict::judged(received, authors) {
            let domains = self.verdicts.entry(actor).or_default();
            domains.entry(domain.to_owned()).or_default().push(verdict.clone());
        }
    }

    /// Returns the highest sequence this has seen.
    pub const fn watermark(&self) -> Sequence {
        self.watermark
    }

    /// Returns the standing of `actor` in `domain` at `at`. Later verdicts do not count.
    pub fn standing(&self, actor: &ActorId, domain: &str, at: Timestamp) -> Standing {
        let (mut accepted, mut weight, mut count) = (0.0, 0.0, 0);
        for verdict in self.verdicts(actor, domain) {
            let Some(aged) = verdict.weight(at) else { continue };
            count += 1;
            weight += aged;
            if verdict.accepts {
                accepted += aged;
            }
        }
        Standing { score: wilson_lower_bound(accepted, weight), count }
    }

    /// Returns the score of `actor` in `domain` at `at`.
    pub fn score(&self, actor: &ActorId, domain: &str, at: Timestamp) -> f64 {
        self.standing(actor, domain, at).score
    }

    /// Returns the verdicts on `actor` in `domain`, in the order of arrival.
    pub fn verdicts(&self, actor: &ActorId, domain: &str) -> &[Verdict] {
        self.verdicts.get(actor).and_then(|domains| domains.get(domain)).map_or(&[], Vec::as_slice)
    }

    /// Returns every actor and domain there is a verdict for, with the standing at `at`.
    pub fn standings(&self, at: Timestamp) -> impl Iterator<Item = (&ActorId, &str, Standing)> {
        self.verdicts.iter().flat_map(move |(actor, domains)| {
            domains
                .keys()
                .map(move |domain| (actor, domain.as_str(), self.standing(actor, domain, at)))
        })
    }
}
