//! Many runs at once on one server with many hooks, for as long as somebody likes.
//!
//! A few seconds as it stands. `SPL_SOAK_CALLS=20000 SPL_SOAK_HOOKS=1000 SPL_SOAK_WAVES=20 cargo test
//! --release --test http soak -- --nocapture` is the long one; it prints what it took. What a run
//! holds grows with what was said in it, so whether memory is flat shows from wave to wave.

use std::collections::BTreeMap;

use spl::canon::Value;
use spl::engine::Caller;
use spl::record::{Draft, ThreadId};
use spl::store::ThreadRange;
use spl::time::Stopwatch;

use crate::runs::Lab;

const RUNS: usize = 16;
const CALLS_A_TURN: usize = 10;

/// Hooks that hold at every call, and how often they may speak.
const SPEAKING: usize = 8;

fn asked(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(otherwise)
}

/// The memory of this process, in KiB.
fn resident() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").expect("a status");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a line");
    line.split_whitespace().nth(1).expect("a number").parse().expect("a number")
}

fn teach(lab: &Lab, hooks: usize) {
    for number in 0..hooks {
        let tool = if number < SPEAKING { "list_dir".into() } else { format!("tool_{number}") };
        let hook = spl::object! {
            "act": "LEARN",
            "actor": "did:sync:system:engine",
            "body": spl::object! {
                "kind": "core.hook.v1",
                "max_fires_per_run": 1 + number % 7,
                "name": format!("hook-{number}"),
                "text": "look",
                "topic": "hook",
                "when": format!("record.body.tool == \"{tool}\" && record.body.status == \"ok\""),
            },
            "clock": number,
            "thread": "th_engine_config",
        };
        let draft = Draft::from_envelope(hook.into()).expect("a draft");
        lab.server.engine.ingest_draft(&Caller::operator(), draft).expect("ingested");
    }
}

#[test]
fn many_runs_at_once_lose_nothing_and_keep_every_cap() {
    let waves = asked("SPL_SOAK_WAVES", 2);
    let a_run = RUNS * CALLS_A_TURN * waves;
    let calls = asked("SPL_SOAK_CALLS", 320).div_ceil(a_run) * CALLS_A_TURN;
    let lab = Lab::with_room(RUNS, None);
    teach(&lab, asked("SPL_SOAK_HOOKS", 100));
    let call = |number: usize| {
        format!(r#"{{"name":"list_dir","args":{{"path":"."}},"id":"call-{number}"}}"#)
    };
    let turn = |turn: usize| {
        let calls: Vec<_> =
            (0..CALLS_A_TURN).map(|number| call(turn * CALLS_A_TURN + number)).collect();
        format!(r#"{{"tool_calls":[{}]}}"#, calls.join(","))
    };
    let turns: Vec<_> = (0..calls / CALLS_A_TURN).map(turn).collect();
    lab.script("busy", &format!(r#"{{"turns":[{},{{"text":"done"}}]}}"#, turns.join(",")));
    let (began, before) = (Stopwatch::start(), resident());
    let (mut threads, mut after) = (Vec::new(), Vec::new());
    for _ in 0..waves {
        threads.extend(wave(&lab, calls));
        after.push(resident());
    }
    let took = began.elapsed();
    for thread in &threads {
        check(&lab, thread, calls);
    }
    let fault = lab.server.engine.store().verify(|_, _| {}).expect("verified").fault;
    assert_eq!(fault, None);
    println!(
        "{} runs, {} calls in {took:?}; KiB resident: {before} before, after each wave {after:?}",
        threads.len(),
        calls * threads.len(),
    );
}

/// As many runs at once as there is room for, until all of them are done.
fn wave(lab: &Lab, calls: usize) -> Vec<String> {
    let body = format!(r#"{{"goal":"x","model":"busy","max_turns":{}}}"#, calls + 1);
    let started = (0..RUNS).map(|_| {
        let reply = lab.server.post("/v1/work/loop", body.as_str());
        assert_eq!(reply.status, 201, "{}", reply.text());
        reply.string("thread")
    });
    let threads: Vec<String> = started.collect();
    for thread in &threads {
        let row = lab.until(thread, "done");
        let ok = row.get("tool_calls_ok").and_then(Value::as_u64);
        assert_eq!(ok, u64::try_from(calls).ok(), "{row}");
    }
    lab.until_free();
    threads
}

/// Every call has its ruling and its result, and every hook spoke as often as it may.
fn check(lab: &Lab, thread: &str, calls: usize) {
    let thread = ThreadId::parse(thread).expect("a thread");
    let read = lab
        .server
        .engine
        .store()
        .read(|reader| reader.thread(&thread, ThreadRange::default(), usize::MAX));
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    let mut spoken: BTreeMap<String, usize> = BTreeMap::new();
    for stored in read.expect("read") {
        let body = &stored.record.body;
        *kinds.entry(stored.record.kind().unwrap_or_default().to_owned()).or_default() += 1;
        if let Some(rule) = body.get("rule").and_then(Value::as_str)
            && rule.starts_with("hook-")
        {
            *spoken.entry(rule.to_owned()).or_default() += 1;
        }
    }
    for kind in ["tool_call", "tool_verdict", "tool_result"] {
        assert_eq!(kinds.get(&format!("core.work.{kind}.v1")), Some(&calls), "{kinds:?}");
    }
    let expected: BTreeMap<String, usize> =
        (0..SPEAKING).map(|number| (format!("hook-{number}"), calls.min(1 + number % 7))).collect();
    assert_eq!(spoken, expected);
}
