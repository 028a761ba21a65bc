//! Parts of a run that runs of their own do.

use spl::cancel::Cancel;
use spl::canon::{Object, Value};
use spl::record::{Draft, ThreadId};
use spl::run::{Limits, Moment, RunError, RunSpec, Verb, replay, row_of};
use spl::store::Stored;

use crate::lab::{Lab, Played, SHELL_FAILED, bash, bodies, said, spec, teach, within};

fn task(prompt: &str) -> String {
    format!(r#"{{"name":"task","args":{{"description":"a part","prompt":"{prompt}"}}}}"#)
}

/// A run that has one part done, which fails once and looks again.
fn story() -> String {
    format!(
        r#"{{"turns":[
            {{"text":"one","tool_calls":[{}],"usage":{{"input_tokens":10,"output_tokens":1}}}},
            {{"text":"two","tool_calls":[{}]}},
            {{"text":"done"}}],
          "tasks":{{"look into it":[
            {{"tool_calls":[{}],"usage":{{"input_tokens":100,"output_tokens":20}}}},
            {{"tool_calls":[{}],"usage":{{"input_tokens":200,"output_tokens":30}}}},
            {{"text":"it is the cable"}}]}}}}"#,
        task("look into it"),
        bash("echo after >> log"),
        bash("echo first >> log; exit 1"),
        bash("echo second >> log"),
    )
}

fn text<'a>(body: &'a Object, name: &str) -> &'a str {
    body.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn number(body: &Object, name: &str) -> Option<u64> {
    body.get(name).and_then(Value::as_u64)
}

/// The thread of the first task that a run has asked for.
fn task_thread(played: &Played) -> ThreadId {
    let results = bodies(played, "core.work.tool_result.v1");
    let result = results.iter().find(|body| text(body, "tool") == "task").expect("a task");
    let thread = result["data"].get("thread").and_then(Value::as_str).expect("a thread");
    ThreadId::parse(thread).expect("a thread")
}

#[test]
fn a_task_is_done_by_a_run_of_its_own() {
    let lab = Lab::new();
    teach(&lab.engine, 0, SHELL_FAILED);
    let played = lab.play(&story());
    assert_eq!(played.report.outcome.verb, Verb::Completed);

    let results = bodies(&played, "core.work.tool_result.v1");
    assert_eq!(text(results[0], "content"), "it is the cable");
    assert_eq!(results[0]["data"].get("outcome").and_then(Value::as_str), Some("completed"));
    let spent = results[0]["spent"].as_object().expect("what it spent");
    assert_eq!((number(spent, "turns"), number(spent, "input_tokens")), (Some(3), Some(300)));
    assert_eq!(played.report.spent.input_tokens, 310, "the part is paid for by the whole");
    assert_eq!(played.report.spent.output_tokens, 51);
    assert_eq!(played.report.spent.turns, 3, "its turns are its own");
    assert_eq!(played.report.observations, 0, "what was said in the part was said there");

    let thread = task_thread(&played);
    let part = lab.records(&thread);
    let replayed = replay(&part, &|_| None).expect("replayed").state;
    assert_eq!(replayed.spec().task_of.as_ref(), Some(&spec().thread));
    assert_eq!((replayed.spec().depth, replayed.spec().limits.max_turns), (1, Some(15)));
    assert_eq!(replayed.observations(), 1, "hooks speak in it");
    let row = row_of(&lab.engine, &thread).expect("read").expect("a run").to_object();
    assert_eq!(text(&row, "source_thread"), "th_run");
    assert_eq!(lab.engine.store().verify(|_, _| {}).expect("verified").fault, None);
}

#[test]
fn a_task_knows_what_it_is_told_and_puts_no_questions() {
    let lab = Lab::new();
    let played = lab.play(&story());
    let first = &played.told[1];
    assert_eq!(said(first), ["goal"]);
    let offered = |at: usize| -> Vec<&str> {
        played.told[at].tools.iter().map(|tool| tool.name.as_str()).collect()
    };
    assert!(offered(0).contains(&"task") && offered(0).contains(&"request_decision"));
    assert!(offered(1).contains(&"task") && !offered(1).contains(&"request_decision"));
    assert!(offered(1).contains(&"report_blocked"));
}

#[test]
fn tasks_are_three_deep_and_no_deeper() {
    let lab = Lab::new();
    let part = |next: &str| format!(r#"[{{"tool_calls":[{}]}},{{"text":"so"}}]"#, task(next));
    let script = format!(
        r#"{{"turns":{},"tasks":{{"a":{},"b":{},"c":{},"d":[{{"text":"never"}}]}}}}"#,
        part("a"),
        part("b"),
        part("c"),
        part("d")
    );
    let played = lab.play(&script);
    assert_eq!(played.report.outcome.verb, Verb::Failed, "all that each tried has failed");
    assert_eq!(played.told.len(), 8, "four runs of two turns each");
    let deepest = &played.told[4];
    assert_eq!(said(deepest), ["goal", "assistant 1", "task failed true"]);
    assert!(deepest.tools.iter().all(|tool| tool.name != "task"), "not offered either");
}

#[test]
fn a_turn_has_three_tasks_at_most() {
    let lab = Lab::new();
    let calls: Vec<String> = (0..4).map(|_| task("again")).collect();
    let script = format!(
        r#"{{"turns":[{{"tool_calls":[{}]}},{{"tool_calls":[{}]}},{{"text":"done"}}],
             "tasks":{{"again":[{{"text":"yes"}}]}}}}"#,
        calls.join(","),
        task("again"),
    );
    let played = lab.play(&script);
    let layers: Vec<&str> = bodies(&played, "core.work.tool_verdict.v1")
        .iter()
        .map(|verdict| text(verdict, "layer"))
        .collect();
    assert_eq!(layers, ["allow", "allow", "allow", "clamp", "allow"], "the next turn has its own");
}

#[test]
fn a_task_has_what_is_left_of_the_budget() {
    let lab = Lab::new();
    let limits = Limits { token_budget: Some(120), ..Limits::NONE };
    let played = lab.play_with(&story(), within(limits), &Cancel::new(), &mut |_| {});
    let part = replay(&lab.records(&task_thread(&played)), &|_| None).expect("replayed").state;
    assert_eq!(part.spec().limits.token_budget, Some(109));
    assert_eq!(part.outcome().map(|outcome| outcome.verb), Some(Verb::BudgetExhausted));
    assert_eq!(played.report.outcome.verb, Verb::BudgetExhausted, "and so has the run");
    let result = bodies(&played, "core.work.tool_result.v1")[0];
    assert_eq!(text(result, "status"), "error");
    assert!(text(result, "content").starts_with("the task ended as `budget_exhausted`"));
}

#[test]
fn a_tier_may_withhold_tasks() {
    let lab = Lab::new();
    let spec = RunSpec { forbidden: vec!["task".to_owned()], ..spec() };
    let played = lab.play_with(&story(), spec, &Cancel::new(), &mut |_| {});
    assert!(played.told[0].tools.iter().all(|tool| tool.name != "task"));
    assert_eq!(text(bodies(&played, "core.work.tool_verdict.v1")[0], "layer"), "clamp");
}

/// All records of a run and its tasks, in the order in which they were written.
fn all_records(lab: &Lab, played: &Played) -> Vec<Stored> {
    let mut records = played.records.clone();
    records.extend(lab.records(&task_thread(played)));
    records.sort_by_key(|stored| stored.sequence);
    records
}

/// The first `count` of these records in a lab where nothing else has happened.
fn interrupted(records: &[Stored], count: usize) -> Lab {
    let lab = Lab::new();
    let drafts: Vec<Draft> =
        records.iter().take(count).map(|stored| stored.record.draft().clone()).collect();
    lab.engine
        .author(move |author| {
            drafts.into_iter().try_for_each(|draft| author.write(draft).map(drop))
        })
        .expect("written");
    lab
}

/// Killed after any commit, in the run or in its task, both go on where they were.
#[test]
fn a_run_goes_on_from_any_commit_of_its_task() {
    let first = Lab::new();
    let whole = first.play(&story());
    let records = all_records(&first, &whole);
    let begins = |stored: &Stored| {
        let inside = ["core.work.observation.v1", "core.work.tool_verdict.v1"];
        !stored.record.kind().is_some_and(|kind| inside.contains(&kind))
    };
    let mut tried = 0;
    for count in 1..records.len() {
        if !begins(&records[count]) {
            continue;
        }
        let lab = interrupted(&records, count);
        let resumed = lab.resume(&story(), &spec().thread).expect("taken up");
        assert_eq!(resumed.report.outcome.verb, Verb::Completed, "after {count}");
        assert_eq!(resumed.report.spent.input_tokens, 310, "after {count}");
        let log = std::fs::read_to_string(lab.workspace().join("log")).unwrap_or_default();
        for word in ["first", "second", "after"] {
            assert!(log.matches(word).count() <= 1, "after {count}: {log}");
        }
        let part = lab.records(&task_thread(&resumed));
        let opened = part.iter().filter(|it| it.record.kind() == Some("core.work.loop.v1")).count();
        assert_eq!(opened, 1, "after {count}");
        replay(&resumed.records, &|_| None).expect("replayed");
        replay(&part, &|_| None).expect("replayed");
        tried += 1;
    }
    assert!(tried > 15, "{tried}");
}

#[test]
fn an_interruption_in_a_task_is_one_of_the_run() {
    let lab = Lab::new();
    let cancel = Cancel::new();
    let thread = spec().thread;
    let mut decider = spl::run::Nobody;
    let mut watch = |moment: Moment<'_>| {
        if let Moment::Within { moment: Moment::Calling(_), .. } = moment {
            cancel.interrupt();
        }
    };
    let hand = crate::lab::Hand { cancel: &cancel, watch: &mut watch, decider: &mut decider };
    let error = lab
        .played(&story(), &thread, hand, |hands| spl::run::drive(spec(), hands))
        .err()
        .expect("interrupted");
    assert!(matches!(&error, RunError::Interrupted { thread } if *thread == spec().thread));
    let last = lab.records(&thread).pop().expect("a record");
    assert_eq!(last.record.kind(), Some("core.work.interruption.v1"));
    let resumed = lab.resume(&story(), &thread).expect("taken up");
    assert_eq!(resumed.report.outcome.verb, Verb::Completed);
}
