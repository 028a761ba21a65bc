//! This engine: one set of predicates.

use spl::predicate::{Context, Predicate, PredicateSet, Ruling};

use super::calls::Call;
use super::hooks::Hook;
use super::rival::Loaded;

struct Set(PredicateSet<usize, ()>);

pub fn load(hooks: &[Hook]) -> Box<dyn Loaded> {
    let keyed = |hook: &Hook| (hook.number, (), compile(&hook.cel()));
    Box::new(Set(hooks.iter().map(keyed).collect()))
}

pub fn compile(source: &str) -> Predicate {
    Predicate::compile(source, Context::Hook).expect(source)
}

impl Loaded for Set {
    fn ask(&mut self, call: &Call, hits: &mut Vec<usize>) {
        self.0.ask(&call.facts(), |number, (), ruling| {
            assert_eq!(ruling, Ruling::Holds);
            hits.push(*number);
        });
    }
}
