//! How long after a hook is durable another process's run has it.

use std::time::{Duration, Instant};

use spl::engine::{Caller, Engine, EngineOptions, Home};

use crate::records::quantile;

const TIMES: usize = 200;

pub fn run() {
    println!("\n## From durable to visible in another engine ({TIMES} hooks)\n");
    let folder = tempfile::tempdir_in(".").expect("a folder");
    let home = Home::at(folder.path());
    home.initialise("vera").expect("a home");
    let writer = Engine::open(&home, EngineOptions::default()).expect("an engine");
    let reader = Engine::open(&home, EngineOptions::default()).expect("an engine");
    assert_eq!(reader.live().expect("live").config.hooks_loaded(), 0);
    let mut latencies: Vec<Duration> = Vec::new();
    for number in 0..TIMES {
        let envelope = format!(
            r#"{{"act":"LEARN","actor":"did:sync:user:vera","thread":"th_engine_config","clock":{number},
                "body":{{"kind":"core.hook.v1","topic":"hook","name":"hook-{number}","text":"t",
                "when":"record.body.tool == \"bash\""}}}}"#
        );
        writer.ingest(&Caller::operator(), envelope.as_bytes()).expect("durable");
        let durable = Instant::now();
        while reader.live().expect("live").config.hooks_loaded() <= number {}
        latencies.push(durable.elapsed());
    }
    println!("| p50 | p99 |\n|---:|---:|");
    println!(
        "| {:.0} µs | {:.0} µs |",
        quantile(&mut latencies, 0.5).as_secs_f64() * 1e6,
        quantile(&mut latencies, 0.99).as_secs_f64() * 1e6
    );
}
