//! What controlling hooks together decide at one event.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use spl::canon::{self, Limits, Object};
use spl::policy::polpo::combine::{
    After, AfterEffect, Before, BeforeEffect, Control, Done, Heard, Refusal, Seat, Stop,
    StopEffect, Walk,
};
use spl::policy::polpo::envelope::{Candidate, Data};
use spl::policy::polpo::{Event, HookName, Mode, OnFailure, Site, TRUNCATED, normal_result};

use crate::cases::{cases, whole};
use crate::envelope;
use crate::outcome::Ends;

/// Something happens, and hooks are asked about it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Deciding {
    event: String,
    /// The input of a call.
    input: Option<Value>,
    /// The result of a call.
    result: Option<Value>,
    /// How often the result stands there.
    result_times: Option<usize>,
    #[serde(default)]
    is_error: bool,
    hooks: Vec<Asked>,
    #[serde(default = "yes")]
    enforced: bool,
    /// Who approves: `approves`, `rejects`, or nobody.
    approver: Option<String>,
    expect: Expect,
}

/// A hook. Where an answer is looked at twice, it ends the second time as `again` says.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Asked {
    id: String,
    #[serde(default)]
    observe: bool,
    on_failure: Option<String>,
    ends: Ends,
    again: Option<Ends>,
    /// Members of what it reads, by JSON pointer into `hook.data`.
    #[serde(default)]
    reads: BTreeMap<String, Value>,
}

/// What comes of it.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    /// `proceed`, `refuse`, `stop`; `show`, `withhold`, `stop`; `deliver`, `recover`, `withhold`.
    effect: String,
    input: Option<Value>,
    result: Option<Value>,
    /// How often the result stands there, before its last words.
    result_times: Option<usize>,
    changed: Option<bool>,
    /// Who wants approval.
    wanted: Option<Vec<String>>,
    code: Option<String>,
    cause: Option<String>,
    /// What the model reads says this.
    told: Option<Vec<String>>,
    /// What the model is told to mend.
    feedback: Option<String>,
    /// How often the model is called once more.
    extra_calls: Option<usize>,
    /// Hooks and their decisions, or the causes of their failures.
    heard: Vec<(String, String)>,
    #[serde(default)]
    not_reached: Vec<String>,
}

const fn yes() -> bool {
    true
}

#[test]
fn what_hooks_decide() {
    for case in cases() {
        for (at, deciding) in case.decide.iter().enumerate() {
            let id = format!("{} decide[{at}]", case.id);
            match Event::parse(&deciding.event).expect(&id) {
                Event::ToolBefore => before(&id, deciding),
                Event::ToolAfter => after(&id, deciding),
                Event::TurnStop => stop(&id, deciding),
            }
        }
    }
}

fn name(id: &str) -> HookName {
    HookName { pack: "quality".to_owned(), hook: id.to_owned() }
}

fn object(value: Option<&Value>) -> Object {
    let value = value.map_or_else(|| Value::Object(serde_json::Map::new()), whole);
    let value = canon::parse(value.to_string().as_bytes(), Limits::DOOR).expect("a value");
    value.into_object().expect("an object")
}

fn text(value: Option<&Value>, times: Option<usize>) -> String {
    let value = value.map_or(Value::Null, whole);
    value.as_str().unwrap_or_default().repeat(times.unwrap_or(1))
}

impl Asked {
    fn control(&self) -> Option<Control> {
        let on_failure = match self.on_failure.as_deref() {
            None | Some("fail") => OnFailure::Fail,
            Some("continue") => OnFailure::Continue,
            Some(other) => panic!("{other}"),
        };
        let mode = if self.observe { Mode::Observe } else { Mode::Control };
        Control::of(name(&self.id), mode, on_failure)
    }

    /// What the handler reads is what the case says.
    fn check_reads(&self, id: &str, data: Data<'_>) {
        let mode = if self.observe { Mode::Observe } else { Mode::Control };
        let text = envelope::text(&name(&self.id), mode, data).expect(id);
        let envelope: Value = serde_json::from_str(&text).expect(id);
        for (pointer, expected) in &self.reads {
            let read = envelope.pointer(&format!("/hook/data{pointer}"));
            match (expected.as_object().and_then(|it| it.get("$chars")), read) {
                (Some(chars), Some(Value::String(read))) => {
                    assert_eq!(chars.as_u64(), Some(read.chars().count() as u64), "{id} {pointer}");
                }
                _ => assert_eq!(read, Some(&whole(expected)), "{id} {pointer}"),
            }
        }
    }
}

/// Asks the hooks, one after another; observers are told what was there at first.
fn walk<S: Seat + Clone>(
    id: &str,
    deciding: &Deciding,
    seat: S,
    again: bool,
    check: impl Fn(&Asked, &S),
) -> Done<S::Effect> {
    let site = Site::of(Event::parse(&deciding.event).expect(id), false);
    for hook in deciding.hooks.iter().filter(|hook| hook.observe) {
        check(hook, &seat);
        let _ = hook.ends.outcome(site);
    }
    let controls = deciding.hooks.iter().filter_map(Asked::control).collect();
    let mut walk = Walk::new(seat, controls, deciding.enforced);
    loop {
        match walk.done() {
            Ok(done) => return done,
            Err(going_on) => walk = going_on,
        }
        let (control, seat) = walk.next().expect(id);
        let asked = deciding.hooks.iter().find(|hook| hook.id == control.name().hook).expect(id);
        check(asked, seat);
        let ends = asked.again.as_ref().filter(|_| again).unwrap_or(&asked.ends);
        walk.answered(ends.outcome(site));
    }
}

/// What became of the answers, as a case says it.
fn fill<E>(done: &Done<E>, found: &mut Expect) {
    let said = |heard: &Heard| match &heard.said {
        Ok(word) => word.as_str().to_owned(),
        Err(failure) => failure.cause.as_str().to_owned(),
    };
    found.heard.extend(done.heard.iter().map(|heard| (heard.hook.hook.clone(), said(heard))));
    found.not_reached = done.not_reached.iter().map(|name| name.hook.clone()).collect();
}

fn refused(refusal: &Refusal, want: &Expect, found: &mut Expect) {
    found.code = Some(refusal.code.as_str().to_owned());
    let code = refusal.failure.as_ref().map(|failure| failure.cause.code().as_str().to_owned());
    found.cause = code.filter(|_| want.cause.is_some());
    let told = refusal.told("bash");
    assert!(told.starts_with("Error: `bash` "), "{told}");
    let said = want.told.iter().flatten().filter(|piece| told.contains(*piece)).cloned().collect();
    found.told = want.told.is_some().then_some(said);
}

fn value(members: Object) -> Option<Value> {
    serde_json::from_str(&canon::Value::from(members).to_string()).ok()
}

fn before(id: &str, deciding: &Deciding) {
    let input = object(deciding.input.as_ref());
    let want = &deciding.expect;
    let done = walk(id, deciding, Before::new(input), false, |hook, seat| {
        let input = seat.input();
        hook.check_reads(id, Data::Before { call_id: "call_1", tool: "bash", input });
    });
    let mut found = Expect::default();
    fill(&done, &mut found);
    match done.effect {
        BeforeEffect::Proceed { input, changed, wanted } => {
            found.wanted = Some(wanted.iter().map(|want| want.hook.hook.clone()).collect());
            let approved = deciding.approver.as_deref() == Some("approves");
            if let (Some(first), false) = (wanted.into_iter().next(), approved) {
                found.effect = "refuse".into();
                refused(&Refusal::unapproved(first.hook, first.reason), want, &mut found);
            } else {
                found.effect = "proceed".into();
                found.input = value(input);
                found.changed = Some(changed);
            }
        }
        BeforeEffect::Refuse(refusal) => {
            found.effect = "refuse".into();
            refused(&refusal, want, &mut found);
        }
        BeforeEffect::Stop { .. } => found.effect = "stop".into(),
    }
    settle(id, want, found);
}

fn after(id: &str, deciding: &Deciding) {
    let input = object(deciding.input.as_ref());
    let result = text(deciding.result.as_ref(), deciding.result_times);
    let want = &deciding.expect;
    let done = walk(id, deciding, After::new(&normal_result(&result)), false, |hook, seat| {
        hook.check_reads(
            id,
            Data::After {
                call_id: "call_1",
                tool: "bash",
                input: &input,
                result: seat.result(),
                is_error: deciding.is_error,
                skipped: false,
            },
        );
    });
    let mut found = Expect::default();
    fill(&done, &mut found);
    match done.effect {
        AfterEffect::Show { result, changed } => {
            found.effect = "show".into();
            (found.result, found.changed) = (Some(Value::from(result)), Some(changed));
        }
        AfterEffect::Stop { result, changed, .. } => {
            found.effect = "stop".into();
            (found.result, found.changed) = (Some(Value::from(result)), Some(changed));
        }
        AfterEffect::Withhold(refusal) => {
            found.effect = "withhold".into();
            refused(&refusal, want, &mut found);
        }
    }
    settle(id, want, found);
}

fn stop(id: &str, deciding: &Deciding) {
    let want = &deciding.expect;
    let mut found = Expect::default();
    let mut extra_calls = 0;
    loop {
        let recovered = extra_calls > 0;
        let candidate = Candidate::Text(if recovered { "B" } else { "A" }.to_owned());
        let done = walk(id, deciding, Stop::new(!recovered), recovered, |hook, _| {
            let (candidate, finish_reason) = (&candidate, "stop");
            // What is read is held against the first look alone.
            if !recovered {
                let data = Data::Stop { candidate, finish_reason, recovered, gate: None };
                hook.check_reads(id, data);
            }
        });
        fill(&done, &mut found);
        match done.effect {
            StopEffect::Recover { feedback, .. } => {
                found.feedback = Some(feedback);
                extra_calls += 1;
                continue;
            }
            StopEffect::Deliver => {
                found.effect = "deliver".into();
                found.result = Some(Value::from(candidate.text()));
            }
            StopEffect::Withhold(refusal) => {
                found.effect = "withhold".into();
                refused(&refusal, want, &mut found);
            }
        }
        found.extra_calls = Some(extra_calls);
        return settle(id, want, found);
    }
}

/// Holds what came of it against what a case says. What it does not say may be anything.
fn settle(id: &str, want: &Expect, mut found: Expect) {
    fn unsaid<T>(want: Option<&T>, found: &mut Option<T>) {
        if want.is_none() {
            *found = None;
        }
    }
    unsaid(want.input.as_ref(), &mut found.input);
    unsaid(want.result.as_ref(), &mut found.result);
    unsaid(want.changed.as_ref(), &mut found.changed);
    unsaid(want.wanted.as_ref(), &mut found.wanted);
    unsaid(want.code.as_ref(), &mut found.code);
    unsaid(want.feedback.as_ref(), &mut found.feedback);
    unsaid(want.extra_calls.as_ref(), &mut found.extra_calls);
    let mut want = want.clone();
    want.input = want.input.as_ref().map(whole);
    if let Some(times) = want.result_times.take() {
        let whole = text(want.result.as_ref(), Some(times));
        want.result = Some(Value::from(format!("{whole}{TRUNCATED}")));
    }
    let lists = [&mut want.wanted, &mut found.wanted];
    lists.into_iter().flatten().for_each(|names| names.sort());
    // A result may be too long to be shown.
    assert!(want.result == found.result, "{id}: another result");
    (want.result, found.result) = (None, None);
    assert_eq!(want, found, "{id}");
}
