//! What is written: small statements, as a run would make them.

use std::path::Path;
use std::time::Duration;

use spl::identity::{KeyPair, Keyring};
use spl::record::{Act, ActorId, Clock, Draft, ThreadId};
use spl::store::{Store, StoreOptions};
use spl::time::TimeSource;

/// Opens a store with keys of its own.
pub fn store(path: &Path) -> Store {
    Store::open(path, options()).expect("a store")
}

pub fn options() -> StoreOptions {
    StoreOptions::new(Keyring::new(KeyPair::from_seed(&[1; 32])), TimeSource::system())
}

/// A statement of about 350 canonical bytes.
pub fn draft(writer: usize, clock: i64) -> Draft {
    Draft::new(
        ThreadId::parse("th_5b6bf5cfc8dad45ae4e2c956fa84f8d9a14d09955ebe313befe1560fca88d23d")
            .expect("a thread"),
        ActorId::parse(&format!("did:sync:agent:writer-{writer}")).expect("an actor"),
        Act::Know,
        spl::object! {
            "kind": "core.work.note.v1",
            "text": "The build failed because the linker could not find libssl; install the \
                     development package and run it again.",
            "turn_index": clock,
        },
    )
    .with_clock(Clock::new(clock).expect("a clock"))
}

/// Returns the middle one.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Returns the value that `share` of the others do not exceed.
pub fn quantile(values: &mut [Duration], share: f64) -> Duration {
    values.sort_unstable();
    values[((values.len() - 1) as f64 * share) as usize]
}
