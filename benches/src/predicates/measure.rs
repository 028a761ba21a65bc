//! The least of many batches: what something takes when nothing is in its way.

use std::time::{Duration, Instant};

/// How many batches there are.
pub const BATCHES: usize = 15;

/// How long a batch takes at least.
const A_BATCH: Duration = Duration::from_millis(5);

/// Something to be measured. It says how often it did what is asked for.
pub type Work<'w> = Box<dyn FnMut() -> usize + 'w>;

/// Returns the nanoseconds that each of these takes once, at its best.
///
/// Their batches take turns, so that ratios hold although the machine's speed swings.
pub fn nanos(mut works: Vec<Work<'_>>) -> Vec<f64> {
    let repeats: Vec<u32> = works.iter_mut().map(|work| repeats(work)).collect();
    let mut least = vec![f64::INFINITY; works.len()];
    for _ in 0..BATCHES {
        for ((work, repeats), least) in works.iter_mut().zip(&repeats).zip(&mut least) {
            if *repeats > 1 {
                // What the others have left in the caches is theirs. Whatever takes longer than a
                // batch makes room for itself.
                work();
            }
            let started = Instant::now();
            let done: usize = (0..*repeats).map(|_| work()).sum();
            *least = least.min(started.elapsed().as_nanos() as f64 / done as f64);
        }
    }
    least
}

/// Returns how often to do something for one batch.
fn repeats(work: &mut Work<'_>) -> u32 {
    work();
    let started = Instant::now();
    work();
    let once = started.elapsed().max(Duration::from_nanos(1));
    u32::try_from(A_BATCH.as_nanos() / once.as_nanos()).expect("a number") + 1
}
