//! Puts generated expressions and calls to both evaluators, for as long as one wants.
//!
//! `cargo run --release --example evaluators -- --cases 1000000` or `--seconds 60`; `--seed N`
//! begins elsewhere. A difference ends it with the expression.

use std::process::ExitCode;

use spl::time::Stopwatch;

#[path = "../fuzz/src/lib.rs"]
pub mod properties;

/// The most bytes that one case is made of.
const MAX_BYTES: u64 = 160;
/// How often progress is told, in cases.
const STEP: u64 = 100_000;

struct Wanted {
    cases: Option<u64>,
    seconds: Option<u64>,
    seed: u64,
}

fn wanted() -> Option<Wanted> {
    let mut wanted = Wanted { cases: None, seconds: None, seed: 1 };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let number = words.next()?.parse().ok()?;
        match word.as_str() {
            "--cases" => wanted.cases = Some(number),
            "--seconds" => wanted.seconds = Some(number),
            "--seed" => wanted.seed = number,
            _ => return None,
        }
    }
    (wanted.cases.is_some() || wanted.seconds.is_some()).then_some(wanted)
}

fn main() -> ExitCode {
    let Some(wanted) = wanted() else {
        eprintln!("usage: evaluators --cases N | --seconds N [--seed N]");
        return ExitCode::from(2);
    };
    let watch = Stopwatch::start();
    let mut random = Random(wanted.seed);
    let (mut cases, mut compiled) = (0_u64, 0_u64);
    while wanted.cases.is_none_or(|end| compiled < end)
        && wanted.seconds.is_none_or(|end| watch.elapsed().as_secs() < end)
    {
        let length = random.next() % MAX_BYTES;
        let bytes: Vec<u8> = (0..length).map(|_| random.next().to_le_bytes()[0]).collect();
        cases += 1;
        compiled += u64::from(properties::evaluators::check(&bytes));
        if cases % STEP == 0 {
            eprintln!("{cases} cases, {compiled} compiled, {} s", watch.elapsed().as_secs());
        }
    }
    println!("no difference in {compiled} expressions that compiled, of {cases} generated");
    ExitCode::SUCCESS
}

/// The same numbers for the same seed: `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }
}
