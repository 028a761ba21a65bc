//! How long after a hook is durable a run has it, beside what it took to become durable.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use spl::engine::{Caller, Engine, EngineOptions, Home};
use spl::store::Stage;

use crate::hooks;
use crate::records::quantile;

const TIMES: usize = 500;

pub fn run() {
    println!("\n## From durable to visible ({TIMES} hooks, one after another)\n");
    println!("| hooks loaded | written by | its commit: p50, p99 | durable to visible: p50, p99 |");
    println!("|---:|---|---:|---:|");
    for loaded in [0, 1_000, 10_000] {
        for (who, apart) in [("another process", true), ("the run's own process", false)] {
            let folder = tempfile::tempdir_in(".").expect("a folder");
            let home = hooks::home(folder.path(), loaded, hooks::mixed);
            let (mut commits, mut visible) = written(&home, loaded, apart);
            println!("| {loaded} | {who} | {} | {} |", spread(&mut commits), spread(&mut visible));
        }
    }
}

fn spread(times: &mut [Duration]) -> String {
    let mut at = |share| quantile(times, share).as_secs_f64() * 1e6;
    format!("{:.0} µs, {:.0} µs", at(0.5), at(0.99))
}

/// When the latest transaction began, and when it was durable.
type Commit = Arc<Mutex<(Instant, Instant)>>;

/// Writes hooks and waits for each until a run has it. `apart` writes them through another engine,
/// which is all that the store knows of another process: each has its connections and its own
/// turn at the file's lock.
fn written(home: &Home, loaded: usize, apart: bool) -> (Vec<Duration>, Vec<Duration>) {
    let commit: Commit = Arc::new(Mutex::new((Instant::now(), Instant::now())));
    let writer = Engine::open(home, watched(&commit)).expect("an engine");
    let run = if apart {
        Engine::open(home, EngineOptions::default()).expect("an engine")
    } else {
        writer.clone()
    };
    assert_eq!(run.live().expect("live").hooks.len(), loaded);
    let (mut commits, mut visible) = (Vec::new(), Vec::new());
    for number in loaded..loaded + TIMES {
        let envelope = hooks::envelope(number);
        writer.ingest(&Caller::operator(), envelope.as_bytes()).expect("durable");
        let (begun, durable) = *commit.lock().expect("the commit");
        while run.live().expect("live").hooks.len() <= number {}
        visible.push(durable.elapsed());
        commits.push(durable - begun);
    }
    (commits, visible)
}

fn watched(commit: &Commit) -> EngineOptions {
    let commit = Arc::clone(commit);
    let probe = move |stage| {
        let mut commit = commit.lock().expect("the commit");
        match stage {
            Stage::Begun => commit.0 = Instant::now(),
            Stage::Committed => commit.1 = Instant::now(),
            _ => {}
        }
    };
    EngineOptions { probe: Some(Box::new(probe)), ..EngineOptions::default() }
}
