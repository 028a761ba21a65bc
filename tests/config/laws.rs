//! The laws of the fold: against a model that is too simple to be wrong, and in steps.

use std::collections::BTreeMap;

use proptest::prelude::*;
use spl::canon::Object;
use spl::config::ConfigState;
use spl::fold::Fold;
use spl::hook::{Asked, Hook, HookSet, InForce};
use spl::object;
use spl::record::{Namespace, Origin, RecordId};
use spl::time::Timestamp;

use crate::log::Log;
use crate::run::{Call, Run};
use crate::written::{erasure, fold, hook, learned, stated_rows, with};

/// What somebody writes next.
#[derive(Debug, Clone, Copy)]
enum Step {
    Good,
    Disabled,
    Forbidden,
    BadCel,
    NearMiss,
    Imported,
    Setting,
    /// Erases the record at this place, counted from the end.
    Erase(usize),
}

const SPACES: [&str; 4] = ["default", "acme", "acme/x", "other"];
const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];

/// Predicates of which some hold of a call of `bash`, and one fails.
const WHENS: [&str; 4] =
    ["true", "record.body.tool == 'bash'", "record.body.tool == 'read'", "record.body.args.no"];

/// Returns the namespace and the name of a key.
fn key(number: usize) -> (&'static str, &'static str) {
    (SPACES[number % SPACES.len()], NAMES[number / SPACES.len()])
}

fn arb_steps() -> impl Strategy<Value = Vec<(Step, usize)>> {
    let step = prop_oneof![
        3 => Just(Step::Good),
        1 => Just(Step::Disabled),
        1 => Just(Step::Forbidden),
        1 => Just(Step::BadCel),
        1 => Just(Step::NearMiss),
        1 => Just(Step::Imported),
        1 => Just(Step::Setting),
        2 => (0..6_usize).prop_map(Step::Erase),
    ];
    prop::collection::vec((step, 0..SPACES.len() * NAMES.len()), 0..50)
}

/// A hook as the model has it: which record is current, whether it is loaded, which is refused.
type Row = (String, String, Option<RecordId>, bool, Option<RecordId>);

/// What is known of a record: its key, whether it is good, whether it is enabled.
struct Written {
    id: RecordId,
    key: usize,
    good: bool,
    enabled: bool,
    hook: bool,
}

fn write(steps: &[(Step, usize)]) -> (Log, Vec<Row>) {
    let mut log = Log::default();
    let mut written: Vec<Written> = Vec::new();
    let mut erased: Vec<RecordId> = Vec::new();
    for (clock, (step, number)) in steps.iter().enumerate() {
        let (namespace, name) = key(*number);
        let body = with(hook(namespace, name, "t"), "when", WHENS[clock % WHENS.len()]);
        let (body, good, enabled, is_hook): (Object, bool, bool, bool) = match step {
            Step::Good => (body, true, true, true),
            Step::Disabled => (with(body, "enabled", false), true, false, true),
            Step::Forbidden => (with(body, "order", 1), false, true, true),
            Step::BadCel => (with(body, "when", "(("), false, true, true),
            Step::NearMiss => (with(body, "kind", "core.hook.v2"), false, true, true),
            Step::Imported => (body, false, true, true),
            Step::Setting => (object! { "topic": "store_bounds" }, true, true, false),
            Step::Erase(back) => {
                if let Some(target) = written.iter().rev().nth(*back) {
                    erased.push(target.id);
                    log.push(erasure(clock, target.id));
                }
                continue;
            }
        };
        let body = match step {
            // Wrong in the kind alone it would still mean to be a hook.
            Step::NearMiss => with(body, "topic", "Hook"),
            _ => body,
        };
        let imported = matches!(step, Step::Imported);
        let origin = if imported { Origin::Import } else { Origin::Door };
        let id = log.push_from(learned(clock, body), Timestamp::default(), origin);
        written.push(Written { id, key: *number, good, enabled, hook: is_hook });
    }
    (log, model(&written, &erased))
}

/// Walks every record that was not erased, oldest first, and keeps what it says.
fn model(written: &[Written], erased: &[RecordId]) -> Vec<Row> {
    let mut rows: BTreeMap<(usize, &str, &str), Row> = BTreeMap::new();
    for record in written.iter().filter(|it| it.hook && !erased.contains(&it.id)) {
        let (space, name) = key(record.key);
        let depth = Namespace::parse(space).expect("a namespace").depth();
        let row = rows
            .entry((depth, name, space))
            .or_insert_with(|| (space.into(), name.into(), None, false, None));
        if record.good {
            *row = (space.into(), name.into(), Some(record.id), record.enabled, None);
        } else {
            row.4 = Some(record.id);
        }
    }
    rows.into_values().collect()
}

fn rows(state: &ConfigState) -> Vec<Row> {
    let row = |row: spl::config::HookRow| {
        let refused = row.refused.map(|refused| refused.record_id);
        (row.namespace, row.name, row.record_id, row.loaded, refused)
    };
    stated_rows(state).into_iter().map(row).collect()
}

/// Returns the set of the hooks that these rows say are loaded, each compiled anew from its record.
fn rebuilt(log: &Log, rows: &[Row]) -> HookSet {
    let loaded = rows.iter().filter(|row| row.3).filter_map(|row| row.2);
    HookSet::new(loaded.map(|id| {
        let stated = log.since(0).find(|it| it.record.id() == id).expect("a record");
        let hook = Hook::check(stated.record.draft()).expect("a good hook").into();
        InForce { hook, record_id: Some(id) }
    }))
}

/// What a set says about a call in each namespace.
fn answers(hooks: &HookSet) -> Vec<Asked> {
    SPACES.iter().map(|space| Run::new(space).ask(hooks, &Call::of("bash"))).collect()
}

proptest! {
    /// The fold says of every hook what a walk through its surviving records says.
    #[test]
    fn the_fold_is_a_walk_through_the_surviving_records(steps in arb_steps()) {
        let (log, model) = write(&steps);
        let state = fold(&log);
        prop_assert_eq!(&rows(&state), &model);
        let loaded = model.iter().filter(|row| row.3).count();
        prop_assert_eq!((state.hooks_loaded(), state.hooks().len()), (loaded, loaded));
        prop_assert_eq!(answers(state.hooks()), answers(&rebuilt(&log, &model)));
    }

    /// A reader's state stays as it is while others grow from it.
    #[test]
    fn a_copy_stays_as_it_is(steps in arb_steps(), cut in any::<prop::sample::Index>()) {
        let (log, _) = write(&steps);
        let cut = cut.index(log.len() + 1);
        let kept = ConfigState::default().fold(log.since(0).take(cut));
        let (before, said) = (kept.rows(), answers(kept.hooks()));
        let mut grown = kept.clone();
        log.since(cut).for_each(|received| grown.evolve(&received));
        prop_assert_eq!((kept.rows(), answers(kept.hooks())), (before, said));
        let fresh = fold(&log);
        prop_assert_eq!((grown.rows(), answers(grown.hooks())), (fresh.rows(), answers(fresh.hooks())));
    }

    /// A state that was fed in steps, asked in between and fed some of it twice equals a fresh one.
    #[test]
    fn the_fold_is_incremental(
        steps in arb_steps(),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let (log, _) = write(&steps);
        let mut state = ConfigState::default();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(log.len() + 1)).collect();
        cuts.sort_unstable();
        for cut in cuts {
            state = state.fold(log.since(0).take(cut));
            prop_assert_eq!(answers(state.hooks()), answers(&rebuilt(&log, &rows(&state))));
        }
        state = state.fold(log.since(0)).fold(log.since(0).take(log.len() / 2));
        let fresh = fold(&log);
        prop_assert_eq!(state.rows(), fresh.rows());
        prop_assert_eq!(state.settings().collect::<Vec<_>>(), fresh.settings().collect::<Vec<_>>());
        prop_assert_eq!(answers(state.hooks()), answers(fresh.hooks()));
        prop_assert_eq!(state.watermark(), fresh.watermark());
    }
}
