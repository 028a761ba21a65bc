//! Many predicates, asked about the same facts.
//!
//! A set is a base that never changes and a small delta. Both find by what a call is like those of
//! their predicates that may have something to say, and only those are evaluated: a predicate
//! that asks for another tool costs nothing. The base is built anew when the delta has grown, on a
//! thread of its own; until a later change takes it over, the delta answers.
//!
//! **Invariant:** what a set answers is what its predicates answer one by one.

mod delta;
mod index;
mod lookup;
mod needles;
mod prefixes;
mod rebuild;

use std::fmt;
use std::sync::Arc;

use super::{Facts, Predicate, Ruling};
use crate::predicate::question::Question;
use crate::time::Stopwatch;
use delta::{Delta, merge};
use index::{Entry, Index};
use lookup::Lasts;
use rebuild::{Rebuild, bearable};

/// Predicates, each with the key that its owner knows it by and what the owner keeps with it.
///
/// A copy is another handle on the same predicates, until either is changed.
#[derive(Clone)]
pub struct PredicateSet<K, V> {
    base: Arc<Index<K, V>>,
    delta: Arc<Delta<K, V>>,
    rebuild: Option<Arc<Rebuild<K, V>>>,
}

impl<K: Ord + Clone, V: Clone> PredicateSet<K, V> {
    /// Returns a set without predicates.
    pub fn new() -> Self {
        Self::of(Vec::new())
    }

    fn of(entries: Vec<Entry<K, V>>) -> Self {
        let (base, delta) = (Arc::new(Index::of(entries, Lasts::Long)), Arc::new(Delta::none()));
        Self { base, delta, rebuild: None }
    }

    /// Puts a predicate in the place of the one that has this key, if any. What that takes does
    /// not depend on how many there are.
    pub fn insert(&mut self, key: K, value: V, predicate: Predicate)
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        self.change(&key.clone(), Some(Entry { key, value, predicate }));
    }

    /// Removes the predicate that has this key, and tells whether there was one.
    pub fn remove(&mut self, key: &K) -> bool
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        let there = self.get(key).is_some();
        if there {
            self.change(key, None);
        }
        there
    }

    fn change(&mut self, key: &K, entry: Option<Entry<K, V>>)
    where
        K: Send + Sync + 'static,
        V: Send + Sync + 'static,
    {
        self.adopt();
        self.delta = Arc::new(self.delta.with(&self.base, key, entry));
        self.rebuild = match self.rebuild.take() {
            Some(rebuild) => Some(Arc::unwrap_or_clone(rebuild).without(key.clone())),
            None if self.delta.len() <= bearable(self.base.entries().len()) => None,
            None => Rebuild::start(&self.base, &self.delta),
        }
        .map(Arc::new);
    }

    /// Takes over the base that was being built, if it is.
    fn adopt(&mut self) {
        let rebuild = self.rebuild.as_ref();
        let Some((built, rebuild)) = rebuild.and_then(|it| Some((it.built()?, it))) else { return };
        if let Some(base) = built {
            self.delta = Arc::new(self.delta.only(rebuild.since(), base));
            self.base = Arc::clone(base);
        }
        self.rebuild = None;
    }

    /// Returns the same set, built at once. After many changes that saves the delta's part of
    /// every question.
    #[must_use]
    pub fn compacted(&self) -> Self {
        Self::of(self.delta.entries(&self.base).cloned().collect())
    }

    /// Returns the predicate that has this key.
    pub fn get(&self, key: &K) -> Option<(&V, &Predicate)> {
        let in_base = || {
            let position = self.base.position(key).ok()?;
            self.base
                .entries()
                .get(position)
                .filter(|_| !index::contains(&self.delta.gone, position))
        };
        let entry = self.delta.new.get(key).or_else(in_base)?;
        Some((&entry.value, &entry.predicate))
    }

    /// Returns how many predicates there are.
    pub fn len(&self) -> usize {
        self.base.entries().len() - self.delta.gone.len() + self.delta.new.entries().len()
    }

    /// Tells whether there are no predicates.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the predicates, in the order of their keys.
    pub fn iter(&self) -> impl Iterator<Item = (&K, &V, &Predicate)> {
        let entries = self.delta.entries(&self.base);
        entries.map(|entry| (&entry.key, &entry.value, &entry.predicate))
    }

    /// Calls `answer` for the predicates that hold of `facts` or fail on them, in the order of
    /// their keys. Of those that do not hold nothing is heard.
    pub fn ask(&self, facts: &Facts<'_>, answer: impl FnMut(&K, &V, Ruling)) {
        let question = Question::new(facts);
        self.ask_with(&question, |entry| entry.ask(&question), answer);
    }

    /// The same, and calls `took` for each predicate that had to be evaluated, also for those that
    /// do not hold, with the nanoseconds that this took by `watch`.
    pub fn ask_timed(
        &self,
        facts: &Facts<'_>,
        watch: &Stopwatch,
        mut took: impl FnMut(&K, u64),
        answer: impl FnMut(&K, &V, Ruling),
    ) {
        let question = Question::new(facts);
        self.ask_with(
            &question,
            |entry| {
                let before = watch.elapsed();
                let ruling = entry.ask(&question);
                let nanos = watch.elapsed().saturating_sub(before).as_nanos();
                took(&entry.key, u64::try_from(nanos).unwrap_or(u64::MAX));
                ruling
            },
            answer,
        );
    }

    fn ask_with<'q>(
        &'q self,
        question: &'q Question<'q>,
        mut rule: impl FnMut(&'q Entry<K, V>) -> Ruling,
        mut answer: impl FnMut(&K, &V, Ruling),
    ) {
        let (base, new) = (&self.base, &self.delta.new);
        let in_base = base.ask(question, &self.delta.gone, &mut rule);
        let in_new = new.ask(question, &[], &mut rule);
        if in_base.is_empty() && in_new.is_empty() {
            return;
        }
        for (entry, ruling) in merge(base.at(in_base), new.at(in_new), |(entry, _)| &entry.key) {
            answer(&entry.key, &entry.value, ruling);
        }
    }
}

impl<K: Ord + Clone, V: Clone> Default for PredicateSet<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

/// Built at once. Of two predicates with one key the later stays.
impl<K: Ord + Clone, V: Clone> FromIterator<(K, V, Predicate)> for PredicateSet<K, V> {
    fn from_iter<I: IntoIterator<Item = (K, V, Predicate)>>(predicates: I) -> Self {
        let entry = |(key, value, predicate)| Entry { key, value, predicate };
        let mut entries: Vec<Entry<K, V>> = predicates.into_iter().map(entry).collect();
        // Stable, so that of equal keys the last one is the later.
        entries.sort_by(|one, two| one.key.cmp(&two.key));
        entries.dedup_by(|later, kept| {
            let same = later.key == kept.key;
            if same {
                std::mem::swap(later, kept);
            }
            same
        });
        Self::of(entries)
    }
}

impl<K: Ord + Clone + fmt::Debug, V: Clone + fmt::Debug> fmt::Debug for PredicateSet<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::canon::Object;
    use crate::predicate::{BodyFacts, Context, RecordFacts, SystemFacts, Trust};

    static ARGS: LazyLock<Object> = LazyLock::new(Object::new);

    static PREDICATES: LazyLock<Vec<Predicate>> = LazyLock::new(|| {
        let sources = [
            "true",
            "record.body.tool == 'bash'",
            "record.body.tool == 'read' && record.body.status == 'ok'",
            "record.body.tool.startsWith('ba')",
            "resource == 'tool:bash' || record.body.tool == 'bash'",
            "record.body.status == 'error'",
            "record.body.content.contains('make')",
            "record.body.content.contains('mak') && record.body.args.missing == 1",
        ];
        sources.map(|source| Predicate::compile(source, Context::Hook).expect(source)).into()
    });

    struct Nobody;

    impl Trust for Nobody {
        fn score(&self, _: &str, _: &str) -> f64 {
            0.0
        }

        fn count(&self, _: &str, _: &str) -> i64 {
            0
        }
    }

    fn facts(tool: &'static str) -> Facts<'static> {
        Facts {
            record: RecordFacts {
                act: "CALL",
                actor: "did:sync:agent:clerk",
                thread: "th_run",
                data_type: "SCALAR",
                clock: 1,
                parents: &[],
                body: BodyFacts::Call { tool, args: &ARGS, status: "error", content: "make: ***" },
            },
            resource: "tool:bash",
            actor: "did:sync:agent:clerk",
            namespace: "default",
            trust: &Nobody,
            now_secs: 0,
            system: &SystemFacts::NONE,
        }
    }

    type Naive = BTreeMap<u16, (usize, Predicate)>;
    type Answers = Vec<(u16, usize, Ruling)>;

    fn answers(set: &PredicateSet<u16, usize>, tool: &'static str) -> Answers {
        let mut answers = Vec::new();
        set.ask(&facts(tool), |key, value, ruling| answers.push((*key, *value, ruling)));
        answers
    }

    fn one_by_one(naive: &Naive, tool: &'static str) -> Answers {
        let rulings = naive.iter().map(|(key, (value, it))| (*key, *value, it.holds(&facts(tool))));
        rulings.filter(|(.., ruling)| *ruling != Ruling::DoesNotHold).collect()
    }

    fn check(set: &PredicateSet<u16, usize>, naive: &Naive) {
        assert_eq!(set.len(), naive.len());
        let entries = set.iter().map(|(key, value, _)| (*key, *value));
        assert!(entries.eq(naive.iter().map(|(key, (value, _))| (*key, *value))));
        for tool in ["bash", "read"] {
            let wanted = one_by_one(naive, tool);
            assert_eq!(answers(set, tool), wanted);
            assert_eq!(answers(&set.compacted(), tool), wanted);
        }
        for key in 0..KEYS {
            let value = naive.get(&key).map(|(value, _)| value);
            assert_eq!(set.get(&key).map(|(value, _)| value), value);
        }
    }

    const KEYS: u16 = 150;

    #[derive(Debug, Clone)]
    enum Step {
        Insert(u16, usize),
        Remove(u16),
        /// Wait until the base is built, if one is, and let the next change take it over.
        Wait,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            20 => (0..KEYS, 0..PREDICATES.len()).prop_map(|(key, at)| Step::Insert(key, at)),
            6 => (0..KEYS).prop_map(Step::Remove),
            1 => Just(Step::Wait),
        ];
        prop::collection::vec(step, 0..400)
    }

    impl<K, V> PredicateSet<K, V>
    where
        K: Ord + Clone,
        V: Clone,
    {
        fn is_being_built(&self) -> bool {
            self.rebuild.is_some()
        }

        fn wait(&self) -> bool {
            self.rebuild.as_ref().map(|rebuild| rebuild.wait()).is_some()
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        #[test]
        fn base_and_delta_answer_as_a_set_built_at_once(steps in steps()) {
            let mut set = PredicateSet::new();
            let mut naive = Naive::new();
            let mut before = None;
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    Step::Insert(key, at) => {
                        set.insert(key, at, PREDICATES[at].clone());
                        naive.insert(key, (at, PREDICATES[at].clone()));
                    }
                    Step::Remove(key) => {
                        prop_assert_eq!(set.remove(&key), naive.remove(&key).is_some());
                    }
                    Step::Wait => drop(set.wait()),
                }
                if number % 40 == 0 {
                    check(&set, &naive);
                    before = Some((set.clone(), naive.clone()));
                }
            }
            check(&set, &naive);
            // A copy is not changed by what is done to the other.
            if let Some((set, naive)) = before {
                check(&set, &naive);
            }
        }
    }

    #[test]
    fn a_base_is_taken_over_with_the_change_after_it_was_built() {
        let insert = |set: &mut PredicateSet<u16, usize>, naive: &mut Naive, key, at: usize| {
            set.insert(key, at, PREDICATES[at].clone());
            naive.insert(key, (at, PREDICATES[at].clone()));
        };
        let (mut set, mut naive) = (PredicateSet::new(), Naive::new());
        let building = rebuild::hold();
        for key in 0..=64 {
            assert!(!set.is_being_built());
            insert(&mut set, &mut naive, key, 1);
        }
        // Changed while the base is built: one that is in it, one that is not, one that goes.
        insert(&mut set, &mut naive, 3, 4);
        insert(&mut set, &mut naive, 100, 4);
        assert!(set.remove(&5) && naive.remove(&5).is_some());
        check(&set, &naive);
        drop(building);
        assert!(set.wait());
        check(&set, &naive);
        insert(&mut set, &mut naive, 101, 0);
        assert!(!set.is_being_built());
        assert_eq!((set.base.entries().len(), set.delta.new.entries().len()), (65, 3));
        check(&set, &naive);
    }

    #[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
    struct Fragile(u16);

    impl Clone for Fragile {
        fn clone(&self) -> Self {
            let builds = std::thread::current().name() == Some("predicate-index");
            assert!(!builds, "on purpose");
            Self(self.0)
        }
    }

    #[test]
    fn a_base_that_cannot_be_built_harms_nobody() {
        let mut set = PredicateSet::new();
        for key in 0..200 {
            set.insert(Fragile(key), (), PREDICATES[1].clone());
            set.wait();
        }
        let mut answers = 0;
        set.ask(&facts("bash"), |_, (), _| answers += 1);
        assert_eq!((answers, set.len()), (200, 200));
    }

    #[test]
    fn of_two_predicates_with_one_key_the_later_stays() {
        let twice = [1, 2].map(|value| ("key", value, PREDICATES[0].clone()));
        let set = PredicateSet::from_iter(twice);
        assert_eq!(set.get(&"key").map(|(value, _)| *value), Some(2));
        assert_eq!(set.len(), 1);
    }
}
