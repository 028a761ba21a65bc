//! What becomes of records about tiers and transports.

use spl::canon::{Limits, Object, Value, parse};
use spl::config::{ConfigState, Tier, TierName, Transport};
use spl::object;
use spl::record::{ActorId, Origin};
use spl::time::Timestamp;

use crate::log::Log;
use crate::written::{erasure, fold, learned, with};

fn edit(tier: &str, fields: &str) -> Object {
    let fields = parse(fields.as_bytes(), Limits::DOOR).expect("JSON");
    let mut body = fields.as_object().expect("an object").clone();
    body.insert("kind".into(), "core.engine.tier.v1".into());
    body.insert("tier".into(), tier.into());
    body
}

fn given(actor: &str, tier: &str) -> Object {
    object! { "topic": "actor_tier", "actor": actor, "tier": tier }
}

fn tier_of(state: &ConfigState, actor: &str) -> TierName {
    state.tier_of(&ActorId::parse(actor).expect("an actor")).name
}

#[test]
fn what_is_built_in_is_what_the_contract_says() {
    let state = ConfigState::default();
    let rows: Vec<Value> =
        state.tier_rows().into_iter().map(|row| row.tier.to_object().into()).collect();
    let shown: Vec<String> = rows.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(shown.join("\n"));
    assert_eq!(tier_of(&state, "did:sync:user:vera"), TierName::Trial);
    assert!(state.tier(TierName::Trial).forbids("bash"));
    assert!(!state.tier(TierName::Operator).forbids("bash"));
}

#[test]
fn a_record_changes_the_fields_that_it_has_and_no_others() {
    let mut log = Log::default();
    let fields = r#"{"max_turns":7,"daily_cost_cap_usd":0.75,"token_budget":null,"concurrency":0}"#;
    log.push(learned(0, edit("trial", fields)));
    let state = fold(&log);
    let want = Tier {
        max_turns: Some(7),
        daily_cost_cap: Some(750_000),
        token_budget: None,
        concurrency: Some(0),
        ..Tier::built_in(TierName::Trial).clone()
    };
    assert_eq!(state.tier(TierName::Trial), &want);
    assert_eq!(state.tier(TierName::Paid), Tier::built_in(TierName::Paid));

    // What the next one omits is as it is built in, not as the one before it said.
    log.push(learned(1, edit("trial", r#"{"wall_clock_secs":1}"#)));
    let want = Tier { wall_clock_secs: Some(1), ..Tier::built_in(TierName::Trial).clone() };
    assert_eq!(fold(&log).tier(TierName::Trial), &want);
}

#[test]
fn a_record_that_is_none_is_reported_and_the_good_one_stays() {
    let mut log = Log::default();
    let good = log.push(learned(0, edit("team", r#"{"max_turns":7}"#)));
    for (clock, (fields, field)) in [
        (r#"{"max_turns":"7"}"#, "max_turns"),
        (r#"{"max_turns":-1}"#, "max_turns"),
        (r#"{"max_turns":1.5}"#, "max_turns"),
        (r#"{"max_turns":4294967296}"#, "max_turns"),
        (r#"{"max_turn":1}"#, "max_turn"),
        (r#"{"forbidden_tools":[]}"#, "forbidden_tools"),
        (r#"{"default_budget_usd":0.0000001}"#, "default_budget_usd"),
        (r#"{"default_budget_usd":-1}"#, "default_budget_usd"),
        (r#"{"default_budget_usd":1e300}"#, "default_budget_usd"),
        (r#"{"default_budget_usd":"1"}"#, "default_budget_usd"),
    ]
    .into_iter()
    .enumerate()
    {
        log.push(learned(1 + clock, edit("team", fields)));
        let rows = fold(&log).tier_rows();
        let row = rows.iter().find(|row| row.tier.name == TierName::Team).expect("a row");
        assert_eq!((row.record_id, row.tier.max_turns), (Some(good), Some(7)), "{fields}");
        let refused = row.refused.as_ref().expect(fields);
        assert_eq!(refused.field.as_deref(), Some(field), "{fields}");
    }
    log.push(learned(50, edit("gold", "{}")));
    let state = fold(&log);
    let unknown: Vec<&str> = state.unknown_tiers().map(|(name, _)| name).collect();
    assert_eq!(unknown, ["gold"]);
    log.push(erasure(51, good));
    assert_eq!(fold(&log).tier(TierName::Team), Tier::built_in(TierName::Team));
}

#[test]
fn an_actor_has_the_tier_that_it_was_given_last() {
    let vera = "did:sync:user:vera";
    let mut log = Log::default();
    log.push(learned(0, given(vera, "paid")));
    assert_eq!(tier_of(&fold(&log), vera), TierName::Paid);
    assert_eq!(tier_of(&fold(&log), "did:sync:user:other"), TierName::Trial);
    log.push(learned(1, given(vera, "team")));
    assert_eq!(tier_of(&fold(&log), vera), TierName::Team);
    // What is no tier leaves what was good.
    log.push(learned(2, given(vera, "gold")));
    assert_eq!(tier_of(&fold(&log), vera), TierName::Team);
    log.push(learned(3, given(vera, "")));
    assert_eq!(tier_of(&fold(&log), vera), TierName::Trial);
    let rows = fold(&log).actor_tier_rows();
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].actor.as_str(), rows[0].tier), (vera, None));
}

#[test]
fn no_record_makes_anybody_the_operator() {
    let vera = "did:sync:user:vera";
    let mut log = Log::default();
    log.push(learned(0, given(vera, "paid")));
    let asked = log.push(learned(1, given(vera, "operator")));
    let state = fold(&log);
    assert_eq!(tier_of(&state, vera), TierName::Paid);
    let refused = state.actor_tier_rows()[0].refused.clone().expect("a report");
    assert_eq!((refused.record_id, refused.field.as_deref()), (asked, Some("tier")));
}

#[test]
fn an_actor_of_any_length_is_told_from_others() {
    let named = |end: char| format!("did:sync:user:{}{end}", "x".repeat(500));
    let mut log = Log::default();
    log.push(learned(0, given(&named('a'), "paid")));
    log.push(learned(1, given(&named('b'), "team")));
    let state = fold(&log);
    assert_eq!(tier_of(&state, &named('a')), TierName::Paid);
    assert_eq!(tier_of(&state, &named('b')), TierName::Team);
}

#[test]
fn a_transport_that_is_none_is_the_default_of_its_topic() {
    let set = |topic: &str, transport: Value| {
        with(object! { "topic": topic, "kind": "core.engine.config.v1" }, "transport", transport)
    };
    let (own, members) = ("work_loop_transport", "work_loop_transport_members");
    let transports = |state: &ConfigState| (state.transport(), state.members_transport());
    let mut log = Log::default();
    let default = (Transport::InProcess, Transport::Sandboxed);
    assert_eq!(transports(&fold(&log)), default);
    log.push(learned(0, set(own, "sandboxed".into())));
    log.push(learned(1, set(members, "in_process".into())));
    assert_eq!(transports(&fold(&log)), (Transport::Sandboxed, Transport::InProcess));
    for (clock, odd) in [Value::from("remote"), 7.into(), Value::Null].into_iter().enumerate() {
        log.push(learned(2 + 2 * clock, set(own, odd.clone())));
        log.push(learned(3 + 2 * clock, set(members, odd)));
        assert_eq!(transports(&fold(&log)), default);
    }
    let import = learned(20, set(members, "in_process".into()));
    log.push_from(import, Timestamp::default(), Origin::Import);
    assert_eq!(transports(&fold(&log)), default);
}
