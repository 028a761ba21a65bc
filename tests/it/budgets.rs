//! How far a run may go, and how it ends when it may not go further.

use spl::cancel::Cancel;
use spl::model::Price;
use spl::run::{Limits, RunSpec, Verb, replay};

use crate::lab::{Lab, Played, bash, bodies, said, spec, turns, within};

fn play(lab: &Lab, script: &str, spec: RunSpec) -> Played {
    let played = lab.play_with(script, spec, &Cancel::new(), &mut |_| {});
    let replayed = replay(&played.records, &|_| None).expect("replayed");
    assert_eq!(
        replayed.state.outcome().map(|outcome| outcome.verb),
        Some(played.report.outcome.verb)
    );
    assert_eq!(replayed.state.spent(), &played.report.spent);
    played
}

fn budget(played: &Played) -> (Verb, Option<&str>) {
    let outcome = bodies(played, "core.work.loop_outcome.v1")[0];
    let kind = outcome.get("budget_kind").and_then(spl::canon::Value::as_str);
    (played.report.outcome.verb, kind)
}

/// Turns that cost ten tokens each.
fn costly(count: usize) -> String {
    let call = |n: usize| bash(&format!("echo {n}"));
    let turn = |n: usize| {
        let usage = r#""usage":{"input_tokens":8,"output_tokens":2}"#;
        format!(r#"{{"tool_calls":[{}],{usage}}}"#, call(n))
    };
    let turns: Vec<String> = (0..count).map(turn).collect();
    format!(r#"{{"turns":[{}]}}"#, turns.join(","))
}

#[test]
fn tokens_run_out() {
    let lab = Lab::new();
    let limits = Limits { token_budget: Some(25), ..Limits::NONE };
    let played = play(&lab, &costly(5), within(limits));
    assert_eq!(budget(&played), (Verb::BudgetExhausted, Some("tokens")));
    assert_eq!((played.report.spent.turns, played.report.spent.tokens()), (3, 30));
    assert_eq!(said(&played.told[2])[5], "notice: you have 5 of 25 tokens left");
}

#[test]
fn money_runs_out_where_the_price_is_known() {
    let lab = Lab::new();
    let limits = Limits { usd_budget: Some(20), ..Limits::NONE };
    let price = Some(Price { input: 500_000, output: 3_000_000 });
    let played = play(&lab, &costly(5), RunSpec { price, ..within(limits) });
    assert_eq!(budget(&played), (Verb::BudgetExhausted, Some("usd")));
    assert_eq!(played.report.spent.usd_micros, 20);
    let turn = bodies(&played, "core.work.turn.v1")[0];
    assert_eq!(turn["cost_usd_micros"].as_u64(), Some(10));
}

#[test]
fn an_unknown_price_costs_nothing_and_is_not_made_up() {
    let lab = Lab::new();
    let played = play(&lab, &costly(2), spec());
    let outcome = bodies(&played, "core.work.loop_outcome.v1")[0];
    assert_eq!(outcome.get("cost_usd_micros"), None);
}

#[test]
fn time_runs_out_in_the_middle_of_a_tool() {
    let lab = Lab::new();
    let limits = Limits { wall_clock_secs: Some(1), ..Limits::NONE };
    let played = play(&lab, &turns(&[bash("sleep 600")]), within(limits));
    assert_eq!(budget(&played), (Verb::BudgetExhausted, Some("wall_clock")));
    assert_eq!(bodies(&played, "core.work.tool_result.v1")[0]["status"].as_str(), Some("error"));
}

#[test]
fn time_runs_out_in_the_middle_of_a_turn() {
    let lab = Lab::new();
    let limits = Limits { wall_clock_secs: Some(1), ..Limits::NONE };
    let played = play(&lab, r#"{"turns":[{"wait_for":"never"}]}"#, within(limits));
    assert_eq!(budget(&played), (Verb::BudgetExhausted, Some("wall_clock")));
    assert_eq!(bodies(&played, "core.work.turn.v1").len(), 0);
}

#[test]
fn the_model_is_told_what_it_may_spend_and_of_its_last_turn() {
    let lab = Lab::new();
    let limits = Limits { max_turns: Some(2), token_budget: Some(5000), ..Limits::NONE };
    let played = play(&lab, &turns(&[bash("echo a"), bash("echo b")]), within(limits));
    assert_eq!(budget(&played), (Verb::MaxTurns, Some("turns")));
    let system = &played.told[0].system;
    assert!(system.contains("Your budget: 2 turns, 5000 tokens."), "{system}");
    assert!(system.contains("Nobody has judged your work in `ops` yet."), "{system}");
    let last = said(&played.told[1]).pop().expect("a message");
    assert_eq!(last, "notice: this is your last turn: answer without a call");
}

#[test]
fn an_actor_that_cannot_go_on_says_why() {
    let lab = Lab::new();
    let blocked = r#"{"name":"report_blocked","args":{"reason":"tool_unavailable",
        "narrative":"there is no compiler","missing_tools":["cc"]}}"#;
    let script = format!(
        r#"{{"turns":[{{"tool_calls":[{},{blocked},{}]}}]}}"#,
        bash("true"),
        bash("echo x > after")
    );
    let played = play(&lab, &script, spec());
    assert_eq!(played.report.outcome.verb, Verb::Blocked);
    assert_eq!(played.report.outcome.summary, "there is no compiler");
    let coercion = bodies(&played, "core.work.coercion.v1")[0];
    assert_eq!(coercion["reason"].as_str(), Some("tool_unavailable"));
    assert_eq!(coercion["missing_tools"].as_array().map(<[_]>::len), Some(1));
    assert!(!lab.workspace().join("after").exists(), "nothing is done after that");
}

#[test]
fn what_blocks_must_be_said_in_words_that_are_known() {
    let lab = Lab::new();
    let bored = r#"{"name":"report_blocked","args":{"reason":"bored","narrative":"x"}}"#;
    let played = play(&lab, &turns(&[bored.to_owned(), bash("true")]), spec());
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    let answer = bodies(&played, "core.work.tool_result.v1")[0];
    assert!(answer["content"].as_str().expect("text").starts_with("`reason` must be one of"));
}

#[test]
fn what_the_tier_forbids_is_not_offered_and_not_executed() {
    let lab = Lab::new();
    let forbidden = RunSpec { tier: "trial".into(), forbidden: vec!["bash".into()], ..spec() };
    let played = play(&lab, &turns(&[bash("echo x > made")]), forbidden);
    assert!(played.told[0].tools.iter().all(|tool| tool.name != "bash"));
    let verdict = bodies(&played, "core.work.tool_verdict.v1")[0];
    assert_eq!(
        (verdict["decision"].as_str(), verdict["layer"].as_str()),
        (Some("deny"), Some("clamp"))
    );
    assert!(!lab.workspace().join("made").exists());
}
