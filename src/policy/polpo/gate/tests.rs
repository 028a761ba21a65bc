//! What no sequence of answers, crashes and clocks can do to a gate.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::canon::Value;
use crate::engine::Rollout;
use crate::policy::polpo::envelope::Candidate;
use crate::policy::polpo::{
    Answer, Cause, Decision, Failure, GateLimits, HookName, Outcome, Runtime,
};
use crate::record::RecordId;
use crate::time::Timestamp;

/// One thing that chance decides: what a model or a validator does, how far the clock moves, and
/// whether the process dies before or after an effect is done.
#[derive(Debug, Clone)]
struct Chance {
    tokens: Option<u64>,
    calls_tool: bool,
    outcome: Outcome,
    moves_ms: i64,
    crash: Crash,
    limits: Limits,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Crash {
    No,
    /// Nothing of the effect was done.
    Before,
    /// All of it was, and nobody heard of it.
    After,
}

fn limits() -> impl Strategy<Value = Limits> {
    (0..4_u64, 1..2_000_u64, 1..600_u64, 1..8_u64).prop_map(|(cycles, ms, tokens, turns)| Limits {
        gate: GateLimits { max_cycles: cycles.max(1), max_duration_ms: ms, max_tokens: tokens },
        max_turns: turns,
    })
}

fn chances() -> impl Strategy<Value = Chance> {
    let answered = |decision| Outcome::Answered(Answer::of(decision));
    let outcome = prop_oneof![
        3 => Just(answered(Decision::Allow)),
        6 => Just(answered(Decision::Continue(Value::from("again")))),
        1 => Just(answered(Decision::Deny)),
        1 => Just(answered(Decision::Defer)),
        1 => Just(answered(Decision::Stop(None))),
        1 => Just(Outcome::Failed(Failure::new(Cause::Timeout, ""))),
    ];
    let crash =
        prop_oneof![12 => Just(Crash::No), 1 => Just(Crash::Before), 1 => Just(Crash::After)];
    let tokens = prop_oneof![20 => (0..60_u64).prop_map(Some), 1 => Just(None)];
    (tokens, any::<bool>(), outcome, -200..200_i64, crash, limits()).prop_map(
        |(tokens, calls_tool, outcome, moves_ms, crash, limits)| Chance {
            tokens,
            calls_tool,
            outcome,
            moves_ms,
            crash,
            limits,
        },
    )
}

fn subject() -> Subject {
    Subject { invocation: "run_1".to_owned(), step_invocation: None, agent: "coder".to_owned() }
}

fn setup(limits: Limits) -> Setup {
    let validator = |hook: &str| Validator {
        hook: HookName { pack: "p".to_owned(), hook: hook.to_owned() },
        timeout_ms: 100,
    };
    Setup {
        subject: subject(),
        packs: BTreeMap::new(),
        validators: vec![validator("a"), validator("b")],
        limits,
        structured: false,
    }
}

/// The world around a gate: what is on disk, and what was really done.
#[derive(Default)]
struct World {
    stored: Option<Checkpoint>,
    turns: u64,
    tokens: u64,
    last_tokens: u64,
    messages: u8,
    next_call: u64,
    tools: BTreeSet<String>,
    /// Executions that were asked, and whether the answer was stored.
    asked: BTreeMap<String, bool>,
    delivered: Vec<Candidate>,
}

impl World {
    fn store(&mut self, gate: &Gate, appended: &[Appended]) {
        let kept = gate.checkpoint_with(appended);
        let stored = kept.to_object().expect("it is small");
        assert_eq!(Checkpoint::of_object(stored), Ok(kept.clone()), "it can be read back");
        if let Some(before) = &self.stored {
            assert_only_tighter(before, &kept);
        }
        for judged in kept.validation.iter().flat_map(|validation| &validation.results) {
            self.asked.insert(judged.key.to_string(), true);
        }
        self.stored = Some(kept);
    }

    fn id(&mut self) -> String {
        self.next_call += 1;
        format!("call_{}", self.next_call)
    }
}

/// What is used only grows, and what is allowed only shrinks.
fn assert_only_tighter(before: &Checkpoint, after: &Checkpoint) {
    assert_eq!(before.limits.tighter(after.limits), after.limits);
    assert!(before.used.cycles <= after.used.cycles);
    assert!(before.used.turns <= after.used.turns);
    assert!(before.used.tokens <= after.used.tokens);
    assert!(before.used.attempts <= after.used.attempts);
    assert!(before.elapsed_ms <= after.elapsed_ms);
    assert!(after.history.starts_with(&before.history));
}

/// Drives an invocation until it is over or chance runs out. Returns the last effect.
fn drive(world: &mut World, first: Limits, chances: &[Chance]) -> Option<Effect> {
    let mut now = 1_000_000_i64;
    let mut gate = Gate::begin(setup(first), Timestamp::from_millis(now)).expect("validators");
    world.store(&gate, &[]);
    let mut effect = Effect::GoOn;
    for chance in chances {
        now += chance.moves_ms;
        let at = Timestamp::from_millis(now);
        if chance.crash == Crash::After {
            let _ = perform(world, &gate, &effect, chance);
        }
        if chance.crash != Crash::No {
            let stored = world.stored.clone().expect("something is stored");
            let before = stored.clone();
            match resume(stored, &subject(), Some(setup(chance.limits)), at) {
                Err(failure) => {
                    assert_eq!(failure.code, GateCode::EffectUnconfirmed);
                    assert!(before.in_flight.is_some());
                    return Some(Effect::Fail(failure));
                }
                Ok((resumed, step)) => {
                    assert_only_tighter(&before, resumed.checkpoint());
                    (gate, effect) = (resumed, step.effect.expect("something to do"));
                }
            }
            continue;
        }
        let Some(event) = perform(world, &gate, &effect, chance) else { return Some(effect) };
        let (next, done) = step(gate, at, event);
        (gate, effect) = (next, done.effect.expect("it waited for that"));
    }
    None
}

/// Does what is to be done, and returns what came of it.
fn perform(world: &mut World, gate: &Gate, effect: &Effect, chance: &Chance) -> Option<Event> {
    match effect {
        Effect::Write { append, .. } => {
            let mut appended = Vec::new();
            if append.is_some() {
                world.messages += 1;
                appended
                    .push(Appended { id: RecordId::from_bytes([world.messages; 32]), bytes: 9 });
            }
            world.store(gate, &appended);
            Some(Event::Written(appended))
        }
        Effect::CallModel { cap } => {
            assert!(world.stored.as_ref().is_some_and(|stored| stored.in_flight.is_some()));
            assert!(*cap > 0, "no call without a token left");
            world.turns += 1;
            world.last_tokens = chance.tokens.unwrap_or(0);
            world.tokens += world.last_tokens;
            Some(Event::ModelEnded { tokens: chance.tokens })
        }
        Effect::CallTool => {
            let stored = world.stored.clone().expect("stored");
            let flight = stored.in_flight.expect("a tool is written down before it is called");
            assert!(world.tools.insert(flight.id), "no tool is called twice");
            Some(Event::ToolEnded)
        }
        Effect::GoOn => Some(if chance.calls_tool {
            Event::Tool { id: world.id(), name: "bash".to_owned() }
        } else if world.turns == 0 || chance.moves_ms > 0 {
            Event::Model { id: world.id(), purpose: Purpose::Work, cap: 50 }
        } else {
            Event::Answered(Candidate::Text(format!("answer {}", world.turns)))
        }),
        Effect::Validate(asking) => {
            let key = asking.key.to_string();
            let recorded = world.asked.entry(key).or_insert(false);
            assert!(!*recorded, "no validator is asked again once its answer is stored");
            assert!(asking.timeout_ms > 0);
            Some(Event::Validated(chance.outcome.clone()))
        }
        Effect::Deliver { answer, .. } => {
            let stored = world.stored.as_ref().expect("stored");
            assert_eq!(stored.phase, Phase::Accepted, "accepted durably before it is given");
            assert_eq!(stored.result.as_ref(), Some(answer));
            let validation = stored.validation.as_ref().expect("a validation");
            assert_eq!(validation.candidate, *answer);
            assert_eq!(validation.results.len(), 2);
            assert!(validation.results.iter().all(|one| one.verdict == Verdict::Accept));
            world.delivered.push(answer.clone());
            None
        }
        Effect::Fail(_) => None,
        Effect::Format | Effect::Suspend | Effect::Cancel => panic!("{effect:?}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn budgets_hold_and_nothing_is_done_twice_over_any_crash(
        first in limits(),
        chances in vec(chances(), 0..80),
    ) {
        let mut world = World::default();
        let end = drive(&mut world, first, &chances);
        // What was really done is within what was allowed, but for the call that found the end.
        prop_assert!(world.turns <= first.max_turns);
        prop_assert!(world.tokens - world.last_tokens <= first.gate.max_tokens);
        let stored = world.stored.expect("stored");
        prop_assert!(stored.used.cycles <= first.gate.max_cycles);
        prop_assert!(stored.used.attempts <= first.gate.max_cycles + 1);
        prop_assert!(world.delivered.windows(2).all(|two| two[0] == two[1]), "one answer");
        let gives = matches!(end, Some(Effect::Deliver { .. }));
        prop_assert!(!gives || !world.delivered.is_empty());
    }

    /// A gate that is over stays so, and a checkpoint that says so gives the same for ever.
    #[test]
    fn an_end_is_an_end(first in limits(), chances in vec(chances(), 40..80)) {
        let mut world = World::default();
        let end = drive(&mut world, first, &chances);
        let stored = world.stored.expect("stored");
        let over = matches!(stored.phase, Phase::Accepted | Phase::Failed);
        if end.is_none() || !over {
            return Ok(());
        }
        let later = Timestamp::from_millis(9_000_000);
        // Even where its gates are gone since.
        let (gate, replayed) = resume(stored, &subject(), None, later).expect("an end");
        match (end, replayed.effect.clone()) {
            (Some(Effect::Deliver { answer, .. }), Some(again)) => {
                prop_assert_eq!(again, Effect::Deliver { answer, replayed: true });
            }
            (Some(Effect::Fail(_)), Some(Effect::Fail(_))) => {}
            other => prop_assert!(false, "{other:?}"),
        }
        let used = gate.checkpoint().used;
        let model = Event::Model { id: "x".to_owned(), purpose: Purpose::Work, cap: 1 };
        let (gate, nothing) = step(gate, later, model);
        prop_assert_eq!(nothing.effect, None);
        prop_assert_eq!(gate.checkpoint().used, used);
    }
}

#[test]
fn each_code_has_its_status() {
    let statuses: Vec<(&str, u16)> = GateCode::ALL
        .iter()
        .map(|code| (code.as_str().strip_prefix("termination_gate_").expect("it"), code.status()))
        .collect();
    assert_eq!(
        statuses,
        [
            ("cycles_exhausted", 422),
            ("turns_exhausted", 422),
            ("time_exhausted", 422),
            ("tokens_exhausted", 422),
            ("usage_unknown", 502),
            ("checkpoint_invalid", 409),
            ("checkpoint_too_large", 413),
            ("effect_unconfirmed", 409),
            ("parallel_unsupported", 400),
            ("rejected", 422),
            ("unavailable", 503),
        ]
    );
    let failure = GateFailure::because(GateCode::Rejected, GateCause::Denied);
    assert_eq!(
        Value::from(failure.to_object()).to_string(),
        concat!(
            r#"{"cause":"denied","code":"termination_gate_rejected","#,
            r#""message":"A validator did not accept the answer.","type":"runtime_error"}"#,
        )
    );
}

#[test]
fn of_several_gates_each_limit_is_the_strictest() {
    let gate = |max_cycles, max_tokens| GateLimits { max_cycles, max_duration_ms: 5, max_tokens };
    let both = Limits::of([gate(5, 1000), gate(2, 9000)], 20).expect("gates");
    assert_eq!((both.gate.max_cycles, both.gate.max_tokens, both.max_turns), (2, 1000, 20));
    assert_eq!(Limits::of([], 20), None);
}

#[test]
fn what_cannot_be_kept_blocks_and_never_vanishes() {
    use Rollout::{Enforce, Observe, Off};
    let enforced = Runtime { hooks: Enforce, gate: Enforce, ..Runtime::default() };
    let alone = Standing { durable: true, parallel: false };
    let able = Configured { enabled: true, handling: Handling::Able };
    let code = |runtime: &Runtime, standing, gate: Configured| {
        precondition(runtime, standing, &[able, gate]).err().map(|failure| failure.code)
    };
    assert_eq!(code(&enforced, alone, able), None);
    for runtime in [
        Runtime { killed: true, ..enforced.clone() },
        Runtime { hooks: Observe, ..enforced.clone() },
        Runtime { hooks: Off, ..enforced.clone() },
        Runtime { gate: Observe, ..enforced.clone() },
        Runtime { gate: Off, ..enforced.clone() },
    ] {
        assert_eq!(code(&runtime, alone, able), Some(GateCode::Unavailable));
        assert_eq!(precondition(&runtime, alone, &[]), Ok(()), "there is none to keep");
    }
    let parallel = Standing { parallel: true, ..alone };
    assert_eq!(code(&enforced, parallel, able), Some(GateCode::ParallelUnsupported));
    assert_eq!(code(&enforced, Standing { durable: false, ..parallel }, able), None);
    let off = Configured { enabled: false, handling: Handling::Able };
    assert_eq!(code(&enforced, alone, off), Some(GateCode::Unavailable));
    for handling in [Handling::SwitchedOff, Handling::NotDeterministic, Handling::ToolRefused] {
        let gate = Configured { enabled: true, handling };
        assert_eq!(code(&enforced, alone, gate), Some(GateCode::Unavailable));
    }
}

#[test]
fn a_sum_that_is_full_is_over_the_budget() {
    let limits = Limits {
        gate: GateLimits { max_cycles: 1, max_duration_ms: 1000, max_tokens: u64::MAX - 1 },
        max_turns: 5,
    };
    let now = Timestamp::from_millis(0);
    let mut gate = Gate::begin(setup(limits), now).expect("validators");
    for tokens in [u64::MAX - 1, 5] {
        let model = Event::Model { id: "m".to_owned(), purpose: Purpose::Work, cap: 1 };
        let (asked, done) = step(gate, now, model);
        gate = match done.effect {
            Some(Effect::Write { point: WritePoint::InFlight, .. }) => {
                let (asked, _) = step(asked, now, Event::Written(Vec::new()));
                let (asked, _) = step(asked, now, Event::ModelEnded { tokens: Some(tokens) });
                step(asked, now, Event::Written(Vec::new())).0
            }
            _ => asked,
        };
    }
    // Full is as many as may be: the next call is refused.
    let failure = gate.checkpoint().failure.expect("a failure");
    assert_eq!(failure.code, GateCode::TokensExhausted);
}

/// Hands one event after another to a gate, and returns the last effect.
fn all(mut gate: Gate, events: Vec<Event>) -> (Gate, Option<Effect>) {
    let mut effect = None;
    for event in events {
        let (next, done) = step(gate, Timestamp::from_millis(1), event);
        (gate, effect) = (next, done.effect);
    }
    (gate, effect)
}

fn some_limits() -> Limits {
    let gate = GateLimits { max_cycles: 2, max_duration_ms: 1000, max_tokens: 1000 };
    Limits { gate, max_turns: 20 }
}

fn model() -> Vec<Event> {
    vec![
        Event::Model { id: "m".to_owned(), purpose: Purpose::Work, cap: 10 },
        Event::Written(Vec::new()),
        Event::ModelEnded { tokens: Some(300) },
        Event::Written(Vec::new()),
    ]
}

#[test]
fn who_waits_for_somebody_goes_on_with_what_was_left() {
    let gate = Gate::begin(setup(some_limits()), Timestamp::from_millis(0)).expect("validators");
    let (gate, _) = all(gate, model());
    let (gate, waits) = all(gate, vec![Event::Suspended, Event::Written(Vec::new())]);
    assert_eq!(waits, Some(Effect::Suspend));
    let later = Timestamp::from_millis(400);
    let kept = gate.checkpoint().clone();
    let (gate, nothing) = all(gate, model());
    assert_eq!(nothing, None, "it goes on elsewhere");
    assert_eq!(*gate.checkpoint(), kept);
    let (gate, goes_on) = resume(kept, &subject(), Some(setup(some_limits())), later).expect("it");
    assert_eq!(goes_on.effect, Some(Effect::GoOn));
    let kept = gate.checkpoint();
    assert_eq!((kept.used.tokens, kept.used.turns, kept.elapsed_ms), (300, 1, 400));
}

#[test]
fn who_is_cancelled_has_no_answer_and_no_code() {
    let candidate = Candidate::Text("one".to_owned());
    let answered = vec![Event::Answered(candidate), Event::Written(Vec::new())];
    for events in [Vec::new(), model(), [model(), answered].concat()] {
        let gate = Gate::begin(setup(some_limits()), Timestamp::from_millis(0)).expect("one");
        let (gate, _) = all(gate, events);
        let (gate, cancelled) = all(gate, vec![Event::Cancelled]);
        assert_eq!(cancelled, Some(Effect::Cancel));
        let kept = gate.checkpoint();
        assert_eq!((kept.failure, kept.result.clone()), (None, None));
        assert_eq!(all(gate, model()).1, None);
    }
}

#[test]
fn an_answer_is_mended_without_a_gate_once_an_invocation() {
    let recovery = || Event::Model { id: "r".to_owned(), purpose: Purpose::Recovery, cap: 10 };
    let gate = Gate::begin(setup(some_limits()), Timestamp::from_millis(0)).expect("validators");
    assert!(gate.may_recover());
    let (gate, called) = all(gate, vec![recovery(), Event::Written(Vec::new())]);
    assert_eq!(called, Some(Effect::CallModel { cap: 10 }));
    let landed = vec![Event::ModelEnded { tokens: Some(1) }, Event::Written(Vec::new())];
    let (gate, _) = all(gate, landed);
    assert!(!gate.may_recover());
    assert_eq!(all(gate.clone(), vec![recovery()]).1, None);
    let kept = gate.checkpoint().clone();
    let now = Timestamp::from_millis(2);
    let (gate, _) = resume(kept, &subject(), Some(setup(some_limits())), now).expect("a gate");
    assert!(!gate.may_recover(), "also not in another process");
}

#[test]
fn no_tool_is_called_while_an_answer_is_put_into_form() {
    let structured = Setup { structured: true, ..setup(some_limits()) };
    let gate = Gate::begin(structured, Timestamp::from_millis(0)).expect("validators");
    let answered = Event::Answered(Candidate::Text("words".to_owned()));
    let (gate, formats) = all(gate, vec![answered]);
    assert_eq!(formats, Some(Effect::Format));
    let tool = Event::Tool { id: "t".to_owned(), name: "bash".to_owned() };
    assert_eq!(all(gate, vec![tool]).1, None);
}
