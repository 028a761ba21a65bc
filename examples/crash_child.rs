//! Appends two records to the home given as the first argument, and dies at the stage of the second
//! append that the second argument names. `tests/it/crash.rs` starts it and looks at what is left.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use spl::engine::{Caller, Engine, EngineOptions, Home};
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
