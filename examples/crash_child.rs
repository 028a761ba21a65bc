//! Appends two records to the home given as the first argument, and dies at the stage of the second
//! append that the second argument names. With a third one, `decide`, it asks a question and dies at
//! that stage of its answer; with `blueprint` it dies at that stage of installing the starter.
//! `tests/it/crash.rs` starts it and looks at what is left.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use spl::blueprint::{self, BlueprintSet};
use spl::canon::hex;
use spl::engine::{
    Caller, DecisionAnswer, DecisionRequest, DecisionVerb, Engine, EngineOptions, Home, Hooks,
    RunSeat,
};
use spl::object;
use spl::record::{ActorId, Namespace, RecordId, ThreadId};
use spl::store::Stage;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let home = Home::at(arguments.next().ok_or("a home")?);
    let stage = arguments.next().ok_or("a stage")?;
    let stage = Stage::ALL.iter().copied().find(|s| s.as_str() == stage).ok_or("no such stage")?;
    let armed = Arc::new(AtomicBool::new(false));
    let probe = {
        let armed = Arc::clone(&armed);
        move |reached: Stage| {
            if reached == stage && armed.load(Ordering::SeqCst) {
                // As abrupt as a kill: no destructor runs, nothing is flushed.
                std::process::abort();
            }
        }
    };
    let options = EngineOptions { probe: Some(Box::new(probe)), ..EngineOptions::default() };
    let engine = Engine::open(&home, options)?;
    let arm = || armed.store(true, Ordering::SeqCst);
    match arguments.next().as_deref() {
        Some("decide") => return decide(&engine, arm),
        Some("blueprint") => return install(&engine, arm),
        _ => {}
    }
    for (clock, name) in ["first", "second"].into_iter().enumerate() {
        let envelope = format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config",
                "clock":{clock},"body":{{"kind":"core.hook.v1","topic":"hook","name":"{name}",
                "when":"true","text":"t"}}}}"#
        );
        let ingested = engine.ingest(&Caller::operator(), envelope.as_bytes())?;
        println!("{}", ingested.record.id());
        std::io::stdout().flush()?;
        armed.store(true, Ordering::SeqCst);
    }
    Ok(())
}

/// Dies while the starter is installed.
fn install(engine: &Engine, arm: impl FnOnce()) -> Result<(), Box<dyn std::error::Error>> {
    let set = BlueprintSet::assemble(blueprint::starter()?, Vec::new())?;
    let accepted = hex(&set.plan_hash());
    arm();
    blueprint::install(engine, &Caller::operator(), &ActorId::engine(), &set, &accepted)?;
    Ok(())
}

/// Asks whether a lesson shall be one, and dies while the answer is stored that says yes.
fn decide(engine: &Engine, arm: impl FnOnce()) -> Result<(), Box<dyn std::error::Error>> {
    let seat = RunSeat {
        thread: ThreadId::parse("th_asking")?,
        life: 0,
        actor: ActorId::parse("did:sync:agent:clerk")?,
        domain: "ops".into(),
        namespace: Namespace::root(),
        hooks: Hooks::Live,
    };
    let lesson = object! { "name": "tests-first", "when": "true", "text": "Run the tests first." };
    let args = object! { "question": "Shall this be a lesson?", "lesson": lesson };
    let asked = DecisionRequest::read(&args)?;
    let request = engine.request_decision(&seat, RecordId::from_bytes([7; 32]), &asked)?;
    println!("{request}");
    std::io::stdout().flush()?;
    arm();
    let answer =
        DecisionAnswer { becomes_policy: true, ..DecisionAnswer::new(DecisionVerb::Approved) };
    engine.decide(&Caller::operator(), &ActorId::engine(), request, &answer)?;
    Ok(())
}
