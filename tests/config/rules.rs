//! What becomes of records about permission rules.

use spl::canon::Object;
use spl::config::{ConfigState, Refusal, RuleRow};
use spl::object;
use spl::permission::Action;
use spl::record::{Act, Namespace, Origin};
use spl::time::Timestamp;

use crate::log::Log;
use crate::written::{erasure, fold, learned, stated, with};

fn rule(namespace: &str, name: &str, action: &str) -> Object {
    object! {
        "action": action,
        "expression": "true",
        "kind": "core.permission_rule.v1",
        "name": name,
        "namespace": namespace,
        "topic": "permission_rule",
    }
}

fn switch(enabled: bool) -> Object {
    object! { "topic": "permissions_enabled", "enabled": enabled }
}

/// Returns the names and the deeds of the rules in force.
fn in_force(state: &ConfigState) -> Option<Vec<(String, Action)>> {
    let everywhere = Namespace::parse("acme/site").expect("a namespace");
    let named =
        |rule: &spl::permission::PermissionRule| (rule.key().name.to_string(), rule.action());
    Some(state.rules()?.speaking_in(&everywhere).map(named).collect())
}

#[track_caller]
fn only_row(state: &ConfigState) -> RuleRow {
    let [row] = state.rule_rows().try_into().expect("one row");
    row
}

#[test]
fn rules_are_not_in_force_until_somebody_says_so() {
    let mut log = Log::default();
    log.push(learned(0, rule("default", "a", "deny")));
    assert_eq!(in_force(&fold(&log)), None);
    log.push(learned(1, switch(true)));
    assert_eq!(in_force(&fold(&log)), Some(vec![("a".into(), Action::Deny)]));
    log.push(learned(2, switch(false)));
    assert_eq!(in_force(&fold(&log)), None);
}

#[test]
fn the_latest_of_a_name_replaces_the_one_before_whatever_its_place() {
    let mut log = Log::default();
    log.push(learned(0, switch(true)));
    log.push(learned(1, with(rule("acme", "a", "deny"), "priority", 9)));
    let mut state = fold(&log);
    log.push(learned(2, with(rule("acme", "a", "allow"), "priority", -9)));
    assert_eq!(in_force(&fold(&log)), Some(vec![("a".into(), Action::Allow)]));
    // The same, if the fold was there before.
    let mut folding = state.clone().folding();
    log.since(2).for_each(|received| folding.add(&received));
    state = folding.done();
    assert_eq!(in_force(&state), Some(vec![("a".into(), Action::Allow)]));
    log.push(learned(3, with(rule("acme", "a", "allow"), "enabled", false)));
    assert_eq!(in_force(&fold(&log)), Some(Vec::new()));
    assert!(!only_row(&fold(&log)).loaded());
}

#[test]
fn a_refused_version_leaves_the_good_one_in_force_and_is_reported() {
    let mut log = Log::default();
    log.push(learned(0, switch(true)));
    let good = log.push(learned(1, rule("default", "a", "deny")));
    let bad = log.push(learned(2, with(rule("default", "a", "allow"), "expression", "1 +")));
    let state = fold(&log);
    assert_eq!(in_force(&state), Some(vec![("a".into(), Action::Deny)]));
    let row = only_row(&state);
    assert_eq!((row.record_id, row.loaded()), (Some(good), true));
    let refused = row.refused.expect("a refusal");
    assert_eq!((refused.record_id, refused.reason), (bad, "bad_cel"));
    assert_eq!((refused.field.as_deref(), refused.column.is_some()), (Some("expression"), true));

    log.push(erasure(3, bad));
    assert_eq!(only_row(&fold(&log)).refused, None);
    log.push(erasure(4, good));
    let state = fold(&log);
    assert_eq!((in_force(&state), state.rule_rows().len()), (Some(Vec::new()), 0));
}

#[test]
fn an_erased_version_leaves_the_one_before_it() {
    let mut log = Log::default();
    log.push(learned(0, switch(true)));
    log.push(learned(1, rule("default", "a", "deny")));
    let newer = log.push(learned(2, rule("default", "a", "allow")));
    log.push(erasure(3, newer));
    assert_eq!(in_force(&fold(&log)), Some(vec![("a".into(), Action::Deny)]));
}

#[test]
fn nothing_imported_rules() {
    let mut log = Log::default();
    let import = |log: &mut Log, draft| log.push_from(draft, Timestamp::default(), Origin::Import);
    import(&mut log, learned(0, switch(true)));
    assert_eq!(in_force(&fold(&log)), None);
    log.push(learned(1, switch(true)));
    let theirs = import(&mut log, learned(2, rule("default", "a", "allow")));
    let state = fold(&log);
    assert_eq!(in_force(&state), Some(Vec::new()));
    let refused = only_row(&state).refused.expect("a report");
    assert_eq!((refused.record_id, refused.reason), (theirs, Refusal::IMPORTED));
    let off = import(&mut log, learned(3, switch(false)));
    let state = fold(&log);
    assert!(state.permissions_enabled());
    assert_eq!(state.permission_switch().1.map(|refused| refused.record_id), Some(off));
}

#[test]
fn a_switch_that_says_nothing_switches_nothing() {
    let mut log = Log::default();
    let on = log.push(learned(0, switch(true)));
    log.push(learned(1, object! { "topic": "permissions_enabled" }));
    log.push(learned(2, object! { "topic": "permissions_enabled", "enabled": "false" }));
    log.push(stated(Act::Know, 3, switch(false)));
    let state = fold(&log);
    assert!(state.permissions_enabled());
    let (record, refused) = state.permission_switch();
    assert_eq!(record, Some(on));
    assert_eq!(refused.and_then(|refused| refused.field.as_deref()), Some("act"));
}

/// Whoever slips believes that something is refused.
#[test]
fn what_looks_like_a_rule_is_reported_where_the_rule_would_stand() {
    let mut log = Log::default();
    log.push(learned(0, object! { "topic": "permission_enabled", "enabled": true }));
    let good = log.push(learned(1, rule("default", "a", "deny")));
    let near = log.push(learned(2, object! { "topic": "permission_rules", "name": "a" }));
    let state = fold(&log);
    assert!(!state.permissions_enabled());
    let said =
        "the `topic` is `permissions_enabled`, not `permission_enabled`, so this does nothing";
    assert_eq!(state.permission_switch().1.map(|refused| refused.message.as_str()), Some(said));
    let row = only_row(&state);
    assert_eq!((row.record_id, row.loaded()), (Some(good), true));
    assert_eq!(row.refused.map(|refused| refused.record_id), Some(near));
}

#[test]
fn rows_stand_from_the_root_down() {
    let mut log = Log::default();
    log.push(learned(0, rule("acme/site", "a", "allow")));
    log.push(learned(1, rule("default", "z", "allow")));
    log.push(learned(2, rule("default", "b", "allow")));
    log.push(learned(3, object! { "topic": "permission_rule" }));
    let rows: Vec<(String, String, bool)> = fold(&log)
        .rule_rows()
        .into_iter()
        .map(|row| (row.namespace.clone(), row.name.clone(), row.loaded()))
        .collect();
    let row = |namespace: &str, name: &str, loaded| (namespace.into(), name.into(), loaded);
    assert_eq!(
        rows,
        [
            row("default", "", false),
            row("default", "b", true),
            row("default", "z", true),
            row("acme/site", "a", true),
        ]
    );
}
