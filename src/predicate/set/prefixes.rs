//! Every prefix of a text, found in one walk along it.

use std::mem;
use std::sync::Arc;

/// What is found by prefixes, as a tree: a step leads to all prefixes that go on alike, so a text
/// is walked along as far as some prefix goes, however many there are.
#[derive(Debug, Default)]
pub(super) struct Prefixes<T> {
    here: Option<T>,
    /// The steps on from here, in the order of their first bytes, which differ.
    steps: Box<[(Box<[u8]>, Self)]>,
}

impl<T: Default> Prefixes<T> {
    /// Arranges what is to be found by prefixes, which ascend and differ.
    pub(super) fn of(mut found: Vec<(&Arc<str>, T)>) -> Self {
        Self::below(&mut found, 0)
    }

    /// Arranges prefixes that are alike in their first `walked` bytes.
    fn below(found: &mut [(&Arc<str>, T)], walked: usize) -> Self {
        let (here, longer) = match found {
            [(prefix, here), longer @ ..] if prefix.len() == walked => {
                (Some(mem::take(here)), longer)
            }
            longer => (None, longer),
        };
        let next = |prefix: &Arc<str>| prefix.as_bytes().get(walked).copied();
        let groups = longer.chunk_by_mut(|(one, _), (two, _)| next(one) == next(two));
        let step = |group: &mut [(&Arc<str>, T)]| {
            let ((first, _), (last, _)) = (group.first()?, group.last()?);
            // They ascend, so what the first and the last share all share.
            let alike = first.bytes().zip(last.bytes()).take_while(|(one, two)| one == two).count();
            let step = first.as_bytes().get(walked..alike)?.into();
            Some((step, Self::below(group, alike)))
        };
        Self { here, steps: groups.filter_map(step).collect() }
    }
}

impl<T> Prefixes<T> {
    /// Calls `each` with what is found by every prefix of `text`, shortest first.
    pub(super) fn walk(&self, text: &str, mut each: impl FnMut(&T)) {
        let (mut tree, mut rest) = (self, text.as_bytes());
        loop {
            tree.here.iter().for_each(&mut each);
            let Some(next) = rest.first() else { return };
            let step = tree.steps.binary_search_by_key(&Some(next), |(step, _)| step.first());
            let Some((step, below)) = step.ok().and_then(|at| tree.steps.get(at)) else { return };
            let Some(behind) = rest.strip_prefix(&**step) else { return };
            (tree, rest) = (below, behind);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_prefixes_of_a_text_are_found(
            prefixes in prop::collection::btree_set("[abλ]{0,6}", 0..40),
            text in "[abλ]{0,8}",
        ) {
            let owned: Vec<Arc<str>> = prefixes.iter().map(|prefix| prefix.as_str().into()).collect();
            let tree = Prefixes::of(owned.iter().map(|prefix| (prefix, prefix.len())).collect());
            let mut found = Vec::new();
            tree.walk(&text, |length| found.push(*length));
            let wanted = prefixes.iter().filter(|prefix| text.starts_with(*prefix));
            prop_assert_eq!(found, wanted.map(String::len).collect::<Vec<_>>());
        }
    }
}
