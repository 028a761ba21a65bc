//! Many hooks at once.

use std::time::Instant;

use super::calls::{CHARACTERS, Call, calls, unheard, with_words};
use super::hooks::{Hook, mixed, needles, with_needles};
use super::measure::{Work, nanos};
use super::node::Node;
use super::rival::{Loaded, RIVALS, hits};
use super::targets::{Target, Targets};
use crate::allocations;

const COUNTS: [usize; 4] = [10, 100, 1_000, 10_000];

/// Where ours and that of `cel` stand in a row.
const OURS: usize = 0;
const CEL: usize = 1;

pub fn run(node: Option<&Node>, targets: &mut Targets) {
    println!(
        "\n## Nanoseconds to ask all hooks about a call that returned (least of 15 batches)\n"
    );
    println!("Content of {CHARACTERS} characters; a hook holds for one call in a thousand.\n");
    let mixed = table("hooks, each for a tool", mixed, node);
    growth(&mixed, targets);
    for (count, target) in [(1_000, &ONE_CANDIDATE), (10_000, &TEN_CANDIDATES)] {
        let row = &mixed[COUNTS.iter().position(|it| *it == count).expect("a row")];
        targets.note(target, row[OURS], Some(row[CEL]));
    }
    table("hooks, one in a hundred for any tool with a word", with_needles, node);
    let words = row("100 such alone", &needles(100), &with_words(), node);
    targets.note(&WORDS, words[OURS], Some(words[CEL]));
    no_hook_for_the_tool(targets);
    load(targets);
}

const ONE_CANDIDATE: Target =
    Target { what: "1,000 hooks, one candidate", most: 250.0, unit: "ns", ratio: Some(1_700.0) };
const TEN_CANDIDATES: Target = Target {
    what: "10,000 hooks, ten candidates",
    most: 1_000.0,
    unit: "ns",
    ratio: Some(9_000.0),
};
const WORDS: Target =
    Target { what: "100 words for any tool", most: 15_000.0, unit: "µs", ratio: Some(7.0) };
const UNHEARD: Target =
    Target { what: "no hook for the tool", most: 50.0, unit: "ns", ratio: None };
const ALLOCATIONS: Target =
    Target { what: "its allocations", most: 0.0, unit: "times", ratio: None };
const GROWTH: Target =
    Target { what: "from 10 to 10,000 hooks", most: 6.0, unit: "times", ratio: None };
const LOAD: Target = Target { what: "load of a hook", most: 100_000.0, unit: "µs", ratio: None };

fn table(what: &str, hooks: fn(usize) -> Vec<Hook>, node: Option<&Node>) -> Vec<Vec<f64>> {
    let names: Vec<&str> = RIVALS.iter().map(|rival| rival.name).collect();
    println!("| {what} | {} | cel-js |", names.join(" | "));
    println!("|---:|{}", "---:|".repeat(names.len() + 1));
    let row = |count: usize| row(&count.to_string(), &hooks(count), &calls(count), node);
    COUNTS.map(row).to_vec()
}

/// Prints and returns what a call costs each engine, after all have given the same answers.
fn row(what: &str, hooks: &[Hook], calls: &[Call], node: Option<&Node>) -> Vec<f64> {
    let mut loaded: Vec<Box<dyn Loaded>> = RIVALS.iter().map(|rival| (rival.load)(hooks)).collect();
    let expected = hits(&mut *loaded[OURS], calls);
    let share = expected.iter().flatten().count() as f64 / (hooks.len() * calls.len()) as f64;
    assert!((0.000_5..0.002).contains(&share), "{share} of the answers are yes");
    for (rival, loaded) in RIVALS.iter().zip(&mut loaded).skip(1) {
        let can = |number: &usize| (rival.can)(&hooks[*number]);
        let expected: Vec<Vec<usize>> =
            expected.iter().map(|hits| hits.iter().copied().filter(can).collect()).collect();
        assert_eq!(hits(&mut **loaded, calls), expected, "{}", rival.name);
    }
    let works = loaded.iter_mut().map(|loaded| work(&mut **loaded, calls)).collect();
    let mut row = nanos(works);
    if let Some(node) = node {
        let sources: Vec<String> = hooks.iter().map(Hook::cel).collect();
        let answer = node.ask(&sources, calls).expect("an answer");
        assert_eq!(answer.hits, expected, "cel-js");
        row.push(answer.nanos);
    }
    let cells: Vec<String> = row.iter().map(|nanos| format!("{nanos:.0}")).collect();
    println!("| {what} | {} |", cells.join(" | "));
    row
}

fn work<'w>(loaded: &'w mut dyn Loaded, calls: &'w [Call]) -> Work<'w> {
    let mut hits = Vec::new();
    Box::new(move || {
        for call in calls {
            hits.clear();
            loaded.ask(call, &mut hits);
        }
        std::hint::black_box(&hits);
        calls.len()
    })
}

fn growth(rows: &[Vec<f64>], targets: &mut Targets) {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return };
    let times: Vec<f64> = last.iter().zip(first).map(|(last, first)| last / first).collect();
    let cells: Vec<String> = times.iter().map(|times| format!("{times:.1} ×")).collect();
    println!("| growth | {} |\n", cells.join(" | "));
    targets.note(&GROWTH, times[OURS], None);
}

fn no_hook_for_the_tool(targets: &mut Targets) {
    let calls = unheard();
    println!("\n| no hook for the tool, hooks | spl | allocations |\n|---:|---:|---:|");
    let mut most = (0.0_f64, 0);
    for count in COUNTS {
        let mut loaded = (RIVALS[OURS].load)(&mixed(count));
        assert!(hits(&mut *loaded, &calls).iter().all(Vec::is_empty));
        let mut once = work(&mut *loaded, &calls);
        let times = allocations::during(&mut once).1.times;
        drop(once);
        let nanos = nanos(vec![work(&mut *loaded, &calls)])[0];
        println!("| {count} | {nanos:.1} | {times} |");
        most = (most.0.max(nanos), most.1.max(times));
    }
    targets.note(&UNHEARD, most.0, None);
    targets.note(&ALLOCATIONS, most.1 as f64, None);
}

fn load(targets: &mut Targets) {
    const COUNT: usize = 1_000;
    println!("\n| load of {COUNT} hooks, each | µs | bytes kept |\n|---|---:|---:|");
    let hooks = mixed(COUNT);
    for (at, rival) in RIVALS.iter().enumerate() {
        let mut least = f64::INFINITY;
        for _ in 0..5 {
            let started = Instant::now();
            let loaded = (rival.load)(&hooks);
            least = least.min(started.elapsed().as_nanos() as f64 / COUNT as f64);
            drop(loaded);
        }
        let (_loaded, allocated) = allocations::during(|| (rival.load)(&hooks));
        let bytes = allocated.bytes as f64 / COUNT as f64;
        println!("| {} | {:.1} | {bytes:.0} |", rival.name, least / 1e3);
        if at == OURS {
            targets.note(&LOAD, least, None);
        }
    }
}
