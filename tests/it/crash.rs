//! A process dies at each named stage of an append: what was answered is there, the chain verifies,
//! and the live set is a fresh fold.

use std::process::Command;

use spl::blueprint::{self, BlueprintSet};
use spl::canon::hex;
use spl::engine::{Caller, DecisionAnswer, DecisionVerb, Engine, EngineOptions, Home};
use spl::record::{ActorId, RecordId};
use spl::store::Stage;

/// Cargo builds examples together with tests, next to them.
fn crash_child() -> std::path::PathBuf {
    let test = std::env::current_exe().expect("this test");
    let target = test.parent().and_then(|deps| deps.parent()).expect("a target folder");
    target.join("examples/crash_child")
}

/// Lets a process die at `stage` of what `doing` says, and returns the folder of its home, an engine
/// that is opened there afterwards, and what the process has said.
fn dead(stage: Stage, doing: &[&str]) -> (tempfile::TempDir, Engine, String) {
    let dir = tempfile::tempdir().expect("a folder");
    let home = Home::at(dir.path());
    home.initialise("vera").expect("a home");
    let output = Command::new(crash_child())
        .arg(dir.path())
        .arg(stage.as_str())
        .args(doing)
        .output()
        .expect("`cargo test` builds it; alone: `cargo build --example crash_child`");
    assert!(!output.status.success(), "it was to die: {output:?}");
    let said = String::from_utf8(output.stdout).expect("text");
    let engine = Engine::open(&home, EngineOptions::default()).expect("it opens again");
    (dir, engine, said)
}

/// Lets a process die at `stage` of its second append, and tells what a new one finds.
fn die_at(stage: Stage) -> usize {
    let (_dir, engine, answered) = dead(stage, &[]);
    let answered: Vec<RecordId> =
        answered.lines().map(|line| RecordId::parse(line).expect("an id")).collect();
    assert_eq!(answered.len(), 1, "the second append was never answered");

    for id in answered {
        let found = engine.store().read(|reader| reader.record(id)).expect("read");
        assert!(found.is_some(), "an answered record is gone");
    }
    let verified = engine.store().verify(|_, _| {}).expect("verified");
    assert_eq!(verified.fault, None);
    let loaded = engine.live().expect("live").config.hooks_loaded();
    assert_eq!(verified.records, loaded as u64, "the live set is what the log says");
    loaded
}

#[test]
fn dead_with_the_lock_held() {
    assert_eq!(die_at(Stage::Locked), 1);
}

#[test]
fn dead_after_the_transaction_began() {
    assert_eq!(die_at(Stage::Begun), 1);
}

#[test]
fn dead_after_the_rows_were_written() {
    assert_eq!(die_at(Stage::Inserted), 1);
}

#[test]
fn dead_after_the_head_was_signed() {
    assert_eq!(die_at(Stage::HeadSigned), 1);
}

/// Durable, and nobody was told: a client that asks again gets a quiet success.
#[test]
fn dead_between_commit_and_answer() {
    assert_eq!(die_at(Stage::Committed), 2);
}

/// The hook and the answer that makes it one are there together or not at all; asked again, the
/// answer is given or found.
#[test]
fn dead_while_a_lesson_is_approved() {
    for stage in Stage::ALL.iter().copied() {
        let (_dir, engine, said) = dead(stage, &["decide"]);
        let request = RecordId::parse(said.trim()).expect("a question");
        let loaded = || engine.live().expect("live").config.hooks_loaded();
        let decided = || engine.decision(request).expect("read");
        assert_eq!(usize::from(decided().is_some()), loaded(), "{stage:?}");
        let answer =
            DecisionAnswer { becomes_policy: true, ..DecisionAnswer::new(DecisionVerb::Approved) };
        let again = engine.decide(&Caller::operator(), &ActorId::engine(), request, &answer);
        assert_eq!(again.is_err(), stage == Stage::Committed, "{stage:?}: {again:?}");
        assert_eq!((loaded(), decided().is_some()), (1, true), "{stage:?}");
        assert_eq!(engine.store().verify(|_, _| {}).expect("verified").fault, None);
    }
}

/// The hooks of a blueprint and the record of its installation are there together or not at all;
/// installed again, the rest of it is written, which is all or nothing.
#[test]
fn dead_while_a_blueprint_is_installed() {
    for stage in Stage::ALL.iter().copied() {
        let (_dir, engine, _) = dead(stage, &["blueprint"]);
        let loaded = || engine.live().expect("live").config.hooks_loaded();
        let installed = || blueprint::installations(&engine).expect("read").len();
        let there = stage == Stage::Committed;
        assert_eq!((loaded(), installed()), if there { (10, 1) } else { (0, 0) }, "{stage:?}");
        let set = BlueprintSet::assemble(blueprint::starter().expect("it reads"), Vec::new());
        let set = set.expect("a set");
        let accepted = hex(&set.plan_hash());
        let (caller, by) = (Caller::operator(), ActorId::engine());
        let again = blueprint::install(&engine, &caller, &by, &set, &accepted).expect("installed");
        assert_eq!(again.fresh, !there, "{stage:?}");
        assert_eq!((loaded(), installed()), (10, 1), "{stage:?}");
        let verified = engine.store().verify(|_, _| {}).expect("verified");
        assert_eq!((verified.fault, verified.records), (None, 11), "{stage:?}");
    }
}
