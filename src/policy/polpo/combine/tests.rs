//! What no sequence of answers can do.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;

use super::*;
use crate::canon::{Object, Value};
use crate::object;
use crate::policy::polpo::{
    Answer, Cause, Change, Decision, Failure, HookName, Mode, OnFailure, Outcome,
};

/// A hook, and what comes of asking it.
#[derive(Debug, Clone)]
struct Hook {
    mode: Mode,
    on_failure: OnFailure,
    outcome: Outcome,
}

fn decisions() -> impl Strategy<Value = Decision> {
    let number = 0..5_i64;
    prop_oneof![
        4 => Just(Decision::Allow),
        1 => Just(Decision::Deny),
        2 => Just(Decision::Ask),
        2 => Just(Decision::Defer),
        3 => number.prop_map(|n| Decision::Modify(Change::Input(object! { "n": n }))),
        3 => "[a-c]{0,2}".prop_map(|text| Decision::Modify(Change::Result(text))),
        1 => option::of("[a-c]").prop_map(Decision::Stop),
        1 => Just(Decision::Continue(Value::from("x"))),
    ]
}

fn hooks() -> impl Strategy<Value = Vec<Hook>> {
    let outcome = prop_oneof![
        6 => decisions().prop_map(|decision| Outcome::Answered(Answer::of(decision))),
        1 => Just(Outcome::Failed(Failure::new(Cause::Timeout, ""))),
    ];
    let mode = prop_oneof![4 => Just(Mode::Control), 1 => Just(Mode::Observe)];
    let on_failure = prop_oneof![Just(OnFailure::Fail), Just(OnFailure::Continue)];
    let hook = (mode, on_failure, outcome).prop_map(|(mode, on_failure, outcome)| Hook {
        mode,
        on_failure,
        outcome,
    });
    vec(hook, 0..8)
}

/// Walks over the hooks as a run does: observers are told beside it, and cannot be part of it.
fn walk<S: Seat>(seat: S, hooks: &[Hook], enforced: bool) -> Done<S::Effect> {
    let name = |at: usize| HookName { pack: "p".to_owned(), hook: format!("h{at}") };
    let controls: Vec<(Control, Outcome)> = hooks
        .iter()
        .enumerate()
        .filter_map(|(at, hook)| {
            let control = Control::of(name(at), hook.mode, hook.on_failure)?;
            Some((control, hook.outcome.clone()))
        })
        .collect();
    let mut answers = controls.clone().into_iter();
    let names = controls.into_iter().map(|(control, _)| control).collect();
    let mut walk = Walk::new(seat, names, enforced);
    loop {
        match walk.done() {
            Ok(done) => return done,
            Err(going_on) => walk = going_on,
        }
        let (asked, _) = walk.next().expect("somebody to ask");
        let (control, outcome) = answers.next().expect("an answer");
        assert_eq!(*asked, control, "they are asked in their order");
        walk.answered(outcome);
    }
}

fn before() -> Before {
    Before::new(object! { "n": -1 })
}

/// What a run does with an effect: nothing but going on to whatever else judges the call.
fn executed(
    effect: BeforeEffect,
    judges: &dyn Fn(&Object) -> bool,
    approved: bool,
) -> Option<Object> {
    match effect {
        BeforeEffect::Proceed { input, wanted, .. } => {
            (judges(&input) && (wanted.is_empty() || approved)).then_some(input)
        }
        BeforeEffect::Refuse(_) | BeforeEffect::Stop { .. } => None,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    /// Whatever hooks say, what is executed is what everything behind them lets pass as it then is.
    #[test]
    fn nothing_behind_the_hooks_is_gone_around(
        hooks in hooks(),
        allowed in vec(-1..5_i64, 0..6),
        approved: bool,
    ) {
        let n = |input: &Object| input.get("n").and_then(Value::as_i64);
        let judges = |input: &Object| n(input).is_some_and(|n| allowed.contains(&n));
        let done = walk(before(), &hooks, true);
        let asks = hooks.iter().any(|hook| hook.mode == Mode::Control && matches!(
            &hook.outcome, Outcome::Answered(answer) if answer.decision == Decision::Ask
        ));
        if let Some(input) = executed(done.effect, &judges, approved) {
            prop_assert!(judges(&input));
            prop_assert!(approved || !asks, "what somebody wants approved is approved");
        }
    }

    /// What is refused or stopped stays so, whoever is asked behind that.
    #[test]
    fn a_block_is_final(first in hooks(), more in hooks()) {
        let short = walk(before(), &first, true);
        let both: Vec<Hook> = first.iter().chain(&more).cloned().collect();
        let long = walk(before(), &both, true);
        if !matches!(short.effect, BeforeEffect::Proceed { .. }) {
            prop_assert_eq!(&long.effect, &short.effect);
            prop_assert_eq!(&long.heard, &short.heard);
        }
        let (short, long) = (walk(After::new("r"), &first, true), walk(After::new("r"), &both, true));
        if !matches!(short.effect, AfterEffect::Show { .. }) {
            prop_assert_eq!(long.effect, short.effect);
        }
        let (short, long) = (walk(Stop::new(true), &first, true), walk(Stop::new(true), &both, true));
        if !matches!(short.effect, StopEffect::Deliver) {
            prop_assert_eq!(long.effect, short.effect);
        }
    }

    /// Without its observers, everything is as with them.
    #[test]
    fn observers_change_nothing(hooks in hooks()) {
        let outcome = |hook: &Hook| hook.mode == Mode::Control;
        let controls: Vec<Hook> = hooks.iter().filter(|hook| outcome(hook)).cloned().collect();
        // Names stand for places, so only what comes of it is held together.
        let with = format!("{:?}", walk(before(), &hooks, true).effect);
        let without = format!("{:?}", walk(before(), &controls, true).effect);
        let nameless = |text: String| text.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
        prop_assert_eq!(with.len(), without.len());
        prop_assert_eq!(nameless(with), nameless(without));
    }

    /// Hooks that are watched and not enforced do nothing, and what they say is told.
    #[test]
    fn what_is_only_watched_does_nothing(hooks in hooks()) {
        let done = walk(before(), &hooks, false);
        let untouched = BeforeEffect::Proceed {
            input: object! { "n": -1 }, changed: false, wanted: Vec::new(),
        };
        prop_assert_eq!(done.effect, untouched);
        prop_assert_eq!(done.heard.len(), hooks.iter().filter(|h| h.mode == Mode::Control).count());
        prop_assert!(done.heard.iter().all(|heard| !heard.applied && !heard.changed));
    }

    /// Everybody is accounted for: asked, or not reached.
    #[test]
    fn nobody_is_lost(hooks in hooks()) {
        let done = walk(before(), &hooks, true);
        let controls = hooks.iter().filter(|hook| hook.mode == Mode::Control).count();
        prop_assert_eq!(done.heard.len() + done.not_reached.len(), controls);
        prop_assert!(done.not_reached.is_empty() || done.heard.last().is_some_and(|h| h.applied));
    }
}

#[test]
fn a_walk_has_no_end_before_all_were_asked() {
    let name = HookName { pack: "p".to_owned(), hook: "h".to_owned() };
    let control = Control::of(name, Mode::Control, OnFailure::Fail).expect("a control hook");
    let walk = Walk::new(before(), vec![control], true);
    assert!(walk.done().is_err());
}
