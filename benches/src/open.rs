//! Opening a store that is not small.

use std::time::Instant;

use spl::engine::{Caller, Engine, EngineOptions, Home};
use spl::record::Origin;
use spl::store::AppendError;

use crate::records::{draft, median};

const RECORDS: i64 = 100_000;
const HOOKS: i64 = 1_000;
const TIMES: usize = 5;
const ASKED: u32 = 1_000;

pub fn run() {
    println!("\n## Cold open with {RECORDS} records and {HOOKS} hooks (median of {TIMES})\n");
    let folder = tempfile::tempdir_in(".").expect("a folder");
    let home = Home::at(folder.path());
    home.initialise("vera").expect("a home");
    fill(&home);
    let (mut opened, mut live, mut asked) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TIMES {
        let started = Instant::now();
        let engine = Engine::open(&home, EngineOptions::default()).expect("an engine");
        opened.push(started.elapsed().as_secs_f64() * 1e3);
        let started = Instant::now();
        let count = engine.live().expect("live").config.hooks_loaded();
        live.push(started.elapsed().as_secs_f64() * 1e3);
        assert_eq!(count, HOOKS as usize);
        let started = Instant::now();
        for _ in 0..ASKED {
            engine.live().expect("live");
        }
        asked.push(started.elapsed().as_secs_f64() * 1e6 / f64::from(ASKED));
    }
    println!("| open the store | fold and compile the hooks | ask again whether anything moved |");
    println!("|---:|---:|---:|");
    println!("| {:.1} ms | {:.0} ms | {:.1} µs |", median(opened), median(live), median(asked));
}

fn fill(home: &Home) {
    let engine = Engine::open(home, EngineOptions::default()).expect("an engine");
    for number in 0..HOOKS {
        let envelope = format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{number},
                "body":{{"kind":"core.hook.v1","topic":"hook","name":"hook-{number}","text":"t",
                "when":"record.body.tool == \"tool-{number}\" && record.body.status != \"ok\""}}}}"#
        );
        engine.ingest(&Caller::operator(), envelope.as_bytes()).expect("a hook");
    }
    for first in (0..RECORDS - HOOKS).step_by(1000) {
        engine
            .store()
            .write(move |tx| -> Result<(), AppendError> {
                for clock in first..(first + 1000).min(RECORDS - HOOKS) {
                    tx.append_next(draft(0, clock), Origin::Door)?;
                }
                Ok(())
            })
            .expect("records");
    }
}
