//! What one append costs the processor, beside the hashing and signing that it cannot do without.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use spl::identity::KeyPair;
use spl::record::{Origin, Record};

use crate::append::per_second;
use crate::records::{draft, store};

pub fn run() {
    println!("\n## Processor time of one append\n");
    let folder = tempfile::tempdir_in(".").expect("a folder");
    let store = store(&folder.path().join("hub.db"));
    let before = spent();
    let rate = per_second(64, move |writer, clock| {
        let prepared = store.prepare(draft(writer, clock)).expect("prepared");
        store.append(prepared, Origin::Door).expect("durable");
    });
    // One round lasts a second, so the rate is also the number of rows.
    let whole = (spent() - before).as_secs_f64() * 1e6 / rate;
    let key = KeyPair::from_seed(&[1; 32]);
    let sealed = Record::seal(draft(1, 1)).expect("sealed");
    let floor = cost(|| {
        std::hint::black_box(sealed.canonical().sha256());
        std::hint::black_box(key.sign(sealed.canonical().as_bytes()));
    });
    let prepare = cost(|| {
        let sealed = Record::seal(draft(1, 1)).expect("sealed");
        std::hint::black_box(key.sign(sealed.canonical().as_bytes()));
    });
    println!("| what | µs |\n|---|---:|");
    println!("| SHA-256 and Ed25519 of one record | {floor:.1} |");
    println!("| the same with canonical bytes written first | {prepare:.1} |");
    println!("| one append among 64 writers, all of it | {whole:.1} |");
}

fn cost(work: impl Fn()) -> f64 {
    const TIMES: u32 = 5_000;
    let least = (0..5).map(|_| {
        let before = spent();
        (0..TIMES).for_each(|_| work());
        (spent() - before).as_secs_f64() * 1e6 / f64::from(TIMES)
    });
    least.fold(f64::INFINITY, f64::min)
}

/// Returns the processor time of this process so far.
pub fn spent() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
