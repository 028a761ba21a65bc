//! The laws of a set of hooks.

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use spl::hook::{Builtin, Hook, HookKey, HookSet, InForce, Observation, Observed};
use spl::object;
use spl::record::{Act, ActorId, Draft, Namespace, ThreadId};

use crate::run::{Call, Run};

/// Predicates that hold of some calls, of all, of none, or fail.
const WHENS: [&str; 6] = [
    "true",
    "false",
    "record.body.tool == 'bash'",
    "resource == 'tool:read' && record.body.status != 'ok'",
    "record.body.args.nope == 1",
    "record.body.content.contains('x')",
];
const NAMES: [&str; 4] = ["a", "b", "B", "ä"];
const SPACES: [&str; 5] = ["default", "acme", "acme/site", "acme/site/prod", "other"];

fn arb_hook() -> impl Strategy<Value = Arc<Hook>> {
    let indices = (0..NAMES.len(), 0..SPACES.len(), 0..WHENS.len(), 1..4_u32);
    (indices, prop::bool::weighted(0.9)).prop_map(|((name, space, when, cap), enabled)| {
        let body = object! {
            "kind": "core.hook.v1",
            "topic": "hook",
            "name": NAMES[name],
            "namespace": SPACES[space],
            "when": WHENS[when],
            "text": "${tool} ${status}",
            "max_fires_per_run": cap,
            "enabled": enabled,
        };
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        Arc::new(Hook::check(&draft).expect("a good hook"))
    })
}

/// A tool, whether it went well, an answer, and an argument.
type Tried = (bool, bool, bool, u8);

fn arb_calls() -> impl Strategy<Value = Vec<Tried>> {
    prop::collection::vec((any::<bool>(), any::<bool>(), any::<bool>(), 0..3_u8), 0..10)
}

fn set<'a>(hooks: impl IntoIterator<Item = &'a Arc<Hook>>) -> HookSet {
    HookSet::new(hooks.into_iter().map(|hook| InForce { hook: Arc::clone(hook), record_id: None }))
}

/// What a set says about each call of a run.
fn observed(hooks: &HookSet, calls: &[Tried], namespace: &str) -> Vec<Observed> {
    let mut run = Run::new(namespace);
    let mut observe = |(bash, ok, x, n): &Tried| {
        let call = Call {
            tool: if *bash { "bash" } else { "read" }.into(),
            args: object! { "path": i32::from(*n) },
            status: if *ok { "ok" } else { "error" }.into(),
            content: if *x { "x" } else { "" }.into(),
            resource: String::new(),
        };
        run.observe(hooks, &call)
    };
    calls.iter().map(&mut observe).collect()
}

fn without(observed: Vec<Observed>, key: &HookKey) -> Vec<(Vec<Observation>, Vec<HookKey>)> {
    let strip = |it: Observed| {
        let observations = it.observations.into_iter().filter(|it| it.key != *key).collect();
        let skipped = it.skipped.into_iter().map(|(key, _)| key).filter(|it| it != key).collect();
        (observations, skipped)
    };
    observed.into_iter().map(strip).collect()
}

proptest! {
    /// Adding a hook never takes a word away from another (decision 8), nor moves one: what the
    /// others say, and in which order, is the same with it and without it.
    #[test]
    fn adding_a_hook_takes_nothing_from_the_others(
        hooks in prop::collection::vec(arb_hook(), 0..8),
        added in arb_hook(),
        calls in arb_calls(),
        space in 0..SPACES.len(),
    ) {
        let before: Vec<_> = hooks.iter().filter(|hook| hook.key() != added.key()).collect();
        let without_it = set(before);
        let mut with = without_it.clone();
        with.insert(InForce { hook: Arc::clone(&added), record_id: None });
        let (key, space) = (added.key(), SPACES[space]);
        prop_assert_eq!(
            without(observed(&without_it, &calls, space), key),
            without(observed(&with, &calls, space), key)
        );
    }

    /// A set that was changed hook by hook says what the set of what is left says, and is as large.
    #[test]
    fn a_set_that_is_changed_is_the_set_of_what_is_left(
        changes in prop::collection::vec((arb_hook(), any::<bool>()), 0..24),
        calls in arb_calls(),
        space in 0..SPACES.len(),
    ) {
        let mut changed = HookSet::default();
        let mut left: BTreeMap<&HookKey, &Arc<Hook>> = BTreeMap::new();
        for (hook, goes) in &changes {
            let before = changed.clone();
            if *goes {
                left.remove(hook.key());
                changed.remove(hook.key());
            } else {
                left.insert(hook.key(), hook);
                changed.insert(InForce { hook: Arc::clone(hook), record_id: None });
            }
            prop_assert!(before.len().abs_diff(changed.len()) <= 1);
        }
        let at_once = set(left.values().copied());
        prop_assert_eq!(changed.len(), left.values().filter(|hook| hook.enabled()).count());
        prop_assert_eq!(
            observed(&changed, &calls, SPACES[space]),
            observed(&at_once, &calls, SPACES[space])
        );
    }

    /// Words stand in the order of decision 7, whatever order the hooks came in.
    #[test]
    fn words_stand_in_one_order(
        hooks in prop::collection::btree_map((0..NAMES.len(), 0..SPACES.len()), arb_hook(), 0..8),
        calls in arb_calls(),
        space in 0..SPACES.len(),
    ) {
        let mut hooks: Vec<Arc<Hook>> = hooks.into_values().collect();
        hooks.sort_by(|a, b| a.key().cmp(b.key()));
        hooks.dedup_by(|a, b| a.key() == b.key());
        let forth = observed(&set(&hooks), &calls, SPACES[space]);
        let back = observed(&set(hooks.iter().rev()), &calls, SPACES[space]);
        prop_assert_eq!(&forth, &back);
        for call in &forth {
            let place = |it: &Observation| {
                let builtin = Builtin::named(&it.key.name)
                    .and_then(|named| Builtin::ALL.iter().position(|other| *other == named));
                (builtin.unwrap_or(9), it.key.namespace.depth(), it.key.name.as_bytes().to_vec())
            };
            prop_assert!(call.observations.is_sorted_by_key(place), "{:?}", call.observations);
        }
    }

    /// No hook speaks more often than its cap, or outside of its namespace.
    #[test]
    fn nobody_speaks_beyond_the_cap_or_outside_the_namespace(
        hooks in prop::collection::vec(arb_hook(), 0..8),
        calls in arb_calls(),
        space in 0..SPACES.len(),
    ) {
        let namespace = Namespace::parse(SPACES[space]).expect("a namespace");
        let all: Vec<Observation> = observed(&set(&hooks), &calls, SPACES[space])
            .into_iter()
            .flat_map(|it| it.observations)
            .collect();
        for observation in &all {
            let times = all.iter().filter(|it| it.key == observation.key).count();
            prop_assert!(times <= observation.cap as usize);
            prop_assert!(observation.key.namespace.covers(&namespace));
        }
    }
}

#[test]
fn the_empty_set_has_the_built_in_hooks() {
    assert_eq!(HookSet::default().len(), 0);
    let calls = [(true, true, true, 0); 6];
    let said: Vec<usize> = observed(&HookSet::default(), &calls, "acme")
        .iter()
        .map(|it| it.observations.len())
        .collect();
    assert_eq!(said, [0, 1, 1, 1, 0, 0]);
}
