//! Many needles searched for in one text.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use memchr::memmem::Finder;

use super::lookup::{Lasts, Position};

/// Needles, and the positions that each leads to.
#[derive(Debug)]
pub(super) enum Needles {
    Each(Box<[(Finder<'static>, Box<[Position]>)]>),
    Together(Box<AhoCorasick>, Box<[Box<[Position]>]>),
}

impl Needles {
    /// Indexes needles that differ from each other and are not empty.
    pub(super) fn of(needles: Vec<(&Arc<str>, Box<[Position]>)>, lasts: Lasts) -> Self {
        let texts = needles.iter().map(|(needle, _)| needle.as_bytes());
        if let Some(automaton) = automaton(texts, lasts) {
            let positions = needles.into_iter().map(|(_, positions)| positions).collect();
            return Self::Together(Box::new(automaton), positions);
        }
        let finder = |needle: &Arc<str>| Finder::new(needle.as_bytes()).into_owned();
        Self::Each(needles.into_iter().map(|(text, to)| (finder(text), to)).collect())
    }

    /// Calls `each` with the positions of the needles that occur in `text`.
    pub(super) fn find(&self, text: &str, mut each: impl FnMut(Position)) {
        match self {
            Self::Each(needles) => {
                for (finder, positions) in needles {
                    if finder.find(text.as_bytes()).is_some() {
                        positions.iter().copied().for_each(&mut each);
                    }
                }
            }
            Self::Together(automaton, positions) => {
                let mut seen = Seen::of(positions.len());
                for found in automaton.find_overlapping_iter(text) {
                    let needle = found.pattern().as_usize();
                    if seen.is_new(needle) {
                        positions.get(needle).into_iter().flatten().copied().for_each(&mut each);
                    }
                    if seen.missing == 0 {
                        return;
                    }
                }
            }
        }
    }

    /// Calls `each` with the positions of all needles.
    pub(super) fn all(&self, each: impl FnMut(Position)) {
        match self {
            Self::Each(needles) => {
                needles.iter().flat_map(|(_, positions)| positions).copied().for_each(each);
            }
            Self::Together(_, positions) => positions.iter().flatten().copied().for_each(each),
        }
    }
}

/// Builds what finds these needles in one pass, if that is faster than a search for each.
///
/// In 4,096 characters of diverse text a search takes 0.13 µs a needle. A pass takes 8 µs by the
/// first kind of automaton, which takes 5 µs and 1.4 KiB a needle to build, and 17 µs by the
/// second, which takes a third and a sixth of that.
fn automaton<'n>(
    needles: impl ExactSizeIterator<Item = &'n [u8]>,
    lasts: Lasts,
) -> Option<AhoCorasick> {
    let kind = match (lasts, needles.len()) {
        (Lasts::Long, 70..=1_000) => AhoCorasickKind::DFA,
        (_, 150..) => AhoCorasickKind::ContiguousNFA,
        _ => return None,
    };
    let mut builder = AhoCorasick::builder();
    builder.match_kind(MatchKind::Standard).kind(Some(kind)).build(needles).ok()
}

/// Which needles were seen. Nothing is allocated before the first one is.
struct Seen {
    bits: Vec<u64>,
    len: usize,
    missing: usize,
}

impl Seen {
    const fn of(len: usize) -> Self {
        Self { bits: Vec::new(), len, missing: len }
    }

    fn is_new(&mut self, needle: usize) -> bool {
        if self.bits.is_empty() {
            self.bits.resize(self.len.div_ceil(64), 0);
        }
        let bit = 1 << (needle % 64);
        let Some(word) = self.bits.get_mut(needle / 64) else { return false };
        let new = *word & bit == 0;
        *word |= bit;
        self.missing -= usize::from(new);
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Finds the needles that occur in `text`, with needle number `n` leading to position `n`.
    fn found(needles: &[String], text: &str) -> Vec<Position> {
        let owned: Vec<Arc<str>> = needles.iter().map(|needle| needle.as_str().into()).collect();
        let keyed = owned.iter().enumerate().map(|(at, needle)| (needle, [at].into()));
        let [long, shortly] = [Lasts::Long, Lasts::Shortly].map(|lasts| {
            let mut found = Vec::new();
            Needles::of(keyed.clone().collect(), lasts).find(text, |position| found.push(position));
            found.sort_unstable();
            found
        });
        assert_eq!(long, shortly);
        long
    }

    #[test]
    fn few_and_many_needles_are_found_alike() {
        // `a`, `aa`, … contain each other, and `b1` is a part of `b10`.
        let mut needles: Vec<String> = (1..40).map(|length| "a".repeat(length)).collect();
        needles.extend((0..150).map(|number| format!("b{number}")));
        for text in ["", "aaab10c", "b99b9 b1", &"a".repeat(50), "nothing", "λb5λ"] {
            let wanted: Vec<Position> = (0..needles.len())
                .filter(|at| needles.get(*at).is_some_and(|needle| text.contains(needle)))
                .collect();
            assert_eq!(found(&needles, text), wanted, "{text}");
            let few = &needles[..50];
            let wanted: Vec<Position> = wanted.into_iter().filter(|at| *at < 50).collect();
            assert_eq!(found(few, text), wanted, "{text}");
        }
    }
}
