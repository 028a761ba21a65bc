//! A set answers as its predicates do one by one, whatever was changed in it and when.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::canon::Object;
use crate::predicate::facts::Nobody;
use crate::predicate::{BodyFacts, Context, RecordFacts, SystemFacts};

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
    let at_once = set.iter().map(|(key, value, it)| (*key, *value, it.clone())).collect();
    for tool in ["bash", "read"] {
        let wanted = one_by_one(naive, tool);
        assert_eq!(answers(set, tool), wanted);
        assert_eq!(answers(&at_once, tool), wanted);
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
