//! The work loop end to end: real tools, a real store, and hooks that are written while it runs.

use std::sync::Arc;

use spl::cancel::Cancel;
use spl::model::Message;
use spl::record::{Namespace, ThreadId};
use spl::run::{Limits, Moment, RunSpec, Verb};

use crate::lab::{Lab, SHELL_FAILED, bash, bodies, observations, said, spec, teach, turns, within};
use crate::support::register;

#[test]
fn every_step_is_a_record() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let played = lab.play(&turns(&[bash("echo hello"), bash("echo oops >&2; exit 3")]));
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    let steps: Vec<String> = played
        .records
        .iter()
        .map(|stored| {
            let record = &stored.record;
            let kind = record.kind().unwrap_or_default().trim_start_matches("core.work.");
            let who = record.actor.as_str().rsplit(':').next().unwrap_or_default();
            format!("{} {} {who} {} {}", record.clock, record.act, stored.origin, kind)
        })
        .collect();
    insta::assert_snapshot!(steps.join("\n"));
    let result = bodies(&played, "core.work.tool_result.v1")[1];
    insta::assert_snapshot!(result["content"].as_str().expect("text"), @r"
    oops
    [exit status 3]
    ");
    let parents_are_there = played.records.iter().all(|stored| {
        stored.record.parents.iter().all(|id| {
            played
                .records
                .iter()
                .any(|other| other.record.id() == *id && other.sequence < stored.sequence)
        })
    });
    assert!(parents_are_there, "each record names what it builds on");
    assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn the_next_turn_carries_each_result_and_its_observations_side_by_side() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let script = format!(
        r#"{{"turns":[{{"tool_calls":[{},{},{}]}},{{"text":"done"}}]}}"#,
        bash("false"),
        bash("true"),
        bash("exit 2")
    );
    let played = lab.play(&script);
    insta::assert_snapshot!(said(&played.told[1]).join("\n"), @r"
    goal
    assistant 3
    bash failed true
    shell-failed: bash ended with error; read stderr first.
    bash failed false
    bash failed true
    shell-failed: bash ended with error; read stderr first.
    ");
}

/// Done when 3, in one process: the hook is written by another engine between two calls.
#[test]
fn a_hook_written_mid_run_speaks_on_the_very_next_call() {
    let lab = Lab::new();
    let another = lab.another();
    let mut returned = 0;
    let script = turns(&[bash("exit 1"), bash("exit 2"), bash("exit 3")]);
    let played = lab.play_with(&script, spec(), &Cancel::new(), &mut |moment| {
        if let Moment::Calling(_) = moment {
            returned += 1;
            if returned == 2 {
                teach(&another, 0, SHELL_FAILED);
            }
        }
    });
    assert_eq!(observations(&played).len(), 2, "not about the first call, about the two after it");
    assert_eq!(said(&played.told[1]).len(), 3);
    assert_eq!(said(&played.told[2]).len(), 6);
}

#[test]
fn a_hook_speaks_three_times_a_run_unless_it_says_otherwise() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    teach(
        &lab.engine,
        1,
        r#""name":"once","text":"once","when":"record.body.status != \"ok\"","max_fires_per_run":1"#,
    );
    let calls: Vec<String> = (1..=5).map(|n| bash(&format!("exit {n}"))).collect();
    let played = lab.play(&turns(&calls));
    let of = |rule: &str| {
        bodies(&played, "core.work.observation.v1")
            .iter()
            .filter(|body| body["rule"].as_str() == Some(rule))
            .count()
    };
    assert_eq!((of("shell-failed"), of("once")), (3, 1));
    let row = lab.row("shell-failed");
    let counted: Vec<Option<i64>> =
        ["asked", "matched", "fires", "errors"].map(|key| row[key].as_i64()).to_vec();
    assert_eq!(counted, [Some(5), Some(5), Some(3), Some(0)]);
    // Another run starts its counts again.
    let thread = ThreadId::parse("th_another").expect("a thread");
    let again = RunSpec { thread, ..spec() };
    let played = lab.play_with(&turns(&calls), again, &Cancel::new(), &mut |_| {});
    assert_eq!(observations(&played).len(), 4);
}

#[test]
fn a_hook_that_is_disabled_or_superseded_stops_at_once() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let another = lab.another();
    let mut calls = 0;
    let script = turns(&[bash("exit 1"), bash("exit 2"), bash("exit 3"), bash("exit 4")]);
    let played = lab.play_with(&script, spec(), &Cancel::new(), &mut |moment| {
        if let Moment::Calling(_) = moment {
            calls += 1;
            match calls {
                2 => {
                    let second = SHELL_FAILED.replace("read stderr first", "second version");
                    teach(&another, 1, &second);
                }
                3 => teach(&another, 2, &format!("{SHELL_FAILED},\"enabled\":false")),
                _ => {}
            }
        }
    });
    assert_eq!(
        observations(&played),
        ["bash ended with error; read stderr first.", "bash ended with error; second version."]
    );
}

#[test]
fn built_in_hooks_notice_repeats_and_absence() {
    let lab = Lab::new();
    let look =
        |thread: &str| format!(r#"{{"name":"query_thread","args":{{"thread":"{thread}"}}}}"#);
    let played = lab.play(&turns(&[
        bash("echo same"),
        bash("echo same"),
        look("th_empty"),
        r#"{"name":"query_thread","args":{"thread":"th_empty","count_only":true}}"#.into(),
        r#"{"name":"query_thread","args":{"thread":"th_empty","filter":{"act":"KNOW"}}}"#.into(),
    ]));
    let rules: Vec<&str> = bodies(&played, "core.work.observation.v1")
        .iter()
        .filter_map(|body| body["rule"].as_str())
        .collect();
    assert_eq!(rules, ["repeat-guard", "absence-guard"]);
}

#[test]
fn hooks_below_and_above_a_namespace() {
    let lab = Lab::new();
    let always = |name: &str, namespace: &str| {
        format!(r#""name":"{name}","namespace":"{namespace}","text":"{namespace}","when":"true""#)
    };
    register(&lab.engine, "acme/site");
    register(&lab.engine, "other");
    teach(&lab.engine, 0, &always("lesson", "default"));
    teach(&lab.engine, 1, &always("lesson", "acme"));
    teach(&lab.engine, 2, &always("lesson", "acme/site"));
    teach(&lab.engine, 3, &always("lesson", "other"));
    let namespace = Namespace::parse("acme").expect("a namespace");
    let spec = RunSpec { namespace, ..spec() };
    let played = lab.play_with(&turns(&[bash("true")]), spec, &Cancel::new(), &mut |_| {});
    assert_eq!(observations(&played), ["default", "acme"]);
}

#[test]
fn a_hook_that_fails_says_nothing_and_is_counted() {
    let lab = Lab::new();
    teach(&lab.engine, 0, r#""name":"broken","text":"t","when":"record.body.args.nope == 1""#);
    teach(
        &lab.engine,
        1,
        r#""name":"greedy","text":"t","when":"record.body.args.xs.exists(a, record.body.args.xs.exists(b, a == b + 1.5))""#,
    );
    teach(&lab.engine, 2, SHELL_FAILED);
    let numbers: Vec<String> = (0..2000).map(|n| n.to_string()).collect();
    let call =
        format!(r#"{{"name":"bash","args":{{"xs":[{}],"command":"false"}}}}"#, numbers.join(","));
    let played = lab.play(&turns(&[call]));
    assert_eq!(observations(&played), ["bash ended with error; read stderr first."]);
    assert_eq!(lab.row("broken")["errors"].as_i64(), Some(1));
    let greedy = lab.row("greedy");
    assert_eq!((greedy["errors"].as_i64(), greedy["overruns"].as_i64()), (Some(1), Some(1)));
}

#[test]
fn the_guardrail_answers_in_the_tools_place_and_then_ends_the_run() {
    let lab = Lab::new();
    let calls: Vec<String> = (0..8).map(|_| bash("echo x >> tried; exit 1")).collect();
    let played = lab.play(&turns(&calls));
    assert_eq!(played.report.outcome.verb, Verb::GuardrailHalt);
    let tried = std::fs::read_to_string(lab.dir.path().join("workspace/tried")).expect("a file");
    assert_eq!(tried.lines().count(), 2, "the third time it was not executed");
    let verdicts: Vec<(Option<&str>, Option<i64>)> = bodies(&played, "core.work.guardrail.v1")
        .iter()
        .map(|body| (body["verdict"].as_str(), body["count"].as_i64()))
        .collect();
    assert_eq!(
        verdicts,
        [(Some("block"), Some(3)), (Some("block"), Some(4)), (Some("halt"), Some(5))]
    );
    let outcome = bodies(&played, "core.work.loop_outcome.v1")[0];
    assert_eq!(outcome["count"].as_i64(), Some(5));
    assert_eq!(outcome["tool"].as_str(), Some("bash"));
}

#[test]
fn closing_words_do_not_make_a_success_of_failures() {
    let lab = Lab::new();
    let played = lab.play(&turns(&[bash("exit 1")]));
    assert_eq!(played.report.outcome.verb, Verb::Failed);
    assert_eq!(bodies(&played, "core.work.loop_outcome.v1")[0]["success"].as_bool(), Some(false));
}

#[test]
fn no_turn_is_taken_beyond_the_last() {
    let lab = Lab::new();
    let calls: Vec<String> = (0..5).map(|n| bash(&format!("echo {n}"))).collect();
    let spec = within(Limits { max_turns: Some(3), ..Limits::NONE });
    let played = lab.play_with(&turns(&calls), spec, &Cancel::new(), &mut |_| {});
    assert_eq!((played.report.outcome.verb, played.report.spent.turns), (Verb::MaxTurns, 3));
    assert_eq!(played.told.len(), 3);
}

#[test]
fn a_cancelled_run_has_an_outcome() {
    let lab = Lab::new();
    let cancel = Cancel::new();
    let seen = cancel.clone();
    let script = turns(&[bash("echo one"), bash("sleep 600"), bash("echo three")]);
    let mut calls = 0;
    let played = lab.play_with(&script, spec(), &cancel, &mut |moment| {
        if let Moment::Calling(_) = moment {
            calls += 1;
            if calls == 2 {
                seen.cancel();
            }
        }
    });
    assert_eq!(played.report.outcome.verb, Verb::Cancelled);
    assert_eq!(bodies(&played, "core.work.loop_outcome.v1").len(), 1);
}

/// Whenever it is cancelled, a run begins nothing more, and what has begun is recorded to its end.
#[test]
fn a_run_that_is_cancelled_leaves_nothing_half_recorded() {
    let check = |at: fn(&Moment<'_>) -> bool, asked: usize, kinds: [usize; 3]| {
        let lab = Lab::new();
        let cancel = Cancel::new();
        let script = turns(&[bash("echo one; sleep 600"), bash("echo two")]);
        let played = lab.play_with(&script, spec(), &cancel, &mut |moment| {
            if at(&moment) {
                cancel.cancel();
            }
        });
        assert_eq!((played.report.outcome.verb, played.told.len()), (Verb::Cancelled, asked));
        let found = ["turn", "tool_call", "tool_result"]
            .map(|kind| bodies(&played, &format!("core.work.{kind}.v1")).len());
        assert_eq!(found, kinds);
        let outcomes = bodies(&played, "core.work.loop_outcome.v1");
        assert_eq!(outcomes.len(), 1);
        let opening = played.records[0].record.id().to_string();
        assert_eq!(outcomes[0]["fulfills"].as_str(), Some(opening.as_str()));
    };
    check(|moment| matches!(moment, Moment::Opened(_)), 0, [0, 0, 0]);
    check(|moment| matches!(moment, Moment::Replied { .. }), 1, [1, 0, 0]);
    check(|moment| matches!(moment, Moment::Calling(_)), 1, [1, 1, 1]);
}

/// Some fifty kilobytes of arguments are more than four megabytes in canonical form.
#[test]
fn a_turn_that_is_too_large_to_be_recorded_fails_the_run() {
    let lab = Lab::new();
    let numbers = vec!["1e308"; 15_000].join(",");
    let played = lab.play(&turns(&[format!(r#"{{"name":"bash","args":{{"xs":[{numbers}]}}}}"#)]));
    assert_eq!(played.report.outcome.verb, Verb::Failed);
    let outcome = bodies(&played, "core.work.loop_outcome.v1")[0];
    insta::assert_snapshot!(
        outcome["summary"].as_str().expect("text"),
        @"the record is longer than 4194304 bytes in canonical form"
    );
}

/// The outcome is stored whenever the turn is: it says no more than that.
#[test]
fn last_words_of_any_length_end_a_run() {
    let lab = Lab::new();
    // With what stands around them in the record of the turn, just what a record holds.
    let words = "x".repeat(4 * 1024 * 1024 - 500);
    let played = lab.play(&format!(r#"{{"turns":[{{"text":"{words}"}}]}}"#));
    assert_eq!(played.report.outcome.verb, Verb::Completed);
    assert_eq!(played.report.outcome.summary, words);
    assert_eq!(bodies(&played, "core.work.turn.v1")[0]["text"].as_str(), Some(words.as_str()));
    let outcome = bodies(&played, "core.work.loop_outcome.v1")[0];
    assert_eq!(outcome["summary"].as_str(), words.get(..4096));
}

#[test]
fn every_record_of_a_run_is_where_the_run_is() {
    let lab = Lab::new();
    register(&lab.engine, "acme/site");
    let namespace = Namespace::parse("acme/site").expect("a namespace");
    let spec = RunSpec { namespace: namespace.clone(), ..spec() };
    let played = lab.play_with(&turns(&[bash("true")]), spec, &Cancel::new(), &mut |_| {});
    for stored in &played.records {
        assert_eq!(
            stored.record.namespace().as_ref(),
            Ok(&namespace),
            "{:?}",
            stored.record.kind()
        );
    }
}

/// The name of a tool is the model's to make up, and a hook may say it.
#[test]
fn the_record_of_an_observation_is_masked() {
    let lab = Lab::new();
    teach(&lab.engine, 0, r#""name":"no-such","text":"no ${tool}","when":"true""#);
    let token = ["gh", "p_aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"].concat();
    let played = lab.play(&turns(&[format!(r#"{{"name":"{token}"}}"#)]));
    assert_eq!(observations(&played), ["no [masked:github-token]"]);
    for stored in &played.records {
        assert!(!stored.record.canonical().as_str().contains(&token), "{:?}", stored.record.kind());
    }
}

#[test]
fn calls_of_a_cut_reply_are_answered_and_not_executed() {
    let lab = Lab::new();
    let script = format!(
        r#"{{"turns":[{{"stop":"output_limit","tool_calls":[{}]}},{{"text":"done"}}]}}"#,
        bash("touch executed")
    );
    let played = lab.play(&script);
    assert!(!lab.dir.path().join("workspace/executed").exists());
    assert_eq!(said(&played.told[1]), ["goal", "assistant 1", "bash failed true"]);
    let verdict = bodies(&played, "core.work.tool_verdict.v1")[0];
    assert_eq!(
        (verdict["decision"].as_str(), verdict["layer"].as_str()),
        (Some("deny"), Some("stop"))
    );
}

/// The name of a tool is a model's invention, and is never read as a template.
#[test]
fn a_tool_that_is_not_there_is_an_answer_and_its_name_is_only_a_name() {
    let lab = Lab::new();
    teach(&lab.engine, 0, r#""name":"any","text":"[${tool}] [${status}]","when":"true""#);
    let played = lab.play(&turns(&[r#"{"name":"${status}","args":{}}"#.into(), bash("true")]));
    assert_eq!(observations(&played), ["[${status}] [error]", "[bash] [ok]"]);
    let verdict = bodies(&played, "core.work.tool_verdict.v1")[0];
    assert_eq!(
        (verdict["decision"].as_str(), verdict["layer"].as_str()),
        (Some("deny"), Some("grant"))
    );
}

#[test]
fn a_predicate_reads_the_first_characters_of_the_uncut_answer() {
    let lab = Lab::new();
    let contains = |name: &str, text: &str| {
        format!(r#""name":"{name}","text":"t","when":"record.body.content.contains(\"{text}\")""#)
    };
    teach(&lab.engine, 0, &contains("inside", "😀"));
    teach(&lab.engine, 1, &contains("outside", "needle"));
    teach(
        &lab.engine,
        2,
        r#""name":"length","text":"t","when":"size(record.body.content) == 4096""#,
    );
    let print = "printf 'x%.0s' $(seq 4095); printf '😀needle'";
    let played = lab.play(&turns(&[bash(print)]));
    let rules: Vec<&str> = bodies(&played, "core.work.observation.v1")
        .iter()
        .filter_map(|body| body["rule"].as_str())
        .collect();
    assert_eq!(rules, ["inside", "length"]);
}

#[test]
fn an_enormous_answer_is_bounded_and_nul_bytes_are_only_bytes() {
    let lab = Lab::new();
    let played = lab.play(&turns(&[bash("head -c 50000000 /dev/zero"), bash("printf 'a\\\\0b'")]));
    let results = bodies(&played, "core.work.tool_result.v1");
    assert!(results[0]["content"].as_str().expect("text").len() <= 256 * 1024 + 200);
    assert_eq!(results[1]["content"].as_str(), Some("a\0b"));
    assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn the_model_sees_a_secret_that_the_store_never_holds() {
    let lab = Lab::new();
    let secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
    let played = lab.play(&turns(&[bash(&format!("echo {secret}"))]));
    let shown = played.told[1].messages.iter().any(
        |message| matches!(message, Message::ToolResult { text, .. } if text.contains(secret)),
    );
    assert!(shown, "what the tool said is shown as it is");
    for stored in &played.records {
        assert!(
            !stored.record.canonical().as_str().contains(secret),
            "{}",
            stored.record.canonical().as_str()
        );
    }
}

#[test]
fn look_ups_and_notes_reach_the_store() {
    let lab = Lab::new();
    let played = lab.play(&turns(&[
        r#"{"name":"record_note","args":{"text":"the build needs libfoo"}}"#.into(),
        r#"{"name":"search_records","args":{"query":"LIBFOO"}}"#.into(),
        r#"{"name":"query_thread","args":{"thread":"th_run","filter":{"body.kind":"core.work.note.v1"},"count_only":true}}"#.into(),
        r#"{"name":"read_record","args":{"thread":"th_run","clock":0}}"#.into(),
        r#"{"name":"read_record","args":{"id":"ffff"}}"#.into(),
        r#"{"name":"read_record","args":{}}"#.into(),
    ]));
    let results = bodies(&played, "core.work.tool_result.v1");
    let content = |at: usize| results[at]["content"].as_str().expect("text");
    assert!(content(0).starts_with("noted as "));
    assert!(content(1).contains("the build needs libfoo"));
    assert_eq!(content(2), "1 records");
    assert!(content(3).contains(r#""kind":"core.work.loop.v1""#));
    assert_eq!(content(4), "no such record");
    assert_eq!(results[5]["status"].as_str(), Some("error"));
}

/// Twenty runs at once in two processes' worth of engines share one store.
#[test]
fn runs_at_the_same_time_do_not_mix() {
    let lab = Arc::new(Lab::new());
    teach(&lab.engine, 0, SHELL_FAILED);
    let runs: Vec<_> = (0..8)
        .map(|number| {
            let lab = Arc::clone(&lab);
            std::thread::spawn(move || {
                let thread = ThreadId::parse(&format!("th_run_{number}")).expect("a thread");
                let spec = RunSpec { thread, ..spec() };
                let calls: Vec<String> = (1..=4).map(|n| bash(&format!("exit {n}"))).collect();
                let played = lab.play_with(&turns(&calls), spec, &Cancel::new(), &mut |_| {});
                observations(&played).len()
            })
        })
        .collect();
    for run in runs {
        assert_eq!(run.join().expect("no panic"), 3);
    }
    assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}
