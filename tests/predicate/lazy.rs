//! What has to be looked up is looked up when a predicate looks.

use std::sync::atomic::{AtomicU32, Ordering};

use spl::canon::Object;
use spl::predicate::{Context, Facts, Predicate, PredicateSet, Ruling, System, SystemFacts, Trust};

use crate::facts::World;

/// Counts how often it is asked.
#[derive(Default)]
struct Counting(AtomicU32);

impl Counting {
    fn asked(&self) -> u32 {
        self.0.fetch_add(1, Ordering::Relaxed)
    }
}

impl System for Counting {
    fn read(&self) -> SystemFacts<'_> {
        self.asked();
        SystemFacts { records_total: 3, ..SystemFacts::default() }
    }
}

impl Trust for Counting {
    fn score(&self, _: &str, _: &str) -> f64 {
        f64::from(self.asked())
    }

    fn count(&self, _: &str, _: &str) -> i64 {
        i64::from(self.asked())
    }
}

/// Asks a set of these predicates once. Returns how many hold, and how often the instance and the
/// trust were looked up.
fn ask(sources: &[&str]) -> (usize, u32, u32) {
    let world = World::of_call(Object::new());
    let (system, trust) = (Counting::default(), Counting::default());
    let facts = Facts { system: &system, trust: &trust, ..world.facts() };
    let predicate = |(number, source): (usize, &&str)| {
        (number, (), Predicate::compile(source, Context::Hook).expect("a good predicate"))
    };
    let set: PredicateSet<_, _> = sources.iter().enumerate().map(predicate).collect();
    let mut held = 0;
    set.ask(&facts, |_, (), ruling| held += usize::from(ruling == Ruling::Holds));
    (held, system.0.into_inner(), trust.0.into_inner())
}

#[test]
fn what_no_predicate_looks_at_is_not_looked_up() {
    let tool = "record.body.tool == 'bash'";
    let absorbed = "record.act == 'KNOW' && trust(current_actor(), 'ops') > 0.5";
    assert_eq!(ask(&[tool, absorbed, "false && system.records_total > 0"]), (1, 0, 0));
}

#[test]
fn the_instance_is_read_once_for_all_predicates() {
    let records = "system.records_total == 3";
    assert_eq!(ask(&[records, "system.uptime_secs == 0", records]), (3, 1, 0));
}

#[test]
fn trust_is_asked_for_each_time_that_a_predicate_asks() {
    let score = "trust('did:sync:agent:clerk', 'ops') >= 0.0";
    assert_eq!(ask(&[score, "trust_count('did:sync:agent:clerk', 'ops') >= 0"]), (2, 0, 2));
}
