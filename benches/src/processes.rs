//! Many short-lived processes that append to one store at once.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use spl::record::Origin;

use crate::records::{draft, quantile, store};

const PROCESSES: usize = 20;
const APPENDS: i64 = 100;

pub fn run() {
    println!("\n## {PROCESSES} processes that append {APPENDS} records each at once\n");
    let folder = tempfile::tempdir_in(".").expect("a folder");
    let path = folder.path().join("hub.db");
    drop(store(&path));
    let started = Instant::now();
    let children: Vec<_> = (0..PROCESSES)
        .map(|number| {
            Command::new(std::env::current_exe().expect("this program"))
                .args(["processes-child", path.to_str().expect("a path"), &number.to_string()])
                .stdout(Stdio::piped())
                .spawn()
                .expect("a process")
        })
        .collect();
    let mut latencies: Vec<Duration> = Vec::new();
    for child in children {
        let output = child.wait_with_output().expect("its output");
        assert!(output.status.success());
        let text = String::from_utf8(output.stdout).expect("text");
        latencies
            .extend(text.lines().map(|line| Duration::from_nanos(line.parse().expect("a number"))));
    }
    let took = started.elapsed().as_secs_f64();
    assert_eq!(latencies.len(), PROCESSES * APPENDS as usize);
    let verified = store(&path).verify(|_, _| {}).expect("verified");
    assert_eq!(verified.fault, None);
    println!("| rows | rows a second | p50 | p99 | most |\n|---:|---:|---:|---:|---:|");
    println!(
        "| {} | {:.0} | {:.1} ms | {:.1} ms | {:.1} ms |",
        verified.records,
        latencies.len() as f64 / took,
        quantile(&mut latencies, 0.5).as_secs_f64() * 1e3,
        quantile(&mut latencies, 0.99).as_secs_f64() * 1e3,
        quantile(&mut latencies, 1.0).as_secs_f64() * 1e3,
    );
}

/// One of the processes: says how many nanoseconds each append took.
pub fn child(path: &Path, number: &str) {
    let writer = number.parse().expect("a number");
    let store = store(path);
    for clock in 0..APPENDS {
        let started = Instant::now();
        let prepared = store.prepare(draft(writer, clock)).expect("prepared");
        store.append(prepared, Origin::Door).expect("durable");
        println!("{}", started.elapsed().as_nanos());
    }
}
