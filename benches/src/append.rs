//! Durable appends a second, with one writer and with many.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use spl::record::Origin;

use crate::plain::Plain;
use crate::records::{draft, median, store};

const ROUNDS: usize = 10;
const A_ROUND: Duration = Duration::from_millis(1000);

pub fn run() {
    println!("\n## Durable appends a second (median of {ROUNDS} alternating rounds)\n");
    println!(
        "| writers | spl: signed, hashed, chained | plain rusqlite | ratio (median; least–most) |"
    );
    println!("|---:|---:|---:|---:|");
    for writers in [1, 64] {
        let (mut ours, mut plain, mut ratios) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let our = with_folder(|path| {
                let store = store(path);
                per_second(writers, move |writer, clock| {
                    let prepared = store.prepare(draft(writer, clock)).expect("prepared");
                    store.append(prepared, Origin::Door).expect("durable");
                })
            });
            let their = with_folder(|path| {
                let plain = Plain::open(path);
                per_second(writers, move |writer, clock| plain.append(writer, clock))
            });
            ours.push(our);
            plain.push(their);
            ratios.push(our / their);
        }
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        let most = ratios.iter().copied().fold(0.0, f64::max);
        println!(
            "| {writers} | {:.0} | {:.0} | {:.2} ({least:.2}–{most:.2}) |",
            median(ours),
            median(plain),
            median(ratios),
        );
    }
}

fn with_folder<T>(work: impl FnOnce(&Path) -> T) -> T {
    let folder = tempfile::tempdir_in(".").expect("a folder on the disk of this project");
    work(&folder.path().join("hub.db"))
}

/// Lets writers append for one round, and returns how many rows a second became durable.
pub fn per_second(writers: usize, append: impl Fn(usize, i64) + Send + Sync + 'static) -> f64 {
    let append = Arc::new(append);
    let stop = Arc::new(AtomicBool::new(false));
    let started = Instant::now();
    let threads: Vec<_> = (0..writers)
        .map(|writer| {
            let (append, stop) = (Arc::clone(&append), Arc::clone(&stop));
            std::thread::spawn(move || {
                let mut clock = 0;
                while !stop.load(Ordering::Relaxed) {
                    append(writer, clock);
                    clock += 1;
                }
                clock
            })
        })
        .collect();
    std::thread::sleep(A_ROUND);
    stop.store(true, Ordering::Relaxed);
    let rows: i64 = threads.into_iter().map(|thread| thread.join().expect("a writer")).sum();
    rows as f64 / started.elapsed().as_secs_f64()
}
