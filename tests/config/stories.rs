//! What becomes of records that people write.

use spl::code::Code;
use spl::config::{ConfigState, HookRow, Refusal, Source};
use spl::object;
use spl::record::{Act, ActorId, Draft, Namespace, Origin, Sequence, ThreadId};
use spl::time::Timestamp;

use crate::log::Log;
use crate::written::{erasure, fold, hook, learned, stated, stated_rows, with};

fn text(state: &ConfigState, name: &str) -> Option<String> {
    let current = state.hook(&Namespace::root(), name)?;
    Some(current.hook.text().source().to_owned())
}

/// Returns the only row of what records state.
#[track_caller]
fn only_row(state: &ConfigState) -> HookRow {
    let [row] = stated_rows(state).try_into().expect("one row");
    row
}

#[track_caller]
fn refusal(state: &ConfigState) -> Refusal {
    only_row(state).refused.expect("a refusal")
}

#[test]
fn without_records_there_is_what_is_built_in() {
    let state = ConfigState::default();
    let rows = state.rows();
    let names: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    assert_eq!(names, ["repeat-guard", "absence-guard"]);
    assert!(rows.iter().all(|row| row.source == Source::Builtin && row.loaded));
    assert_eq!((state.hooks_loaded(), state.hooks_builtin()), (0, 2));
}

#[test]
fn a_good_hook_is_loaded() {
    let mut log = Log::default();
    let id = log.push(learned(0, hook("default", "n", "t")));
    let state = fold(&log);
    let want = HookRow {
        name: "n".into(),
        namespace: "default".into(),
        source: Source::Record,
        enabled: true,
        loaded: true,
        compiled: true,
        record_id: Some(id),
        refused: None,
        since: Sequence::new(1),
    };
    assert_eq!(only_row(&state), want);
    assert_eq!((state.hooks_loaded(), state.hooks().len()), (1, 1));
    assert_eq!(state.watermark().sequence().get(), 1);
}

/// A clock belongs to its writer: the SDK counts milliseconds, the command counts records.
#[test]
fn the_latest_is_the_one_that_arrived_last_not_the_highest_clock() {
    let mut log = Log::default();
    log.push(learned(1_790_000_000_000, hook("default", "n", "of the SDK")));
    log.push(learned(8, hook("default", "n", "of the command")));
    assert_eq!(text(&fold(&log), "n").as_deref(), Some("of the command"));
}

#[test]
fn a_refused_version_leaves_the_good_one_in_force_and_is_reported() {
    let mut log = Log::default();
    let good = log.push(learned(0, hook("default", "n", "good")));
    let bad = log.push(learned(1, with(hook("default", "n", "bad"), "priority", 1)));
    let worse = log.push(learned(2, with(hook("default", "n", "worse"), "when", "1 +")));
    let state = fold(&log);
    assert_eq!(text(&state, "n").as_deref(), Some("good"));
    let row = only_row(&state);
    assert_eq!((row.loaded, row.compiled, row.record_id), (true, true, Some(good)));
    let refused = row.refused.expect("the newest refusal");
    assert_eq!((refused.record_id, refused.reason), (worse, "bad_cel"));
    assert_eq!(refused.field.as_deref(), Some("when"));
    assert!(refused.column.is_some());
    assert_ne!(refused.record_id, bad);

    log.push(learned(3, hook("default", "n", "better")));
    let state = fold(&log);
    assert_eq!(text(&state, "n").as_deref(), Some("better"));
    assert_eq!(only_row(&state).refused, None);
}

#[test]
fn what_was_only_ever_refused_has_a_row() {
    let mut log = Log::default();
    let id = log.push(learned(0, with(hook("acme", "n", "t"), "suppress", true)));
    let state = fold(&log);
    let row = only_row(&state);
    assert_eq!((row.namespace.as_str(), row.name.as_str()), ("acme", "n"));
    assert_eq!((row.enabled, row.loaded, row.compiled, row.record_id), (true, false, false, None));
    let refused = row.refused.expect("a refusal");
    assert_eq!((refused.record_id, refused.code), (id, Code::InvalidBody));
    assert_eq!((refused.field.as_deref(), refused.reason), (Some("suppress"), "forbidden_field"));
    assert_eq!((state.hooks_loaded(), state.hooks().len()), (0, 0));
}

#[test]
fn a_record_without_a_right_name_or_namespace_has_a_row_too() {
    let mut log = Log::default();
    log.push(learned(0, object! { "kind": "core.hook.v1", "topic": "hook" }));
    log.push(learned(1, with(hook("Not/A Namespace", "n", "t"), "enabled", false)));
    log.push(learned(2, with(hook("default", "n", "t"), "name", 7)));
    let rows = stated_rows(&fold(&log));
    let keys: Vec<(&str, &str)> =
        rows.iter().map(|row| (row.namespace.as_str(), row.name.as_str())).collect();
    assert_eq!(keys, [("default", ""), ("default", "7"), ("Not/A Namespace", "n")]);
    assert!(rows.iter().all(|row| row.refused.is_some() && !row.loaded));
}

#[test]
fn a_disabled_hook_is_good_and_not_loaded() {
    let mut log = Log::default();
    log.push(learned(0, hook("default", "n", "t")));
    let off = log.push(learned(1, with(hook("default", "n", "t"), "enabled", false)));
    let state = fold(&log);
    let row = only_row(&state);
    assert_eq!(
        (row.enabled, row.loaded, row.compiled, row.record_id),
        (false, false, true, Some(off))
    );
    assert_eq!((state.hooks_loaded(), state.hooks().len()), (0, 0));

    log.push(learned(2, hook("default", "n", "back")));
    assert_eq!(fold(&log).hooks_loaded(), 1);
}

#[test]
fn namesakes_of_two_namespaces_are_two_hooks() {
    let mut log = Log::default();
    log.push(learned(0, hook("acme/site", "n", "below")));
    log.push(learned(1, hook("acme", "n", "above")));
    log.push(learned(2, hook("default", "z", "root")));
    let state = fold(&log);
    let spaces: Vec<String> = stated_rows(&state).into_iter().map(|row| row.namespace).collect();
    assert_eq!(spaces, ["default", "acme", "acme/site"]);
    assert_eq!(state.hooks_loaded(), 3);
}

#[test]
fn an_erased_version_leaves_the_one_before_it() {
    let mut log = Log::default();
    let old = log.push(learned(0, hook("default", "n", "old")));
    let new = log.push(learned(1, hook("default", "n", "new")));
    log.push(erasure(2, new));
    let state = fold(&log);
    assert_eq!(text(&state, "n").as_deref(), Some("old"));
    assert_eq!(only_row(&state).refused, None);

    log.push(erasure(3, old));
    let state = fold(&log);
    assert_eq!(text(&state, "n"), None);
    assert_eq!(stated_rows(&state), []);
}

#[test]
fn an_erased_refusal_is_no_longer_reported() {
    let mut log = Log::default();
    log.push(learned(0, hook("default", "n", "good")));
    let bad = log.push(learned(1, with(hook("default", "n", "bad"), "action", "deny")));
    log.push(erasure(2, bad));
    assert_eq!(only_row(&fold(&log)).refused, None);
}

#[test]
fn an_imported_hook_is_kept_and_not_loaded() {
    let mut log = Log::default();
    log.push(learned(0, hook("default", "n", "ours")));
    let off = with(hook("default", "n", "theirs"), "enabled", false);
    let theirs = log.push_from(learned(1, off), Timestamp::default(), Origin::Import);
    let state = fold(&log);
    assert_eq!(text(&state, "n").as_deref(), Some("ours"));
    assert_eq!(state.hooks_loaded(), 1);
    let refused = refusal(&state);
    assert_eq!((refused.record_id, refused.reason), (theirs, Refusal::IMPORTED));
    assert_eq!((refused.code, refused.field), (Code::ConfigWriteDenied, None));
}

#[test]
fn an_import_neither_sets_nor_erases_anything() {
    let mut log = Log::default();
    let ours = log.push(learned(0, hook("default", "n", "ours")));
    let import = |log: &mut Log, draft| log.push_from(draft, Timestamp::default(), Origin::Import);
    import(&mut log, erasure(1, ours));
    import(&mut log, learned(2, object! { "topic": "permissions_enabled", "enabled": false }));
    let state = fold(&log);
    assert_eq!(text(&state, "n").as_deref(), Some("ours"));
    assert_eq!(state.settings().count(), 0);
}

/// A record with a slightly wrong topic was once ignored by the loader and by the list alike.
#[test]
fn what_looks_like_a_hook_is_reported_where_the_hook_would_stand() {
    let mut log = Log::default();
    let good = log.push(learned(0, hook("default", "n", "good")));
    let body = object! {
        "topic": "hooks", "name": "n", "when": "true", "text": "never heard",
    };
    let near = log.push(learned(1, body));
    let state = fold(&log);
    let row = only_row(&state);
    assert_eq!((row.loaded, row.record_id), (true, Some(good)));
    let refused = row.refused.expect("a report");
    assert_eq!((refused.record_id, refused.field.as_deref()), (near, Some("topic")));
    assert_eq!(refused.message, "the `topic` of a hook is `hook`, not `hooks`, so it never loads");
    assert_eq!(state.settings().count(), 0);
}

#[test]
fn the_name_of_a_built_in_hook_is_reported_on_its_row() {
    let mut log = Log::default();
    let id = log.push(learned(0, hook("default", "repeat-guard", "mine")));
    log.push(learned(1, hook("acme", "repeat-guard", "mine")));
    let state = fold(&log);
    let rows = state.rows();
    assert_eq!(rows.len(), 3);
    let row = rows.first().expect("the first row");
    assert_eq!((row.source, row.loaded), (Source::Builtin, true));
    assert_eq!(row.refused.as_ref().map(|refused| refused.record_id), Some(id));
    assert_eq!(only_row(&state).namespace, "acme");
    assert_eq!(state.hooks_loaded(), 0);
}

#[test]
fn a_hook_with_another_act_is_refused_at_load() {
    let mut log = Log::default();
    log.push(stated(Act::Know, 0, hook("default", "n", "t")));
    assert_eq!(refusal(&fold(&log)).field.as_deref(), Some("act"));
}

#[test]
fn other_threads_configure_nothing() {
    let mut log = Log::default();
    let thread = ThreadId::parse("th_other").expect("a thread");
    log.push(Draft::new(thread, ActorId::engine(), Act::Learn, hook("default", "n", "t")));
    let state = fold(&log);
    assert_eq!(stated_rows(&state), []);
    assert_eq!(state.watermark().sequence().get(), 0);
}

#[test]
fn other_settings_are_the_latest_record_of_their_key() {
    let rule = |name: &str, n: usize| {
        learned(n, object! { "topic": "permission_rule", "name": name, "priority": n })
    };
    let mut log = Log::default();
    let first = log.push(rule("a", 0));
    let second = log.push(rule("a", 1));
    let other = log.push(rule("b", 2));
    let switch = log.push(learned(3, object! { "topic": "permissions_enabled", "enabled": true }));
    let root = Namespace::root();
    let state = fold(&log);
    assert_eq!(state.setting("permission_rule", &root, "a"), Some(second));
    assert_eq!(state.setting("permission_rule", &root, "b"), Some(other));
    assert_eq!(state.setting("permissions_enabled", &root, ""), Some(switch));
    assert_eq!(state.settings().count(), 3);

    log.push(erasure(4, second));
    assert_eq!(fold(&log).setting("permission_rule", &root, "a"), Some(first));
}
