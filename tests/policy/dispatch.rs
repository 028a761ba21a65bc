//! What settings and hooks alone decide.

use std::process::Command;
use std::thread;

use serde_json::Value as Json;
use spl::cancel::Cancel;
use spl::canon::{Limits, Object, Value, parse};
use spl::code::{Code, Coded as _};
use spl::policy::{Decision, Policy, Question, Verdict};
use spl::time::Stopwatch;

use crate::cases::{Ask, Audit, Case, Situation, Skipped, Text, cases};
use crate::desk::Desk;
use crate::group::NOT_WAITED;

#[test]
fn every_situation_comes_to_what_its_case_says() {
    let mut count = 0;
    for Case { id, dispatch, .. } in cases() {
        for (index, situation) in dispatch.iter().enumerate() {
            println!("{id} {index}");
            drive(situation);
            count += 1;
        }
    }
    assert!(count > 80, "{count}");
}

fn drive(situation: &Situation) {
    let desk = Desk::new(situation.home_is_workspace);
    Desk::set(&desk.work, situation.project.as_ref());
    Desk::set(&desk.home, situation.global.as_ref());
    for (name, text) in &situation.files {
        desk.program(name, text);
    }
    let policy = match (desk.load(&situation.variables), &situation.refused) {
        (Ok(policy), None) => desk.policy(policy, &situation.environment),
        (Err(error), Some(want)) => {
            let folder = if want.file == "project" { &desk.work } else { &desk.home };
            assert_eq!(error.path, folder.join(".polyglot/settings.json"));
            assert_eq!(error.code(), Code::PolicyRefused);
            assert_eq!((error.field.as_str(), error.reason), (want.field.as_str(), &*want.reason));
            assert!(error.to_string().contains(&want.field), "{error}");
            return;
        }
        (loaded, refused) => panic!("{loaded:?} {refused:?}"),
    };
    look(situation, &desk, &policy);
    if situation.together {
        thread::scope(|scope| {
            for ask in &situation.asks {
                scope.spawn(|| answered(ask, &desk, &policy));
            }
        });
    } else {
        for ask in &situation.asks {
            answered(ask, &desk, &policy);
        }
    }
}

/// Holds what a policy says of itself.
fn look(situation: &Situation, desk: &Desk, policy: &Policy) {
    if let Some(summary) = &situation.summary {
        assert_eq!(policy.summary(), *summary);
    }
    if let Some(want) = &situation.skipped {
        let skipped = policy.skipped().iter().map(|it| {
            assert!(!it.why.is_empty());
            let event = it.event.map(str::to_owned);
            Skipped { scope: it.scope.as_str().to_owned(), event, position: it.position }
        });
        assert_eq!(skipped.collect::<Vec<Skipped>>(), *want);
    }
    if let Some(want) = &situation.not_applied {
        let keys =
            policy.not_applied().iter().map(|it| format!("{} {}", it.scope.as_str(), it.key));
        assert_eq!(keys.collect::<Vec<String>>(), *want);
    }
    if let Some(want) = &situation.timeouts_ms {
        let timeouts = policy.hooks().iter().map(|hook| hook.timeout.as_millis());
        assert_eq!(
            timeouts.collect::<Vec<u128>>(),
            want.iter().map(|ms| u128::from(*ms)).collect::<Vec<_>>()
        );
    }
    if let Some(want) = &situation.audit {
        let audit = policy.audit().map(|audit| Audit {
            enabled: true,
            hash_args: audit.hash_args,
            retention_days: audit.retention_days,
            folder: audit.folder.to_string_lossy().into_owned(),
        });
        let want = want.as_ref().map(|it| Audit { folder: desk.here(&it.folder), ..*it });
        assert_eq!(audit, want);
    }
    for denies in &situation.denies {
        let why = policy.denies(&denies.tool, &object(&denies.input));
        assert_eq!(why.is_some(), denies.denied, "{why:?}");
    }
}

fn object(json: &Json) -> Object {
    if json.is_null() {
        return Object::new();
    }
    let value = parse(json.to_string().as_bytes(), Limits::STORED).expect("a value");
    value.into_object().expect("an object")
}

/// Asks a question, and holds what is said and what has happened.
fn answered(ask: &Ask, desk: &Desk, policy: &Policy) {
    let before = desk.spawned().len();
    let verdict = asked(ask, policy);
    let want = &ask.expect;
    match (&verdict.decision, want.decision.as_str()) {
        (Decision::Block(block), "block") => {
            assert_eq!(block.event, ask.event);
            if let Some(reason) = &want.reason {
                assert_eq!(block.reason, *reason);
            }
            assert!(want.context.as_ref().is_none_or(Option::is_none), "a block adds nothing");
        }
        (Decision::Proceed { context }, "proceed") => {
            if let Some(want) = &want.context {
                assert_eq!(context, want);
            }
        }
        (decision, want) => panic!("{decision:?}, and it should be {want}"),
    }
    if let Some(want) = &want.warnings {
        let warnings: Vec<_> = verdict.warnings().collect();
        assert_eq!(warnings.len(), want.len(), "{warnings:?}");
        for (warning, want) in warnings.iter().zip(want) {
            assert_eq!((warning.event, &warning.how), (want.event.as_str(), &want.how));
            if let Some(detail) = &want.detail {
                assert_eq!(warning.detail, *detail);
            }
            let part = want.detail_contains.as_deref().unwrap_or_default();
            assert!(warning.detail.contains(part), "{warning}");
        }
    }
    if let Some(want) = &want.spawned {
        assert_eq!(desk.spawned(), *want);
        assert_eq!(verdict.ran.len(), want.len() - before);
    }
    happened(ask, desk);
}

fn happened(ask: &Ask, desk: &Desk) {
    let want = &ask.expect;
    if let Some(want) = &want.payload {
        let text = desk.text("payload");
        assert_eq!(text.find('\n'), Some(text.len() - 1), "one line: {text:?}");
        let payload: Json = serde_json::from_str(&text).expect("a payload");
        let want = want.iter().map(|(key, value)| {
            let pieces: Result<Text, _> = serde_json::from_value(value.clone());
            let value = pieces.map_or(value.clone(), |text| Json::from(desk.here(&text.whole())));
            (key.clone(), value)
        });
        assert_eq!(payload, Json::Object(want.collect()));
    }
    for (name, text) in &want.files {
        assert_eq!(desk.text(name), desk.here(text));
    }
    for name in &want.gone {
        let watch = Stopwatch::start();
        // A busy machine may take its time to let it die.
        while desk.goes_on(name) {
            assert!(watch.elapsed() < NOT_WAITED, "{name} goes on");
            std::thread::yield_now();
        }
    }
    for name in &want.left {
        assert!(desk.goes_on(name), "{name} was waited for, or hunted");
        let id = desk.text(name);
        let killed = Command::new("kill").args(["-KILL", id.trim()]).status();
        assert!(killed.expect("kill").success());
    }
}

fn asked(ask: &Ask, policy: &Policy) -> Verdict {
    let mut input = object(&ask.input);
    if let Some(bytes) = ask.filler_bytes {
        input.insert("filler".to_owned(), Value::from("x".repeat(bytes)));
    }
    let text = ask.result.as_ref().map(Text::whole).unwrap_or_default();
    let tool = ask.tool.as_deref().unwrap_or_default();
    let question = match ask.event.as_str() {
        "preToolUse" => Question::Before { tool, input: &input },
        "postToolUse" => {
            Question::After { tool, input: &input, text: &policy.shown(&text), failed: ask.failed }
        }
        "userPromptSubmit" => Question::Prompt { text: ask.prompt.as_deref().expect("a prompt") },
        other => panic!("{other}"),
    };
    policy.ask(&question, &Cancel::new())
}
