//! What hooks take that are loaded and say nothing: time once, and memory.

use std::path::Path;
use std::process::Command;

use spl::engine::{Engine, EngineOptions, Home};
use spl::fold::Watermark;
use spl::record::ThreadId;
use spl::store::ThreadRange;

use crate::cpu::spent;
use crate::hooks;
use crate::records::median;

const HOOKS: usize = 10_000;
const TIMES: usize = 5;

pub fn run() {
    println!("\n## {HOOKS} plain hooks, loaded (median of {TIMES} processes)\n");
    let folder = tempfile::tempdir_in(".").expect("a folder");
    hooks::home(folder.path(), HOOKS, hooks::plain);
    let child = |what: &str| -> (f64, f64) {
        let runs = (0..TIMES).map(|_| child_of(folder.path(), what));
        let (took, grown): (Vec<f64>, Vec<f64>) = runs.unzip();
        (median(took), median(grown))
    };
    let (read, read_bytes) = child("read");
    let (load, load_bytes) = child("load");
    println!("| | processor time a hook | resident memory a hook |\n|---|---:|---:|");
    println!("| load: read, compile, index | {load:.1} µs | {load_bytes:.0} bytes |");
    println!("| of that, read from the store alone | {read:.1} µs | {read_bytes:.0} bytes |");
}

fn child_of(path: &Path, what: &str) -> (f64, f64) {
    let output = Command::new(std::env::current_exe().expect("this program"))
        .args(["loaded-child", path.to_str().expect("a path"), what])
        .output()
        .expect("a process");
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    let mut numbers = text.split_whitespace().map(|word| word.parse().expect("a number"));
    (numbers.next().expect("a time"), numbers.next().expect("a size"))
}

/// One of the processes: says how many microseconds of processor time and how many resident bytes
/// a hook took.
pub fn child(path: &Path, what: &str) {
    let engine = Engine::open(&Home::at(path), EngineOptions::default()).expect("an engine");
    let before = resident();
    let started = spent();
    if what == "load" {
        assert_eq!(engine.live().expect("live").hooks.len(), HOOKS);
    } else {
        read(&engine);
    }
    let took = (spent() - started).as_secs_f64() * 1e6;
    let grown = resident() - before;
    println!("{} {}", took / HOOKS as f64, grown / HOOKS as f64);
}

/// Reads the records of the configuration as loading does, and lets them go.
fn read(engine: &Engine) {
    let thread = ThreadId::config();
    let mut watermark = Watermark::default();
    loop {
        let range = ThreadRange { since_clock: None, after: watermark.sequence() };
        let (page, more) =
            engine.store().read(|reader| reader.thread_page(&thread, range, 1000)).expect("a page");
        for stored in &page {
            watermark.rise(stored.received().sequence);
        }
        if !more {
            break;
        }
    }
}

/// Returns the resident bytes of this process.
fn resident() -> f64 {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup").expect("Linux");
    let line = rollup.lines().find_map(|line| line.strip_prefix("Rss:")).expect("a line");
    let kib: f64 = line.trim().trim_end_matches("kB").trim().parse().expect("a number");
    kib * 1024.0
}
