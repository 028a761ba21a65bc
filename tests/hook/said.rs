//! What a set says about the calls of a run, case by case.
//!
//! A case is a folder: the bodies of `hooks.jsonl`, written in that order; the calls of
//! `calls.jsonl`; and `want.jsonl`, every observation in order, with the line of its call.

use std::path::{Path, PathBuf};

use spl::canon::{Object, Value};
use spl::config::ConfigState;
use spl::fold::Fold;
use spl::hook::{Asked, Candidate, Hook, HookSet, InForce, MAX_TIMED, Tally};
use spl::object;
use spl::predicate::FailureKind;
use spl::record::{Act, ActorId, Clock, Draft, Namespace, ThreadId};

use crate::log::{Log, value};
use crate::run::{Call, Run};

fn cases() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/hook");
    let mut cases: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.join("calls.jsonl").exists())
        .collect();
    cases.sort();
    cases
}

fn lines(path: &Path) -> Vec<Value> {
    std::fs::read_to_string(path).expect("a file of the case").lines().map(value).collect()
}

/// Returns the set that is live after these bodies were written, in this order.
fn written(bodies: Vec<Value>) -> HookSet {
    let mut log = Log::default();
    for (clock, body) in (0..).zip(bodies) {
        let Value::Object(body) = body else { panic!("a body is an object") };
        let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
        log.push(draft.with_clock(Clock::new(clock).expect("a clock")));
    }
    ConfigState::default().fold(log.since(0)).hooks().clone()
}

fn call(line: &Value) -> Call {
    let text = |field: &str| line.get(field).and_then(Value::as_str).map(str::to_owned);
    let Value::Object(fields) = line else { panic!("a call is an object") };
    for field in fields.keys() {
        let known = ["tool", "args", "status", "content", "resource", "namespace"];
        assert!(known.contains(&field.as_str()), "no call has `{field}`");
    }
    Call {
        tool: text("tool").expect("a tool"),
        args: line.get("args").and_then(Value::as_object).cloned().unwrap_or_default(),
        status: text("status").unwrap_or_else(|| "ok".into()),
        content: text("content").unwrap_or_default(),
        resource: text("resource").unwrap_or_default(),
    }
}

/// Lets a set speak about every call and returns the observations as `want.jsonl` has them.
fn said(hooks: &HookSet, calls: &[Value]) -> Vec<Value> {
    let mut run = Run::new("default");
    let mut said = Vec::new();
    for (number, line) in (1_u64..).zip(calls) {
        run.go_to(line.get("namespace").and_then(Value::as_str).unwrap_or("default"));
        said.extend(run.observe(hooks, &call(line)).observations.into_iter().map(|it| {
            Value::Object(object! {
                "call": number,
                "namespace": &it.key.namespace,
                "rule": &*it.key.name,
                "text": it.text,
                "fire": it.fire,
            })
        }));
    }
    said
}

#[test]
fn sets_say_what_the_fixtures_say() {
    let cases = cases();
    assert!(cases.len() >= 8);
    for case in cases {
        let hooks = written(lines(&case.join("hooks.jsonl")));
        let said = said(&hooks, &lines(&case.join("calls.jsonl")));
        assert_eq!(said, lines(&case.join("want.jsonl")), "{}", case.display());
    }
}

fn hook(namespace: &str, name: &str, when: &str) -> Value {
    let body: Object = object! {
        "kind": "core.hook.v1",
        "topic": "hook",
        "namespace": namespace,
        "name": name,
        "when": when,
        "text": "look at ${tool}",
    };
    Value::Object(body)
}

#[test]
fn what_is_said_is_shown_with_its_name() {
    let hooks = written(vec![hook("default", "n", "true")]);
    let asked = Run::new("default").ask(&hooks, &Call::of("bash"));
    let shown: Vec<String> = asked.spoken.iter().map(Candidate::shown).collect();
    assert_eq!(shown, ["n: look at bash"]);
    let observed = Run::new("default").observe(&hooks, &Call::of("bash"));
    assert_eq!(
        observed.observations.first().map(spl::hook::Observation::shown).as_deref(),
        Some("n: look at bash")
    );
}

#[test]
fn what_could_not_be_asked_is_reported_and_counted() {
    let hooks = written(vec![
        hook("default", "fails", "record.body.args.nope == 1"),
        hook("default", "holds", "true"),
        hook("default", "loops", "record.body.args.xs.all(a, record.body.args.xs.all(b, a >= 0))"),
        hook("default", "misses", "false"),
        hook("acme", "elsewhere", "record.body.args.nope == 1"),
    ]);
    let args = object! { "xs": (0..1000).collect::<Vec<i32>>() };
    let asked = Run::new("default").ask(&hooks, &Call { args, ..Call::of("bash") });
    let skipped: Vec<&str> = asked.skipped.iter().map(|(key, _)| &*key.name).collect();
    assert_eq!(skipped, ["fails", "loops"]);
    let tally = asked.tally().into_iter().map(|(key, tally)| (&*key.name, tally));
    let tally: Vec<(&str, Tally)> = tally.collect();
    let none = Tally::default();
    let want = [
        ("fails", Tally { failed: Some(FailureKind::Error), ..none }),
        ("holds", Tally { held: true, ..none }),
        ("loops", Tally { failed: Some(FailureKind::OverBudget), ..none }),
    ];
    assert_eq!(tally, want);
}

#[test]
fn what_was_evaluated_is_timed() {
    let hooks = written(vec![
        hook("default", "elsewhere", "record.body.tool == \"sed\""),
        hook("default", "fails", "record.body.args.nope == 1"),
        hook("default", "holds", "true"),
        hook("default", "misses", "size(record.body.content) > 9"),
    ]);
    let call = Call::of("bash");
    let asked = Run::new("default").ask_timed(&hooks, &call);
    let timed: Vec<&str> = asked.timed.iter().map(|(key, _)| &*key.name).collect();
    assert_eq!(timed, ["fails", "holds", "misses"], "the index spares the first");
    let tally = asked.tally();
    assert!(tally.values().all(|tally| tally.nanos.is_some()));
    assert_eq!(Asked { timed: Vec::new(), ..asked }, Run::new("default").ask(&hooks, &call));
}

#[test]
fn of_many_evaluations_some_are_told_about() {
    let name = |number: usize| format!("n{number:03}");
    let hooks = (0..10 * MAX_TIMED).map(|number| hook("default", &name(number), "true"));
    let asked = Run::new("default").ask_timed(&written(hooks.collect()), &Call::of("bash"));
    assert_eq!(asked.spoken.len(), 10 * MAX_TIMED);
    let timed: Vec<&str> = asked.timed.iter().map(|(key, _)| &*key.name).collect();
    assert_eq!(timed, (0..MAX_TIMED).map(|number| name(10 * number)).collect::<Vec<_>>());
}

#[test]
fn a_set_knows_whom_it_asks() {
    let hooks = written(vec![
        hook("acme", "b", "true"),
        hook("default", "c", "true"),
        hook("other", "d", "true"),
        hook("acme", "a", "true"),
    ]);
    let namespace = Namespace::parse("acme/site").expect("a namespace");
    let name = |it: &InForce| it.hook.key().name.to_string();
    let speaking: Vec<String> = hooks.speaking_in(&namespace).map(name).collect();
    assert_eq!(speaking, ["c", "a", "b"]);
}

/// The fold of the configuration leaves such hooks out itself; an embedder may not.
#[test]
fn a_set_leaves_out_what_is_not_enabled() {
    let Value::Object(mut body) = hook("default", "n", "true") else { panic!("an object") };
    body.insert("enabled".into(), false.into());
    let draft = Draft::new(ThreadId::config(), ActorId::engine(), Act::Learn, body);
    let hook = Hook::check(&draft).expect("a good hook").into();
    let hooks = HookSet::new([InForce { hook, record_id: None }]);
    assert!(hooks.is_empty());
    assert_eq!(Run::new("default").ask(&hooks, &Call::of("bash")).spoken, []);
}
